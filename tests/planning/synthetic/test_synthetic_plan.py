"""Columns of a synthetic table have a few public places each, and its plan costs what was asked."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from databases import clinic

from dpsql.errors import Error, Refused
from dpsql.planning.synthetic.model_columns import ModelColumn
from dpsql.planning.synthetic.plan import synthetic_plan
from dpsql.privacy.mechanism import ConcentratedExponential
from dpsql.schema import Column
from dpsql.session import Session, open_session
from dpsql.session.request import named_statement


def column(**declared: Any) -> ModelColumn:
    return ModelColumn("c", "c", Column(**declared))


COLUMNS = {
    "few integers": (column(type="integer", bounds=[-2, 3]), "INTEGER", [-2, 0, 3], 6),
    "many integers": (
        column(type="integer", bounds=[18, 100], nullable=True),
        "INTEGER",
        [18, 59, 100, None],
        33,
    ),
    "one integer": (column(type="integer", bounds=[5, 5]), "INTEGER", [5], 1),
    "decimals": (
        column(type="decimal(5,2)", bounds=[-1, 80]),
        "DECIMAL(5,2)",
        [Decimal("-1.00"), Decimal(79)],
        32,
    ),
    "doubles": (
        column(type="double", bounds=[0, 0.5], nullable=True),
        "DOUBLE",
        [0.0, 0.1, None],
        33,
    ),
    "dates": (
        column(type="date", bounds=[date(2020, 1, 1), date(2020, 1, 9)]),
        "DATE",
        [date(2020, 1, 9)],
        9,
    ),
    "moments": (
        column(type="timestamp", bounds=[datetime(2020, 1, 1), datetime(2021, 1, 1)]),
        "TIMESTAMP",
        [datetime(2020, 1, 1), datetime(2020, 7, 1, 1, 2, 3)],
        32,
    ),
    "texts": (column(type="text", values=["f", "m"], nullable=True), "VARCHAR", ["f", None], 3),
    "truth": (column(type="boolean"), "BOOLEAN", [False, True], 2),
    "whole values": (column(type="integer", values=[7, 9]), "INTEGER", [9], 2),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_drawn_of_a_place_lies_in_it(name: str) -> None:
    """DuckDB's place of each drawn value is the one that it was drawn for,
    in the column's own type.
    """
    own, sql_type, values, size = COLUMNS[name]
    assert own.size == size
    random = np.random.default_rng(1)
    places = np.repeat(np.arange(own.size), 5)
    drawn = own.drawn(places, random)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (place INTEGER, c {sql_type})")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", list(zip(places.tolist(), drawn, strict=True))
        )
        connection.executemany("INSERT INTO t VALUES (-1, ?)", [[value] for value in values])
        rows = connection.execute(f"SELECT place, {own.key}, c FROM t").fetchall()
    for place, key, value in rows:
        assert own.index_of(key) == place or place == -1
        if (
            value is not None
            and own.declared.bounds is not None
            and not own.declared.type.is_temporal
        ):
            low, high = own.declared.bounds
            assert low <= Fraction(value) <= high  # type: ignore[operator]
    assert {type(each) for each in drawn if each is not None} == {type(values[0])}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    opened = open_session(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


def planned(session: Session, body: str) -> Any:
    text = f"CREATE SYNTHETIC TABLE twins AS {body}"
    return (
        session._named_statements._makers["synthetic table"]
        ._draft(  # type: ignore[attr-defined]
            named_statement(text), text, (), session.settings
        )
        .plan
    )


@pytest.mark.parametrize("columns", ["sex", "sex, ward", "sex, weight, ward"])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_it_costs_what_was_asked_and_is_drawn_by_what_it_costs(
    session: Session, columns: str, mechanism: str
) -> None:
    session.mechanism = mechanism
    try:
        plan = planned(session, f"SELECT {columns} FROM patients PRICE 0.5")
    finally:
        session.mechanism = None
    cost = plan.cost
    assert (
        (cost.rho == Fraction(1, 8))
        if mechanism == "gaussian"
        else (cost.epsilon == Fraction(1, 2))
    )
    assert len(plan.reading.cores) == len(plan.columns) + len(plan.pairs)
    assert {core.norm for core in plan.reading.cores} == {"l1"}


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_choices_are_made_for_scores_that_move_apart_by_twice_a_unit_s_rows(
    session: Session, mechanism: str
) -> None:
    """Of five columns 8 of 10 pairs are chosen: the price is that of 5 columns,
    8 choices and 8 pairs.
    """
    (core,) = planned(session, "SELECT cost FROM visits PRICE 1").reading.cores
    columns = [
        ModelColumn(f"c{place}", "cost", session.schema.tables["visits"].columns["cost"])
        for place in range(5)
    ]
    privacy = session.schema.privacy.with_noise(mechanism)  # type: ignore[arg-type]
    plan = synthetic_plan("", columns, lambda _: core, privacy, Fraction(1, 2))
    assert plan.rounds == (3, 3, 2) and len(plan.pairs) == 10
    if isinstance(plan.choice, ConcentratedExponential):
        assert plan.choice.spread_squared == (2 * 3 * 2048) ** 2 and plan.cost.rho == Fraction(1, 8)
    else:
        assert (
            plan.choice is not None
            and plan.choice.spread == 2 * 3 * 2048
            and plan.cost.epsilon == Fraction(1, 2)
        )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("SELECT name FROM patients", "declare `values`"),
        ("SELECT patient FROM patients", "declare `bounds` or `values`"),
        ("SELECT nothing FROM patients", "no column"),
        ("SELECT * FROM patients", "names its columns"),
        ("SELECT sex, sex AS s FROM patients", "twice"),
        ("SELECT sex, ward AS sex FROM patients", "one name"),
        ("SELECT region FROM places", "public already"),
        ("SELECT sex FROM nowhere", "no table"),
        ("SELECT COUNT(*) FROM patients", "plain columns"),
        ("SELECT sex FROM patients LIMIT 3", "leave all but WHERE out"),
        ("SELECT sex FROM patients GROUP BY sex", "leave all but WHERE out"),
        (
            "SELECT p.sex FROM patients AS p JOIN visits USING (patient)",
            "leave all but WHERE|of one table",
        ),
        ("SELECT sex FROM (SELECT sex FROM patients) AS p", "of one table"),
        (
            "SELECT sex FROM patients WHERE ward > (SELECT AVG(ward) FROM patients)",
            "its table alone",
        ),
        ("SELECT sex FROM patients ROWS 0", "ROWS must be"),
        ("SELECT sex FROM patients PRICE 0", "above 0"),
        ("SELECT sex FROM patients PRICE 2000", "at most the total"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_charged(
    session: Session, body: str, reason: str
) -> None:
    spent = session.remaining.epsilon
    with pytest.raises(Error, match=reason):
        planned(session, body)
    assert session.remaining.epsilon == spent


def test_all_columns_are_listed_to_who_asks_for_them(session: Session) -> None:
    with pytest.raises(Refused) as refusal:
        planned(session, "SELECT * FROM patients")
    assert refusal.value.hint == "SELECT sex, weight, ward FROM patients"
    assert planned(session, refusal.value.hint).columns[0].name == "sex"


def test_explaining_is_free_and_says_what_is_measured(session: Session, tmp_path: Path) -> None:
    spent = session.remaining.epsilon
    lines = [
        row[0]
        for row in session.execute(
            "EXPLAIN PRIVACY CREATE SYNTHETIC TABLE twins AS SELECT sex, ward, weight FROM patients ROWS 9 PRICE 0.5"
        ).rows
    ]
    assert session.remaining.epsilon == spent
    text = "\n".join(map(str, lines))
    for part in (
        "sex (3 values)",
        "all pairs of columns",
        "standard deviation",
        "9 rows, of patients",
        "price: ε = 0.5",
    ):
        assert part in text
