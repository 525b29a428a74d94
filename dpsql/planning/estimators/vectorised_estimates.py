"""The readings of `dpsql.planning.estimators.estimate` for all rows at once.

Proved in ``docs/proofs/estimate.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, lcm
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.columnar_rows import (
    EXACT,
    IntervalColumn,
    StepColumn,
    as_type,
    quotients_as_type,
)
from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    MeanEstimate,
    SingleCell,
    interval,
    linear,
    too_few_rows,
    value,
)
from dpsql.planning.estimators.linear_forms import ConfidenceInterval, NoiseLaw, fieller

#: A column of released values, and one of their intervals.
ReadColumn: TypeAlias = tuple[Sequence[object], Sequence[ConfidenceInterval | None]]
_Doubles: TypeAlias = NDArray[np.float64]


def read_column(
    estimate: Estimate,
    cells: Sequence[StepColumn],
    halves: Sequence[Fraction],
    wide: float | None,
    law: NoiseLaw,
    sql_type: str,
) -> ReadColumn:
    """An aggregate's value, in the type of its column, and its interval on every row.

    ``halves`` are the half-widths of the cells, ``wide`` that of a shifted sum. Averages are as
    `estimate` has them but for the rounding of doubles, and all else is the same exactly; what has
    no arithmetic of columns is read row by row.
    """
    result: ReadColumn | None = None
    match estimate:
        case SingleCell(cell=cell):
            result = _alone(cells[cell], halves[cell], sql_type)
        case CentredSum():
            result = _centred_sum_column(estimate, cells, halves, wide, law=law, sql_type=sql_type)
        case MeanEstimate():
            result = _mean(estimate, cells, halves, law)
    return result or _by_row(estimate, cells, halves, wide, law=law, sql_type=sql_type)


def _by_row(
    estimate: Estimate,
    cells: Sequence[StepColumn],
    halves: Sequence[Fraction],
    wide: float | None,
    law: NoiseLaw,
    sql_type: str,
) -> ReadColumn:
    rows = [list(zip(row, halves, strict=True)) for row in zip(*cells, strict=True)]
    values = [value(estimate, row) for row in rows]
    intervals = [
        None if number is None else interval(estimate, row, wide, law)
        for number, row in zip(values, rows, strict=True)
    ]
    return [as_type(number, sql_type) for number in values], intervals


class _Quotients(NamedTuple):
    """Rational numbers with one denominator, all integers less than 2^53 in size."""

    numerators: NDArray[np.int64]
    denominator: int

    @property
    def doubles(self) -> _Doubles:
        """The nearest doubles: the quotient of two exact ones is rounded once."""
        nearest: _Doubles = self.numerators / self.denominator
        return nearest


def _sum_of(
    parts: Sequence[tuple[StepColumn, Fraction]], constant: Fraction = Fraction(0)
) -> _Quotients | None:
    """The sum of columns, each times its factor, and a constant.

    None if it is beyond the integers of a double.
    """
    steps = [column.step * factor for column, factor in parts]
    denominator = lcm(constant.denominator, *(step.denominator for step in steps))
    counts = [_integers(column.counts) for column, _ in parts]
    if any(count is None for count in counts):
        return None
    integer_columns = [count for count in counts if count is not None]
    factors = [int(step * denominator) for step in steps]
    added = int(constant * denominator)
    most = sum(
        int(np.abs(integers).max(initial=1)) * abs(factor)
        for integers, factor in zip(integer_columns, factors, strict=True)
    )
    if max(most + abs(added), denominator) >= EXACT:
        return None
    total = np.full(len(integer_columns[0]), added, np.int64)
    for integers, factor in zip(integer_columns, factors, strict=True):
        total += integers * factor
    return _Quotients(total, denominator)


def _integers(counts: Sequence[int]) -> NDArray[np.int64] | None:
    try:
        integers = np.asarray(counts, np.int64)
    except OverflowError:
        return None
    return integers if int(np.abs(integers).max(initial=0)) < EXACT else None


def _alone(cells: StepColumn, half: Fraction, sql_type: str) -> ReadColumn | None:
    numbers = _sum_of([(cells, Fraction(1))])
    low, high = (_sum_of([(cells, Fraction(1))], side * half) for side in (-1, 1))
    values = None if numbers is None else quotients_as_type(*numbers, sql_type)
    if values is None or low is None or high is None:
        return None
    return values, IntervalColumn(low.doubles.tolist(), high.doubles.tolist())


def _centred_sum_column(
    estimate: CentredSum,
    cells: Sequence[StepColumn],
    halves: Sequence[Fraction],
    wide: float | None,
    law: NoiseLaw,
    sql_type: str,
) -> ReadColumn | None:
    total = cells[estimate.total]
    count = cells[estimate.count]
    numbers = _sum_of([(total, Fraction(1)), (count, estimate.middle)])
    above = _sum_of([(total, Fraction(1))])
    below = _sum_of([(count, Fraction(1))])
    values = None if numbers is None else quotients_as_type(*numbers, sql_type)
    if values is None or above is None or below is None:
        return None
    nothing = [(Fraction(0), half) for half in halves]
    half = linear(estimate, nothing, law).half_width if wide is None else wide
    middles = above.doubles + below.doubles * float(estimate.middle)
    return values, IntervalColumn((middles - half).tolist(), (middles + half).tolist())


def _mean(
    estimate: MeanEstimate, cells: Sequence[StepColumn], halves: Sequence[Fraction], law: NoiseLaw
) -> ReadColumn | None:
    above = _sum_of([(cells[estimate.total], Fraction(1))])
    below = _sum_of([(cells[estimate.count], Fraction(1))])
    if above is None or below is None:
        return None
    middle = float(estimate.middle)
    reach = float(estimate.reach)
    ratio = np.clip(above.doubles / np.maximum(below.doubles, 1.0), -reach, reach)
    least = float(estimate.middle - estimate.reach)
    most = float(estimate.middle + estimate.reach)
    inside = np.where(ratio > -reach, np.minimum(np.maximum(middle + ratio, least), most), least)
    values: list[object] = np.where(ratio < reach, inside, most).tolist()
    half_above = float(halves[estimate.total])
    half_below = float(halves[estimate.count])
    low, high = ratios(above.doubles, half_above, below.doubles, half_below, law=law, reach=reach)
    lows = middle + np.minimum(low, ratio)
    highs = middle + np.maximum(high, ratio)
    known = IntervalColumn(lows.tolist(), highs.tolist())
    too_few = floor((too_few_rows(estimate) + halves[estimate.count]) / cells[estimate.count].step)
    lacking = [count <= too_few for count in cells[estimate.count].counts]
    if not any(lacking):
        return values, known
    return (
        [None if lacks else number for lacks, number in zip(lacking, values, strict=True)],
        [None if lacks else ends for lacks, ends in zip(lacking, known, strict=True)],
    )


def ratios(
    above: _Doubles,
    half_above: float,
    below: _Doubles,
    half_below: float,
    law: NoiseLaw,
    reach: float,
) -> tuple[_Doubles, _Doubles]:
    """Fieller's set of each above/below within ± reach, as `linear_forms.ratio` has it.

    It reaches from the least to the greatest. The cells above and below have independent noises of
    these half-widths.
    """
    with np.errstate(all="ignore"):  # where a is 0 nothing is read of what is divided by it
        theta = np.where(below != 0, above / below, 0.0)
        widening = _factors(law, half_above, np.abs(theta) * half_below) ** 2
        tt = widening * half_above**2
        nn = widening * half_below**2
        a, b, c = fieller(above, below, tt, nn, tn=0.0)
        root = np.sqrt(np.maximum(b * b - a * c, 0.0))
        one = (b - root) / a
        other = (b + root) / a
    low = np.full(len(above), -reach)
    high = np.full(len(above), reach)
    closed = (a > 0) & (below > 0)
    low[closed] = np.minimum(np.maximum(one[closed], -reach), reach)
    high[closed] = np.maximum(np.minimum(other[closed], reach), -reach)
    gap = (a < 0) & (b * b > a * c)  # all but what lies between two ends
    from_left = gap & (other >= -reach)
    from_right = gap & (one <= reach)
    high[from_left & ~from_right] = np.minimum(other, reach)[from_left & ~from_right]
    low[from_right & ~from_left] = np.maximum(one, -reach)[from_right & ~from_left]
    return low, high


def _factors(law: NoiseLaw, one: float, others: _Doubles) -> _Doubles:
    """`NoiseLaw.factor` of one half-width and each of the others."""
    hypotenuse = np.hypot(one, others)
    factors = law.at(1 - (one / hypotenuse) ** 4 - (others / hypotenuse) ** 4)
    return np.where((hypotenuse > 0) & np.isfinite(hypotenuse), factors, 1.0)
