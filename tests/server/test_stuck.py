"""Ledgers and engines that stand still under a server:
statements end by the clock and by their user all the same.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from databases import clinic
from test_end import cancel
from wire_client import Client, charges, error, rows

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.process.data import AGAIN, ProcessData
from dpsql.errors.deadline import GLANCE
from dpsql.server.listener import Server
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import Message
from dpsql.session.database import Database, open_database

#: Seconds within which a wait has ended on a busy machine.
SOON = 6.0
_BY_CLOCK = ("57014", "canceling statement due to statement timeout")
_BY_USER = ("57014", "canceling statement due to user request")


def test_waits_are_looked_at_often_enough_to_end_within_a_second() -> None:
    """A busy machine is slow beyond that, which is why what ends is given longer below."""
    assert max(GLANCE, AGAIN) <= 0.25


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database whose engine has a process of its own."""
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    opened = open_database(clinic(tmp_path))
    yield opened
    opened.close()


@contextmanager
def ledger_held(folder: Path) -> Iterator[None]:
    """While this lasts somebody else is in the midst of writing to the ledger."""
    holder = sqlite3.connect(
        folder / "clinic.ledger", isolation_level=None, check_same_thread=False
    )
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.close()


@contextmanager
def engine_stopped(database: Database) -> Iterator[None]:
    assert isinstance(database._engine, DuckDBEngine) and isinstance(
        database._engine._data, ProcessData
    )
    pid = database._engine._data.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def told(answer: list[Message]) -> tuple[str, str]:
    fields = error(answer)
    return fields["C"], fields["M"]


def timed(action: Callable[[], list[Message]]) -> tuple[tuple[str, str], float]:
    """What the client is told, and the seconds until then."""
    began = time.monotonic()
    return told(action()), time.monotonic() - began


def test_a_stuck_ledger_is_waited_for_until_the_clock_or_the_user_says_otherwise(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve()
    with Client(server.port) as client, ledger_held(tmp_path):
        client.start()
        client.query("SET statement_timeout = '500ms'")
        said, seconds = timed(lambda: client.query("SELECT COUNT(*) FROM visits"))
        assert said == _BY_CLOCK and seconds < SOON
        client.query("SET statement_timeout = 0")
        client.send(codec.Query(query_string="SELECT COUNT(*) FROM visits"))
        time.sleep(0.5)
        cancel(server.port, client.process, client.secret)
        said, seconds = timed(lambda: client.until(codec.ReadyForQuery))
        assert said == _BY_USER and seconds < SOON
        began = time.monotonic()
        assert rows(client.query("SHOW dpsql.budget")) and time.monotonic() - began < SOON
    assert charges(server.database) == 0
    with Client(server.port) as client:
        client.start()
        assert rows(client.query("SELECT COUNT(*) FROM visits"))


def test_statements_behind_a_stuck_ledger_end_together(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    """They came back one after the other, each after the whole patience of the ledger."""
    server, found = serve(), list[tuple[tuple[str, str], float]]()

    def ask(number: int) -> None:
        with Client(server.port, timeout=60) as client:
            client.start()
            client.query("SET statement_timeout = '1s'")
            found.append(
                timed(lambda: client.query(f"SELECT COUNT(*) FROM visits WHERE cost > {number}"))
            )

    with ledger_held(tmp_path):
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
    assert [said for said, _ in found] == [_BY_CLOCK] * 8 and max(
        seconds for _, seconds in found
    ) < SOON
    assert charges(server.database) == 0


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM visits", "SELECT region FROM places"])
def test_an_engine_that_stands_still_is_waited_for_until_the_clock_says_otherwise(
    serve: Callable[..., Server], database: Database, text: str
) -> None:
    """Where a statement is described, planned or run."""
    server = serve()
    with Client(server.port) as client:
        client.start()
        client.query("SET statement_timeout = '500ms'")
        with engine_stopped(database):
            said, seconds = timed(lambda: client.query(text))
            assert said == _BY_CLOCK and seconds < SOON
            asked = (
                codec.Parse(query=text),
                codec.Bind(),
                codec.Describe(kind="P"),
                codec.Execute(),
            )
            said, seconds = timed(lambda: client.extended(*asked))
            assert said == _BY_CLOCK and seconds < SOON
        client.query("SET statement_timeout = 0")
        assert rows(client.query(text))
    assert charges(database) == text.count("COUNT")


def test_the_user_ends_a_statement_whose_engine_stands_still(
    serve: Callable[..., Server], database: Database
) -> None:
    server = serve()
    with Client(server.port) as client:
        client.start()
        with engine_stopped(database):
            client.send(codec.Query(query_string="SELECT COUNT(*) FROM visits"))
            time.sleep(0.5)
            cancel(server.port, client.process, client.secret)
            said, seconds = timed(lambda: client.until(codec.ReadyForQuery))
        assert said == _BY_USER and seconds < SOON
        assert rows(client.query("SELECT COUNT(*) FROM visits"))
    assert charges(database) == 1
