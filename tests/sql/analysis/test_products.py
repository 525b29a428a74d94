"""Products: what is computed of one side does not depend on which side has fewer rows."""

from __future__ import annotations

import pytest
import sqlglot
from hand_world import hand_world
from neighbours import plan_of
from sqlglot import exp

SLOW = "REVERSE(v.word)"
DAYS = "(VALUES (1), (2), (3)) AS d(day)"


def rows_of(text: str) -> exp.Select:
    """The SELECT of the rows of the statement's core."""
    (core,) = plan_of(hand_world(), text).cores
    tree = sqlglot.parse_one(core.sql, read="duckdb")
    (rows,) = (cte.this for cte in tree.find_all(exp.CTE) if cte.alias == "rows")
    assert isinstance(rows, exp.Select)
    return rows


def slow_in(select: exp.Select) -> list[str]:
    """The functions in the SELECT's own outputs and conditions, not in its sources."""
    own = [*select.expressions, select.args.get("where")]
    own += [join.args.get("on") for join in select.args.get("joins") or []]
    return [
        each.sql()
        for part in own
        if part is not None
        for each in part.find_all(exp.Reverse, exp.Anonymous)
        if "REVERSE" in each.sql().upper()
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT SUM(CASE WHEN {SLOW} = 'zz' THEN 1 ELSE 2 END) FROM visits v CROSS JOIN {DAYS}",
        f"SELECT COUNT(*) FROM visits v CROSS JOIN {DAYS} WHERE {SLOW} = 'zz'",
        f"SELECT COUNT(*) FROM visits v CROSS JOIN {DAYS} WHERE {SLOW} = 'zz' OR d.day > 2",
        f"SELECT {SLOW} AS k, COUNT(*) FROM visits v CROSS JOIN {DAYS} GROUP BY 1",
        f"SELECT SUM(d.day) FROM visits v LEFT JOIN {DAYS} ON true WHERE {SLOW} <> 'zz'",
        f"SELECT COUNT(*) FROM visits v JOIN {DAYS} ON d.day < v.small WHERE {SLOW} <> 'zz'",
    ],
)
def test_what_reads_one_side_of_a_product_is_computed_below_it(text: str) -> None:
    rows = rows_of(text)
    assert "REVERSE" in rows.sql().upper() and slow_in(rows) == []


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT COUNT(*) FROM visits v CROSS JOIN {DAYS} WHERE REVERSE(v.word || d.day) = 'zz'",
        f"SELECT REVERSE(v.word || d.day) AS k, COUNT(*) FROM visits v CROSS JOIN {DAYS} GROUP BY 1",
        "SELECT SUM(CASE WHEN REVERSE(LOWER(v.word) || c.code) = 'z' THEN 1 ELSE 2 END) FROM visits v, places c",
    ],
)
def test_what_reads_pairs_reads_the_ones_of_both_sides(text: str) -> None:
    rows = rows_of(text)
    own = [
        *rows.expressions,
        rows.args.get("where"),
        *(join.args.get("on") for join in rows.args.get("joins") or []),
    ]
    found = {each.sql() for part in own if part is not None for each in part.find_all(exp.Greatest)}
    assert [index for index in found if index.count('"its one"') == 2]


def test_where_rows_are_joined_by_equality_nothing_moves() -> None:
    rows = rows_of(
        "SELECT COUNT(*) FROM visits v JOIN places c ON c.code = v.word WHERE REVERSE(v.word) = 'zz'"
    )
    assert slow_in(rows) != []
