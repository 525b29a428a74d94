"""Rows as columns are what lists of rows are,
and released numbers are rounded the same one by one and together.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpsql.planning.estimators.columnar_rows import (
    DIGITS,
    INT64,
    ColumnarRows,
    IntervalColumn,
    StepColumn,
    as_type,
    column,
    columns,
    quotients_as_type,
    rows_at,
)

STEPS, ENDS = (
    StepColumn([1, -3, 4], Fraction(1, 2)),
    IntervalColumn([0.0, 1.0, 2.0], [5.0, 6.0, 7.0]),
)
ROWS = ColumnarRows((["a", "b", "c"], STEPS, ENDS), 3)
LISTED = [
    ("a", Fraction(1, 2), (0.0, 5.0)),
    ("b", Fraction(-3, 2), (1.0, 6.0)),
    ("c", Fraction(2), (2.0, 7.0)),
]


def test_rows_kept_as_columns_are_read_as_a_list_is() -> None:
    assert (
        len(ROWS) == 3
        and list(ROWS) == LISTED
        and ROWS == LISTED
        and LISTED[:2] != ROWS
        and ROWS != 3
    )
    assert (
        ROWS[0] == LISTED[0]
        and ROWS[-1] == LISTED[-1]
        and ROWS[1:] == LISTED[1:]
        and ROWS[::-2] == LISTED[::-2]
    )
    assert hash(ROWS) == hash(tuple(LISTED)) and list(ColumnarRows((), 2)) == [(), ()]
    assert (
        ENDS[1] == (1.0, 6.0)
        and STEPS[-1] == 2
        and list(reversed(STEPS)) == [2, Fraction(-3, 2), Fraction(1, 2)]
    )


@pytest.mark.parametrize("places", [[], [2], [2, 0, 2]])
def test_rows_at_places_stay_what_they_are(places: list[int]) -> None:
    wanted = [LISTED[place] for place in places]
    found = rows_at(ROWS, places)
    assert (
        isinstance(found, ColumnarRows)
        and list(found) == wanted
        and rows_at(LISTED, places) == wanted
    )
    assert [type(each) for each in found.columns] == [list, StepColumn, IntervalColumn]
    assert list(column(found, 1)) == list(column(wanted, 1)) == [row[1] for row in wanted]
    assert [list(each) for each in columns(ROWS, 2)] == [["a", "b", "c"], list(STEPS)]


@pytest.mark.parametrize(
    ("number", "sql_type", "value"),
    [
        (None, "BIGINT", None),
        (Fraction(1), "BOOLEAN", True),
        (Fraction(0), "BOOLEAN", False),
        (Fraction(-5, 2), "BIGINT", -2),
        (Fraction(7, 2), "BIGINT", 4),
        (Fraction(INT64), "BIGINT", INT64 - 1),
        (Fraction(-INT64 - 5), "BIGINT", -INT64),
        (Fraction(1, 4), "DOUBLE", 0.25),
        (Fraction(5, 1000), "DECIMAL(38,2)", Decimal("0.00")),
        (Fraction(-15, 1000), "DECIMAL(38,2)", Decimal("-0.02")),
        (Fraction(10**40), "DECIMAL(38,2)", Decimal("9" * 36 + ".99")),
        (Fraction(-(10**40)), "DECIMAL(38,0)", Decimal(-DIGITS)),
    ],
)
def test_a_released_number_is_rounded_and_kept_within_its_type(
    number: Fraction | None, sql_type: str, value: object
) -> None:
    found = as_type(number, sql_type)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("sql_type", ["BIGINT", "DOUBLE", "DECIMAL(38,2)", "DECIMAL(38,0)"])
@pytest.mark.parametrize("denominator", [1, 2, 7, 200, 2**20])
def test_quotients_together_are_those_one_by_one(sql_type: str, denominator: int) -> None:
    numerators = np.concatenate(
        [np.arange(-13, 14), np.arange(-9, 10) * denominator // 2, [10**9 + 1, -(10**9) - 3]]
    )
    found = quotients_as_type(numerators, denominator, sql_type)
    wanted = [as_type(Fraction(int(each), denominator), sql_type) for each in numerators]
    assert found is not None and list(map(repr, found)) == list(map(repr, wanted))


def test_quotients_that_64_bits_do_not_hold_are_left_to_larger_integers() -> None:
    largest = INT64 // 4 // 100
    assert quotients_as_type(np.array([-largest]), 3, "DECIMAL(38,2)") is not None
    assert quotients_as_type(np.array([3, -largest - 1]), 3, "DECIMAL(38,2)") is None
    assert quotients_as_type(np.array([1]), 3, "BOOLEAN") is None
    assert quotients_as_type(np.array([], dtype=np.int64), 3, "DECIMAL(38,2)") == []
