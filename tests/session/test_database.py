"""One database under many threads: cheap sessions, prices that add up,
interrupts that end one statement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from queue import SimpleQueue

import pytest
from databases import NEVER_DONE, clinic

from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.errors import QueryCancelled
from dpsql.postprocessing.pool import MOST, Slots
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.session.database import Database, open_database

THREADS, EACH = 16, 6
_NAMES = [f"p{place}" for place in range(40)]
#: A shell over very many rows of a public table; the private count beside it is charged.
ENDLESS = (
    f"SELECT SUM(length({' || '.join(f'{name}.place' for name in _NAMES)}) * n) "
    f"FROM (SELECT COUNT(*) AS n FROM patients), {', '.join(f'places {name}' for name in _NAMES)}"
)

#: As long, over public tables alone; with a number, so that each is another statement.
FREE = (
    f"SELECT COUNT(*) FROM {', '.join(f'places {name}' for name in _NAMES)} "
    f"WHERE concat({', '.join(f'{name}.place' for name in _NAMES)}) <> 'n{{number}}'"
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path))
    yield opened
    opened.close()


def test_sixteen_threads_ask_at_once_and_each_statement_is_charged_once(database: Database) -> None:
    """Statements are interleaved; each thread has prices of its own,
    so that each asks for a release of its own.
    """

    def ask(thread: int) -> Fraction:
        session = database.session(f"analyst{thread}")
        session.set("dpsql.empty_groups", "show")
        session.set("dpsql.reuse", "off")
        spent = Fraction(0)
        for number in range(EACH):
            session.epsilon = Fraction(1, 1000 + thread * EACH + number)
            sexes = session.execute(
                "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY sex"
            )
            assert [row[0] for row in sexes.rows] == ["f", "m", None]
            regions = session.execute("SELECT region FROM places ORDER BY region")
            assert regions.rows == [("north",), ("south",)] and regions.price.charged == 0
            joined = session.execute(
                "SELECT region, SUM(cost) FROM visits JOIN places USING (place) GROUP BY region"
            )
            assert {row[0] for row in joined.rows} == {"north", "south"}
            spent += sexes.price.charged + joined.price.charged
        return spent

    with ThreadPoolExecutor(THREADS) as threads:
        spent = sum(threads.map(ask, range(THREADS)), Fraction(0))
    entries = list(database.accountant.ledger.history())
    assert len(entries) == THREADS * EACH * 2
    assert spent == 2 * sum(Fraction(1, 1000 + number) for number in range(THREADS * EACH))
    assert database.accountant.ledger.verify() == len(entries)


def test_a_sandbox_goes_from_hand_to_hand_without_rows(database: Database) -> None:
    database.session("ada").execute("SELECT sex, COUNT(*) FROM patients GROUP BY sex")
    with database._postprocessors.lease("another") as shell:
        tables = shell._sandbox._connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'released' AND estimated_size > 0"
        )
        assert tables.fetchall() == []


def test_an_interrupt_ends_the_statement_and_its_charge_stays(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.postprocessing.sandbox.TIME_LIMIT", 600)  # nothing else ends it
    session = database.session("ada")
    slow = session.plan(ENDLESS)
    before = session.remaining.spent.rho
    timer = threading.Timer(0.3, session.interrupt)
    timer.start()
    with pytest.raises(QueryCancelled) as raised:
        session.answer(slow)
    timer.join()
    assert raised.value.sqlstate == "57014"
    assert session.remaining.spent.rho == before + slow.cost.rho
    assert session.execute("SELECT COUNT(*) FROM patients").rows


@pytest.mark.parametrize("stopped", ["CREATE", "INSERT"])
def test_an_interrupt_may_come_while_released_rows_are_put_in_their_sandbox(
    database: Database, monkeypatch: pytest.MonkeyPatch, stopped: str
) -> None:
    session, writing = database.session("ada"), Sandbox._write

    def interrupted(sandbox: Sandbox, sql: str, values: Sequence[object] = ()) -> None:
        if sql.startswith(stopped) and "released" in sql:
            session.interrupt()
            sql = "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"
            values = ()
        writing(sandbox, sql, values)

    plan = session.plan("SELECT sex, COUNT(*) FROM patients GROUP BY sex")
    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "_write", interrupted)
        with pytest.raises(QueryCancelled):
            session.answer(plan)
    again = session.answer(plan)
    assert again.rows and again.price.stored


def test_an_interrupt_between_statements_is_without_effect(database: Database) -> None:
    session = database.session("ada")
    session.interrupt()
    assert session.execute("SELECT COUNT(*) FROM patients").price.charged == session.epsilon


def test_an_interrupt_reaches_the_engine(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def endless(reading: DuckDBReading, *_: object) -> object:
        timer.start()
        try:
            return reading._cursor.rows([], [NEVER_DONE])
        finally:
            told.append("ended")

    def interrupted(reading: DuckDBReading) -> None:
        told.append("interrupt")
        reading._cursor.interrupt()

    session = database.session("ada")
    before = session.remaining.spent.rho
    with monkeypatch.context() as patch:
        patch.setattr(DuckDBReading, "_rows", endless)
        patch.setattr(DuckDBReading, "interrupt", interrupted)
        timer = threading.Timer(0.3, session.interrupt)
        with pytest.raises(QueryCancelled) as raised:
            session.execute("SELECT COUNT(*) FROM patients")
        timer.join()
    assert told == ["interrupt", "ended"]
    assert raised.value.__cause__ is None and "places" not in str(raised.value)
    assert session.remaining.spent.rho > before
    assert not session.execute("SELECT COUNT(*) FROM patients").price.stored


def test_a_statement_that_waits_for_its_turn_can_be_ended(database: Database) -> None:
    with ExitStack() as others:
        for number in range(MOST):
            others.enter_context(database._postprocessors.lease(f"another{number}"))
        session = database.session("ada")
        timer = threading.Timer(0.3, session.interrupt)
        timer.start()
        with pytest.raises(QueryCancelled):
            session.plan("SELECT COUNT(*) FROM patients")
        timer.join()
    assert len(database.session("ada").execute("SELECT COUNT(*) FROM patients").rows) == 1


def test_one_analyst_has_half_of_the_sandboxes_at_most(database: Database) -> None:
    """Who asks for the longest work, and as often as they can,
    does not keep another from the shortest.
    """
    greedy = [database.session("mallory") for _ in range(MOST)]
    ended = 0

    def ask(number: int) -> None:
        nonlocal ended
        with pytest.raises(QueryCancelled):
            greedy[number].execute(FREE.format(number=number))
        ended += 1

    with ThreadPoolExecutor(MOST) as threads:
        waited = [threads.submit(ask, number) for number in range(MOST)]
        try:
            time.sleep(1)
            assert database._postprocessors._slots.held() == {"mallory": MOST // 2}
            assert database.session("ada").execute(
                "SELECT region FROM places ORDER BY region"
            ).rows[0] == ("north",)
            assert ended == 0
        finally:
            while not all(each.done() for each in waited):
                for session in greedy:
                    session.interrupt()
                time.sleep(0.05)
        for each in waited:
            each.result()
    assert database._postprocessors._slots.held() == {}


def test_a_free_place_goes_to_who_holds_fewest_and_then_to_who_came_first() -> None:
    places, got = Slots(4), SimpleQueue[str]()
    gates = {name: threading.Event() for name in "a1 a2 b1 c1 b2 d1 a3 c2".split()}

    def work(name: str) -> None:
        with places.slot(name[0]):
            got.put(name)
            gates[name].wait(20)

    workers = []
    for name in gates:
        workers.append(threading.Thread(target=work, args=(name,)))
        workers[-1].start()
        time.sleep(0.05)
    assert [got.get(timeout=5) for _ in range(4)] == ["a1", "a2", "b1", "c1"]
    for leaves, comes in (("c1", "d1"), ("d1", "c2"), ("c2", "b2"), ("b1", None), ("a1", "a3")):
        gates[leaves].set()
        if comes is not None:
            assert got.get(timeout=5) == comes
    for gate in gates.values():
        gate.set()
    for worker in workers:
        worker.join()
    assert places.held() == {} and got.empty()
