"""A session whose engine has a process of its own, and what may happen to that."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.process import client
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.engines.duckdb.process.protocol import EngineMessage
from dpsql.engines.source import CoreSql, ValueRows
from dpsql.planning.plan import Plan
from dpsql.session import Session

ONE = "SELECT COUNT(*) FROM patients"
#: Seconds within which anything comes true, on a busy machine too.
PATIENCE = 60.0
QUICK = CoreSql(
    'SELECT count(*) FROM "source"."main"."places" AS "t0"', frozenset({"places"}), frozenset()
)


def process_of(session: Session) -> ProcessData:
    engine = session._execution.engine
    assert isinstance(engine, DuckDBEngine) and isinstance(engine._data, ProcessData)
    return engine._data


def limited(session: Session, seconds: int) -> None:
    """Give the engine so much time for a stage."""
    engine = session._execution.engine
    assert isinstance(engine, DuckDBEngine)
    settings = engine._schema.engine.model_copy(update={"seconds": Fraction(seconds)})
    engine._schema = engine._schema.model_copy(update={"engine": settings})


def living(pid: int) -> bool:
    """Whether the process does anything any more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(true: Callable[[], bool]) -> None:
    """Go on once that is true; AssertionError where it does not come true in time."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def standing(pid: int) -> bool:
    """Whether the process stands still."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def stop_when_it_reads(process: client.EngineProcess) -> None:
    """Have the process stand still from when it is next asked to read something for a charge."""
    asked = process.asked

    def asked_once(
        word: str, said: dict[str, Any], rows: Sequence[ValueRows] = ()
    ) -> Future[EngineMessage]:
        if word == "stage":
            os.kill(process.pid, signal.SIGSTOP)
        return asked(word, said, rows)

    process.asked = asked_once  # type: ignore[method-assign]


def answer_while(
    session: Session, plan: Plan, happens: Callable[[client.EngineProcess], None], times: int = 2
) -> list[BaseException]:
    """What the plan's answer raises if processes stand still once they are asked to read,
    and this happens to each.

    So many processes stand still, one after the other, if so many are asked.
    """
    found: list[BaseException] = []

    def ask() -> None:
        try:
            session.answer(plan)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=ask)
    with stopped_readers(times) as stopped:
        thread.start()
        for number in range(times):
            if (process := _next_of(stopped, number, thread)) is not None:
                happens(process)
        thread.join(PATIENCE)
    return found


def _next_of(
    stopped: Sequence[client.EngineProcess], number: int, thread: threading.Thread
) -> client.EngineProcess | None:
    """The process of that number, once it stands still and is waited for;
    None if the thread ends before.
    """
    until(lambda: len(stopped) > number or not thread.is_alive())
    if len(stopped) <= number:
        return None
    until(lambda: standing(stopped[number].pid) and bool(stopped[number]._waiting))
    return stopped[number]


@contextmanager
def stopped_readers(times: int) -> Iterator[list[client.EngineProcess]]:
    """The processes that stood still when they were asked to read something for a charge,
    of which so many do.
    """
    stopped: list[client.EngineProcess] = []
    asked = client.EngineProcess.asked

    def asked_once(
        process: client.EngineProcess,
        word: str,
        said: dict[str, Any],
        rows: Sequence[ValueRows] = (),
    ) -> Future[EngineMessage]:
        if word == "stage" and len(stopped) < times:
            os.kill(process.pid, signal.SIGSTOP)
            stopped.append(process)
        return asked(process, word, said, rows)

    client.EngineProcess.asked = asked_once  # type: ignore[method-assign]
    try:
        yield stopped
    finally:
        client.EngineProcess.asked = asked  # type: ignore[method-assign]
