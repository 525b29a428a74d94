"""When a source elsewhere is copied, what is copied again, and when it is looked at:
of a store in memory.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpsql.engines.remote import copies
from dpsql.engines.remote.copies import AFTER_FAILURE, AGAIN, TRIES, RemoteCopies, copied_source
from dpsql.engines.remote.store import RemoteFile
from dpsql.errors import OperationalError, SchemaError

SOURCE = "s3://shop/data"


class Store:
    """Files in memory; each look tells their contents as their states."""

    source = "data"

    def __init__(self) -> None:
        self.files, self.looks, self.read_files = {"a.csv": b"1", "b/c.csv": b"22"}, 0, list[str]()
        self.failure: Exception | None = None

    def look(self) -> Sequence[RemoteFile]:
        self.looks += 1
        if self.failure is not None:
            raise self.failure
        return [
            RemoteFile(f"{SOURCE}/{place}", f"data/{place}", (content.decode(),), len(content))
            for place, content in self.files.items()
        ]

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        self.read_files.append(file.place)
        content = self.files[file.place.removeprefix("data/")]
        yield from (content[:1], content[1:])


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> Store:
    made = Store()
    monkeypatch.setattr(copies, "_store", lambda source: made)
    return made


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which goes on only where a test says so."""
    time = [1000.0]
    monkeypatch.setattr(copies, "time", SimpleNamespace(monotonic=lambda: time[0]))
    return time


@pytest.fixture
def made(store: Store, now: list[float]) -> Iterator[RemoteCopies]:
    opened = RemoteCopies(SOURCE)
    yield opened
    opened.close()


def held(made: RemoteCopies) -> dict[str, bytes]:
    return {
        str(each.relative_to(made.local_path)): each.read_bytes()
        for each in made.local_path.rglob("*")
        if each.is_file()
    }


def test_only_what_changed_is_copied_again_and_what_is_gone_goes(
    made: RemoteCopies, store: Store
) -> None:
    assert held(made) == store.files and store.read_files == ["data/a.csv", "data/b/c.csv"]
    modes = {stat.S_IMODE(each.stat().st_mode) for each in made.local_path.rglob("*")}
    assert modes == {0o600, 0o700} and not made.local_path.parent.with_name("part").exists()
    store.files = {"b/c.csv": b"22", "d.csv": b"", "e.csv": b"5"}
    made.bring()
    assert held(made) == store.files and store.read_files[2:] == ["data/d.csv", "data/e.csv"]
    store.files = {"e.csv": b"6", "b/c.csv": b"22"}
    made.bring()
    assert held(made) == store.files and store.read_files[4:] == ["data/e.csv"]


def test_the_content_is_that_of_the_files_that_are_asked_for_in_any_order(
    made: RemoteCopies, store: Store
) -> None:
    first, second = (made.local_path / each for each in store.files)
    both = made.content([first, second])
    assert (
        both == made.content([second, first])
        and both is not None
        and len(both) == len(sha256().hexdigest())
    )
    assert made.content([first]) not in (both, made.content([second]), None)
    assert made.content([first, made.local_path / "nothing.csv"]) is None
    store.files["a.csv"] = b"2"
    made.bring()
    assert made.content([first, second]) not in (both, None)
    store.files["a.csv"] = b"1"
    made.bring()
    assert made.content([first, second]) == both


def test_a_source_is_looked_at_once_a_minute(
    made: RemoteCopies, store: Store, now: list[float]
) -> None:
    before, files = store.looks, [made.local_path / "a.csv"]
    for now[0] in (1000.0 + AGAIN - 0.1, 1000.0 + AGAIN, 1000.0 + AGAIN + 1):
        assert made.is_due is (now[0] == 1000.0 + AGAIN)
        made.look()
    assert store.looks == before + 1 and not made.stale and made.content(files) is not None
    store.files["a.csv"] = b"2"
    now[0] += AGAIN
    made.look()
    assert made.stale and made.content(files) is None and store.read_files.count("data/a.csv") == 1
    store.files["a.csv"] = b"1"  # it is as it was copied, and yet was another one in between
    now[0] += AGAIN
    made.look()
    assert made.stale
    made.bring()
    assert not made.stale


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (OperationalError("s3://shop: is away"), "s3://shop: is away"),
        (KeyError("secret"), "s3://shop/data: its server says what nobody understands"),
    ],
)
def test_trouble_is_told_until_a_look_after_five_seconds_finds_none(
    made: RemoteCopies, store: Store, now: list[float], failure: Exception, said: str
) -> None:
    store.failure = failure
    now[0] += AGAIN
    looks = store.looks
    for after in (0.0, AFTER_FAILURE - 0.1):
        now[0] = 1000.0 + AGAIN + after
        with pytest.raises(OperationalError) as raised:
            made.look()
        assert (
            str(raised.value) == said
            and made.is_due
            and made.content([made.local_path / "a.csv"]) is None
        )
    assert store.looks == looks + 1 and not made.stale
    store.failure, now[0] = None, 1000.0 + AGAIN + AFTER_FAILURE
    made.look()
    assert (
        store.looks == looks + 2
        and not made.is_due
        and made.content([made.local_path / "a.csv"]) is not None
    )


@pytest.mark.parametrize("changes", [TRIES - 1, TRIES])
def test_a_source_that_changes_is_copied_three_times(store: Store, changes: int) -> None:
    """A look before each copy, and one behind the last that must find what was copied."""
    look, left = store.look, [changes]

    def changed() -> Sequence[RemoteFile]:
        found = look()
        if left[0]:
            left[0] -= 1
            store.files["a.csv"] += b"x"
        return found

    store.look = changed  # type: ignore[method-assign]
    if changes < TRIES:
        made = RemoteCopies(SOURCE)
        assert held(made) == store.files and store.read_files.count("data/a.csv") == TRIES
        made.close()
        return
    with pytest.raises(OperationalError, match="changes while it is copied"):
        RemoteCopies(SOURCE)
    assert store.read_files.count("data/a.csv") == TRIES


def test_what_the_disk_does_not_hold_is_not_copied(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free in (2, 3):
        monkeypatch.setattr(
            copies.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free)
        )
        if free < 3:
            with pytest.raises(
                OperationalError, match="has 3 bytes, and 2 are free for copies; set TMPDIR"
            ):
                RemoteCopies(SOURCE)
            assert store.read_files == []
        else:
            RemoteCopies(SOURCE).close()


def test_the_copies_go_with_their_object_but_not_with_a_fork_of_it(
    made: RemoteCopies, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made.local_path.parent
    made.close()
    assert not folder.exists()
    with pytest.raises(OperationalError, match="is closed"):
        made.bring()


def test_errors_name_the_address_in_the_place_of_the_copy(made: RemoteCopies) -> None:
    with pytest.raises(SchemaError) as raised, made.naming_addresses():
        raise SchemaError(
            f"{made.local_path}/b/c.csv is no table, nor is {made.local_path}: {made.local_path.parent}"
        )
    assert (
        str(raised.value)
        == f"{SOURCE}/b/c.csv is no table, nor is {SOURCE}: {made.local_path.parent}"
    )


def test_a_source_on_this_machine_is_not_copied(store: Store, tmp_path: Path) -> None:
    with copied_source(str(tmp_path)) as place:
        assert place == str(tmp_path) and store.looks == 0
    with copied_source("https://shop/data") as place:
        assert Path(place, "a.csv").read_bytes() == b"1" and Path(place).is_absolute()
    assert not Path(place).exists()
