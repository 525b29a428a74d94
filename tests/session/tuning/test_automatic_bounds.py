"""Bounds of columns that are automatic: found when a statement first needs them, charged once,
kept for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.errors import BudgetExhausted, ExecutionFailed, Refused
from dpsql.planning.tuning import counts_of
from dpsql.privacy.ledger import Entry, Ledger, NewRelease
from dpsql.privacy.measure import FREE
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.session import Session, open_session
from dpsql.session.database import open_database
from dpsql.session.named_releases.statements import NamedPrice

SCHEMA = """
name = "payments"
source = "payments.duckdb"
[privacy]
unit = "people.person"
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
query_epsilon = 1
[engine]
process = false
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
[tables.payments]
references = {{ person = "people.person" }}
max_rows_per_unit = 2
[tables.payments.columns]
person = {{ type = "integer" }}
town = {{ type = "text", values = ["a", "b"] }}
amount = {{ type = "double", bounds = "auto", nullable = false }}
pieces = {{ type = "integer", bounds = "auto" }}
rare = {{ type = "decimal(9,2)", bounds = "auto", nullable = true }}
"""
#: Person i has three payments of i / 10, the last of them a hundred times as large.
PAYMENTS = """
    CREATE TABLE payments AS
    SELECT i AS person, chr((97 + i % 2)::INTEGER) AS town,
           CASE j WHEN 2 THEN 10.0 ELSE 0.1 END::DOUBLE * (i % 90 + 10) AS amount,
           i % 50 + j AS pieces, CASE WHEN i < 3 THEN 1.5 + i END::DECIMAL(9,2) AS rare
    FROM range({people}) t(i), range(3) u(j)
"""
MEAN = "SELECT AVG(amount) AS mean FROM payments"
PEOPLE = 600


def written(
    folder: Path, *, epsilon: int = 100, delta: str = "1e-6", neighbours: str = "add-remove"
) -> Path:
    """A database of payments, and its schema file."""
    folder.mkdir(exist_ok=True)
    with duckdb.connect(str(folder / "payments.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT i AS person FROM range({PEOPLE}) t(i)")
        connection.execute(PAYMENTS.format(people=PEOPLE))
    file = folder / "payments.toml"
    file.write_text(SCHEMA.format(epsilon=epsilon, delta=delta, neighbours=neighbours))
    return file


def opened(file: Path, analyst: str = "ada") -> Session:
    return open_session(file, analyst, file.with_suffix(".ledger"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


@pytest.fixture
def session(file: Path) -> Iterator[Session]:
    with closing(opened(file)) as session:
        yield session


def finds(session: Session) -> list[Entry]:
    """The lines of the ledger that paid for bounds."""
    return [
        entry
        for entry in session.accountant.ledger.history()
        if entry.statement.startswith("bounds of")
    ]


def entries(session: Session) -> list[str]:
    return [entry.statement for entry in session.accountant.ledger.history()]


def test_bounds_are_found_once_and_kept_for_all_analysts_and_data(
    file: Path, session: Session
) -> None:
    first = session.execute(MEAN)
    (find,) = finds(session)
    assert entries(session) == ["bounds of payments.amount", MEAN] and find.analyst == "ada"
    assert first.price.charged == 2 and first.price.cost == sum(
        [find.cost], session.plan(MEAN).cost
    )
    assert any("was for finding bounds" in each for each in first.notices)
    ((low, high),) = [session.named.bounds["payments", "amount"].ends or (Fraction(0), Fraction(0))]
    assert 0 < low <= 1 and 990 <= high <= 1600
    said = [each for each in first.notices if each.startswith("bounds of payments.amount, [")]
    assert len(said) == 1
    assert first.rows[0][0] == pytest.approx(185, rel=0.2)
    second = session.execute(
        "SELECT town, AVG(amount), MEDIAN(amount), MAX(amount) FROM payments GROUP BY town"
    )
    assert second.price.charged == 1 and said[0] in second.notices and len(finds(session)) == 1
    with closing(opened(file, "bob")) as other:
        assert other.execute("SELECT STDDEV(amount) FROM payments").price.charged <= 1
        assert len(finds(other)) == 1
    session.close()
    with duckdb.connect(str(file.with_name("payments.duckdb"))) as connection:
        connection.execute("UPDATE payments SET amount = 100 * amount")
    with closing(opened(file)) as later:
        assert said[0] in later.execute(MEAN).notices and len(finds(later)) == 1


def test_planning_and_explaining_finds_nothing_and_says_what_it_takes(session: Session) -> None:
    plan = session.plan(MEAN)
    assert plan.unfound == (("payments", "amount"),)
    first = "bounds of payments.amount are found first, for ε = 1 more"
    assert first in str(session.explain(MEAN)) and any(first in notice for notice in plan.notices)
    bought = session.purchase(plan)
    assert (
        isinstance(bought, NamedPrice)
        and bought.price == 2 * plan.price
        and bought.cost.rho == 2 * plan.cost.rho
    )
    prepared = session.prepare(
        "SELECT AVG(amount) AS mean FROM payments WHERE pieces > ?", ["BIGINT"]
    )
    assert [column.name for column in prepared.columns] == ["mean"]
    assert not entries(session)
    answer = session.answer(prepared.plan([3]))
    assert answer.price.charged == 2 and len(finds(session)) == 1
    assert session.plan(MEAN).unfound == () and session.purchase(
        session.plan(MEAN)
    ) == session.plan(MEAN)


def test_only_the_columns_that_a_statement_needs_are_found(session: Session) -> None:
    """A sum alone is clipped to a norm, which needs no bounds, and so are conditions and counts."""
    session.execute("SELECT SUM(amount) FROM payments")
    session.execute("SELECT COUNT(*) FROM payments WHERE pieces > 7")
    assert not finds(session)
    session.execute("SELECT SUM(amount), AVG(pieces) FROM payments")
    assert [entry.statement for entry in finds(session)] == ["bounds of payments.pieces"]
    session.execute(
        "SELECT town, SUM(amount) FROM payments GROUP BY ROLLUP (town)"
    )  # no norm for several levels
    assert [entry.statement for entry in finds(session)][1:] == ["bounds of payments.amount"]


def test_what_is_refused_for_another_reason_finds_nothing(session: Session) -> None:
    for text in (
        "SELECT AVG(amount) FROM nowhere",
        "SELECT AVG(amount / pieces) FROM payments",
        "SELECT amount FROM payments",
    ):
        with pytest.raises(Refused if "nowhere" not in text else Exception):
            session.plan(text)
    with pytest.raises(Refused, match="not found yet"):
        session.workload([MEAN])
    assert not entries(session)
    session.execute(MEAN)
    assert session.run(session.workload(["SELECT town, AVG(amount) FROM payments GROUP BY town"]))


def test_too_few_units_are_found_out_once(session: Session) -> None:
    """Three people show in no private count: that none were found is kept, and said for nothing."""
    for _ in range(3):
        with pytest.raises(Refused, match="too few units"):
            session.execute("SELECT AVG(rare) FROM payments")
    assert entries(session) == ["bounds of payments.rare"]


def test_bounds_that_the_budget_does_not_hold_with_the_statement_are_not_charged(
    tmp_path: Path,
) -> None:
    with closing(opened(written(tmp_path / "small", epsilon=1, delta="0"))) as session:
        with pytest.raises(BudgetExhausted):
            session.execute(MEAN)
        assert not entries(session)
        session.execute("SELECT COUNT(*) FROM payments")


def test_an_analyst_pays_for_each_reading_that_fails(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a reading fails may tell something of the data, so that it is never seen for nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(DuckDBReading, "_rows", lambda *_: [][0])
        with pytest.raises(ExecutionFailed):
            session.execute(MEAN)
    assert session.plan(MEAN).unfound
    session.execute(MEAN)
    assert [entry.cost != FREE for entry in finds(session)] == [True, True]


def test_of_two_sessions_at_once_one_pays(file: Path) -> None:
    with closing(open_database(file, ledger=file.with_suffix(".ledger"))) as database:
        sessions = [database.session("ada"), database.session("bob")]
        plans = [session.plan(MEAN) for session in sessions]
        with ThreadPoolExecutor() as threads:
            answers = [
                threads.submit(session.answer, plan)
                for session, plan in zip(sessions, plans, strict=True)
            ]
        assert sum(answer.result().price.charged for answer in answers) == 2
        assert len(finds(sessions[0])) == 1


def test_bounds_that_another_process_keeps_meanwhile_are_read(
    file: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Ledger.put_named

    def put_twice(ledger: Ledger, new: NewRelease) -> None:
        put(
            ledger,
            replace(
                new, facts=new.facts.replace('"bounds": [', '"bounds": ["-7", "7"], "ours": [')
            ),
        )
        put(ledger, new)

    monkeypatch.setattr(Ledger, "put_named", put_twice)
    result = session.execute(MEAN)
    assert result.price.charged == 2
    assert any("[-7, 7], were found" in notice for notice in result.notices)


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_unit_moves_the_counts_by_no_more_than_is_charged(
    tmp_path: Path, delta: str, neighbours: str
) -> None:
    """Limits of the table are below a unit's rows: none of them is in the claim,
    and each unit has one place.
    """
    file = written(tmp_path / "claim", delta=delta, neighbours=neighbours)
    with closing(opened(file)) as session:
        plan = session._bounds._find(("payments", "amount"))
        noises = [mechanism.node for table in plan.tables for mechanism in counts_of(table)]
        assert plan.cost == noises[0].cost + noises[1].cost and len(noises) == 2
        assert plan.price == 1 and plan.cost.rho <= Fraction(1, 2)
        assert delta != "0" or plan.cost.epsilon == 1
    with duckdb.connect(str(file.with_name("payments.duckdb"))) as connection:
        connection.execute("ATTACH ':memory:' AS source")
        for name in ("people", "payments"):
            connection.execute(f"CREATE TABLE source.main.{name} AS FROM {name}")

        def counts() -> list[dict[int, int]]:
            found: list[dict[int, int]] = [{}, {}]
            for number, place, count in connection.execute(plan.tables[0].core.sql).fetchall():
                if number is not None:
                    found[number][place] = count
            return found

        whole, lacking = counts(), []
        for unit in (0, 1, 17, 89, 599):
            connection.execute("BEGIN")
            for name in ("payments", "people"):
                connection.execute(f"DELETE FROM source.main.{name} WHERE person = {unit}")
            lacking.append(counts())
            connection.execute("ROLLBACK")
    pairs = [(whole, each) for each in lacking]
    if neighbours == "replace":
        pairs = [(one, other) for one in lacking for other in lacking]
    used = []
    for one, other in pairs:
        for noise, left, right in zip(noises, one, other, strict=True):
            apart = [abs(left.get(place, 0) - right.get(place, 0)) for place in {*left, *right}]
            if isinstance(noise, Laplace):
                used.append(Fraction(sum(apart), noise.l1))
            else:
                assert isinstance(noise, Gaussian)
                used.append(Fraction(sum(each**2 for each in apart), noise.l2_squared))
    assert max(used) == (Fraction(1, 2) if neighbours == "replace" and delta != "0" else 1)
