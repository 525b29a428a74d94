"""How an aggregate is read off noisy cells: its value and its interval (``docs/proofs/estimate.md``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

#: A noisy cell in the unit of its data, and the half-width of its noise at the plan's confidence.
Noisy: TypeAlias = tuple[Fraction, Fraction]
Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Alone:
    """A count or a sum: the cell itself."""

    cell: int


@dataclass(frozen=True, slots=True)
class Shifted:
    """A sum whose cell was measured from the middle of the bounds: total + middle · count."""

    total: int
    count: int
    middle: Fraction


@dataclass(frozen=True, slots=True)
class Mean:
    """An average: middle + total / count, which always lies within the bounds."""

    total: int
    count: int
    middle: Fraction
    reach: Fraction


Estimate: TypeAlias = Alone | Shifted | Mean


def value(estimate: Estimate, cells: Sequence[Noisy]) -> Fraction:
    """The aggregate's value; an average over a noisy count below 1 divides by 1, and is kept within its bounds."""
    match estimate:
        case Alone(cell=cell):
            return cells[cell][0]
        case Shifted(total=total, count=count, middle=middle):
            return cells[total][0] + middle * cells[count][0]
        case Mean(total=total, count=count, middle=middle, reach=reach):
            ratio = cells[total][0] / max(cells[count][0], Fraction(1))
            return middle + min(max(ratio, -reach), reach)
        case _:
            assert_never(estimate)


def interval(estimate: Estimate, cells: Sequence[Noisy]) -> Interval:
    """Where the clipped aggregate lies with the plan's confidence: exact for one cell, Fieller's for an average."""
    match estimate:
        case Alone(cell=cell):
            middle, half = cells[cell]
            return float(middle - half), float(middle + half)
        case Shifted(total=total, count=count, middle=middle):
            half_width = math.hypot(float(cells[total][1]), float(middle * cells[count][1]))
            centre = float(value(estimate, cells))
            return centre - half_width, centre + half_width
        case Mean(total=total, count=count, middle=middle, reach=reach):
            low, high = _fieller(cells[total], cells[count], float(reach))
            return float(middle) + low, float(middle) + high
        case _:
            assert_never(estimate)


def _fieller(total: Noisy, count: Noisy, reach: float) -> Interval:
    """The ratios θ within ±reach for which total − θ·count is within its own noise.

    (t − θn)² ≤ hₜ² + θ²hₙ² is a quadratic in θ; where the count is not clearly positive, every θ may do.
    """
    t, ht = float(total[0]), float(total[1])
    n, hn = float(count[0]), float(count[1])
    a, b, c = n * n - hn * hn, t * n, t * t - ht * ht
    if n <= 0 or a <= 0:
        return -reach, reach
    root = math.sqrt(max(b * b - a * c, 0.0))
    low, high = (b - root) / a, (b + root) / a
    return max(min(low, reach), -reach), min(max(high, -reach), reach)


def simulated(estimate: Estimate, cells: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The aggregate's value on many draws of the cells at once, for intervals of expressions over aggregates."""
    match estimate:
        case Alone(cell=cell):
            return cells[cell]
        case Shifted(total=total, count=count, middle=middle):
            return cells[total] + float(middle) * cells[count]
        case Mean(total=total, count=count, middle=middle, reach=reach):
            ratio = cells[total] / np.maximum(cells[count], 1.0)
            return float(middle) + np.clip(ratio, -float(reach), float(reach))
        case _:
            assert_never(estimate)
