"""Ladders are public, a unit has one place on each, and a tuning costs what its noisy counts do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.errors import BudgetExhausted
from dpsql.planning.tuning import (
    ROWS_SHARE,
    Ladder,
    TuningPlan,
    counts_of,
    of_bounds,
    of_limits,
    parts_of,
)
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.schema import SqlType
from dpsql.schema.authoring.missing_limits import MissingLimits, missing_limits
from dpsql.schema.table import MAX_LIMIT
from dpsql.session import Session, open_session
from dpsql.session.tuning.tuner import OWNER, taken

LADDERS: dict[str, tuple[Ladder, str]] = {
    "limits": (of_limits(), "BIGINT"),
    "whole numbers": (of_bounds(SqlType.parse("integer")), "BIGINT"),
    "decimals": (of_bounds(SqlType.parse("decimal(6,2)")), "DECIMAL(6,2)"),
    "doubles": (of_bounds(SqlType.parse("double")), "DOUBLE"),
}
#: By this share of itself a number may lie above its rung: logarithms are doubles.
SLACK = Fraction(12, 1000)


def places(ladder: Ladder, sql_type: str, numbers: list[Any]) -> list[int]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (place INTEGER, x {sql_type})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(numbers)))
        text = f"SELECT {ladder.rung_sql('x')} FROM (SELECT place, x::DOUBLE AS x FROM t) ORDER BY place"
        return [place for (place,) in connection.execute(text).fetchall()]


@pytest.mark.parametrize("name", LADDERS)
def test_a_number_has_the_place_of_the_first_rung_that_it_does_not_exceed(name: str) -> None:
    """The rungs themselves, numbers just above them, and between the smallest rung and 0."""
    ladder, sql_type = LADDERS[name]
    rungs = ladder.rungs
    assert list(rungs) == sorted(rungs) and (
        name == "limits" or set(rungs) == {-rung for rung in rungs}
    )
    numbers = [rung for rung in rungs if abs(rung) < 10**18]
    if sql_type == "DOUBLE":
        numbers += [
            rung * factor for rung in rungs for factor in (Fraction(101, 100), Fraction(9, 10))
        ]
    found = places(
        ladder,
        sql_type,
        [float(each) if sql_type == "DOUBLE" else str(float(each)) for each in numbers],
    )
    for number, place in zip(numbers, found, strict=True):
        slack = abs(number) * SLACK
        assert number <= rungs[place] + slack or place == len(rungs) - 1, (number, rungs[place])
        assert place == 0 or number > rungs[place - 1] - slack, (number, rungs[place - 1])


@pytest.mark.parametrize("name", LADDERS)
def test_every_value_has_a_place_on_the_ladder(name: str) -> None:
    ladder, sql_type = LADDERS[name]
    hostile: dict[str, list[Any]] = {
        "BIGINT": [None, 0, -(2**63), 2**63 - 1],
        "DECIMAL(6,2)": [None, "-9999.99", "9999.99", "0.01"],
        "DOUBLE": [None, "nan", "inf", "-inf", "1e308", "-1e308", "5e-324", "-0.0"],
    }
    found = places(ladder, sql_type, hostile[sql_type])
    assert found[0] == 0 and all(0 <= place < len(ladder.rungs) for place in found)


def test_ladders_go_as_far_as_limits_and_types_do() -> None:
    assert of_limits().rungs[0] == 1 and of_limits().rungs[-1] == MAX_LIMIT
    assert of_bounds(SqlType.parse("decimal(6,2)")).rungs[-1] == Fraction("9999.99")
    assert of_bounds(SqlType.parse("integer")).rungs[-1] == 10**18
    for text in ("integer", "decimal(6,2)"):
        grid = Fraction(1, 100) if text != "integer" else Fraction(1)
        assert all((rung / grid).denominator == 1 for rung in of_bounds(SqlType.parse(text)).rungs)


SCHEMA = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "people.id"
epsilon = 10
delta = {delta}
query_epsilon = 0.1
{neighbours}
[tables.people]
key = "id"
[tables.people.columns]
id = {{ type = "integer" }}
income = {{ type = "double", nullable = true }}
[tables.orders]
references = {{ person = "people.id" }}
key = "number"
[tables.orders.columns]
number = {{ type = "integer" }}
person = {{ type = "integer" }}
shop = {{ type = "text", values = ["a", "b", "c"] }}
[tables.lines]
references = {{ order_number = "orders.number" }}
[tables.lines.columns]
order_number = {{ type = "integer" }}
express = {{ type = "boolean" }}
price = {{ type = "decimal(8,2)" }}
"""


def filled(place: Path) -> None:
    """Forty people: person i has i % 7 orders over three shops, each with up to four lines;
    some have odd incomes.
    """
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i::INTEGER AS id, CASE i WHEN 1 THEN 'nan'::DOUBLE "
            "WHEN 2 THEN 'inf'::DOUBLE WHEN 3 THEN NULL WHEN 4 THEN -1e308 ELSE 1000.0 * i END "
            "AS income FROM range(1, 41) t(i)"
        )
        connection.execute(
            "CREATE TABLE orders AS SELECT (100 * i + j)::INTEGER AS number, i::INTEGER AS person, "
            "chr((97 + j % 3)::INTEGER) AS shop FROM range(1, 41) t(i), range(7) u(j) WHERE j < i % 7"
        )
        connection.execute(
            "CREATE TABLE lines AS SELECT number AS order_number, k % 2 = 0 AS express, "
            "(number % 100 + k)::DECIMAL(8,2) AS price FROM orders, range(4) t(k) WHERE k <= number % 4"
        )


def opened(
    folder: Path, neighbours: str = "", delta: str = "1e-6"
) -> tuple[Session, MissingLimits]:
    folder.mkdir(exist_ok=True)
    if not (folder / "shop.duckdb").exists():
        filled(folder / "shop.duckdb")
    file = folder / "shop.toml"
    file.write_text(SCHEMA.format(neighbours=neighbours, delta=delta))
    wanted = missing_limits(file)
    return open_session(wanted.unlimited, OWNER, folder / "shop.ledger"), wanted


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, MissingLimits]]:
    session, wanted = opened(tmp_path_factory.mktemp("shop"))
    yield session, wanted
    session.close()


def test_what_the_schema_leaves_open_is_asked(shop: tuple[Session, MissingLimits]) -> None:
    session, wanted = shop
    assert wanted.alone == ("people",)
    asked = session.tuner.plan(wanted, Fraction(1, 10)).tables
    found = [(each.table, each.column, each.sought) for table in asked for each in table.questions]
    limits = ("rows per unit", "groups per unit", "rows per group")
    assert found == [
        ("people", "income", "low"),
        ("people", "income", "high"),
        *(("orders", None, limit) for limit in limits),
        *(("lines", None, limit) for limit in limits),
        ("lines", "price", "low"),
        ("lines", "price", "high"),
    ]


def test_a_table_of_many_columns_without_limits_is_asked(tmp_path: Path) -> None:
    """One statement for all of them was refused:
    it computed too much of a row of a unit that may have very many.
    """
    kinds = ("integer", "double", "decimal(8,2)", "decimal(38,10)")
    columns = {f"c{place}": kinds[place % len(kinds)] for place in range(24)}
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        values = ", ".join(f"i::{kind} AS {name}" for name, kind in columns.items())
        connection.execute("CREATE TABLE people AS SELECT i AS id FROM range(300) t(i)")
        connection.execute(
            f"CREATE TABLE lines AS SELECT i % 300 AS person, i % 2 = 0 AS paid, {values} FROM range(900) t(i)"
        )
    head, _, _ = SCHEMA.format(neighbours="", delta="1e-6").partition("key = ")
    (tmp_path / "shop.toml").write_text(
        f'{head}[tables.people.columns]\nid = {{ type = "integer" }}\n[tables.lines]\n'
        'references = { person = "people.id" }\n[tables.lines.columns]\nperson = { type = "integer" }\n'
        'paid = { type = "boolean" }\n'
        + "".join(f'{name} = {{ type = "{kind}" }}\n' for name, kind in columns.items())
    )
    wanted = missing_limits(tmp_path / "shop.toml")
    with closing(open_session(wanted.unlimited, OWNER, tmp_path / "shop.ledger")) as session:
        plan = session.tuner.plan(wanted, Fraction(1, 2))
        found = session.tuner.find(plan).counts
    assert {question.column for question in found if question.table == "lines"} == {None, *columns}
    assert len(plan.tables) == 1 + 1 + len(columns)


@pytest.mark.parametrize("delta", ["1e-6", "0"])
def test_it_costs_the_sum_of_its_counts_and_no_more_than_its_share(
    tmp_path: Path, delta: str
) -> None:
    session, wanted = opened(tmp_path / "shop", delta=delta)
    budget, privacy = session.accountant.budget, wanted.schema.privacy
    for share in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)):
        plan = session.tuner.plan(wanted, share)
        counts = [each for table in plan.tables for each in counts_of(table)]
        assert len(counts) == 10 and all(
            isinstance(each.node, Laplace if delta == "0" else Gaussian) for each in counts
        )
        assert plan.cost == sum([each.node.cost for each in counts[1:]], counts[0].node.cost)
        assert share * Fraction(99, 100) < taken(budget, privacy, plan.cost) <= share
    session.close()


def test_the_numbers_of_rows_have_the_most_of_the_price(
    shop: tuple[Session, MissingLimits],
) -> None:
    session, wanted = shop
    plan = session.tuner.plan(wanted, Fraction(1, 10))
    questions = [question for table in plan.tables for question in table.questions]
    parts = parts_of(questions)
    assert sum(parts.values()) == 1
    assert (
        sum(part for question, part in parts.items() if question.sought == "rows per unit")
        == ROWS_SHARE
    )
    assert (
        len({part for question, part in parts.items() if question.sought != "rows per unit"}) == 1
    )
    assert {parts_of([question])[question] for question in questions} == {1}
    rows, bounds = plan.deviation("rows per unit"), plan.deviation("high")
    assert rows is not None and bounds is not None
    assert bounds**2 / rows**2 == pytest.approx(
        float(ROWS_SHARE / 2 / ((1 - ROWS_SHARE) / 8)), rel=1e-3
    )


def exact(plan: TuningPlan, connection: duckdb.DuckDBPyConnection) -> list[list[int]]:
    """For each question the exact number of units in each place, in the steps of its histogram."""
    found = []
    for table in plan.tables:
        histograms = [[0] * len(question.ladder.rungs) for question in table.questions]
        for number, place, count in connection.execute(table.core.sql).fetchall():
            if number is not None:
                histograms[number][place] = count
        found += histograms
    return found


def moved(one: list[int], other: list[int], noise: Laplace | Gaussian) -> Fraction:
    """How far apart two vectors of counts are, as a part of what the noise is made for."""
    apart = [abs(left - right) for left, right in zip(one, other, strict=True)]
    if isinstance(noise, Laplace):
        return Fraction(sum(apart), noise.l1)
    return Fraction(sum(each**2 for each in apart), noise.l2_squared)


@pytest.mark.parametrize("delta", ["1e-6", "0"])
@pytest.mark.parametrize("neighbours", ["", 'neighbours = "replace"'])
def test_a_unit_moves_the_counts_by_no_more_than_the_noise_is_made_for(
    tmp_path: Path, neighbours: str, delta: str
) -> None:
    """One that comes or goes moves one count, by all that the claim allows;
    one that is replaced moves two.
    """
    session, wanted = opened(tmp_path / "whole", neighbours, delta)
    plan = session.tuner.plan(wanted, Fraction(1, 10))
    session.close()
    noises = [each.node for table in plan.tables for each in counts_of(table)]
    with duckdb.connect(str(tmp_path / "whole" / "shop.duckdb")) as connection:
        connection.execute("ATTACH ':memory:' AS source")
        for name in ("people", "orders", "lines"):
            connection.execute(f"CREATE TABLE source.main.{name} AS FROM {name}")
        whole = exact(plan, connection)
        without = []
        for unit in (1, 2, 3, 4, 6, 13, 20, 35, 40):
            connection.execute("BEGIN")
            connection.execute(f"DELETE FROM source.main.lines WHERE order_number // 100 = {unit}")
            connection.execute(f"DELETE FROM source.main.orders WHERE person = {unit}")
            connection.execute(f"DELETE FROM source.main.people WHERE id = {unit}")
            without.append(exact(plan, connection))
            connection.execute("ROLLBACK")
    largest = Fraction(0)
    pairs = [(whole, lacking) for lacking in without]
    # a neighbour lacks one unit and has another in its place: both of these lack one of the whole
    if neighbours:
        pairs = [(one_lacks, other_lacks) for one_lacks in without for other_lacks in without]
    for one, other in pairs:
        for noise, left, right in zip(noises, one, other, strict=True):
            largest = max(largest, moved(left, right, noise))
    assert largest == (Fraction(1, 2) if neighbours and delta != "0" else 1)


def test_a_tuning_is_charged_once_before_it_reads(shop: tuple[Session, MissingLimits]) -> None:
    session, wanted = shop
    before = session.accountant.spent(OWNER).total
    plan = session.tuner.plan(wanted, Fraction(1, 10))
    assert session.accountant.spent(OWNER).total == before, "planning costs nothing"
    found = session.tuner.find(plan)
    (*_, entry) = session.accountant.ledger.history()
    assert (entry.seq, entry.analyst, entry.cost) == (found.entry, OWNER, plan.cost.rounded_up())
    assert (
        entry.statement.startswith("dpsql schema tune: bounds of people.income")
        or "max_rows" in entry.statement
    )
    assert session.tuner.before()[-1][0] == entry.seq
    assert {question.table for question in found.counts} == {"people", "orders", "lines"}


def test_a_budget_that_does_not_hold_it_refuses_and_charges_nothing(tmp_path: Path) -> None:
    session, wanted = opened(tmp_path / "small")
    plan = session.tuner.plan(wanted, Fraction(1, 2))
    for _ in range(2):
        session.tuner.find(plan)
    spent = session.accountant.spent(OWNER).total
    with pytest.raises(BudgetExhausted):
        session.tuner.find(plan)
    with pytest.raises(BudgetExhausted):
        session.tuner.require_affordable(plan)
    assert session.accountant.spent(OWNER).total == spent
    session.close()
