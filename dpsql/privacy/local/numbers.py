"""Reports of a number within public bounds: Laplace noise, the piecewise mechanism, one bit.

A number is rounded by chance to a grid of `STEPS` steps over its bounds, so that its mean stays;
the mechanism is one over the integers of the grid, and a float is made of its draw last of all.
Proofs in `docs/proofs/local.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import exp, isfinite
from numbers import Rational

from dpsql.privacy.measure import Cost, exact, pure_rho
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.mechanism.randomized_response import RandomizedResponse
from dpsql.privacy.rounding import exp_bounds, log_bounds, rounded_up
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.privacy.sampling.entropy import uniform_below, words

#: The grid has so many steps on each side of the middle of the bounds.
HALF = 1 << 15
#: And so many over the bounds.
STEPS = 2 * HALF
_BITS = 60
#: A sum beside private columns clamps Laplace reports so many scales beyond the bounds.
TAIL = 12

Bounds = tuple[object, object]


def laplace(
    value: object, bounds: Bounds, epsilon: object, *, _entropy: Entropy = OPERATING_SYSTEM
) -> float:
    """The report of one number by Laplace noise of the scale (high − low)/ε, on a grid.

    >>> isinstance(laplace(37.2, (0, 100), 1.0), float)
    True
    """
    return LocalLaplace.for_epsilon(bounds, epsilon).perturb([value], _entropy=_entropy)[0]


def piecewise(
    value: object, bounds: Bounds, epsilon: object, *, _entropy: Entropy = OPERATING_SYSTEM
) -> float:
    """The report of one number by the piecewise mechanism (Wang et al. 2019), on a grid.

    It lies in `Piecewise.reach`.

    >>> isinstance(piecewise(37.2, (0, 100), 1.0), float)
    True
    """
    return Piecewise.for_epsilon(bounds, epsilon).perturb([value], _entropy=_entropy)[0]


def one_bit(
    value: object, bounds: Bounds, epsilon: object, *, _entropy: Entropy = OPERATING_SYSTEM
) -> bool:
    """The report of one number as one bit (Ding et al. 2017).

    It is rounded by chance to a bound, then perturbed by randomized response.

    >>> one_bit(37.2, (0, 100), 1.0) in (False, True)
    True
    """
    return OneBit.for_epsilon(bounds, epsilon).perturb([value], _entropy=_entropy)[0]


@dataclass(frozen=True)
class _Bounded:
    """Public bounds, and the grid over them."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError("the lower bound must lie below the upper one")

    @property
    def middle(self) -> Fraction:
        """The middle of the bounds."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> Fraction:
        """Half the width of the bounds."""
        return (self.high - self.low) / 2

    def clamped(self, value: object) -> Fraction:
        """The number, or the bound that it passes."""
        return min(max(_number(value, "a value"), self.low), self.high)

    def on_grid(self, value: object, entropy: Entropy) -> int:
        """The position of a number on the grid, from −`HALF` to `HALF`, rounded by chance.

        Its mean is the number's position.
        """
        position = (self.clamped(value) - self.middle) / self.half * HALF
        below = position.numerator // position.denominator
        return below + int(_coin(position - below, entropy))


@dataclass(frozen=True)
class LocalLaplace(_Bounded):
    """A place on the grid, plus discrete Laplace noise."""

    scale: Fraction

    @classmethod
    def for_epsilon(cls, bounds: Bounds, epsilon: object) -> LocalLaplace:
        """The noise that costs epsilon: the whole grid over epsilon."""
        return cls(*_ends(bounds), Laplace.for_epsilon(STEPS, exact(epsilon)).scale)

    @cached_property
    def noise(self) -> Laplace:
        """The noise, in steps of the grid, for values at most `STEPS` apart."""
        return Laplace(STEPS, self.scale)

    @property
    def cost(self) -> Cost:
        """What one report costs."""
        return self.noise.cost

    @property
    def reach(self) -> tuple[float, float]:
        """The range of all reports, but for fewer than e^−`TAIL` of them; sums are clamped to it."""
        beyond = TAIL * self.half * self.scale / HALF
        return float(self.low - beyond), float(self.high + beyond)

    @property
    def variance(self) -> float:
        """That of a report's noise, in the square of the number's unit."""
        return (self.noise.standard_deviation * float(self.half) / HALF) ** 2

    @property
    def square(self) -> tuple[float, float, float]:
        """a, b and c of a·y² + b·y + c,
        whose mean over the reports y is the square of the number.
        """
        return 1.0, 0.0, -self.variance

    def perturb(
        self, values: Sequence[object], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> list[float]:
        """A report for each number, independently; its mean is the number."""
        noisy = self.noise.perturb(
            [self.on_grid(value, _entropy) for value in values], _entropy=_entropy
        )
        return [float(self.middle + self.half * position / HALF) for position in noisy]


@dataclass(frozen=True)
class Piecewise(_Bounded):
    """A place near the true one with ``near``, else any of the range:
    uniform on ±window around it, or on the range.

    The range is ±(`HALF` + window) steps.
    """

    window: int
    near: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window < 0 or not 0 < self.near < 1 or self.near.denominator > 1 << 62:
            raise ValueError(
                "a piecewise mechanism needs a window of at least 0 and a chance between 0 and 1"
            )

    @classmethod
    def for_epsilon(cls, bounds: Bounds, epsilon: object) -> Piecewise:
        """The one that costs at most epsilon, with the window e^(−ε/2) of Wang et al."""
        price = exact(epsilon)
        window = round(HALF * exp(-float(min(price, Fraction(100))) / 2))
        _, inverse = exp_bounds(price, 160)
        # near/(1 − near) = (e^ε − 1)(2·window + 1)/(2·range + 1), rounded down
        above = ((1 << 160) - inverse) * (2 * window + 1)
        below = inverse * (2 * (HALF + window) + 1)
        return cls(
            *_ends(bounds), window, Fraction((above << _BITS) // (above + below), 1 << _BITS)
        )

    @property
    def range(self) -> int:
        """The furthest place of a report from the middle, in steps."""
        return HALF + self.window

    @property
    def cost(self) -> Cost:
        """ε = ln(1 + near·(2·range + 1)/((1 − near)·(2·window + 1))), rounded up."""
        ratio = 1 + self.near * (2 * self.range + 1) / ((1 - self.near) * (2 * self.window + 1))
        epsilon = rounded_up(log_bounds(ratio, 80)[1])
        return Cost(epsilon, pure_rho(epsilon))

    @property
    def reach(self) -> tuple[float, float]:
        """The range of all reports."""
        far = self.half * self.range / (HALF * self.near)
        return float(self.middle - far), float(self.middle + far)

    @property
    def spread(self) -> float:
        """The variance of the report of the middle of the bounds, in the number's unit squared."""
        inside = Fraction(self.window * (self.window + 1), 3)
        variance = Fraction(self.range * (self.range + 1), 3)
        return float(
            (self.near * inside + (1 - self.near) * variance)
            / (self.near * HALF) ** 2
            * self.half**2
        )

    @property
    def variance(self) -> float:
        """The greatest variance of a report: that of a bound."""
        return self.spread + float((1 / self.near - 1) * self.half**2)

    @property
    def square(self) -> tuple[float, float, float]:
        """a, b and c of a·y² + b·y + c,
        whose mean over the reports y is the square of the number.
        """
        near = float(self.near)
        far = float(1 - self.near)
        middle = float(self.middle)
        return near, 2 * middle * far, -far * middle**2 - near * self.spread

    def perturb(
        self, values: Sequence[object], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> list[float]:
        """A report for each number, independently; its mean is the number."""
        count = len(values)
        places = [self.on_grid(value, _entropy) for value in values]
        near = uniform_below(self.near.denominator, count, _entropy) < self.near.numerator
        inside = uniform_below(2 * self.window + 1, count, _entropy) - self.window
        uniform = uniform_below(2 * self.range + 1, count, _entropy) - self.range
        drawn = [
            index + int(moved) if close else int(far)
            for index, close, moved, far in zip(places, near, inside, uniform, strict=True)
        ]
        return [
            float(self.middle + self.half * position / (HALF * self.near)) for position in drawn
        ]


@dataclass(frozen=True)
class OneBit(_Bounded):
    """A number rounded by chance to one of its bounds, and randomized response over the two."""

    truth: Fraction

    @classmethod
    def for_epsilon(cls, bounds: Bounds, epsilon: object) -> OneBit:
        """The one that costs at most epsilon."""
        return cls(*_ends(bounds), RandomizedResponse.for_epsilon(2, exact(epsilon)).truth)

    @cached_property
    def response(self) -> RandomizedResponse:
        """The mechanism over the two bounds."""
        return RandomizedResponse(2, self.truth)

    @property
    def cost(self) -> Cost:
        """What one report costs."""
        return self.response.cost

    def perturb(
        self, values: Sequence[object], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> list[bool]:
        """A bit for each number, independently; true stands for the upper bound."""
        ends = [self._end(value, _entropy) for value in values]
        return [bool(bit) for bit in self.response.draw(ends, _entropy=_entropy)]

    def estimate(self, reports: Sequence[bool]) -> float:
        """The mean of the clients' numbers, without bias."""
        above = self.response.estimate([int(report) for report in reports])[1] / len(reports)
        return float(self.low) + float(self.high - self.low) * above

    def _end(self, value: object, entropy: Entropy) -> int:
        return int(_coin((self.clamped(value) - self.low) / (self.high - self.low), entropy))


def _ends(bounds: Bounds) -> tuple[Fraction, Fraction]:
    low, high = bounds
    return _number(low, "a bound"), _number(high, "a bound")


def _number(value: object, name: str) -> Fraction:
    """The number as it is, with no rounding."""
    if isinstance(value, int | float | Decimal | Rational) and isfinite(value):
        return Fraction(value)
    raise ValueError(f"{name} must be a finite number, not {value!r}")


def _coin(chance: Fraction, entropy: Entropy) -> bool:
    """True with exactly that probability.

    A uniform number's bits are compared with the probability's, 64 at a time.
    """
    while chance:
        scaled = chance * (1 << 64)
        digits = scaled.numerator // scaled.denominator
        drawn = int(words(entropy, 1)[0])
        if drawn != digits:
            return drawn < digits
        chance = scaled - digits
    return False
