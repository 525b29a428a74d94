"""The engine's process may stand still at any time:
nobody waits for it longer than for an answer, nor after an end.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction

import pytest
from own_process import ONE, answer_while, limited, living, process_of, stop_when_it_reads, until

from dpsql.engines.duckdb.process import client
from dpsql.engines.duckdb.process.data import ProcessVersion
from dpsql.errors import ExecutionFailed, QueryCancelled
from dpsql.session import Session

#: Seconds within which a wait has ended on a busy machine.
SOON = 6.0
STAGED = "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits) AND visit < {}"


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextmanager
def ended_after(session: Session, seconds: float) -> Iterator[None]:
    """While this lasts the session's work is ended, once, after so many seconds."""
    timer = threading.Timer(seconds, session.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def took(action: Callable[[], object], kind: type[Exception] = QueryCancelled) -> float:
    """The seconds until the action fails."""
    began = time.monotonic()
    with pytest.raises(kind):
        action()
    return time.monotonic() - began


def test_what_stands_still_is_opened_anew_before_the_charge(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE", 1.0)
    plan, pid = session.plan(ONE), process_of(session).pid
    spent = session.remaining.spent.rho
    with standing_still(pid):
        assert session.answer(plan).rows
        until(lambda: not living(pid))
    assert session.remaining.spent.rho == spent + plan.cost.rho and process_of(session).pid != pid


def test_who_is_ended_before_the_charge_pays_nothing(session: Session) -> None:
    plan = session.plan(ONE)
    spent = session.remaining.spent.rho
    with standing_still(process_of(session).pid), ended_after(session, 0.3):
        assert took(lambda: session.answer(plan)) < SOON
    assert session.remaining.spent.rho == spent
    assert session.answer(plan).rows


def test_who_is_ended_while_it_reads_has_paid_and_waits_no_longer(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE", 1.0)
    plan = session.plan(ONE)
    spent = session.remaining.spent.rho
    process = process_of(session).renewed().process
    stop_when_it_reads(process)
    with ended_after(session, 0.5):
        assert took(lambda: session.answer(plan)) < SOON
    assert session.remaining.spent.rho == spent + plan.cost.rho and not session.is_paid(plan)
    assert session.answer(plan).rows, "by another process"
    until(lambda: not living(process.pid))


def test_a_reading_that_was_left_ends_and_gives_its_tables_back(session: Session) -> None:
    """It goes on beside the next statement, which derives tables of the same names."""
    process = process_of(session).renewed().process
    stop_when_it_reads(process)
    with ended_after(session, 0.5):
        assert took(lambda: session.execute(STAGED.format(1001))) < SOON
    del process.asked  # type: ignore[attr-defined]
    os.kill(process.pid, signal.SIGCONT)
    for number in range(3):
        assert session.execute(STAGED.format(2000 + number)).rows
    assert process_of(session).renewed().process is process and not process._waiting


def test_the_time_of_a_stage_is_its_bound_without_any_other(session: Session) -> None:
    limited(session, 1)
    began = time.monotonic()
    (error,) = answer_while(session, session.plan(ONE), lambda process: None)
    assert type(error) is ExecutionFailed and time.monotonic() - began < SOON


def test_a_silent_process_is_ended_long_before_the_time_of_a_stage(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE", 2.0)
    limited(session, 15)
    began = time.monotonic()
    (error,) = answer_while(session, session.plan(ONE), lambda process: None)
    assert type(error) is ExecutionFailed and time.monotonic() - began < 2 * SOON
    assert session.execute("SELECT COUNT(*), 1 FROM patients").rows


def test_a_public_table_is_not_waited_for(session: Session) -> None:
    with standing_still(process_of(session).pid), ended_after(session, 0.3):
        assert took(lambda: session.execute("SELECT region FROM places")) < SOON
    assert len(session.execute("SELECT region FROM places").rows) == 2


def test_many_who_wait_are_ended_together(session: Session) -> None:
    with standing_still(process_of(session).pid):
        took_each: list[float] = []

        def ask(number: int) -> None:
            took_each.append(took(lambda: session.execute(f"{ONE} WHERE ward > {number}")))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        with ended_after(session, 0.1):
            for thread in threads:
                thread.join(60)
    assert len(took_each) == 4 and max(took_each) < SOON


def test_with_a_bucket_who_is_ended_leaves_at_a_multiple_of_it(session: Session) -> None:
    session._execution._time_bucket = Fraction(2)
    stop_when_it_reads(process_of(session).renewed().process)
    plan, charged = session.plan(ONE), list[float]()
    charge = session._execution.charged

    def at(plan: object) -> object:
        made = charge(plan)  # type: ignore[arg-type]
        charged.append(time.monotonic())
        return made

    session._execution.charged = at  # type: ignore[method-assign, assignment]
    with ended_after(session, 0.3):
        took(lambda: session.answer(plan))
    seconds = time.monotonic() - charged[0]
    assert 2.0 <= seconds < 2.9 or 4.0 <= seconds < 4.9


def test_an_opening_goes_on_where_nobody_waits_for_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what takes longer to be opened than a statement may take would never be open."""
    plan, opens, go_on, begun = (
        session.plan(ONE),
        ProcessVersion._open,
        threading.Event(),
        list[int](),
    )

    def slow(version: ProcessVersion, *source: object) -> None:
        begun.append(1)
        assert go_on.wait(60)
        opens(version, *source)  # type: ignore[arg-type]

    monkeypatch.setattr(ProcessVersion, "_open", slow)
    spent = session.remaining.spent.rho
    process = process_of(session).renewed().process
    process.kill()
    until(lambda: not process.alive)
    for _ in range(2):
        with ended_after(session, 0.5):
            assert took(lambda: session.answer(plan)) < SOON
    until(lambda: bool(begun))
    assert begun == [1] and session.remaining.spent.rho == spent
    go_on.set()
    assert session.answer(plan).rows and begun == [1]
