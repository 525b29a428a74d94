"""Intervals follow released numbers through subqueries, common table expressions, joins,
filters and limits.
"""

from __future__ import annotations

import pytest

from dpsql.session import Session

GROUPED = "SELECT diagnosis, COUNT(*) AS n, AVG(day) AS d FROM diagnoses GROUP BY diagnosis"
COUNTED = f"SELECT diagnosis, n FROM ({GROUPED}) AS g"
#: Statements, and which of their columns have intervals.
FOLLOWED = {
    GROUPED: "-++",
    f"SELECT * FROM ({GROUPED}) AS virtual_table ORDER BY n DESC LIMIT 3": "-++",
    f"SELECT t.* FROM ({GROUPED}) AS t WHERE n > 100": "-++",
    f"SELECT d AS day, n AS rows, diagnosis FROM ({GROUPED}) AS t": "++-",
    f"SELECT * FROM (SELECT * FROM ({GROUPED}) AS a) AS b": "-++",
    f"SELECT x, y, z FROM ({GROUPED}) AS t(x, y, z)": "-++",
    f"SELECT n, d FROM ({GROUPED}) WHERE n > 100 ORDER BY n LIMIT 2": "++",
    f"SELECT a.n, d FROM ({COUNTED}) AS a JOIN (SELECT diagnosis, d FROM ({GROUPED})) USING (diagnosis) LIMIT 2": "++",
    f"FROM ({GROUPED}) ORDER BY n DESC LIMIT 1": "-++",
    f"SELECT unnamed_subquery.diagnosis FROM ({GROUPED})": "-",
    f"WITH g AS ({GROUPED}) SELECT n / 2 AS half, n, diagnosis FROM g": "++-",
    f"WITH g AS ({GROUPED}), h AS (SELECT diagnosis AS k, n * 2 AS twice FROM g) SELECT twice + 1, k FROM h": "+-",
    f"SELECT c.name, g.n, g.d - 1 FROM ({GROUPED}) AS g JOIN conditions AS c USING (diagnosis)": "-++",
    f"SELECT c.name, g.n FROM conditions AS c LEFT JOIN ({GROUPED}) AS g ON g.diagnosis = c.diagnosis": "-+",
    f"SELECT * FROM ({GROUPED}) AS g JOIN conditions AS c ON g.diagnosis = c.diagnosis": "-++---",
    f"SELECT a.n, b.d, a.n + b.n FROM ({GROUPED}) AS a JOIN ({GROUPED}) AS b ON a.diagnosis = b.diagnosis": "+++",
    f"SELECT n, RANK() OVER (ORDER BY n) FROM ({GROUPED}) AS g": "+-",
    f"SELECT n * LENGTH(c.name) FROM ({GROUPED}) AS g JOIN conditions AS c USING (diagnosis)": "+",
    "SELECT COUNT(*) AS n, AVG(age) AS n, 'all' AS n FROM patients": "++-",
    f"SELECT n, * again FROM ({GROUPED}) AS g": "----",
    f"SELECT n, COUNT(*) OVER () FROM ({GROUPED}) AS g": "+-",
    f"SELECT diagnosis, n / SUM(n) OVER (), n - LAG(n) OVER (ORDER BY diagnosis) FROM ({GROUPED}) AS g": "-++",
    f"SELECT DISTINCT n FROM ({GROUPED}) AS g": "-",
    f"SELECT SUM(n), MAX(n), AVG(d), STDDEV(n), COUNT(*) FROM ({GROUPED}) AS g": "+-+--",
    f"SELECT LEFT(diagnosis, 1) AS k, SUM(n) FROM ({GROUPED}) AS g GROUP BY k HAVING SUM(n) > 0 LIMIT 2": "-+",
    f"SELECT LEFT(diagnosis, 1) AS k, SUM(n) FROM ({GROUPED}) AS g GROUP BY ROLLUP (k)": "-+",
    f"SELECT c.chapter, SUM(g.n) FROM ({GROUPED}) AS g JOIN conditions AS c USING (diagnosis) GROUP BY 1": "-+",
    f"SELECT n FROM ({GROUPED}) AS g UNION ALL SELECT COUNT(*) FROM patients": "-",
    f"SELECT diagnosis, n FROM ({GROUPED}) AS g UNION SELECT 'all', COUNT(*) FROM patients": "-+",
    f"({COUNTED} ORDER BY diagnosis LIMIT 2) UNION ALL SELECT '', SUM(n) FROM ({GROUPED}) AS g": "-+",
    f"({COUNTED} ORDER BY n DESC LIMIT 2) UNION ALL SELECT '', SUM(n) FROM ({GROUPED}) AS g": "--",
    f"SELECT * FROM ({COUNTED}) AS t PIVOT (SUM(n) FOR diagnosis IN ('MI', 'afib'))": "--",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM diagnoses) FROM patients": "+",
    f"SELECT diagnosis, n > 500, CASE WHEN n > 500 THEN n ELSE 0 END, n::VARCHAR FROM ({GROUPED}) AS g": "----",
    f"SELECT COALESCE(n, 0), CAST(n AS DOUBLE) / 2, ROUND(d, 1), d * n FROM ({GROUPED}) AS g": "++++",
    f"SELECT ABS(d), CASE WHEN d > 0 THEN n ELSE 0 END FROM ({GROUPED}) AS g": "--",
    "SELECT MODE(test), HISTOGRAM(test), QUANTILE_CONT(value, [0.1, 0.9]), MEDIAN(value) FROM labs": "--++",
    "SELECT BOOL_AND(age > 20), COUNT(*)::VARCHAR || ' people' FROM patients": "--",
    "SELECT diagnosis, COUNT(*) * 2 AS twice FROM diagnoses GROUP BY diagnosis ORDER BY twice DESC LIMIT 1": "-+",
    "SELECT diagnosis, AVG(day) / 2 AS half FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > 100": "-+",
}


@pytest.mark.parametrize("text", FOLLOWED)
def test_intervals_are_where_one_released_row_is_behind_a_cell(text: str, session: Session) -> None:
    session.set("dpsql.empty_groups", "show")
    result = session.execute(text)
    session.set("dpsql.empty_groups", None)
    assert result.rows
    signs = [
        "".join("-" if interval is None else "+" for interval in row) for row in result.intervals
    ]
    assert FOLLOWED[text] in signs
    assert all(
        mine == theirs or theirs == "+"
        for sign in signs
        for mine, theirs in zip(sign, FOLLOWED[text], strict=True)
    )
    for row, intervals in zip(result.rows, result.intervals, strict=True):
        for value, interval in zip(row, intervals, strict=True):
            if interval is not None and not isinstance(value, list):
                assert interval[0] <= float(value) <= interval[1]  # type: ignore[arg-type]
                cut = interval == (0, 0)  # all of it was below what a count may be
                assert interval[1] - interval[0] > 1e-6 or cut


def test_a_limit_does_not_narrow_a_computed_interval(session: Session) -> None:
    session.set("dpsql.reuse", "off")
    text = (
        "SELECT diagnosis, COUNT(*) * 1.5 AS n FROM diagnoses GROUP BY diagnosis ORDER BY diagnosis"
    )
    for limit in ("", " LIMIT 2"):
        (low, high) = session.execute(text + limit).intervals[0][1] or (0.0, 0.0)
        half = float(session.plan(text).cores[0].half_widths(0.95)[0]) * 1.5
        assert 0.8 * half < (high - low) / 2 < 1.2 * half


def test_the_numbers_of_rows_are_not_shown(session: Session) -> None:
    plan = session.plan(
        f"SELECT *, n + 1 AS more FROM ({GROUPED}) AS g JOIN conditions AS c USING (diagnosis)"
    )
    assert [column.name for column in plan.columns] == [
        "diagnosis",
        "n",
        "d",
        "name",
        "chapter",
        "more",
    ]
    assert all(len(row) == 6 for row in session.answer(plan).rows)


def test_as_many_rows_as_are_released_have_intervals(session: Session) -> None:
    """Arithmetic has an exact form for as many rows as there are."""
    text = (
        "SELECT day, COUNT(*) * 2 AS twice, ROUND(100.0 * COUNT(day) / COUNT(*), 1) AS share FROM diagnoses "
        "WHERE day BETWEEN 0 AND 400 GROUP BY day"
    )
    session.set("dpsql.empty_groups", "show")
    result = session.execute(text)
    session.set("dpsql.empty_groups", None)
    assert len(result.rows) > 300
    assert all(each is not None for row in result.intervals for each in row[1:])


def test_intervals_of_what_is_made_of_released_rows_cost_nothing(session: Session) -> None:
    session.execute(f"SELECT * FROM ({GROUPED}) AS g")
    before = session.remaining
    result = session.execute(f"SELECT SUM(n), SUM(n) / 2 FROM ({GROUPED}) AS g")
    assert result.price.charged == 0 and session.remaining == before
    assert None not in result.intervals[0]
