"""Queries over released tables that read one row at a time, and those that combine many."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from dpsql.sql.postprocess.hidden_groups import _combines_many_rows, _is_alone


def query(text: str) -> exp.Query:
    tree = parse_one(text, read="duckdb")
    assert isinstance(tree, exp.Query)
    return tree


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("SELECT a0 FROM released.core0", True),
        ("SELECT c.a0 FROM released.core0 AS c WHERE c.k0 > 3", True),
        ("SELECT s FROM (SELECT SUM(a0) AS s FROM released.core0) AS t JOIN v ON t.s = v.m", True),
        ("SELECT c.a0 FROM released.core0 AS c JOIN v ON v.m = c.k0", False),
        ("SELECT c.a0 FROM v JOIN released.core0 AS c ON v.m = c.k0", False),
        ("SELECT c.a0 FROM released.core0 AS c, v", False),
        ("SELECT * FROM released.core0 PIVOT (SUM(a0) FOR k0 IN ('x', 'y'))", False),
    ],
)
def test_a_table_is_alone_if_its_select_reads_nothing_else(text: str, alone: bool) -> None:
    (table,) = [table for table in query(text).find_all(exp.Table) if table.db == "released"]
    assert _is_alone(table) == alone


FEW_ROWS = (
    "SELECT k0, a0 FROM released.core0",
    "SELECT k0, a0 FROM (SELECT k0, a0 FROM released.core0) AS t",
    "SELECT k0, a0 FROM released.core0 UNION ALL SELECT k0, a0 FROM released.core1",
    "SELECT c.a0 FROM released.core0 AS c JOIN v ON v.m = c.k0",
    "SELECT c.a0 FROM v JOIN (SELECT k0, a0 FROM released.core0) AS c ON v.m = c.k0",
    "SELECT a0 - LAG(a0) OVER (ORDER BY k0) AS d FROM released.core0",
    "SELECT AVG(a0) OVER (ORDER BY k0 ROWS 6 PRECEDING) AS m FROM released.core0",
    "SELECT AVG(a0) OVER (ORDER BY k0 ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM released.core0",
    "SELECT SUM(a0) FILTER (WHERE k0 > 2) OVER (ORDER BY k0 ROWS 2 PRECEDING) FROM released.core0",
)
MANY_ROWS = (
    "SELECT SUM(a0) AS s FROM released.core0",
    "SELECT SUM(a0) FILTER (WHERE k0 > 2) AS s FROM released.core0",
    "SELECT k1, MAX(a0) AS s FROM released.core0 GROUP BY k1",
    "SELECT SUM(a0) OVER () AS s FROM released.core0",
    "SELECT SUM(a0) OVER (ORDER BY k0) AS s FROM released.core0",
    "SELECT SUM(a0) OVER (ORDER BY k0 DESC ROWS 6 PRECEDING) AS s FROM released.core0",
    "SELECT SUM(a0) OVER (ORDER BY k0 ROWS UNBOUNDED PRECEDING) AS s FROM released.core0",
    "SELECT SUM(a0) OVER (ORDER BY k0 RANGE 6 PRECEDING) AS s FROM released.core0",
    "SELECT SUM(a0) OVER (ORDER BY k0 ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) FROM released.core0",
    "SELECT LAG(a0) OVER () AS d FROM released.core0",
    "SELECT LAG(a0) OVER (ORDER BY k0 DESC) AS d FROM released.core0",
    "SELECT LEAD(a0) OVER (ORDER BY k0) AS d FROM released.core0",
    "SELECT LAG(a0) OVER (ORDER BY k0) AS d, MAX(a0) OVER () AS m FROM released.core0",
    "SELECT v.m, c.a0 FROM v LEFT JOIN released.core0 AS c ON v.m = c.k0",
    "SELECT k0, (SELECT a0 FROM released.core1) AS o FROM released.core0",
    "SELECT k0 FROM released.core0 WHERE k0 IN (SELECT k0 FROM released.core1)",
)


@pytest.mark.parametrize("text", FEW_ROWS)
def test_numbers_of_a_row_and_a_few_before_it_combine_no_many_rows(text: str) -> None:
    assert not _combines_many_rows(query(text))


@pytest.mark.parametrize("text", MANY_ROWS)
def test_totals_long_frames_outer_joins_and_subqueries_combine_many_rows(text: str) -> None:
    assert _combines_many_rows(query(text))
