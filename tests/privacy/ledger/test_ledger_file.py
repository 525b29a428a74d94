"""What can happen to a file: links, other files, torn ones, a full disk, no rights."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from forks import exit_code_of_fork
from places import FilePlace, elsewhere, reopen
from spending import TENTH, admit, fill

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import Ledger, NewEntry, ledger_path
from dpsql.privacy.ledger.stores.sqlite import LedgerFile


@pytest.fixture
def place(path: Path) -> FilePlace:
    return FilePlace(path)


def test_a_ledger_is_durable_by_its_settings(ledger: Ledger, path: Path) -> None:
    store = LedgerFile(path)
    connection = store._connected()
    assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    store.close()
    assert path.stat().st_mode & 0o077 == 0
    assert sorted(file.name for file in path.parent.iterdir() if file.name.startswith(".")) == []


def test_the_journal_can_neither_be_changed_nor_shortened_by_mistake(
    ledger: Ledger, path: Path
) -> None:
    fill(ledger, 2)
    connection = sqlite3.connect(path)
    for statement in ("DELETE FROM entries", "UPDATE entries SET epsilon = '0'"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()
    assert not [
        name for name in dir(ledger) if name in {"delete", "update", "refund", "remove", "reset"}
    ]


def test_no_charge_lives_in_a_file_beside_the_ledger(ledger: Ledger, path: Path) -> None:
    """Where all others are removed under a live ledger, and where it alone is copied,
    every charge is there.
    """
    other = reopen(path)
    for charged in range(1, 40):
        fill(ledger if charged % 2 else other, 1)
        for beside in path.parent.glob(f"{path.name}-*"):
            beside.unlink()
        assert ledger.spent().entries == other.spent().entries == charged
        alone = path.parent / str(charged) / path.name
        alone.parent.mkdir()
        shutil.copy(path, alone)
        assert elsewhere(alone).verify() == charged
    other.close()


def test_a_ledger_with_a_write_ahead_journal_is_brought_up_to_date(
    ledger: Ledger, path: Path
) -> None:
    fill(ledger, 3)
    ledger.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    again = reopen(path)
    fill(again, 2)
    assert again.verify() == 5
    assert [file.name for file in path.parent.glob(f"{path.name}*")] == [path.name]


def test_an_older_copy_put_back_under_an_open_ledger_is_noticed(ledger: Ledger, path: Path) -> None:
    fill(ledger, 2)
    ledger.close()
    before = path.read_bytes()
    fill(ledger, 2)
    ledger.close()
    path.write_bytes(before)
    with pytest.raises(LedgerError, match="behind: 4 entries were charged to it, and it has 2"):
        fill(ledger, 1)
    with pytest.raises(LedgerError, match="behind"):
        reopen(path)


@pytest.mark.parametrize(
    "content", [b"", b"not a ledger" * 1000, b"SQLite format 3\x00" + b"\xff" * 8000]
)
def test_a_file_that_is_no_ledger_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        reopen(path)
    assert path.read_bytes() == content


def test_another_sqlite_file_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(LedgerError):
        reopen(path)


def test_a_torn_file_is_refused(path: Path) -> None:
    ledger = reopen(path)
    fill(ledger, 60)
    ledger.close()
    whole = path.read_bytes()
    for size in (len(whole) // 3, len(whole) - 100, 10):
        path.write_bytes(whole[:size])
        with pytest.raises(LedgerError):
            reopen(path).verify()
    path.write_bytes(whole[:9000] + os.urandom(len(whole) - 9000))
    with pytest.raises(LedgerError):
        reopen(path).verify()
    path.write_bytes(whole)
    assert reopen(path).verify() == 60


def test_links_are_refused(ledger: Ledger, path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(LedgerError, match="plain file"):
        reopen(link)
    link.unlink()
    link.hardlink_to(path)
    with pytest.raises(LedgerError, match="second name"):
        reopen(link)
    with pytest.raises(LedgerError, match="second name"):
        fill(ledger, 1)
    link.unlink()
    link.symlink_to(path.with_name("nowhere"))
    with pytest.raises(LedgerError):
        reopen(link)
    fill(ledger, 1)


def test_a_file_that_goes_away_or_is_replaced_is_refused(ledger: Ledger, path: Path) -> None:
    fill(ledger, 1)
    path.rename(path.with_name("away"))
    with pytest.raises(LedgerError, match="missing"):
        fill(ledger, 1)
    with pytest.raises(LedgerError, match="missing"):
        reopen(path)
    fresh = elsewhere(path)
    with pytest.raises(LedgerError, match="replaced"):
        fill(ledger, 1)
    fresh.close()


def test_a_folder_that_is_missing_is_refused(path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be created"):
        reopen(path / "below")


def in_a_child(run: Callable[[], None]) -> None:
    """Run in a forked process, whose rights and limits may be lowered for good."""
    assert exit_code_of_fork(run) == 0


def test_a_read_only_ledger_admits_nothing() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.ledger"
        ledger = reopen(path)
        fill(ledger, 2)
        ledger.close()
        path.chmod(0o444)
        Path(folder).chmod(0o555)

        def ask() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)  # root may write anything
            with pytest.raises(LedgerError):
                fill(ledger, 1)
            with pytest.raises(LedgerError):
                fill(reopen(path), 1)

        in_a_child(ask)
        Path(folder).chmod(0o755)
        path.chmod(0o644)
        assert reopen(path).verify() == 2


def test_a_full_disk_admits_nothing(ledger: Ledger, path: Path) -> None:
    fill(ledger, 2)

    def ask() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = path.stat().st_size + 50_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(LedgerError):
            fill(ledger, 1000)
        with pytest.raises(LedgerError):
            ledger.append(NewEntry("ada", "SELECT 1" * 20_000, "", TENTH), admit)

    in_a_child(ask)
    written = ledger.verify()
    assert written >= 2
    fill(ledger, 1)
    assert reopen(path).verify() == written + 1


def test_a_ledger_that_another_process_holds_is_refused_in_the_end(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.privacy.ledger.stores.locks.PATIENCE", 0.05)
    ledger.close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process holds it"):
        fill(ledger, 1)
    holder.execute("ROLLBACK")
    fill(ledger, 1)
    holder.close()


def test_no_message_holds_a_path(path: Path) -> None:
    path.write_bytes(b"junk" * 5000)
    with pytest.raises(LedgerError) as caught:
        reopen(path)
    assert str(path.parent) not in str(caught.value) and caught.value.sqlstate == "58030"


def test_the_place_depends_on_the_data_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "x.duckdb"
    file.touch()
    (tmp_path / "link.duckdb").symlink_to(file)
    (tmp_path / "folder").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path / "data")
    beside = (tmp_path / "data").resolve() / "x.duckdb.ledger"
    assert {
        ledger_path(p) for p in (file, "x.duckdb", tmp_path / "link.duckdb", "../data/./x.duckdb")
    } == {beside}
    assert {ledger_path(p) for p in (".", tmp_path / "folder", tmp_path / "data")} == {
        beside.with_name("dpsql.ledger")
    }


def test_data_on_a_server_or_nowhere_has_no_default_place(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="name one"):
        ledger_path("postgresql://host/db")
    with pytest.raises(LedgerError, match="cannot be found"):
        ledger_path(tmp_path / "none.duckdb")
