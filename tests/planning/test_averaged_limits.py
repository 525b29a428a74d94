"""Averages have a limit of their own, and each aggregate is held to its own,
whatever stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from databases import without_noise
from hand_world import PROMISES, hand_world
from neighbours import faults, planned

from dpsql.planning.plan import CorePlan
from dpsql.planning.view_matching import view_of
from dpsql.schema import loads
from dpsql.session import Session, open_session
from dpsql.sql.ir.core import ClampedSum, ProductSum, RowCount

STATEMENTS = [
    "SELECT AVG(signed) FROM visits",
    "SELECT small, AVG(signed) FROM visits GROUP BY small",
    "SELECT small, COUNT(*), SUM(signed), AVG(signed), AVG(price) FROM visits GROUP BY small",
    "SELECT small, SUM(price), VAR_SAMP(price), CORR(signed, price) FROM visits GROUP BY small",
    "SELECT small, AVG(price) FILTER (WHERE signed > 0), COUNT(DISTINCT pid) FROM visits GROUP BY small",
    "SELECT p.grade, AVG(v.price), SUM(v.price) FROM visits v JOIN people p ON v.pid = p.id GROUP BY p.grade",
    "SELECT v.small, AVG(i.share), COUNT(*) FROM items i JOIN visits v ON i.visit = v.id GROUP BY v.small",
]


@pytest.mark.parametrize("promise", PROMISES)
def test_a_unit_changes_each_cell_by_no_more_than_its_own_limit(promise: str) -> None:
    if promise != "L1":
        assert not faults(
            hand_world("averages", promise),
            [*STATEMENTS, "SELECT word, AVG(price), COUNT(*) FROM visits GROUP BY word"],
        )
    assert not faults(hand_world("averages", promise), STATEMENTS)


def limits(core: CorePlan) -> dict[tuple[type, bool], int]:
    """How many rows of a unit count in full in each kind of cell,
    and whether averages alone read it.
    """
    return {
        (type(each.contribution.cell), each.contribution.cell.averaged): each.contribution.rows
        for each in core.cells
        if isinstance(each.contribution.cell, RowCount | ClampedSum | ProductSum)
    }


def test_each_aggregate_has_the_limit_that_is_declared_for_it() -> None:
    """Five rows, three groups, one row in a group for averages and two for others:
    √3 and √12 in L2.
    """
    text = (
        "SELECT small, COUNT(*), SUM(price), AVG(price), STDDEV(price) FROM visits GROUP BY small"
    )
    (core,) = planned(hand_world("averages", "L1"), text)
    one, many = 3, 5
    assert limits(core) == {
        (RowCount, False): many,
        (ClampedSum, False): many,
        (RowCount, True): one,
        (ClampedSum, True): one,
        (ProductSum, True): one,
    }
    (core,) = planned(hand_world("averages", "L2"), text)
    assert {averaged: most for (_, averaged), most in limits(core).items()} == {True: 1, False: 3}
    (alone,) = planned(
        hand_world("averages", "L2"), "SELECT small, AVG(price) FROM visits GROUP BY small"
    )
    assert limits(alone) == {(ClampedSum, True): 1, (RowCount, True): 1}


def test_one_limit_for_all_leaves_their_cells_shared() -> None:
    (core,) = planned(
        hand_world("all"),
        "SELECT small, COUNT(*), SUM(price), AVG(price) FROM visits GROUP BY small",
    )
    assert limits(core).keys() == {(RowCount, False), (ClampedSum, False)}


def test_sums_of_squares_have_the_limit_of_sums() -> None:
    """REGR_SXX is no ratio: a unit that is scaled down would be missing in it."""
    (core,) = planned(
        hand_world("averages"),
        "SELECT small, REGR_SXX(price, signed), AVG(price) FROM visits GROUP BY small",
    )
    assert {kind for kind, averaged in limits(core) if not averaged} == {
        RowCount,
        ClampedSum,
        ProductSum,
    }
    assert {kind for kind, averaged in limits(core) if averaged} == {RowCount, ClampedSum}


def test_what_averages_weigh_is_kept_as_no_count_and_no_sum() -> None:
    (core,) = planned(
        hand_world("averages"), "SELECT small, AVG(signed), COUNT(*) FROM visits GROUP BY small"
    )
    view = view_of(core, "", 0, 0, 6)
    assert view is not None
    kept = [core.cells[each.place].contribution.cell for each in view.cells]
    assert len(core.cells) == 3 and kept == [RowCount(None, None)]


SCHEMA = """
name = "shop"
source = "{source}"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 1e-6
query_epsilon = 10
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
[tables.buys]
references = {{ id = "people.id" }}
max_rows_per_unit = 40
max_groups_per_unit = 4
max_rows_per_group = {limit}
[tables.buys.columns]
id = {{ type = "integer" }}
kind = {{ type = "integer", values = [0, 1, 2, 3] }}
paid = {{ type = "double", bounds = [0, 100], nullable = false }}
"""


def opened(folder: Path, limit: str) -> Session:
    source = folder / "shop.duckdb"
    if not source.exists():
        with duckdb.connect(str(source)) as connection:
            connection.execute(
                "CREATE TABLE people AS SELECT i::INTEGER AS id FROM range(200) t(i)"
            )
            connection.execute(
                "CREATE TABLE buys AS SELECT i::INTEGER AS id, (j % 4)::INTEGER AS kind, (i % 50)::DOUBLE AS paid "
                "FROM range(200) t(i), range(40) u(j) WHERE j < 4 OR i % 20 = 0"
            )
    return open_session(
        loads(SCHEMA.format(source=source, limit=limit)), ledger=folder / f"{len(limit)}.ledger"
    )


@pytest.fixture
def noiseless() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        yield


@pytest.mark.usefixtures("noiseless")
def test_counts_and_sums_are_in_full_where_averages_are_weighed(tmp_path: Path) -> None:
    """Ten of 200 people bought ten of each kind, the others one:
    in an average they weigh √10 or so, not ten times.
    """
    text = "SELECT kind, COUNT(*), SUM(paid), AVG(paid) FROM buys GROUP BY kind"
    session = opened(tmp_path, "{ avg = 1, sum = 40 }")
    rows = session.answer(session.plan(text)).rows
    session.close()
    session = opened(tmp_path, "40")
    plain = session.answer(session.plan(text)).rows
    session.close()
    assert [row[:3] for row in rows] == [row[:3] for row in plain]
    assert all(row[1] == 290 for row in rows)
    assert all(
        own[3] == pytest.approx(other[3], abs=3) and own[3] != other[3]
        for own, other in zip(rows, plain, strict=True)
    )


@pytest.mark.usefixtures("noiseless")
def test_an_average_is_made_of_totals_of_one_weight(tmp_path: Path) -> None:
    """Where a count is known and the sum is not, both are bought; where both are known,
    the average is free.
    """
    average, by_kind = "SELECT kind, AVG(paid) FROM buys GROUP BY kind", "FROM buys GROUP BY kind"
    session = opened(tmp_path, "{ avg = 1, sum = 40 }")
    weighed = session.answer(session.plan(average)).rows
    assert session.answer(session.plan(f"SELECT kind, COUNT(*) {by_kind}")).rows[0][1] == 290, (
        "no count of the average"
    )
    session.close()
    session = opened(tmp_path, "{ avg = 1, sum = 40  }")
    session.epsilon = Fraction(
        300
    )  # so that the count is exact enough for an average at the usual price
    session.answer(session.plan(f"SELECT kind, COUNT(*) {by_kind}"))
    session.epsilon = None
    assert session.answer(session.plan(average)).rows == weighed
    session.close()
    session = opened(tmp_path, "{ avg = 1,  sum = 40  }")
    (row, *_) = session.answer(session.plan(f"SELECT kind, COUNT(*), SUM(paid) {by_kind}")).rows
    free = session.answer(session.plan(average))
    assert not free.price.cost.rho and free.rows[0][1] == pytest.approx(row[2] / row[1])
    session.close()


def test_the_clipping_report_tells_what_averages_and_others_count_in_part(tmp_path: Path) -> None:
    session = opened(tmp_path, "{ avg = 1, sum = 40 }")
    session.set("dpsql.clipping", "report")
    both = session.answer(
        session.plan("SELECT kind, COUNT(*), AVG(paid) FROM buys GROUP BY kind")
    ).notices
    told = [
        re.findall(r"have more than (\d+) rows and may count in part( in averages)?", each)
        for each in both
    ]
    assert [each[0] for each in told if each] == [("4", " in averages"), ("40", "")]
    count = session.answer(session.plan("SELECT kind, COUNT(*) FROM buys GROUP BY kind")).notices
    assert not any("in averages" in each for each in count)
    session.close()


def test_a_synopsis_tells_averages_and_counts(tmp_path: Path) -> None:
    session = opened(tmp_path, "{ avg = 1, sum = 40 }")
    session.execute(
        "CREATE SYNOPSIS kinds AS SELECT kind, COUNT(*), AVG(paid) FROM buys GROUP BY kind "
        "FOR (SELECT kind, AVG(paid) FROM buys GROUP BY kind; SELECT COUNT(*) FROM buys)"
    )
    spent = session.accountant.spent(None).total
    for text in (
        "SELECT kind, AVG(paid) FROM buys GROUP BY kind",
        "SELECT COUNT(*), SUM(paid) FROM buys",
    ):
        assert session.is_paid(session.plan(text)), text
        session.answer(session.plan(text))
    assert session.accountant.spent(None).total == spent
    session.close()


def test_an_average_by_keys_is_told_more_exactly_by_its_limit(tmp_path: Path) -> None:
    text = "SELECT kind, AVG(paid) FROM buys GROUP BY kind"
    errors = []
    for limit in ("{ avg = 1, sum = 40 }", "40"):
        session = opened(tmp_path, limit)
        (core,) = session.plan(text).cores
        errors.append(float(core.half_widths(0.95)[0]))
        session.close()
    assert errors[0] * 6 < errors[1]
