"""Objects at ``s3://``, by boto3: one object, all data files below a folder, or those of a glob.

Credentials, region and endpoint are those that AWS's own tools take, from the environment,
``~/.aws`` or the machine; without credentials requests are not signed. Proved in
``docs/proofs/remote.md``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from dpsql.engines.files.table_files import kind_of
from dpsql.engines.remote.store import CHUNK, PATIENCE, RemoteFile, checked_place, store_error
from dpsql.errors import SchemaError

_ADDRESS: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
_GLOB: Final = re.compile(r"[*?\[]")


class S3Objects:
    """The objects of a source at ``s3://``."""

    def __init__(self, source: str) -> None:
        match = _ADDRESS.fullmatch(source)
        if match is None:
            raise SchemaError(
                "source s3://…: is no address of objects; write s3://bucket/folder/, a file or a glob"
            )
        self._address = source
        self._bucket = match[1]
        self._key = match[2] or ""
        self.source = checked_place(
            source, "/".join([self._bucket, *filter(None, [self._key.rstrip("/")])])
        )
        self._client = _client(source)

    def look(self) -> list[RemoteFile]:
        """The objects as the store lists them: the one that is named,
        or the data files of the folder or the glob.
        """
        first = _GLOB.search(self._key)
        if first is not None:
            pattern = glob_pattern(self._key)
            below = self._key[: self._key.rfind("/", 0, first.start()) + 1]
            return self._data_files(
                listing for listing in self._listed(below) if pattern.fullmatch(listing["Key"])
            )
        if self._key and not self._key.endswith("/"):
            with _store_errors(self._address):
                described = self._described()
            if described is not None:
                return [described]
        folder = self._key.rstrip("/")
        return self._data_files(self._listed(f"{folder}/" if folder else ""))

    def _described(self) -> RemoteFile | None:
        """The one object of this name; None if it is none."""
        from botocore.exceptions import ClientError

        try:
            return self._file(
                {**self._client.head_object(Bucket=self._bucket, Key=self._key), "Key": self._key}
            )
        except ClientError as error:
            if _status(error) == 404:
                return None
            raise

    def _listed(self, below: str) -> Iterator[Mapping[str, Any]]:
        with _store_errors(self._address):
            for page in self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=below
            ):
                yield from page.get("Contents", ())

    def _data_files(self, listed: Iterable[Mapping[str, Any]]) -> list[RemoteFile]:
        result = [
            self._file(listing) for listing in listed if kind_of(Path(listing["Key"])) is not None
        ]
        if not result:
            raise store_error(
                self._address,
                "there is no such object, and no Parquet or CSV file below or like it",
            )
        return result

    def _file(self, entry: Mapping[str, Any]) -> RemoteFile:
        address = f"s3://{self._bucket}/{entry['Key']}"
        size = int(entry["ContentLength"] if "ContentLength" in entry else entry["Size"])
        state = (str(entry["ETag"]), str(int(entry["LastModified"].timestamp())), str(size))
        return RemoteFile(
            address, checked_place(address, f"{self._bucket}/{entry['Key']}"), state, size
        )

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        """The object's content; OperationalError if it is another one by now."""
        key = file.address.removeprefix(f"s3://{self._bucket}/")
        with _store_errors(file.address):
            yield from self._client.get_object(Bucket=self._bucket, Key=key, IfMatch=file.state[0])[
                "Body"
            ].iter_chunks(CHUNK)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """The keys that a glob stands for, and all below them; ``**`` stands for any number of folders.

    >>> glob = glob_pattern("visits/**/20*.csv")
    >>> [key for key in ("visits/2020.csv", "visits/a/b/2021.csv", "visits/1999.csv") if glob.fullmatch(key)]
    ['visits/2020.csv', 'visits/a/b/2021.csv']
    """
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", glob)
    known = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    expressions = [
        known.get(piece) or (_letters(piece) if piece[:1] == "[" else re.escape(piece))
        for piece in parts
    ]
    return re.compile("".join(expressions) + "(?:/.*)?", re.DOTALL)


def _letters(piece: str) -> str:
    """One of the letters between the brackets, or with ! none of them; never a /."""
    letters = re.sub(r"([^A-Za-z0-9-])", r"\\\1", piece[1:-1].removeprefix("!"))
    return f"[^/{letters}]" if piece[1] == "!" else f"(?!/)[{letters}]"


def _client(source: str) -> Any:
    """boto3's client; requests are signed if there are credentials."""
    try:
        import boto3
        from botocore import UNSIGNED
        from botocore.config import Config
    except ModuleNotFoundError:
        raise SchemaError(
            f"{source}: s3:// needs the Python package boto3; pip install 'dpsql[s3]'"
        ) from None
    # A server's log has no lines on where credentials are.
    logging.getLogger("botocore").setLevel(logging.WARNING)
    with _store_errors(source):
        session = boto3.Session()
        unsigned = {} if session.get_credentials() is not None else {"signature_version": UNSIGNED}
        patient = Config(
            connect_timeout=PATIENCE,
            read_timeout=PATIENCE,
            retries={"total_max_attempts": 2},
            **unsigned,
        )
        client = session.client(
            "s3", region_name=session.region_name or "us-east-1", config=patient
        )
    _require_secret(client.meta.endpoint_url)
    return client


def _require_secret(endpoint: str) -> None:
    """SchemaError where objects would cross a network as they are."""
    parts = urlsplit(endpoint)
    if parts.scheme != "https" and not _is_this_machine(parts.hostname or ""):
        raise SchemaError(
            f"{endpoint}: everybody between could read the data; give AWS_ENDPOINT_URL an address of https, as http is "
            "for stores of this machine alone"
        )


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


#: What is said of answers that are none; the store's own words are not passed on.
_ANSWERS: Final[Mapping[int, str]] = {
    403: "is forbidden, or not there (HTTP 403); see that AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE or "
    "the role of this machine may list and read it",
    404: "there is no such bucket or object (HTTP 404); see that the address is right",
    412: "was written while it was copied; ask again",
}
_NO_CREDENTIALS: Final = ("Credential", "SSO", "Token", "Profile")


def _status(error: Any) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


@contextmanager
def _store_errors(address: str) -> Iterator[None]:
    """Tell what goes wrong in words of dpsql's own."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        reason = _ANSWERS.get(_status(error), f"its store answers HTTP {_status(error)}")
    except BotoCoreError as error:
        kind = type(error).__name__
        if any(word in kind for word in _NO_CREDENTIALS):
            reason = f"credentials cannot be had ({kind}); see AWS_PROFILE, ~/.aws, or log in again"
        else:
            reason = f"its store cannot be reached, or ended too early ({kind}); see the network and AWS_ENDPOINT_URL"
    except OSError as error:
        reason = f"its store cannot be reached ({type(error).__name__})"
    else:
        return
    raise store_error(address, reason) from None
