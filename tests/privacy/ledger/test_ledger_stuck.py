"""A ledger that does not answer, because another process holds it or its server stands still,
is given up in time.
"""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from places import Place, ServerPlace, reopen
from spending import TENTH, fill

from dpsql.errors import LedgerError
from dpsql.errors.deadline import Deadline, within
from dpsql.privacy.ledger import Ledger, LedgerIdentity, NewEntry, Spent
from dpsql.privacy.ledger.stores.postgresql import LedgerServer

#: Seconds that a ledger is waited for in these tests,
#: and within which a wait has ended on a busy #: machine.
PATIENCE, SOON = 1.0, 5.0
_HOLDS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """While this lasts another process is in the midst of writing to the file."""
    command = [sys.executable, "-c", _HOLDS, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline() == "held\n"
            yield
        finally:
            holder.kill()


def backends(connection: psycopg.Connection[tuple[int]]) -> list[int]:
    """The processes of the server that serve ledgers."""
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'dpsql ledger'"
    return [pid for (pid,) in connection.execute(query).fetchall()]


@contextmanager
def stopped(place: ServerPlace) -> Iterator[None]:
    """While this lasts the server's processes,
    the one that serves the ledger and their parent, stand still.
    """
    with psycopg.connect(place.address, autocommit=True) as connection:
        ((data,),) = connection.execute("SHOW data_directory").fetchall()
        pids = [int(Path(data, "postmaster.pid").read_text().split()[0]), *backends(connection)]
    assert len(pids) > 1
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextmanager
def stuck(place: Place) -> Iterator[None]:
    with stopped(place) if isinstance(place, ServerPlace) else held(Path(place.name)):
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsql.privacy.ledger.stores.locks.PATIENCE", PATIENCE)
    monkeypatch.setattr("dpsql.privacy.ledger.stores.postgresql_connection.PATIENCE", PATIENCE)
    monkeypatch.setattr("dpsql.privacy.ledger.stores.postgresql.PATIENCE", PATIENCE)


def took(action: Callable[[], object]) -> float:
    """The seconds until the action fails because of the ledger."""
    began = time.monotonic()
    with pytest.raises(LedgerError, match=r"cannot be used: .*; nothing is released"):
        action()
    return time.monotonic() - began


def test_it_is_waited_for_and_then_given_up(ledger: Ledger, place: Place, impatient: None) -> None:
    fill(ledger, 1)
    with stuck(place):
        assert PATIENCE / 2 < took(lambda: fill(ledger, 1)) < SOON
    fill(ledger, 1)
    assert ledger.verify() in (2, 3)


def test_who_queues_for_it_is_told_as_soon_as_the_first(
    ledger: Ledger, place: Place, impatient: None
) -> None:
    """They waited one after the other, each for the whole patience."""
    fill(ledger, 1)
    took_each: list[float] = []
    with stuck(place):
        threads = [
            threading.Thread(target=lambda: took_each.append(took(lambda: fill(ledger, 1))))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(took_each) == 8 and max(took_each) < SOON
    fill(ledger, 1)
    ledger.verify()


def test_a_piece_of_work_that_waited_in_vain_waits_no_second_time(
    ledger: Ledger, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(ledger, 1)
    for module in ("locks", "postgresql_connection", "postgresql"):
        monkeypatch.setattr(f"dpsql.privacy.ledger.stores.{module}.PATIENCE", 2.0)
    with stuck(place), within(Deadline()):
        began = time.monotonic()
        for _ in range(5):
            took(lambda: fill(ledger, 1))
        assert 1.0 < time.monotonic() - began < 6.0


def test_who_is_ended_waits_no_longer(
    ledger: Ledger, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those whose turn has not come, too."""
    fill(ledger, 1)
    for module in ("locks", "postgresql_connection", "postgresql"):
        monkeypatch.setattr(f"dpsql.privacy.ledger.stores.{module}.PATIENCE", 2 * SOON)
    with stuck(place):
        deadlines = [Deadline() for _ in range(4)]
        took_each: list[float] = []

        def ask(deadline: Deadline) -> None:
            with within(deadline):
                took_each.append(took(lambda: fill(ledger, 1)))

        threads = [threading.Thread(target=ask, args=(deadline,)) for deadline in deadlines]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        began = time.monotonic()
        for deadline in deadlines:
            deadline.end()
        for thread in threads:
            thread.join(60)
        assert len(took_each) == 4 and time.monotonic() - began < SOON
    fill(ledger, 1)
    ledger.verify()


def test_a_commit_that_was_given_up_counts_as_spent(
    server_place: ServerPlace, impatient: None
) -> None:
    """The server stops between the decision and COMMIT, and goes on once nobody waits any more."""
    ledger = reopen(server_place)
    fill(ledger, 1)
    seen, pids = ledger._seen, list[int]()
    with psycopg.connect(server_place.address, autocommit=True) as connection:

        def stops(spent: Spent) -> None:
            pids.extend(backends(connection))
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)

        try:
            assert (
                took(lambda: ledger.append(NewEntry("ada", "SELECT 1", "[]", TENTH), stops)) < SOON
            )
            assert isinstance(ledger._store, LedgerServer)
            assert ledger._seen == seen and ledger._store._connection is None
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        fill(ledger, 1)
        assert ledger._store._connection is not None
        assert ledger._store._connection.info.backend_pid not in pids, (
            "its connection is not used again"
        )
    written = ledger.verify()
    assert written in (2, 3) and ledger.totals()[0].rho == written * TENTH.rho
    ledger.close()


def test_a_server_that_takes_connections_and_never_answers(impatient: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://ledger@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=60"
        assert took(lambda: Ledger.open(address, LedgerIdentity("d", "p.id", "add-remove"))) < SOON


def test_ctrl_c_ends_the_wait(tmp_path: Path) -> None:
    """Of a process that waits in its main thread:
    SQLite and libpq would hear of it when they are done.
    """
    path = tmp_path / "d.ledger"
    reopen(path).close()
    program = """
import sys
from dpsql.privacy.ledger import LedgerIdentity, Ledger, NewEntry, Spent
from dpsql.privacy.ledger.stores.postgresql import LedgerServer
print("begun", flush=True)
try:
    Ledger.open(sys.argv[1], LedgerIdentity("d", "p.id", "add-remove")).totals()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    with socket.create_server(("127.0.0.1", 0)) as silent, held(path):
        address = f"postgresql://ledger@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=60"
        for place in (str(path), address):
            command = [sys.executable, "-c", program, place]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                try:
                    assert process.stdout.readline() == "begun\n"
                    time.sleep(0.5)
                    began = time.monotonic()
                    process.send_signal(signal.SIGINT)
                    assert process.stdout.readline() == "interrupted\n"
                    assert time.monotonic() - began < SOON
                finally:
                    process.kill()


def test_sqlite_is_waited_for_where_it_is_held_for_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "d.ledger"
    ledger = reopen(path)
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.7, lambda: holder.execute("ROLLBACK"))
    timer.start()
    began = time.monotonic()
    fill(ledger, 1)
    assert time.monotonic() - began < SOON and ledger.verify() == 1
    timer.join()
    holder.close()
    ledger.close()
