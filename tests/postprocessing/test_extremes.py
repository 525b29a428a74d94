"""The greatest and the least of released numbers: how far they may be off where noise chooses which one it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from released_numbers import TAIL, half_width, table_of

from dpsql.engines.exact import ExactRows
from dpsql.postprocessing.intervals.order_statistics import farthest
from dpsql.release.noise import release
from dpsql.schema import loads
from dpsql.session import Session, open_session

SCHEMA = """
name = "lots"
source = "{source}"
[privacy]
unit = "people.person"
epsilon = 100
query_epsilon = 1
{delta}
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
lot = {{ type = "integer", values = [{lots}] }}
x = {{ type = "integer", bounds = [0, 10] }}
"""
LOTS = 20
COUNTS = "FROM (SELECT lot, COUNT(*) AS n FROM people GROUP BY lot) AS g"
WIDE = "SELECT lot, COUNT(*) AS n, SUM(x) AS s, COUNT(x) AS m FROM people GROUP BY lot"
BOTH = f"SELECT MAX(n), MIN(n), ROUND(CAST(MAX(n) AS DOUBLE), 6), SUM(n) {COUNTS}"


@pytest.mark.parametrize("law", ["Laplace", "Gaussian"])
@pytest.mark.parametrize(("values", "alike"), [
    ([5.0], [1]), ([5.0] * 20, [20] * 20), ([0.0, 100.0, 200.0], [1, 1, 1]), ([0.0, 1.0, 1.5, 90.0], [3, 3, 3, 1]),
    ([0.0, 3.5, 7.0], [2, 3, 2]),
])  # fmt: skip
def test_each_is_as_far_off_as_its_part_of_what_may_fail_lets_it(
    law: str, values: list[float], alike: list[int]
) -> None:
    ((*rows,),) = farthest([table_of(law, values)], 1 - TAIL).values
    for value, k, ((low, high),) in zip(values, alike, rows, strict=True):
        half = half_width(law, 2 * TAIL / k)
        assert (low, high) == pytest.approx((value - half, value + half))


@pytest.fixture(params=["Laplace", "Gaussian"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with duckdb.connect(str(tmp_path / "lots.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT r AS person, r % {LOTS} AS lot, r % 11 AS x FROM range(4000) t(r)"
        )
    delta = "delta = 0" if request.param == "Laplace" else "delta = 1e-6"
    text = SCHEMA.format(source=tmp_path / "lots.duckdb", delta=delta, lots=", ".join(map(str, range(LOTS))))
    with closing(open_session(loads(text), ledger=tmp_path / "ledger")) as opened:
        yield opened


def test_the_extremes_of_equal_counts_reach_as_far_as_one_of_twenty_may_be_off(session: Session) -> None:
    """Twenty releases of exact rows: each of them goes that far, and to the other side no farther than one number."""
    plan = session.plan(BOTH)
    charge = session.accountant.spend(plan.written(), analyst="test", statement=BOTH)
    with session._execution.engine.run(charge) as reading:
        rows = reading.stage([]).reveal()
    with session._turns.sandbox() as shell:
        for _ in range(20):
            released = release(ExactRows(rows), plan.cores, 1 - TAIL)
            found = shell.run(plan, released)
            (row,), (bars,) = found.rows, found.intervals
            (table,) = released.tables
            ((reach,),) = {(row[0].shape,) for row in farthest([table], 1 - TAIL).values[0]}
            assert reach == (2,)
            ends = [each[0] for each in farthest([table], 1 - TAIL).values[0]]
            assert bars[0][0] <= max(low for low, _ in ends) + 1e-9
            assert bars[1][1] >= min(high for _, high in ends) - 1e-9
            assert bars[2] == pytest.approx(bars[0], abs=1e-5)
            assert row[0] < bars[0][1] and bars[1][0] < row[1]
            below, above = row[0] - bars[0][0], bars[0][1] - row[0]
            assert below > above / 2


@pytest.mark.parametrize(("item", "greatest", "least"), [
    ("MAX(n)", True, False), ("MIN(n) OVER ()", False, True), ("ROUND(MAX(n) FILTER (WHERE lot > 3), 1)", True, False),
    ("MAX(1000 - n)", True, False), ("MAX(s / n)", False, False), ("MIN(n * 1.0 / m)", False, False),
    ("MAX(w)", False, False), ("SUM(n)", False, False), ("MAX(n) - MIN(n)", False, False),
])  # fmt: skip
def test_only_of_one_released_number_the_ends_are_known(
    session: Session, item: str, greatest: bool, least: bool
) -> None:
    """Of what is made of several numbers draws alone tell, and by how much they move on the average."""
    rows = f"SELECT lot, n, s, m, s / n AS w FROM ({WIDE}) AS c"
    assert behind(session, f"SELECT {item} FROM ({rows}) AS g") == (greatest, least)


@pytest.mark.parametrize(("item", "inner", "greatest", "least"), [
    ("MAX(y)", "MIN(n)", True, True), ("MIN(y)", "MAX(n)", True, True), ("MAX(y)", "MAX(n)", True, False),
    ("MIN(1 - y)", "ROUND(MAX(n), 1)", True, True), ("MIN(y) OVER ()", "MIN(n)", False, True),
    ("MAX(0 - y)", "MAX(n)", True, True), ("MAX(CAST(y AS DOUBLE))", "MAX(2 - n)", True, False),
    ("MAX(y)", "SUM(n)", False, False), ("MAX(y)", "MIN(n) + MAX(n)", False, False), ("SUM(y)", "MAX(n)", False, False),
    ("MAX(y + two)", "MIN(n)", False, False), ("MAX(y)", "MIN(n * s)", False, False),
])  # fmt: skip
def test_of_the_greatest_of_the_least_the_ends_are_known_on_both_sides(
    session: Session, item: str, inner: str, greatest: bool, least: bool
) -> None:
    rows = f"SELECT lot % 2 AS two, {inner} AS y FROM ({WIDE}) AS c GROUP BY lot % 2"
    assert behind(session, f"SELECT {item} FROM ({rows}) AS g") == (greatest, least)
    assert behind(session, f"SELECT {item} FROM (SELECT two, y FROM ({rows}) AS h) AS g") == (greatest, least)


@pytest.mark.parametrize(("item", "chosen"), [
    ("MAX(n) - MIN(n)", True), ("FIRST(n ORDER BY n DESC)", True), ("LIST(n ORDER BY n)[1]", True), ("MAD(n)", True),
    ("STDDEV(n)", True), ("SUM(CASE WHEN n > 9 THEN n - 9 ELSE 0 END)", True), ("MAX(n) / SUM(n)", True),
    ("SUM(n)", False), ("AVG(n)", False), ("SUM(n) / SUM(m)", False), ("MAX(n)", False),
])  # fmt: skip
def test_where_noise_may_choose_among_numbers_they_are_looked_at_as_equal(
    session: Session, item: str, chosen: bool
) -> None:
    found = session.plan(f"SELECT {item} FROM ({WIDE}) AS g").redrawn
    assert found is not None and found.choosing is chosen


def test_behind_a_star_no_number_is_taken_for_another(session: Session) -> None:
    """The second column is the sum; the greatest, whose place the star hides, has what draws say, as all others."""
    rows = f"SELECT lot, SUM(n) OVER () AS t, n FROM ({WIDE}) AS c"
    for items, greatest in (("*, MAX(n) OVER ()", ()), ("lot, t, MAX(n) OVER ()", (2,))):
        found = session.plan(f"SELECT {items} FROM ({rows}) AS g").redrawn
        assert found is not None and found.greatest == greatest


def behind(session: Session, text: str) -> tuple[bool, bool]:
    found = session.plan(text).redrawn
    assert found is not None
    return bool(found.greatest), bool(found.least)


@pytest.mark.parametrize("item", ["MAX(1000 - n)", "MIN(1000 - n)"])
def test_the_greatest_of_what_falls_reaches_as_far(session: Session, item: str) -> None:
    """MAX(1000 - n) is 1000 - MIN(n), of the same release."""
    other = "MIN(n)" if item.startswith("MAX") else "MAX(n)"
    session.epsilon = Fraction(3, 2)
    ((low, high), (least, most)) = session.execute(f"SELECT {item}, {other} {COUNTS}").intervals[0]
    assert (low, high) == pytest.approx((1000 - most, 1000 - least), abs=3)


def test_it_holds_the_truth(session: Session) -> None:
    """Of 40 intervals of 95 % fewer than 24 hold with a probability below 1e-9."""
    held = 0
    for number in range(20):
        session.epsilon = 1 + Fraction(number, 10_000)  # another price is another release
        ((low, high), (down, up), *_) = session.execute(BOTH).intervals[0]
        held += (low <= 4000 / LOTS <= high) + (down <= 4000 / LOTS <= up)
    assert held >= 24
