"""Weighted least squares over groups of one population measured at several levels.

Also the noise of their sums. Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.plan import CorePlan

FloatArray = NDArray[np.float64]
PlaceArray = NDArray[np.int64]

#: Conjugate gradients end here at the latest;
#: a lattice of grouping sets needs about as many steps #: as it has sets.
MOST_STEPS = 200
SMALL = 1e-13
#: A variance below this share of the largest one is taken to be as large:
#: doubles do not solve what #: spans more.
LEAST_SHARE: Final = 1e-8


@dataclass(frozen=True)
class MeasuredLevel:
    """One level: the group of each group of the finest level, noisy numbers and their variance."""

    group: PlaceArray
    numbers: FloatArray
    variance: float


def consistent(finest: FloatArray, variance: float, levels: Sequence[MeasuredLevel]) -> FloatArray:
    """The numbers of the finest level that fit all levels best.

    The sum of the squared errors at all levels, over their variances, is least. The number of a
    coarser group is then the sum of these numbers over its groups: an estimate of the least
    variance among all linear ones without bias.

    >>> total = MeasuredLevel(np.array([0, 0]), np.array([16.0]), 1.0)
    >>> consistent(np.array([4.0, 6.0]), 1.0, [total]).tolist()
    [6.0, 8.0]
    """

    variance, levels = comparable(variance, levels)

    def normal(change: FloatArray) -> FloatArray:
        result = change.copy()
        for level in levels:
            result += _sums(level, change)[level.group] * (variance / level.variance)
        return result

    rest = np.zeros_like(finest)
    for level in levels:
        rest += ((level.numbers - _sums(level, finest)) * (variance / level.variance))[level.group]
    return finest + _solution(normal, rest)


def comparable(
    variance: float, levels: Sequence[MeasuredLevel]
) -> tuple[float, list[MeasuredLevel]]:
    """The variance of the finest level and the levels, with variances raised to comparable size.

    None is below `LEAST_SHARE` of the largest.

    >>> comparable(1e-100, [MeasuredLevel(np.array([0]), np.array([1.0]), 1.0)])[0]
    1e-08
    """
    least = LEAST_SHARE * max(variance, *(level.variance for level in levels), 0.0)
    return max(variance, least), [
        replace(level, variance=max(level.variance, least)) for level in levels
    ]


@dataclass(frozen=True)
class SumVariance:
    """The variance of a consistent sum, and the sum of squares of its parts from single noises."""

    variance: float
    single: float


def spreads(
    count: int, variance: float, levels: Sequence[MeasuredLevel]
) -> Callable[[Sequence[int]], SumVariance]:
    """For any of the ``count`` groups of the finest level the spread of their consistent sum.

    >>> of = spreads(2, 1.0, [MeasuredLevel(np.array([0, 0]), np.array([16.0]), 1.0)])
    >>> round(of([0]).variance, 9), round(of([0, 1]).variance, 9)
    (0.666666667, 0.666666667)
    """
    variance, levels = comparable(variance, levels)
    normal = np.eye(count) / variance
    for level in levels:
        normal += (level.group[:, None] == level.group[None, :]) / level.variance
    inverse = np.linalg.inv(normal)

    def of(members: Sequence[int]) -> SumVariance:
        moved = inverse[:, list(members)].sum(axis=1)
        parts = [
            moved * moved / variance,
            *(_sums(level, moved) ** 2 / level.variance for level in levels),
        ]
        variance_ = float(moved[list(members)].sum())
        return SumVariance(
            variance_,
            min(
                sum(float(moved_numbers @ moved_numbers) for moved_numbers in parts) / variance_**2,
                1.0,
            )
            if variance_
            else 1.0,
        )

    return of


def _sums(level: MeasuredLevel, numbers: FloatArray) -> FloatArray:
    return np.asarray(
        np.bincount(level.group, weights=numbers, minlength=len(level.numbers)), dtype=np.float64
    )


def _solution(normal: Callable[[FloatArray], FloatArray], right_side: FloatArray) -> FloatArray:
    """The solution of the normal equations by conjugate gradients."""
    result = np.zeros_like(right_side)
    rest = right_side.copy()
    direction = rest.copy()
    size = float(rest @ rest)
    enough = size * SMALL**2
    for _ in range(MOST_STEPS):
        if size <= enough or size == 0:
            break
        image = normal(direction)
        length = size / float(direction @ image)
        result = result + length * direction
        rest = rest - length * image
        before = size
        size = float(rest @ rest)
        direction = rest + (size / before) * direction
    return result


#: Noise that is all but certain to be 0 has a deviation that is no double, and neither is the
#: square of a variance of 1e-170; a larger one only makes intervals wider.
LEAST_VARIANCE = 1e-100
#: Up to so many groups of the finest level the spread of each sum is computed,
#: beyond it is #: bounded.
DENSE = 400


def cell_variance(plan: CorePlan, index: int, step: Fraction) -> float:
    """The variance of a cell's noise in steps of that size.

    The square of the noise itself may be no double.
    """
    cell = plan.cells[index]
    spread = float(cell.mechanism.standard_deviation) * float(cell.contribution.step / step)
    return max(spread * spread, LEAST_VARIANCE)


def spread_half_width(spread: SumVariance, laplace: bool, confidence: float) -> float:
    """Half the interval of a sum of noises.

    It is the normal one, widened for Laplace noises by their fourth moment.
    """
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    wider = max(0.0, normal**3 - 3 * normal) / 8 * spread.single if laplace else 0.0
    return (normal + wider) * math.sqrt(spread.variance)
