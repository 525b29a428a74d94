"""Files at s3:// and https:// are copied whole, by their owner alone;
what goes wrong is told in dpsql's own words.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forks import exit_code_of_fork
from remote_stores import PEOPLE, HttpsServer, put

from dpsql.engines.remote import copies, s3, store
from dpsql.engines.remote.copies import RemoteCopies
from dpsql.engines.remote.https import addresses_of
from dpsql.errors import OperationalError, SchemaError

pytestmark = [pytest.mark.xdist_group("remote"), pytest.mark.usefixtures("temporary")]


def test_no_key_leads_out_of_the_folder_of_copies(bucket: Any) -> None:
    bucket.create_bucket(Bucket="odd-keys")
    put(bucket, "in/../../../outside.csv", PEOPLE, "odd-keys")
    with pytest.raises(
        OperationalError, match=r"^s3://odd-keys/in/\.\..*cannot be the name of a file"
    ):
        RemoteCopies("s3://odd-keys/in/")
    assert store.checked_place("", "in/a..b/c.csv") == "in/a..b/c.csv"
    for key in (
        "../outside.csv",
        "a/../../b.csv",
        "a//b.csv",
        "/a.csv",
        "a\\b.csv",
        "a\0b.csv",
        f"{'n' * 300}.csv",
    ):
        with pytest.raises(OperationalError, match="cannot be the name of a file"):
            store.checked_place("", key)


@pytest.mark.slow
def test_what_goes_wrong_in_a_bucket_is_named(
    bucket: Any, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    for source, said in {
        "s3://clinic/nothing.csv": "there is no such object",
        "s3://clinic/nothing/*.csv": "there is no such object",
        "s3://no-such-bucket/": r"no such bucket or object \(HTTP 404\)",
    }.items():
        with pytest.raises(OperationalError, match=f"^{re.escape(source)}: .*{said}"):
            RemoteCopies(source)
    for source in ("s3://", "s3://Clinic/a.csv", "s3://a b/c.csv"):
        with pytest.raises(SchemaError, match="is no address of objects"):
            RemoteCopies(source)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(
        OperationalError, match=r"its store cannot be reached.*EndpointConnectionError"
    ):
        RemoteCopies("s3://clinic/shop/")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store.example")
    with pytest.raises(SchemaError, match="everybody between could read the data"):
        RemoteCopies("s3://clinic/shop/")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(OperationalError, match=r"credentials cannot be had \(ProfileNotFound\)"):
        RemoteCopies("s3://clinic/shop/")
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(SchemaError, match=r"pip install 'dpsql\[s3\]'"):
        RemoteCopies("s3://clinic/shop/")
    assert not list(temporary.iterdir())


def test_without_credentials_requests_are_not_signed(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bucket, "open/people.csv", PEOPLE)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(
        OperationalError,
        match=r"is forbidden, or not there \(HTTP 403\); see that AWS_ACCESS_KEY_ID",
    ):
        RemoteCopies("s3://clinic/open/people.csv")
    bucket.put_object_acl(Bucket="clinic", Key="open/people.csv", ACL="public-read")
    made = RemoteCopies("s3://clinic/open/people.csv")
    assert made.local_path.read_text() == PEOPLE
    made.close()


def test_an_object_that_is_written_while_it_is_copied_is_never_a_mixture(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bucket, "busy/people.csv", PEOPLE)
    found = s3.S3Objects.look

    def written_after(of: s3.S3Objects, times: list[int]) -> Any:
        files = found(of)
        if times:
            put(bucket, "busy/people.csv", f"{PEOPLE}{times.pop()},1\n")
        return files

    once, always = [1], list(range(9))
    monkeypatch.setattr(s3.S3Objects, "look", lambda of: written_after(of, once))
    with pytest.raises(OperationalError, match="was written while it was copied"):
        RemoteCopies("s3://clinic/busy/")
    monkeypatch.setattr(s3.S3Objects, "look", lambda of: found(of))
    copied = copies.RemoteCopies._copy

    def written_then(of: RemoteCopies, files: Any) -> None:
        copied(of, files)
        put(bucket, "busy/people.csv", f"{PEOPLE}{always.pop()},1\n")

    monkeypatch.setattr(RemoteCopies, "_copy", written_then)
    with pytest.raises(OperationalError, match="changes while it is copied"):
        RemoteCopies("s3://clinic/busy/")


def test_what_is_being_copied_goes_with_the_rest_where_the_database_is_closed(
    bucket: Any, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bucket, "open/people.csv", PEOPLE)
    begun, ended, said = threading.Event(), threading.Event(), list[object]()
    remove = copies.remove_folder
    monkeypatch.setattr(
        copies, "remove_folder", lambda folder: (said.append(ended.is_set()), remove(folder))
    )
    made = RemoteCopies("s3://clinic/open/people.csv")
    put(bucket, "open/people.csv", PEOPLE * 2)

    def slowly(_: store.RemoteFile) -> Iterator[bytes]:
        yield b"id,"
        begun.set()
        while not made._closed:
            time.sleep(0.01)
        time.sleep(0.2)
        yield b"age"

    def bring() -> None:
        try:
            made.bring()
        except OperationalError as error:
            said.append(str(error))

    def brought(its: RemoteCopies, file: store.RemoteFile) -> str:
        try:
            return copied(its, file)
        finally:
            ended.set()

    copied = RemoteCopies._brought
    monkeypatch.setattr(RemoteCopies, "_brought", brought)
    monkeypatch.setattr(made._store, "read", slowly)
    copying = threading.Thread(target=bring)
    copying.start()
    assert begun.wait(10)
    made.close()
    copying.join(10)
    assert sorted(map(str, said)) == [
        "True",
        "s3://clinic/open/people.csv: is closed",
    ] and not list(temporary.iterdir())


def test_a_fork_leaves_the_copies_of_its_parent(bucket: Any, temporary: Path) -> None:
    put(bucket, "open/people.csv", PEOPLE)
    made = RemoteCopies("s3://clinic/open/people.csv")
    assert exit_code_of_fork(made.close) == 0
    assert made.local_path.read_text() == PEOPLE
    made.close()
    assert not list(temporary.iterdir())


def test_what_does_not_fit_on_the_disk_is_not_begun(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bucket, "open/people.csv", PEOPLE)
    monkeypatch.setattr(copies.shutil, "disk_usage", lambda _: type("usage", (), {"free": 10}))
    with pytest.raises(OperationalError, match="bytes, and 10 are free for copies; set TMPDIR"):
        RemoteCopies("s3://clinic/open/people.csv")


def test_addresses_of_https_are_of_files_and_hold_no_keys() -> None:
    assert addresses_of("https://h/a%20b.csv") == ["https://h/a%20b.csv"]
    for source, said in {
        "https://h/": "https lists no files",
        "https://h": "https lists no files",
        "https://h/*.csv": "https lists no files",
        "https://h/%2a.csv": "https lists no files",
        "https://h/a.csv?key=1": "is often a key",
        "https://me:word@h/a.csv": "is often a key",
        "https://h/{a,a}.csv": None,
    }.items():
        with pytest.raises(SchemaError, match=said or "two files of one name"):
            copies._store(source)


def set_status(host: HttpsServer, status: int) -> None:
    host.files["/people.csv"] = status


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda host: set_status(host, 404), r"there is no such file \(HTTP 404\)"),
        (lambda host: set_status(host, 403), r"is forbidden \(HTTP 403\)"),
        (lambda host: set_status(host, 401), r"needs a name and a password \(HTTP 401\)"),
        (lambda host: set_status(host, 503), "its server answers HTTP 503"),
        (
            lambda host: host.files.update({"/people.csv": "http://localhost/"}),
            "leads to an address that is not",
        ),
        (lambda host: setattr(host, "says_state", False), "neither ETag nor Last-Modified"),
        (lambda host: setattr(host, "cuts", True), "ended before the whole file|as it should"),
        (lambda host: setattr(host, "length", None), "does not tell how long it is"),
        (lambda host: setattr(host, "length", "²³"), "does not tell how long it is|as it should"),
        (lambda host: setattr(host, "port", 9), "cannot be reached"),
        (lambda host: os.environ.update(SSL_CERT_FILE="/nowhere"), "certificate is not trusted"),
    ],
)
def test_what_goes_wrong_over_https_is_named_in_our_own_words(
    host: HttpsServer, change: Callable[[HttpsServer], None], said: str, temporary: Path
) -> None:
    host.files["/people.csv"] = PEOPLE.encode()
    change(host)
    with pytest.raises(OperationalError, match=said) as raised:
        RemoteCopies(host.address("/people.csv"))
    assert "CANARY" not in str(raised.value) and not list(temporary.iterdir())


def test_names_and_passwords_of_netrc_are_sent_to_their_host_alone(
    host: HttpsServer, tmp_path: Path
) -> None:
    host.files = {
        "/people.csv": host.address("/moved.csv", "127.0.0.1"),
        "/moved.csv": PEOPLE.encode(),
    }
    (tmp_path / ".netrc").write_text("machine localhost login me password word\n")
    (tmp_path / ".netrc").chmod(0o600)
    made = RemoteCopies(host.address("/people.csv"))
    assert made.local_path.read_text() == PEOPLE
    told = {(path, authorization is not None) for _, path, authorization in host.asked}
    assert told == {("/people.csv", True), ("/moved.csv", False)}
    made.close()
    host.files["/people.csv"], host.needs = PEOPLE.encode(), "Basic bWU6d29yZA=="
    RemoteCopies(host.address("/people.csv")).close()
