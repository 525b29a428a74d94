"""What an expression over a released table's rows is: made of keys alone,
or 0 for a group without rows.
"""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from dpsql.sql.postprocess.group_rows import GroupRows

ROWS = GroupRows("g", {"day": 0, "month": None}, frozenset({"n", "s"}), frozenset({"mean"}), 1, ())

PUBLIC = (
    "day",
    "g.day",
    "DAY",
    "month + 1",
    "g.day < '2024-01-01' AND month = 3",
    "1",
    "other.n",
    "t.x + day",
    "CASE WHEN day = 1 THEN 2 END",
    "elsewhere",
)
#: The others read numbers of the rows, or other rows.
NOT_PUBLIC = (
    "n",
    "g.n",
    "mean",
    "g.mean > 2",
    "day + n",
    "g.unknown",
    "SUM(day)",
    "SUM(day) OVER ()",
    "(SELECT 1)",
    "COUNT(*)",
)

ZERO = (
    "NULL",
    "0",
    "0.0",
    "n",
    "g.n",
    "N",
    "(n)",
    "-n",
    "CAST(n AS DOUBLE)",
    "n + s",
    "n - s",
    "n * 2",
    "2 * n",
    "n * month",
    "day * g.s",
    "n / 2",
    "COALESCE(n, 0)",
    "COALESCE(n, s, 0)",
    "CASE WHEN month = 1 THEN n ELSE 0 END",
    "CASE WHEN day > 3 THEN n WHEN day > 1 THEN s END",
    "CASE month WHEN 1 THEN n END",
)
NOT_ZERO = (
    "1",
    "'0'",
    "mean",
    "day",
    "other.n",
    "(mean)",
    "-mean",
    "n + 1",
    "1 + n",
    "n - day",
    "1 - n",
    "n * n",
    "mean * 2",
    "2 * mean",
    "n * mean",
    "n / s",
    "n / month",
    "1 / 2",
    "COALESCE(n, 1)",
    "COALESCE(mean, 0)",
    "COALESCE(n, mean)",
    "CASE WHEN n > 1 THEN n ELSE 0 END",
    "CASE WHEN month = 1 THEN n ELSE 1 END",
    "CASE WHEN day = 1 THEN mean END",
    "CASE WHEN day = 1 THEN 1 ELSE n END",
    "CASE n WHEN 1 THEN s END",
    "CASE WHEN day = 1 THEN n WHEN n = 1 THEN s END",
    "ABS(n)",
    "n > 0",
    "GREATEST(n, 0)",
    "SQRT(n)",
)


def _parsed(text: str) -> exp.Expr:
    return parse_one(text, dialect="duckdb")


@pytest.mark.parametrize(("texts", "expected"), [(PUBLIC, True), (NOT_PUBLIC, False)])
def test_what_is_made_of_keys_alone_is_public(texts: tuple[str, ...], expected: bool) -> None:
    assert {text: ROWS.is_public(_parsed(text)) for text in texts} == dict.fromkeys(texts, expected)
    assert ROWS.is_public(None)


@pytest.mark.parametrize(("texts", "expected"), [(ZERO, True), (NOT_ZERO, False)])
def test_what_is_zero_without_rows_adds_up_as_its_parts_do(
    texts: tuple[str, ...], expected: bool
) -> None:
    assert {text: ROWS.is_zero(_parsed(text)) for text in texts} == dict.fromkeys(texts, expected)
    assert ROWS.is_zero(None)
