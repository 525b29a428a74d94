"""Equal conditions have one normal form, others another; it has the same value on every row."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest
from ordinary import COLUMNS, ROWS, read

from dpsql.sql.analysis.normal_expressions import implied, normal
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import native

#: The columns of the table, and the same under the names i_, s_, … where they are never NULL.
BOTH = COLUMNS | {
    f"{name}_": replace(column, name=name, nullable=False) for name, column in COLUMNS.items()
}
EQUAL = (
    ("i > 3", "3 < i", "NOT i <= 3", "NOT (NOT (i > 3))"),
    ("i >= 3", "NOT i < 3", "3 <= i"),
    ("i = 3", "3 = i", "i IN (3)", "i IN (3, 3)"),
    ("i <> 3", "NOT i = 3", "i NOT IN (3)", "3 <> i"),
    ("b", "b = TRUE", "b <> FALSE", "TRUE = b", "NOT NOT b"),
    ("NOT b", "b = FALSE", "b <> TRUE", "FALSE = b"),
    ("i IN (1, 2)", "i = 1 OR i = 2", "2 = i OR i IN (1, 2)", "i IN (2, 1, 2)"),
    ("i = 1 OR i = 2 OR s = 'a'", "s = 'a' OR i IN (2, 1)"),
    ("i NOT IN (1, 2)", "NOT (i = 1 OR i = 2)"),
    (
        "i > 1 AND b AND s = 'a'",
        "s = 'a' AND (b AND 1 < i) AND b",
        "NOT (NOT b OR s <> 'a' OR i <= 1)",
    ),
    ("b AND TRUE", "b", "TRUE AND b"),
    ("b OR FALSE", "b", "b OR b"),
    ("b AND FALSE", "FALSE"),
    ("b OR TRUE", "TRUE", "NOT FALSE", "b OR NOT FALSE OR i = 3"),
    ("i IS NOT DISTINCT FROM i2", "i2 IS NOT DISTINCT FROM i"),
    ("i_ IS NOT DISTINCT FROM 3", "i_ = 3"),
    ("i_ IS DISTINCT FROM 3", "i_ <> 3"),
    ("i_ IS NULL", "FALSE"),
    ("i_ IS NOT NULL", "TRUE"),
    ("b_ IS TRUE", "b_"),
    ("i BETWEEN 1 AND 5", "i >= 1 AND NOT i > 5"),
    ("i = i2", "i2 = i"),
    ("ABS(i) > 3", "3 < ABS(i)"),
    ("CASE WHEN 3 < i THEN 1 ELSE 0 END = 1", "1 = CASE WHEN i > 3 THEN 1 ELSE 0 END"),
)
DIFFERENT = (
    ("i > 3", "i >= 3"),
    ("i > 3", "i < 3"),
    ("i > 3", "i > 4"),
    ("i > i2", "i2 > i"),
    ("i IS NOT DISTINCT FROM 3", "i = 3"),
    ("i IS NULL", "FALSE"),
    ("b", "NOT b"),
    ("b", "b IS TRUE"),
    ("i = 1 OR i2 = 2", "i IN (1, 2)"),
    ("i = 1 AND i = 2", "i IN (1, 2)"),
    ("b AND i > 3", "b OR i > 3"),
    ("i IN (1, 2)", "i IN (1, 2, 3)"),
    ("i IS DISTINCT FROM 3", "i IS NOT DISTINCT FROM 3"),
    ("i = i2 OR i = 1", "i IN (1, 2)"),
    ("i_ IS NOT DISTINCT FROM i2", "i_ = i2"),
    ("i IS DISTINCT FROM 3", "i <> 3"),
)


@pytest.mark.parametrize("spellings", EQUAL, ids=lambda each: each[0])
def test_equal_conditions_are_spelled_in_one_way(spellings: tuple[str, ...]) -> None:
    assert len({normal(read(text, BOTH)) for text in spellings}) == 1


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_conditions_are_not(one: str, other: str) -> None:
    assert normal(read(one, BOTH)) != normal(read(other, BOTH))


def test_the_normal_form_has_the_same_value_on_every_row() -> None:
    with duckdb.connect() as connection:
        connection.execute(ROWS)
        for text in dict.fromkeys(text for group in (*EQUAL, *DIFFERENT) for text in group):
            expression = read(text, BOTH)
            pair = ", ".join(
                native(DUCKDB, each).sql("duckdb") for each in (expression, normal(expression))
            )
            rows = connection.execute(
                f"SELECT {pair} FROM t {'WHERE b IS NOT NULL' if '_' in text else ''}"
            ).fetchall()
            assert all(mine == other for mine, other in rows), text


@pytest.mark.parametrize(
    ("conditions", "also"),
    [
        (("i = 3",), ("i IS NOT NULL",)),
        (("i < i2",), ("i IS NOT NULL", "i2 IS NOT NULL")),
        (("NOT i IN (1, i2)",), ("i IS NOT NULL",)),
        (("s LIKE 'a%'", "b"), ("s IS NOT NULL", "b IS NOT NULL")),
        (("i IS NULL",), ()),
        (("i IS NOT DISTINCT FROM 3",), ()),
        (("i = 1 OR s = 'a'",), ()),
        (("ABS(i) = 3",), ()),
        (("NOT b",), ("b IS NOT NULL",)),
        ((), ()),
    ],
)
def test_what_conditions_imply_is_that_what_they_compare_has_values(
    conditions: tuple[str, ...], also: tuple[str, ...]
) -> None:
    found = implied(frozenset(normal(read(text, BOTH)) for text in conditions))
    assert found == {normal(read(text, BOTH)) for text in also}
