"""Columns of aggregates and intervals are those that are read off one row after the other."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpsql.planning.estimators.columnar_rows import (
    ColumnarRows,
    IntervalColumn,
    StepColumn,
    as_type,
    column,
    quotients_as_type,
)
from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
    interval,
    value,
)
from dpsql.planning.estimators.linear_forms import GAUSSIAN, NoiseLaw, laplace
from dpsql.planning.estimators.moments import CentredVariable, MomentEstimate
from dpsql.planning.estimators.vectorised_estimates import ratios, read_column
from dpsql.release.noise_addition import in_order, sort_key
from dpsql.sql.ir.aggregate_properties import Statistic

STEPS = (
    Fraction(1),
    Fraction(1, 2048),
    Fraction(1, 300),
    Fraction(7, 3),
    Fraction(10**30),
    Fraction(1, 10**30),
)
SIZES = (0, 3, 10**3, 10**9, 2**52, 2**61)


@pytest.mark.parametrize("law", [GAUSSIAN, laplace(0.95)], ids=["Gaussian", "Laplace"])
@pytest.mark.parametrize("seed", range(60))
def test_columns_are_the_rows(seed: int, law: NoiseLaw) -> None:
    drawn = random.Random(seed)
    size, rows = drawn.choice(SIZES), drawn.choice([0, 1, 30])
    cells = [
        StepColumn(
            [drawn.choice([0, min(size, 1), drawn.randint(-size, size)]) for _ in range(rows)],
            drawn.choice(STEPS),
        )
        for _ in range(2)
    ]
    halves = [drawn.randint(0, 200) * cell.step for cell in cells]
    middle, reach = Fraction(drawn.randint(-500, 500), 10), Fraction(drawn.randint(1, 500), 10)
    for estimate, kinds in _estimates(middle, reach):
        for sql_type in kinds:
            wide = drawn.choice([None, 3.5])
            values, intervals = read_column(estimate, cells, halves, wide, law, sql_type)
            measured = [list(zip(row, halves, strict=True)) for row in zip(*cells, strict=True)]
            assert len(values) == len(intervals) == rows
            for at, row in enumerate(measured):
                number = value(estimate, row)
                _require_equal(
                    values[at], as_type(number, sql_type), isinstance(estimate, MeanEstimate)
                )
                known = None if number is None else interval(estimate, row, wide, law)
                if known is None:
                    assert intervals[at] is None
                else:
                    found = intervals[at]
                    assert found is not None
                    for one, other in zip(found, known, strict=True):
                        _require_equal(one, other, isinstance(estimate, MeanEstimate | CentredSum))


@pytest.mark.parametrize(
    ("size", "step"),
    [(2**52, Fraction(7, 3)), (1000, Fraction(1, 2**53 + 1))],
    ids=["a large dividend", "a large divisor"],
)
def test_quotients_beyond_the_integers_of_a_double_are_rounded_once(
    size: int, step: Fraction
) -> None:
    """Where dividend or divisor is rounded to a double first,
    the quotient is often the one beside the nearest.
    """
    drawn, half = random.Random(7), 5 * step
    cells = [StepColumn([drawn.randint(size // 2, size) for _ in range(100)], step)]
    values, intervals = read_column(SingleCell(0), cells, [half], None, GAUSSIAN, "DOUBLE")
    assert list(values) == [float(number) for number in cells[0]]
    assert list(intervals) == [(float(number - half), float(number + half)) for number in cells[0]]


def _estimates(middle: Fraction, reach: Fraction) -> list[tuple[Estimate, tuple[str, ...]]]:
    variable = CentredVariable(0, 1, Fraction(1), Fraction(3), Fraction(2))
    return [
        (SingleCell(0), ("BIGINT", "DOUBLE", "DECIMAL(38,2)", "DECIMAL(38,12)", "DECIMAL(38,30)")),
        (CentredSum(0, 1, middle), ("BIGINT", "DOUBLE", "DECIMAL(38,1)")),
        (MeanEstimate(0, 1, middle, reach), ("DOUBLE",)),
        (PresenceEstimate(0, against=True), ("BOOLEAN",)),
        (MomentEstimate(Statistic.VAR_POP, 1, variable), ("DOUBLE",)),
        (MomentEstimate(Statistic.VAR_SAMP, 1, variable), ("DOUBLE",)),
    ]


def _require_equal(one: object, other: object, nearly: bool) -> None:
    assert type(one) is type(other)
    if nearly and isinstance(one, float) and isinstance(other, float):
        assert one == other or math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    else:
        assert one == other


def test_an_average_stays_within_its_bounds() -> None:
    bounds = (Fraction(1, 10), Fraction(7, 10))
    middle, reach = sum(bounds) / 2, (bounds[1] - bounds[0]) / 2
    cells = [StepColumn([-(10**6), 10**6, 5], Fraction(1)), StepColumn([2, 2, 10**3], Fraction(1))]
    values, _ = read_column(
        MeanEstimate(0, 1, middle, reach), cells, [Fraction(1)] * 2, None, GAUSSIAN, "DOUBLE"
    )
    assert values[0] == 0.1 and values[1] == 0.7


def test_halves_are_rounded_to_even() -> None:
    numbers = [-5, -3, -1, 1, 3, 5]
    column_of = [as_type(Fraction(number, 2), "BIGINT") for number in numbers]
    assert (
        quotients_as_type(np.array(numbers, np.int64), 2, "BIGINT")
        == column_of
        == [-2, -2, 0, 0, 2, 2]
    )


@pytest.mark.parametrize(
    "draw",
    [
        lambda drawn: drawn.randint(-5, 5),
        lambda drawn: drawn.choice(["a", "B", "ä", ""]),
        lambda drawn: drawn.choice([None, 1, 2]),
        lambda drawn: drawn.choice([math.nan, 1.5, -math.inf, math.inf, None]),
        lambda drawn: drawn.choice([True, False, None]),
        lambda drawn: drawn.choice([Decimal("1.50"), Decimal(-1), None]),
        lambda drawn: date.fromordinal(drawn.randint(1, 50)),
    ],
)
def test_rows_are_in_the_order_of_their_keys(draw: Callable[[random.Random], object]) -> None:
    for seed in range(20):
        drawn = random.Random(seed)
        rows = [(draw(drawn), drawn.randint(0, 3), number) for number in range(30)]
        ordered = in_order(list(rows), 2)
        assert [row[2] for row in ordered] == [
            row[2] for row in sorted(rows, key=lambda row: [*map(sort_key, row[:2])])
        ]


def test_rows_of_columns_read_as_rows_do() -> None:
    rows = ColumnarRows(([1, 2, 3], [None, "b", "c"]), 3)
    assert (
        list(rows)
        == [(1, None), (2, "b"), (3, "c")]
        == [rows[place] for place in range(3)]
        == rows[:]
    )
    assert rows == [(1, None), (2, "b"), (3, "c")] and rows != [(1, None)] and len(rows) == 3
    assert list(column(rows, 1)) == list(column(list(rows), 1)) == [None, "b", "c"]
    assert list(ColumnarRows((), 2)) == [(), ()] and list(IntervalColumn([1.0], [2.0])) == [
        (1.0, 2.0)
    ]


@pytest.mark.parametrize("below", [-2.0, 0.5, 1.0, 2.9, 3.1, 8.0])
@pytest.mark.parametrize("above", [-9.0, 0.0, 2.0, 5.0])
def test_a_ratio_reaches_all_that_noise_explains(above: float, below: float) -> None:
    """The least and the greatest θ on a grid for which above − θ·below is within its own noise.

    If noise alone may explain the denominator, large θ are among them.
    """
    half_above = 3.0
    half_below = 3.0
    reach = 50.0
    low, high = ratios(
        np.array([above]), half_above, np.array([below]), half_below, law=GAUSSIAN, reach=reach
    )
    grid = np.linspace(-reach, reach, 100_001)
    explained = grid[np.abs(above - grid * below) <= np.hypot(half_above, grid * half_below)]
    assert low[0] <= explained.min() + 0.001 and high[0] >= explained.max() - 0.001
    if below > half_below:
        assert [low[0], high[0]] == pytest.approx([explained.min(), explained.max()], abs=0.001)
