"""DP_INTERVAL_LOW and DP_INTERVAL_HIGH tell what stands beside the result,
anywhere in the rest of a statement.
"""

from __future__ import annotations

import pytest

from dpsql.errors import DatabaseError
from dpsql.session import Session
from dpsql.session.request.completion_words import functions

GROUPED = "SELECT diagnosis, COUNT(*) AS n, AVG(day) AS d FROM diagnoses GROUP BY diagnosis"
#: Statements with an estimate and then both ends of its interval.
TOLD = (
    "SELECT COUNT(*), DP_INTERVAL_LOW(COUNT(*)), DP_INTERVAL_HIGH(COUNT(*)) FROM patients",
    "SELECT AVG(bmi) AS b, dp_interval_low(b), dp_interval_high(AVG(bmi)) FROM patients",
    "SELECT VAR_POP(age), DP_INTERVAL_LOW(VAR_POP(age)), DP_INTERVAL_HIGH(VAR_POP(age)) FROM patients",
    "SELECT MEDIAN(age), DP_INTERVAL_LOW(MEDIAN(age)), DP_INTERVAL_HIGH(MEDIAN(age)) FROM patients",
    "SELECT COUNT(*) / 2 AS h, DP_INTERVAL_LOW(COUNT(*) / 2), DP_INTERVAL_HIGH(h) FROM patients",
    f"SELECT n, DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n) FROM ({GROUPED}) AS g",
    f"SELECT n, DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n) FROM ({GROUPED}) WHERE n > 100",
    f"SELECT m, DP_INTERVAL_LOW(m), DP_INTERVAL_HIGH(m) FROM (SELECT n + 1 AS m FROM ({GROUPED}) AS g) AS h",
    f"SELECT x, DP_INTERVAL_LOW(g.x), DP_INTERVAL_HIGH(g.x) FROM (SELECT * FROM ({GROUPED}) AS f) AS g(k, x, d)",
    (
        f"WITH g AS ({GROUPED}) SELECT g.d, DP_INTERVAL_LOW(g.d), DP_INTERVAL_HIGH(g.d) FROM g JOIN conditions AS c "
        "USING (diagnosis)"
    ),
    "SELECT COUNT(*), DP_INTERVAL_LOW(COUNT(*)), DP_INTERVAL_HIGH(COUNT(*)) FROM patients GROUP BY ROLLUP (male)",
)
#: Statements with ends among other things, and what is refused of others.
ELSEWHERE = (
    (
        f"SELECT *, DP_INTERVAL_LOW(n) AS low FROM ({GROUPED}) AS g WHERE DP_INTERVAL_LOW(n) > 100 "
        "ORDER BY DP_INTERVAL_HIGH(d)"
    ),
    (
        "SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis HAVING DP_INTERVAL_LOW(n) > 0 "
        "ORDER BY DP_INTERVAL_LOW(n)"
    ),
    f"SELECT SUM(DP_INTERVAL_LOW(n)), MAX(DP_INTERVAL_HIGH(n) - DP_INTERVAL_LOW(n)) FROM ({GROUPED}) AS g",
    f"SELECT n FROM ({GROUPED}) AS g UNION ALL SELECT DP_INTERVAL_LOW(COUNT(*)) FROM patients",
)
TAKES = "takes an aggregate over private rows, a sum, a quotient of sums or a rounding of these"
REFUSED = {
    f"SELECT SUM(n), DP_INTERVAL_LOW(SUM(n)) FROM ({GROUPED}) AS g": "SET dpsql.intervals = on shows the ends",
    f"SELECT n, DP_INTERVAL_LOW(n / SUM(n) OVER ()) AS low FROM ({GROUPED}) AS g": TAKES,
    f"SELECT DP_INTERVAL_LOW(n * d) FROM ({GROUPED}) AS g": TAKES,
    f"SELECT DP_INTERVAL_LOW(MAX(n)) FROM ({GROUPED}) AS g": TAKES,
    f"SELECT DP_INTERVAL_HIGH(RANK() OVER (ORDER BY n)) FROM ({GROUPED}) AS g": TAKES,
    f"SELECT DP_INTERVAL_LOW(diagnosis) FROM ({GROUPED}) AS g": "keys and ends of intervals have no interval",
    "SELECT DP_INTERVAL_LOW(DP_INTERVAL_HIGH(COUNT(*))) FROM patients": "keys and ends of intervals have no interval",
    "SELECT SUM(DP_INTERVAL_LOW(age)) FROM patients": "may not stand in a private part",
    "SELECT COUNT(*) FROM patients WHERE age > (SELECT DP_INTERVAL_LOW(AVG(age)) FROM patients)": "not read by",
    "SELECT DP_INTERVAL_LOW(), COUNT(*) FROM patients": "takes one argument",
    "SELECT DP_INTERVAL_LOW(COUNT(*), 2) FROM patients": "takes one argument",
    "SELECT DP_INTERVAL_HIGH(name) FROM conditions": TAKES,
}


@pytest.mark.parametrize("text", TOLD)
def test_the_ends_are_those_beside_the_result(text: str, session: Session) -> None:
    result = session.execute(text)
    assert [column.type for column in result.columns[1:]] == ["DOUBLE", "DOUBLE"]
    assert result.rows
    for (_, low, high), (interval, *others) in zip(result.rows, result.intervals, strict=True):
        assert (low, high) == interval and others == [None, None]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_ends_stand_wherever_a_number_may(text: str, session: Session) -> None:
    plan = session.plan(text)
    assert not any(column.name.startswith("dpsql ") for column in plan.columns)
    result = session.answer(plan)
    assert result.rows and all(len(row) == len(plan.columns) for row in result.rows)


def test_what_is_filtered_by_its_end_is_above_it(session: Session) -> None:
    rows = session.execute(
        f"SELECT n, DP_INTERVAL_LOW(n) FROM ({GROUPED}) AS g WHERE DP_INTERVAL_LOW(n) > 1000"
    ).rows
    assert rows and all(low > 1000 and low < n for n, low in rows)  # type: ignore[operator]


def test_what_stands_beside_ends_keeps_its_interval(session: Session) -> None:
    session.set("dpsql.empty_groups", "show")
    text = f"SELECT diagnosis, n / SUM(n) OVER () AS share, DP_INTERVAL_LOW(n) AS low FROM ({GROUPED}) AS g"
    result = session.execute(text)
    assert result.rows and all(row[1] is not None and row[2] is None for row in result.intervals)
    grouped = f"SELECT LEFT(diagnosis, 1) AS k, SUM(n), SUM(DP_INTERVAL_LOW(n)) FROM ({GROUPED}) AS g GROUP BY 1"
    assert all(row[1] is not None and row[2] is None for row in session.execute(grouped).intervals)
    session.set("dpsql.empty_groups", None)


def test_what_is_added_up_over_rows_that_noise_chooses_has_no_interval(session: Session) -> None:
    text = f"SELECT diagnosis, n / SUM(n) OVER () AS share FROM ({GROUPED}) AS g WHERE DP_INTERVAL_LOW(n) > 0"
    assert all(row[1] is None for row in session.execute(text).intervals)


def test_ends_cost_nothing_more(session: Session) -> None:
    plain = session.plan(GROUPED)
    told = session.plan(f"SELECT n, DP_INTERVAL_LOW(n) FROM ({GROUPED}) AS g")
    assert told.cores == plain.cores and told.cost == plain.cost
    assert "n: ±" in str(session.explain(f"SELECT n, DP_INTERVAL_LOW(n) FROM ({GROUPED}) AS g"))


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_ends_is_refused_with_what_to_write(text: str, session: Session) -> None:
    with pytest.raises(DatabaseError) as refusal:
        session.plan(text)
    assert REFUSED[text] in str(refusal.value)
    if "Write instead" in str(refusal.value):
        session.plan(str(refusal.value).split("Write instead: ")[1])


def test_prepared_statements_know_their_types(session: Session) -> None:
    prepared = session.prepare(
        "SELECT DP_INTERVAL_LOW(COUNT(*)) AS low FROM patients WHERE age > ?"
    )
    assert [(column.name, column.type) for column in prepared.columns] == [("low", "DOUBLE")]


def test_they_are_in_the_vocabulary() -> None:
    assert {"dp_interval_low", "dp_interval_high"} <= {each.name for each in functions()}
