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
#: What several released rows make, and whether it cannot be below 0.
SEVERAL = {
    "STDDEV(n)": True, "STDDEV_POP(n)": True, "STDDEV_SAMP(n)": True, "VARIANCE(n)": True, "VAR_POP(n)": True,
    "VAR_SAMP(n)": True, "STDDEV(n) OVER ()": True, "STDDEV(n) FILTER (WHERE lot < 4)": True, "STDDEV(n - s)": True,
    "100.0 * STDDEV(n) / NULLIF(SUM(sd), 0)": True, "ROUND(COALESCE(VARIANCE(n), 0), 2)": True,
    "SUM(sd) + MAX(v)": True,
    "MAX(n) - MIN(n)": True, "(MAX(n) OVER ()) - (MIN(n) OVER ())": True, "MAX(n * 2) - MIN(n * 2)": True,
    "MAX(n) FILTER (WHERE lot > 1) - MIN(n) FILTER (WHERE lot > 1)": True, "AVG(ABS(n - s))": True,
    "CAST(SQRT(SUM(n)) AS DOUBLE)": True, "COUNT(*) FILTER (WHERE n > 100)": True,
    f"(SELECT STDDEV(n) FROM {GROUPS})": True,
    "SUM(n)": False, "MIN(n)": False, "STDDEV(n) - 1": False, "-STDDEV(n)": False, "MIN(n) - MAX(n)": False,
    "MAX(n) - MIN(s)": False, "MAX(n) - MIN(n) FILTER (WHERE lot > 1)": False, "STDDEV(n) * SUM(n)": False,
    "MAX(n) OVER (ORDER BY lot) - MIN(n) OVER ()": False, "COALESCE(STDDEV(n), -1)": False, "n - AVG(n) OVER ()": False,
    f"(SELECT SUM(n) FROM {GROUPS})": False,
}  # fmt: skip
#: What the aggregates of one row make that cannot be below 0.
ONE = ["ABS(n - s / 5)", "sd + SQRT(v)", "ROUND(2 * v * sd, 3)"]
BY_LOT = [*ONE, "v", "sd", "STDDEV(n) OVER ()", "n - s / 5"]
#: How many releases are looked at: of intervals of 95 % none begins at a truth of 0, or below it, once in 10¹⁰ times.
RELEASES = 8


@pytest.fixture(autouse=True)
def _uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and intervals as they are released, not cut to what can be."""
    monkeypatch.setattr("dpsql.postprocessing.answer.shown_within", lambda plan, rows, found: (rows, found))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Five lots of 40 people with the same numbers, so that spans and deviations over lots are 0 without noise."""
    folder = tmp_path_factory.mktemp("lots")
    with duckdb.connect(str(folder / "lots.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT r AS person, r // 40 AS lot, r % 11 AS x FROM range(200) t(r)"
        )
        connection.execute("CREATE TABLE marks AS SELECT CAST(-5 AS DOUBLE) AS sd")
    text = SCHEMA.format(source=folder / "lots.duckdb")
    with closing(open_session(loads(text), ledger=folder / "ledger")) as opened:
        opened.set("dpsql.empty_groups", "show")  # of lots that are all there
        yield opened


@pytest.mark.parametrize("item", SEVERAL)
def test_of_what_several_rows_make_the_text_tells_it(item: str, session: Session) -> None:
    found = session.plan(f"SELECT lot, {item} FROM {GROUPS}" if "OVER" in item else f"SELECT {item} FROM {GROUPS}")
    place = len(found.columns) - 1
    assert found.redrawn is not None and found.redrawn.wanted == (place,)
    assert found.redrawn.from_zero == ((place,) if SEVERAL[item] else ())


@pytest.mark.parametrize(("text", "places"), [
    (f"SELECT * FROM (SELECT STDDEV(n) AS d, SUM(n) AS t FROM {GROUPS}) AS h", ()),
    (f"SELECT t, d FROM (SELECT STDDEV(n) AS d, SUM(n) AS t FROM {GROUPS}) AS h", (1,)),
    (f"SELECT *, STDDEV(n) OVER () FROM (SELECT lot, SUM(n) OVER () AS t, n FROM {GROUPS}) AS h", ()),
    (f"SELECT lot, STDDEV(x) FROM people GROUP BY lot UNION ALL SELECT 9, STDDEV(n) FROM {GROUPS}", (1,)),
    (f"SELECT lot, SUM(x) FROM people GROUP BY lot UNION ALL SELECT 9, STDDEV(n) FROM {GROUPS}", ()),
    (f"SELECT SUM(z) FROM (SELECT a.sd AS z FROM {GROUPS} FULL JOIN ({LOTS}) AS a USING (lot)) AS h", (0,)),
    (f"SELECT SUM(sd) FROM (SELECT sd FROM {GROUPS}) AS a FULL JOIN marks USING (sd)", ()),
    (f"SELECT SUM(sd) FROM (SELECT sd FROM {GROUPS}) AS a NATURAL FULL JOIN marks", ()),
    (f"SELECT SUM(a.sd) FROM (SELECT sd FROM {GROUPS}) AS a FULL JOIN marks ON a.sd = marks.sd", (0,)),
    (f"SELECT SUM(s) FROM (SELECT sd, s FROM {GROUPS}) AS a(s, sd)", ()),
    (f"SELECT lot, DP_INTERVAL_LOW(d), d FROM (SELECT lot, STDDEV(n) OVER () AS d FROM {GROUPS}) AS h", (2, 3)),
])  # fmt: skip
def test_columns_are_followed_where_nothing_else_may_be_meant(
    text: str, places: tuple[int, ...], session: Session
) -> None:
    found = session.plan(text).redrawn
    assert found is not None and found.from_zero == places


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


@pytest.mark.parametrize("item", [
    *ONE, "STDDEV(n)", "VAR_POP(n)", "MAX(n) - MIN(n)", "STDDEV(n) OVER ()", "100.0 * STDDEV(n) / 400",
])  # fmt: skip
def test_an_interval_that_would_begin_below_0_begins_there(
    item: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert min(lower_ends(session, item)) == 0
    for module in ("resampling.percentiles", "intervals.row_intervals"):
        monkeypatch.setattr(f"dpsql.postprocessing.{module}.FROM_ZERO", EVERYTHING)
    assert min(lower_ends(session, item)) < 0


@pytest.mark.parametrize("item", ["v", "sd"])
def test_a_variance_of_private_rows_begins_at_0(item: str, session: Session) -> None:
    assert min(lower_ends(session, item)) == 0


@pytest.mark.parametrize("item", ["n - s / 5", "SUM(n) - SUM(s)", "STDDEV(n) - 100"])
def test_what_may_be_below_0_begins_where_it_may(item: str, session: Session) -> None:
    assert min(lower_ends(session, item)) < 0


def test_the_end_that_is_told_in_sql_is_0_too(session: Session) -> None:
    several = f"SELECT DP_INTERVAL_LOW(STDDEV(n)) AS low, STDDEV(n) FROM {GROUPS}"
    one = f"SELECT DP_INTERVAL_LOW(ABS(n - s / 5)) AS low, lot FROM {GROUPS}"
    for text in (several, one):
        found = []
        for number in range(RELEASES):
            session.epsilon = Fraction(1, 10) + Fraction(number, 10_000)
            found += [low for low, _ in session.execute(text).rows]
        assert min(found) == 0


def test_what_is_divided_by_may_be_0_though_it_is_not_below(session: Session) -> None:
    """Nothing finite holds what is divided by a number that may be 0."""
    ends = [row[1] for row in session.execute(f"SELECT lot, n / ABS(n - s / 5) FROM {GROUPS}").intervals]
    assert EVERYTHING in ends
