"""Of a statement that earlier answers tell in part the rest is bought: as exact as alone,
for its part of the price.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from people import SCHEMA, opened, require_same, session_of, written

from dpsql.privacy.measure import FREE
from dpsql.session import Session
from dpsql.session.database import Database

NOISY = SCHEMA.replace("1e20", "1000").replace("1e8", "0.5")
COUNTS = "SELECT kind, flag, COUNT(*) AS n FROM people GROUP BY kind, flag"
BY_FLAG = "SELECT flag, COUNT(*) FROM people GROUP BY flag"
FIRST = (
    BY_FLAG,
    COUNTS,
    "SELECT place, COUNT(*) FROM visits GROUP BY place",
    "SELECT COUNT(*) FROM people WHERE w > 3",
)
#: Statements that these tell in part, and how many of their cells are bought.
PARTLY = (
    ("SELECT kind, COUNT(*) AS n, SUM(y) FROM people GROUP BY kind", 1),
    ("SELECT flag, AVG(w), COUNT(*) FROM people WHERE kind = 'a' GROUP BY flag", 2),
    ("SELECT COUNT(*), COUNT(y), SUM(w) FROM people WHERE NOT flag", 2),
    ("SELECT place, AVG(cost) FROM visits GROUP BY place", 1),
    (
        "SELECT place, SUM(cost), COUNT(*), COUNT(DISTINCT id) FROM visits WHERE place <> 'p' GROUP BY place",
        2,
    ),
    ("SELECT (SELECT COUNT(*) FROM people), (SELECT COUNT(*) FROM people WHERE y > 3)", 1),
)
#: Statements of which one core is no view once it is bought: told in part,
#: each would be bought #: twice.
WHOLE = (
    "SELECT (SELECT COUNT(*) FROM people), (SELECT MAX(y) FROM people)",
    "SELECT (SELECT COUNT(*) FROM people) + (SELECT SUM(w) FROM people), (SELECT MEDIAN(y) FROM people)",
    "SELECT free, COUNT(*) - (SELECT COUNT(*) FROM people) AS n FROM people GROUP BY free",
)


@pytest.fixture
def filled(data: Path, tmp_path: Path) -> Iterator[Database]:
    with closing(opened(data, tmp_path)) as found:
        for text in FIRST:
            session_of(found).execute(text)
        yield found


@pytest.mark.parametrize(("text", "cells"), PARTLY)
def test_what_is_missing_alone_is_bought(
    text: str, cells: int, filled: Database, truth: duckdb.DuckDBPyConnection
) -> None:
    session = session_of(filled)
    plan, spent = session.plan(text), session.remaining.spent.rho
    rest = session.purchase(plan)
    assert rest is not None and sum(len(core.cells) for core in rest.cores) == cells
    result = session.execute(text)
    require_same(result.rows, truth.execute(text).fetchall())
    assert (
        not result.price.stored
        and result.price.cost == rest.cost
        and 0 < rest.cost.rho < plan.cost.rho
    )
    assert session.remaining.spent.rho - spent == rest.cost.rounded_up().rho
    assert any(
        "made of earlier answers" in notice and "bought:" in notice for notice in result.notices
    )
    again = session.execute(text)
    require_same(again.rows, result.rows)
    assert again.price.cost == FREE, "what was bought is known from then on"


@pytest.mark.parametrize("text", WHOLE)
def test_what_would_be_bought_twice_is_bought_whole(text: str, filled: Database) -> None:
    session = session_of(filled)
    plan = session.plan(text)
    first, again = session.execute(text), session.execute(text)
    assert (
        first.price.cost == plan.cost
        and again.price.cost == FREE
        and repr(again.rows) == repr(first.rows)
    )


@pytest.fixture
def noisy(data: Path, tmp_path: Path) -> Iterator[Session]:
    with closing(opened(data, tmp_path, NOISY)) as database:
        yield database.session("ada")


TOTALS = "SELECT kind, COUNT(*) AS n, SUM(y) + 100000 AS total FROM people GROUP BY kind"


def test_what_is_bought_is_as_exact_as_in_a_new_answer(noisy: Session) -> None:
    noisy.execute(COUNTS)
    plan = noisy.plan(TOTALS)
    rest = noisy.purchase(plan)
    assert rest is not None and rest.cores[0].cells == plan.cores[0].cells[1:]
    assert rest.price == Fraction(707107, 10**6) * plan.price, "the price of half of ρ, rounded up"
    result = noisy.execute(TOTALS)
    half = float(plan.cores[0].half_widths(0.95)[1])
    for (kind, *_), row in zip(result.rows, result.intervals, strict=True):
        if kind != "c":  # which has no rows, so that its interval is cut
            assert row[2] is not None and (row[2][1] - row[2][0]) / 2 == pytest.approx(
                half, rel=1e-6
            )
    assert result.price.charged == rest.price


def test_what_is_known_much_less_exactly_is_bought(noisy: Session) -> None:
    bands = "flag, CASE WHEN y > 6 THEN 2 WHEN y > 3 THEN 1 ELSE 0 END, CASE WHEN z > 4 THEN 1 ELSE 0 END"
    noisy.execute(f"SELECT {bands}, COUNT(*) FROM people GROUP BY ALL")
    assert noisy.explain("REFINE SELECT COUNT(*) FROM people").epsilon < noisy.epsilon, (
        "it is known, if less exactly"
    )
    text = "SELECT COUNT(*), SUM(y) FROM people"
    assert noisy.purchase(plan := noisy.plan(text)) is plan
    noisy.set("dpsql.reuse", "off")
    noisy.execute(BY_FLAG)
    noisy.set("dpsql.reuse", "on")
    assert noisy.purchase(plan) is not plan


def test_a_statement_of_which_evidence_alone_is_known_is_bought_as_it_stands(
    noisy: Session,
) -> None:
    noisy.execute("SELECT kind, COUNT(*) FROM people GROUP BY kind")
    noisy.set("dpsql.empty_groups", "hide")
    plan = noisy.plan("SELECT kind, AVG(y) FROM people GROUP BY kind")
    assert plan.cores[0].presence is not None and noisy.purchase(plan) is plan


def test_explain_says_what_is_known_and_what_is_bought(noisy: Session) -> None:
    noisy.execute(COUNTS)
    found = noisy.explain(TOTALS)
    assert not found.stored and found.epsilon < noisy.epsilon and len(found.cells) == 1
    known, bought, _ = found.made_of
    assert "rows; these are entry 1 of the ledger (kind, flag)" in known and "sum (y)" in bought
    assert noisy.explain(f"REFINE {TOTALS}").epsilon == noisy.epsilon
    assert noisy.execute(TOTALS).price.charged == found.epsilon


def test_which_cells_are_bought_does_not_depend_on_data_or_noise(tmp_path: Path) -> None:
    found = []
    for number, where in enumerate(("true", "i <> 17", "i < 3")):
        folder = tmp_path / str(number)
        folder.mkdir()
        written(folder, where)
        with closing(opened(folder, folder, NOISY)) as database:
            session = database.session("ada")
            for text in (*FIRST, *(text for text, _ in PARTLY)):
                session.execute(text)
            found.append(
                [
                    (each.statement, each.cells, each.cost)
                    for each in database.accountant.ledger.history()
                ]
            )
    assert found[0] == found[1] == found[2]
