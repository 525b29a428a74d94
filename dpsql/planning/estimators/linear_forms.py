"""Linear forms in noisy cells: how far noise may have moved them, and the interval of a ratio.

Proved in ``docs/proofs/forms.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: One number, or one for each of many rows.
Numbers = TypeVar("Numbers", float, NDArray[np.float64])
ConfidenceInterval: TypeAlias = tuple[float, float]
#: A noisy cell and the half-width of its noise, both in the unit of its data.
NoisyCell: TypeAlias = tuple[Fraction, Fraction]

EVERYTHING: ConfidenceInterval = (-math.inf, math.inf)
#: Where what cannot be below 0 is.
FROM_ZERO: ConfidenceInterval = (0.0, math.inf)


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """How independent noises add up, as a factor on the hypotenuse of their half-widths.

    The half-width of a sum is the hypotenuse of those of its parts, times this factor. It is 1 if
    one part is all, ``pair`` if two are as large, and ``many`` if there are very many.
    """

    pair: float = 1.0
    many: float = 1.0

    def together(self, *halves: float) -> float:
        """The half-width of a sum of independent noises."""
        return math.hypot(*halves) * self.factor(*halves)

    def factor(self, *halves: float) -> float:
        """The half-width of a sum as a multiple of the hypotenuse of its parts."""
        hypotenuse = math.hypot(*halves)
        if self.many == self.pair == 1.0 or hypotenuse == 0 or not math.isfinite(hypotenuse):
            return 1.0
        return self.at(1 - sum((half / hypotenuse) ** 4 for half in halves))

    def at(self, shared: Numbers) -> Numbers:
        """The factor for a share that lies in no single part.

        The share is 0 if one part is all, 1/2 if two are as large.
        """
        bend = 4 * self.pair - 2 * (1 + self.many)
        return 1 + (self.many - 1) * shared + bend * shared * (1 - shared)


GAUSSIAN = NoiseLaw()


@lru_cache(maxsize=64)
def laplace(confidence: float) -> NoiseLaw:
    """The law of sums of Laplace noises, whose tails are lighter than those of one.

    Two of scale 1 pass x with probability (1 + x/2)·exp(−x).

    >>> round(laplace(0.95).together(1, 1), 3), round(laplace(0.95).together(1, 1, 1, 1), 3)
    (1.373, 1.9)
    """
    tail = 1 - confidence
    alone = math.log(1 / tail)
    low = 0.0
    high = 4 * math.log(1 / tail) + 4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 + middle / 2) * math.exp(-middle) > tail else (low, middle)
    many = NormalDist().inv_cdf(1 - tail / 2) * math.sqrt(2)
    return NoiseLaw(low / (math.sqrt(2) * alone), many / alone)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A linear combination of noisy cells: its value, and how much the noise of each cell moves it.

    ``moved`` is for each cell's half-width of noise. What it stands for may be larger by up to
    ``lost_above``, or smaller by up to ``lost_below``, because it is only nearly linear; both are
    squares of what noise moves, and reach these bounds when noise reaches its half-widths.
    """

    value: float
    moved: Mapping[int, float] = field(default_factory=dict)
    law: NoiseLaw = GAUSSIAN
    lost_below: float = 0.0
    lost_above: float = 0.0

    def __add__(self, other: LinearForm) -> LinearForm:
        moved = {
            cell: self.moved.get(cell, 0.0) + other.moved.get(cell, 0.0)
            for cell in {**self.moved, **other.moved}
        }
        return LinearForm(
            self.value + other.value,
            moved,
            self.law,
            self.lost_below + other.lost_below,
            lost_above=self.lost_above + other.lost_above,
        )

    def __mul__(self, factor: float) -> LinearForm:
        below, above = (
            (self.lost_below, self.lost_above)
            if factor >= 0
            else (self.lost_above, self.lost_below)
        )
        moved = {cell: half * factor for cell, half in self.moved.items()}
        return LinearForm(
            self.value * factor,
            moved,
            self.law,
            below * abs(factor),
            lost_above=above * abs(factor),
        )

    def plus(self, constant: float) -> LinearForm:
        return LinearForm(
            self.value + constant, self.moved, self.law, self.lost_below, lost_above=self.lost_above
        )

    @property
    def half_width(self) -> float:
        """That of the noises together."""
        return self.law.together(*self.moved.values())

    @property
    def interval(self) -> ConfidenceInterval:
        """Where that lies which the form stands for."""
        half = self.half_width
        return self.value - reach(half, self.lost_below), self.value + reach(half, self.lost_above)


def reach(half: float, lost: float) -> float:
    """The largest c·half + (1 − c²)·lost with c from 0 to 1.

    Noise that does the one does less of the other.
    """
    return half if 2 * lost <= half else lost + half * half / (4 * lost)


def fieller(
    t: Numbers, n: Numbers, tt: Numbers, nn: Numbers, tn: Numbers | float
) -> tuple[Numbers, ...]:
    """(a, b, c) of Fieller's set: the θ with aθ² − 2bθ + c ≤ 0 are the ratios t/n within the noise.

    tt and nn are the squares of the half-widths of t and n, and tn is the part that both share.
    """
    return n * n - nn, t * n - tn, t * t - tt


def ratio(above: LinearForm, below: LinearForm, within: ConfidenceInterval) -> ConfidenceInterval:
    """Fieller's set within two ends: the θ for which above − θ·below is within its own noise.

    It reaches from the least to the greatest of them. ``below`` is the noisy value of something
    that is not negative.
    """
    t = above.value
    n = below.value
    gap = above + below * (-t / n if n else 0.0)
    factor = above.law.factor(*gap.moved.values()) ** 2
    tt = factor * math.hypot(*above.moved.values()) ** 2
    nn = factor * math.hypot(*below.moved.values()) ** 2
    tn = factor * sum(half * below.moved.get(cell, 0.0) for cell, half in above.moved.items())
    a, b, c = fieller(t, n, tt, nn, tn=tn)
    root = math.sqrt(max(b * b - a * c, 0.0))
    if a > 0 and n > 0:
        low = (b - root) / a
        high = (b + root) / a
        return cut(
            (
                low - _nonlinearity_margin(above, below, low, down=True),
                high + _nonlinearity_margin(above, below, high, down=False),
            ),
            within,
        )
    lost = above.lost_below + above.lost_above + below.lost_below + below.lost_above
    if a >= 0 or lost > 0 or b * b <= a * c:
        return within
    return _outside(((b + root) / a, (b - root) / a), within)


def _nonlinearity_margin(above: LinearForm, below: LinearForm, theta: float, down: bool) -> float:
    """How much further an end lies because the forms are only nearly linear."""
    if above.lost_below == above.lost_above == below.lost_below == below.lost_above == 0:
        return 0.0
    gap = above + below * -theta
    half = gap.half_width
    return (reach(half, gap.lost_below if down else gap.lost_above) - half) / below.value


def _outside(gap: ConfidenceInterval, within: ConfidenceInterval) -> ConfidenceInterval:
    """What lies within the ends and not inside the gap, from its least to its greatest."""
    low, high = within
    if low <= gap[0] and gap[1] <= high:
        return within
    if low <= gap[0]:
        return low, min(gap[0], high)
    if gap[1] <= high:
        return max(gap[1], low), high
    return within


def cut(interval: ConfidenceInterval, within: ConfidenceInterval) -> ConfidenceInterval:
    """The interval inside the ends; one that lies wholly outside becomes the nearer end."""
    least, most = within
    return min(max(interval[0], least), most), max(min(interval[1], most), least)
