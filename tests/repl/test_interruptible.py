"""Ctrl-C ends the statement, in its own thread, and leaves the terminal in order."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from command_runs import BY_SEX

from dpsql.errors import DataError, InternalError, QueryCancelled
from dpsql.repl.background import interruptibly
from dpsql.session import Session


@pytest.fixture(autouse=True)
def _hears_of_ctrl_c() -> Iterator[None]:
    """A shell that starts tests in the background has them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c(after: float) -> None:
    """Have this process interrupted as a terminal does it."""
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()


def test_values_and_errors_come_through() -> None:
    def fail() -> int:
        raise DataError("so it is")

    def break_down() -> int:
        raise ZeroDivisionError("CANARY_7f3a")

    assert interruptibly(lambda: 42, lambda: None) == 42
    with pytest.raises(DataError, match="so it is"):
        interruptibly(fail, lambda: None)
    with pytest.raises(InternalError, match="E_INTERNAL") as said:
        interruptibly(break_down, lambda: None)
    assert said.value.__cause__ is None and said.value.__context__ is None


def test_ctrl_c_is_passed_on_until_the_work_ends() -> None:
    ended, told = threading.Event(), []

    def interrupt() -> None:
        told.append(1)
        if len(told) == 3:
            ended.set()

    press_ctrl_c(0.2)
    assert interruptibly(lambda: ended.wait(30), interrupt) and len(told) >= 3


def test_ctrl_c_stops_the_engine(session: Session) -> None:
    """A join of 10 to the 11th rows of a public table, which nobody waits for."""
    plan = session.plan(
        f"SELECT COUNT(*) FROM {', '.join(f'conditions AS t{n}' for n in range(11))}"
    )
    press_ctrl_c(0.5)
    with pytest.raises(QueryCancelled):
        interruptibly(lambda: session.answer(plan), session.interrupt)
    assert session.remaining.share == 1
    assert len(interruptibly(lambda: session.execute(BY_SEX), session.interrupt).rows) == 2
