"""Grids of values, sizes and bins cover the bounds of an expression,
and are no finer than they may be.
"""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise

import pytest

from dpsql.schema import SqlType
from dpsql.sql.analysis.quantisation import (
    COARSE_BINS,
    DOUBLE_BITS,
    LARGEST_INTEGER,
    MOST_BINS,
    MOST_BITS,
    PRODUCT_BITS,
    RATIO,
    Quantum,
    bins,
    norm_grid,
    product_quantum,
    quantum,
    sizes,
)
from dpsql.sql.ir.expression import ColumnRef


def column(sql_type: str, low: object, high: object, name: str = "x") -> ColumnRef:
    ends = tuple(end if isinstance(end, date) else Fraction(str(end)) for end in (low, high))
    return ColumnRef("t", name, SqlType.parse(sql_type), False, ends)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql_type", "low", "high", "grid"),
    [
        ("integer", -7, 9, Quantum(Fraction(1), 1.0, -7, 9)),
        ("decimal(9,2)", "-1.25", "99.99", Quantum(Fraction(1, 100), 100.0, -125, 9999)),
        (
            "decimal(18,2)",
            0,
            2**MOST_BITS // 100,
            Quantum(Fraction(1, 100), 100.0, 0, 2**MOST_BITS // 100 * 100),
        ),
        (
            "decimal(18,2)",
            0,
            2**MOST_BITS // 100 + 1,
            Quantum(Fraction(1, 10), 10.0, 0, (2**MOST_BITS // 100 + 1) * 10),
        ),
        (
            "integer",
            0,
            2**MOST_BITS + 1,
            Quantum(Fraction(10), 0.1, 0, round((2**MOST_BITS + 1) / 10)),
        ),
        ("double", 0, 1, Quantum(Fraction(1, 2**DOUBLE_BITS), 2.0**DOUBLE_BITS, 0, 2**DOUBLE_BITS)),
        (
            "double",
            -3,
            "0.5",
            Quantum(
                Fraction(4, 2**DOUBLE_BITS),
                2.0 ** (DOUBLE_BITS - 2),
                -3 * 2 ** (DOUBLE_BITS - 2),
                2 ** (DOUBLE_BITS - 3),
            ),
        ),
        ("double", 0, 0, Quantum(Fraction(1), 1.0, 0, 0)),
        (
            "double",
            0,
            "1e-300",
            Quantum(Fraction(1, 2**1000), 2.0**1000, 0, round(1e-300 * 2**1000)),
        ),
    ],
)
def test_a_grid_is_as_fine_as_its_type_and_its_bits(
    sql_type: str, low: object, high: object, grid: Quantum
) -> None:
    assert quantum(column(sql_type, low, high)) == grid


@pytest.mark.parametrize(
    "magnitude", ["0.75", "1", "1.0000001", "2", "3", "4", "5", "1e-9", "123456.789", "1e12"]
)
def test_a_double_has_its_bits_and_no_more(magnitude: str) -> None:
    size = quantum(column("double", -Fraction(magnitude), magnitude)).size
    assert 2 ** (DOUBLE_BITS - 1) < Fraction(magnitude) / size <= 2**DOUBLE_BITS


def test_the_middle_is_no_farther_from_one_end_than_from_the_other_by_more_than_a_step() -> None:
    for low, high in ((-7, 9), (0, 5), (-6, -1), (3, 3), (-10, 1)):
        grid = quantum(column("integer", low, high))
        assert grid.largest == max(map(abs, (low, high))) and grid.low <= grid.middle <= grid.high
        assert (
            grid.reach
            == max(abs(value - grid.middle) for value in range(low, high + 1))
            == -(-(high - low) // 2)
        )


@pytest.mark.parametrize(
    ("step", "largest"),
    [
        (Fraction(1), 1),
        (Fraction(1), 0),
        (Fraction(1), 1000),
        (Fraction(1, 4), 77),
        (Fraction(1), 2**70),
    ],
)
def test_sizes_grow_by_a_ratio_from_a_step_to_the_largest(step: Fraction, largest: int) -> None:
    found = sizes(step, largest)
    assert found[0] == step and found[-1] == max(largest, 1) * step and list(found) == sorted(found)
    near = RATIO * (1 + Fraction(1, 10**12))
    assert all(later <= before * near + step for before, later in pairwise(map(Fraction, found)))
    assert all(isinstance(size, int) == (step == 1 and largest < LARGEST_INTEGER) for size in found)


def test_norms_are_told_on_a_grid_of_the_type_alone() -> None:
    assert norm_grid(column("decimal(9,2)", 0, 7)) == (Fraction(1, 100), LARGEST_INTEGER // 2)
    assert norm_grid(column("integer", 0, 7)) == (Fraction(1), 2**62) and norm_grid(
        column("double", 0, 7)
    ) == (
        Fraction(1, 2**40),
        2**96,
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (column("integer", -7, 9), column("integer", 0, 4, "y")),
        (column("integer", 3, 3), column("integer", -1, 2, "y")),
        (column("double", -3, 5), column("double", 0, "0.1", "y")),
        (column("integer", 0, 10**6), column("integer", -5, 10**5, "y")),
        (column("integer", -7, 9), column("integer", -7, 9)),
        (column("integer", 2, 7), column("integer", 2, 7)),
        (column("double", -3, 5), column("double", -3, 5)),
        (column("integer", 0, 10**6), column("integer", 0, 10**6)),
    ],
)
def test_products_of_steps_are_rounded_to_the_nearest_and_lie_within_their_reach(
    left: ColumnRef, right: ColumnRef
) -> None:
    grid = product_quantum(left, right)
    assert grid.size == grid.left.size * grid.right.size * grid.divisor
    assert (
        grid.divisor == 1 or 2 ** (PRODUCT_BITS - 2) <= grid.reach + grid.middle <= 2**PRODUCT_BITS
    )
    ends = []
    for one in {
        grid.left.low,
        grid.left.middle,
        min(grid.left.middle + 1, grid.left.high),
        grid.left.high,
    }:
        for other in (
            {one} if left == right else {grid.right.low, grid.right.middle, grid.right.high}
        ):
            product = (one - grid.left.middle) * (other - grid.right.middle)
            dividend = product + grid.added
            assert dividend >= 0 or grid.divisor == 1
            steps = dividend // grid.divisor - grid.taken
            assert abs(
                Fraction(product, grid.divisor) - (steps + (grid.middle if left == right else 0))
            ) <= Fraction(1, 2)
            ends.append(abs(steps))
    assert max(ends) <= grid.reach and (max(ends) >= grid.reach - 1 or left != right)


DAY = date(2024, 2, 29)


@pytest.mark.parametrize(
    ("sql_type", "low", "high", "axis", "count"),
    [
        ("integer", -7, 9, "number", 17),
        ("decimal(9,2)", 0, "1.5", "number", 151),
        ("double", 0, 1, "number", 2**30 + 1),
        ("date", DAY, date(2024, 3, 2), "day", 3),
        ("timestamp", datetime(2024, 2, 29, 1), datetime(2024, 2, 29, 1, 0, 9), "second", 10),
        ("integer", 1, MOST_BINS, "number", MOST_BINS),
        ("timestamp", datetime(1800, 1, 1), datetime(2000, 1, 1), "second", 3_155_673_601),
    ],
)
def test_bins_cover_the_bounds(
    sql_type: str, low: object, high: object, axis: str, count: int
) -> None:
    found = bins(column(sql_type, low, high))
    steps = found.high - found.low + 1
    assert (found.axis, found.count) == (axis, count) and found.count <= MOST_BINS
    assert found.width * (count - 1) < steps <= found.width * count and found.are_values == (
        steps == count
    )


def test_a_place_in_a_bin_is_a_value_within_the_bounds() -> None:
    exact, wide = (
        bins(column("decimal(9,1)", "-0.5", 7)),
        bins(column("integer", 0, 2 * COARSE_BINS)).coarse,
    )
    assert [exact.value(place) for place in (0, 5, 75)] == [Fraction(-1, 2), 0, 7]
    assert [exact.position(place, Fraction(1, 2)) for place in (0, 5, 75)] == [
        Fraction(-1, 2),
        0,
        7,
    ]
    assert exact.position(3, Fraction(0)) == Fraction(-1, 4) and exact.position(
        3, Fraction(1)
    ) == Fraction(-3, 20)
    assert (
        wide.width == 3
        and wide.position(0, Fraction(0)) == 0
        and wide.position(5, Fraction(1, 3)) == Fraction(31, 2)
    )
    assert wide.position(wide.count - 1, Fraction(1)) == 2 * COARSE_BINS


@pytest.mark.parametrize("high", [COARSE_BINS - 1, COARSE_BINS, 3 * COARSE_BINS + 7, 10**9])
def test_coarse_bins_are_whole_numbers_of_finer_ones_and_few(high: int) -> None:
    fine = bins(column("integer", 0, high))
    assert fine.are_values and fine.count == high + 1
    coarse = fine.coarse
    assert coarse.count <= COARSE_BINS < 2 * coarse.count or coarse == fine
    assert coarse.width * (coarse.count - 1) < fine.count <= coarse.width * coarse.count
    assert (coarse.low, coarse.high, coarse.size) == (fine.low, fine.high, fine.size)


def test_moments_beyond_the_calendar_are_its_ends_and_texts_have_no_bins() -> None:
    late = ColumnRef("t", "x", SqlType("date"), False, (date(9999, 12, 30), date(9999, 12, 31)))
    assert bins(late).high == date.max.toordinal()
    with pytest.raises(LookupError, match="no quantiles"):
        bins(ColumnRef("t", "x", SqlType("text"), False, None, ("a", "bc")))
