"""Numbers that cannot be below 0: nor do their intervals go there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction

import duckdb
import pytest

from dpsql.planning.estimators.linear_forms import EVERYTHING
from dpsql.schema import loads
from dpsql.session import Session, open_session

SCHEMA = """
name = "lots"
source = "{source}"
[privacy]
unit = "people.person"
epsilon = 100
delta = 0
query_epsilon = 1
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
lot = {{ type = "integer", values = [0, 1, 2, 3, 4] }}
x = {{ type = "integer", bounds = [0, 10] }}
[tables.marks]
public = true
[tables.marks.columns]
sd = {{ type = "double" }}
"""
LOTS = "SELECT lot, COUNT(*) AS n, SUM(x) AS s, STDDEV(x) AS sd, VAR_POP(x) AS v FROM people GROUP BY lot"
GROUPS = f"({LOTS}) AS g"
BY_LOT = ["v", "sd", "n - s / 5"]
#: How many releases are looked at: of intervals of 95 % none begins at a truth of 0,
#: or below it, #: once in 10¹⁰ times.
RELEASES = 8


@pytest.fixture
def uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and intervals as they are released, not cut to what can be."""
    monkeypatch.setattr(
        "dpsql.postprocessing.answer.shown_within", lambda plan, rows, found: (rows, found)
    )


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Five lots of 2,000 people with the same numbers,
    so that spans and deviations over lots are 0 without noise.
    """
    folder = tmp_path_factory.mktemp("lots")
    with duckdb.connect(str(folder / "lots.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT r AS person, r // 2000 AS lot, 5 AS x FROM range(10_000) t(r)"
        )
        connection.execute("CREATE TABLE marks AS SELECT CAST(-5 AS DOUBLE) AS sd")
    text = SCHEMA.format(source=folder / "lots.duckdb")
    with closing(open_session(loads(text), ledger=folder / "ledger")) as opened:
        opened.set("dpsql.empty_groups", "show")  # of lots that are all there
        yield opened


def lower_ends(session: Session, item: str) -> list[float]:
    """Of all rows of some releases: another price is another release."""
    rows = "lot, " if item in BY_LOT else ""
    found = []
    for number in range(RELEASES):
        session.epsilon = Fraction(1, 10) + Fraction(number, 10_000)
        intervals = session.execute(f"SELECT {rows}{item} FROM {GROUPS}").intervals
        found += [row[-1][0] for row in intervals if row[-1] is not None]
    assert len(found) == RELEASES * (5 if rows else 1)
    return found


@pytest.mark.parametrize("item", ["v", "sd"])
def test_a_variance_of_private_rows_begins_at_0(item: str, session: Session) -> None:
    assert min(lower_ends(session, item)) == 0


@pytest.mark.usefixtures("uncut")
@pytest.mark.parametrize("item", ["n - s / 5", "SUM(n) - SUM(s)"])
def test_what_may_be_below_0_begins_where_it_may(item: str, session: Session) -> None:
    assert min(lower_ends(session, item)) < 0


@pytest.mark.parametrize("item", ["GREATEST(n - s / 5, 0)", "sd * 2", "ROUND(SQRT(v), 3)", "n * s"])
def test_what_one_row_makes_begins_at_0(item: str, session: Session) -> None:
    session.epsilon = Fraction(1, 10)
    ends = [row[1] for row in session.execute(f"SELECT lot, {item} FROM {GROUPS}").intervals]
    assert all(each is not None and each[0] >= 0 for each in ends)  # type: ignore[operator]


def test_the_end_that_is_told_in_sql_is_0_too(session: Session) -> None:
    found = []
    for number in range(RELEASES):
        session.epsilon = Fraction(1, 10) + Fraction(number, 10_000)
        rows = session.execute(
            f"SELECT DP_INTERVAL_LOW(GREATEST(n - s / 5, 0)) AS low, lot FROM {GROUPS}"
        ).rows
        found += [low for low, _ in rows]
    assert min(found) == 0


def test_what_is_divided_by_may_be_0_though_it_is_not_below(session: Session) -> None:
    """Nothing finite holds what is divided by a number that may be 0."""
    ends = [
        row[1]
        for row in session.execute(f"SELECT lot, n * s / (n - s / 5) FROM {GROUPS}").intervals
    ]
    assert EVERYTHING in ends
