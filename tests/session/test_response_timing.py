"""Whatever a charged statement ends in,
it leaves at a multiple of a bucket that its plan chose before it was run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from databases import clinic
from timed_engine import Clock, TimedEngine, completed

from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.errors import BudgetExhausted, ExecutionFailed, QueryCancelled, Refused, StatementError
from dpsql.postprocessing.pool import MOST
from dpsql.schema import load
from dpsql.session import Session, open_accountant
from dpsql.session.database import Database
from dpsql.session.side_channels import ResponseTiming, bucket

BUCKET = 0.25
ONE = "SELECT COUNT(*) FROM patients"
STAGED = "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"


class World:
    """A clinic whose engine does ``on_stage`` before each stage, on a clock of its own."""

    def __init__(self, folder: Path, epsilon: str = "1000") -> None:
        file = clinic(folder, epsilon=epsilon)
        file.write_text(file.read_text().replace("[privacy]", f"[privacy]\ntime_bucket = {BUCKET}"))
        self.clock = Clock()
        self.on_stage: Callable[[], None] = lambda: None
        schema = completed(load(file))
        engine = TimedEngine(DuckDBEngine(schema), lambda _: self.on_stage())
        self.database = Database(schema, engine, open_accountant(schema))

    def session(self, analyst: str = "ada") -> Session:
        session = self.database.session(analyst)
        session._execution.clock = self.clock
        return session

    def takes(self, text: str, session: Session | None = None) -> float:
        """The seconds on the clock until the statement's answer or error is there."""
        before = self.clock.time
        with suppress(ExecutionFailed):
            (session or self.session()).execute(text)
        return self.clock.time - before


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.database.close()


@pytest.mark.parametrize(
    ("seconds", "buckets"), [(0, 1), (0.01, 1), (0.2, 1), (0.25, 1), (0.26, 2), (0.6, 3), (7.3, 30)]
)
def test_an_answer_leaves_at_the_next_multiple_after_the_charge(
    world: World, seconds: float, buckets: int
) -> None:
    world.on_stage = lambda: world.clock.work(seconds)
    assert world.takes(ONE) == pytest.approx(buckets * BUCKET)


@pytest.mark.parametrize(
    "kind", [duckdb.OutOfMemoryException, duckdb.InterruptException, MemoryError, OSError]
)
@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.2])
def test_a_failure_leaves_when_an_answer_would(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: type[Exception], seconds: float
) -> None:
    def fail(*_: object) -> None:
        raise kind("CANARY_7f3a")

    world.on_stage = lambda: world.clock.work(seconds)
    monkeypatch.setattr(DuckDBReading, "_rows", fail)
    spent = world.session().remaining.spent.rho
    assert world.takes(ONE) == pytest.approx(BUCKET)
    assert world.session().remaining.spent.rho > spent


def test_the_bucket_is_chosen_from_the_plan(world: World) -> None:
    one, staged = world.session().plan(ONE), world.session().plan(STAGED)
    assert bucket(one, Fraction(1, 4)) == BUCKET
    assert len(staged.cores) == 2 and bucket(staged, Fraction(1, 4)) == 2 * BUCKET
    for seconds, buckets in (
        (0.01, 1),
        (0.24, 1),
        (0.26, 2),
    ):  # of each of two stages, so half of the bucket
        world.on_stage = lambda: world.clock.work(seconds)  # noqa: B023
        text = f"{STAGED} AND visit < {1000 + buckets + int(1000 * seconds)}"
        assert world.takes(text) == pytest.approx(buckets * 2 * BUCKET), seconds


def test_what_was_paid_for_before_leaves_at_once_and_so_does_what_costs_nothing(
    world: World,
) -> None:
    world.takes(ONE)
    assert world.takes(ONE) == 0
    assert world.takes("SELECT region FROM places") == 0
    assert world.takes("EXPLAIN PRIVACY SELECT SUM(cost) FROM visits") == 0
    assert world.takes("SHOW dpsql.budget") == 0


@pytest.mark.parametrize("text", [f"{ONE} WHERE ward > 1", "SELECT name FROM patients", "SELEC"])
def test_what_is_refused_or_not_affordable_leaves_at_once(tmp_path: Path, text: str) -> None:
    world = World(tmp_path, epsilon="1")  # of which one statement at 1 is more than zCDP admits
    session = world.session()
    session.mechanism = "gaussian"
    with pytest.raises((BudgetExhausted, StatementError, Refused)):
        session.execute(text)
    assert not world.clock.slept
    world.database.close()


def test_what_was_interrupted_leaves_when_an_answer_would_and_is_not_kept(world: World) -> None:
    """Whether it was still being read is told by neither the time, nor the error,
    nor what it costs to ask again.
    """
    for read_first in (False, True):
        session = world.session()
        text = f"{ONE} WHERE ward > {int(read_first)}"
        plan = session.plan(text)
        spent = session.remaining.spent.rho

        def interrupted(session: Session = session) -> None:
            world.clock.work(0.1)
            session.interrupt()

        if read_first:  # the engine is done, and the answer waits for its time
            world.on_stage, world.clock.sleep = (
                (lambda: None),
                lambda seconds: (  # type: ignore[method-assign]
                    interrupted(),
                    world.clock.work(seconds - 0.1),
                )[0],
            )
        else:
            world.on_stage = interrupted
        before = world.clock.time
        with pytest.raises(QueryCancelled):
            session.answer(plan)
        assert world.clock.time - before == pytest.approx(BUCKET)
        assert session.remaining.spent.rho == spent + plan.cost.rho
        assert not session.is_paid(plan)


def test_who_asks_for_the_same_waits_as_long(world: World) -> None:
    """A release is kept, and so seen to be there, no earlier than it leaves."""
    session, other = world.session(), world.session("bob")
    plan = session.plan(ONE)
    seen: list[bool] = []
    world.clock.sleep = lambda seconds: (
        seen.append(other.is_paid(plan)),
        world.clock.work(seconds),
    )[1]  # type: ignore[method-assign]
    session.answer(plan)
    assert seen == [False] and other.is_paid(plan)


def test_who_waits_to_leave_has_no_sandbox_and_keeps_a_place_for_reading(world: World) -> None:
    """As many statements wait as may read, and each of them asks a free one while it does.

    A place is given to the next statement when an answer leaves and no sooner,
    else that one's time would be a clock.
    """
    waiting, inside = threading.Barrier(MOST), world.clock.sleep

    def sleep(seconds: float) -> None:
        waiting.wait(60)
        world.session("carol").execute("SELECT region FROM places")
        held.append(world.database._postprocessors._readings.held())
        waiting.wait(60)
        inside(seconds)

    world.clock.sleep = sleep  # type: ignore[method-assign]
    names, held = [f"analyst{place}" for place in range(MOST)], list[dict[str, int]]()
    threads = [
        threading.Thread(
            target=lambda n=name, p=place: world.session(n).execute(f"{ONE} WHERE ward > {p}")
        )
        for place, name in enumerate(names)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads) and not waiting.broken
    assert held == [dict.fromkeys(names, 1)] * MOST


def test_of_statements_with_stages_one_reads_at_a_time_until_it_leaves(world: World) -> None:
    """Else how long another one waits after its charge would be a clock;
    nor do its stages take anybody's sandbox.
    """
    pool, inside = world.database._postprocessors, world.clock.sleep
    held, lent = list[dict[str, int]](), list[dict[str, int]]()

    def sleep(seconds: float) -> None:
        held.append(pool._deriving.held())
        lent.append(pool._slots.held())
        inside(seconds)

    world.on_stage = lambda: lent.append(pool._slots.held())
    world.clock.sleep = sleep  # type: ignore[method-assign]
    world.session().execute(STAGED)
    assert held == [{"ada": 1}] * len(held) != [] and lent == [{}] * len(lent) and len(lent) > 2


def test_without_a_bucket_nothing_waits(tmp_path: Path) -> None:
    schema = completed(load(clinic(tmp_path)))
    session = Session(schema, DuckDBEngine(schema), open_accountant(schema), "ada")
    session._execution.clock = clock = Clock()
    session.execute(ONE)
    assert not clock.slept
    session.close()


def test_what_ends_the_process_waits_for_nothing(world: World) -> None:
    clock = world.clock
    with (
        pytest.raises(KeyboardInterrupt),
        ResponseTiming(world.session().plan(ONE), Fraction(1), clock) as departure,
    ):
        departure.begin()
        raise KeyboardInterrupt
    assert not clock.slept
