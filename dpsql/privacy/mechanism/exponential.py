"""Mechanisms that choose one or several of a public list of candidates.

Proofs in `docs/proofs/mechanism.md`; of `TopKPeeling` in `docs/proofs/frequencies.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TypeAlias

from dpsql.privacy.measure import FREE, Cost, pure_rho
from dpsql.privacy.rounding import (
    confidence_tail,
    exp_bounds,
    log_bounds,
    positive,
    root_below,
    rounded_up,
)
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy, exponential, permute_and_flip
from dpsql.privacy.sampling.categorical import IntegerArray

#: Counts are cut to this, so that they are 64-bit integers however many rows there are.
MOST_COUNT = 2**61


@dataclass(frozen=True)
class ExponentialMechanism:
    """In each group a candidate i with probability ∝ exp(rate·utility).

    ``spread`` bounds what one unit does: how far apart it moves any two utilities of a group,
    added up over groups.
    """

    spread: int
    rate: Fraction

    def __post_init__(self) -> None:
        positive(spread=self.spread, rate=self.rate)

    @classmethod
    def for_epsilon(cls, spread: int, epsilon: Fraction) -> ExponentialMechanism:
        """The choice that costs epsilon: rate = epsilon/spread."""
        positive(spread=spread, epsilon=epsilon)
        return cls(spread, epsilon / spread)

    @property
    def cost(self) -> Cost:
        """ε = spread·rate; ρ = c − 1 − ln c with c = ε/(1 − exp(−ε)), rounded up,
        never above ε²/8.
        """
        epsilon = self.spread * self.rate
        return Cost(epsilon, bounded_range_rho(epsilon))

    def draw(
        self,
        utilities: IntegerArray,
        widths: IntegerArray | None = None,
        *,
        _entropy: Entropy = OPERATING_SYSTEM,
    ) -> int:
        """The place of one group's chosen candidate;
        utilities[i] is that of widths[i] candidates in a row.
        """
        return exponential(utilities, self.rate, widths, _entropy=_entropy)


@dataclass(frozen=True)
class ConcentratedExponential:
    """The exponential mechanism in each group at a price in zCDP.

    ``spread_squared`` bounds what one unit does: the squares of how far apart it moves any two
    utilities of a group, added up over groups.
    """

    spread_squared: int
    rho: Fraction

    def __post_init__(self) -> None:
        positive(spread_squared=self.spread_squared, rho=self.rho)

    @property
    def rate(self) -> Fraction:
        """√(8ρ/spread²), rounded down to about 64 bits."""
        return root_below(8 * self.rho / self.spread_squared)

    @property
    def cost(self) -> Cost:
        """ρ; there is no pure ε, as the number of groups is not bounded."""
        return Cost(None, self.rho)

    def draw(
        self,
        utilities: IntegerArray,
        widths: IntegerArray | None = None,
        *,
        _entropy: Entropy = OPERATING_SYSTEM,
    ) -> int:
        """The place of one group's chosen candidate;
        utilities[i] is that of widths[i] candidates in a row.
        """
        return exponential(utilities, self.rate, widths, _entropy=_entropy)


@dataclass(frozen=True)
class PermuteAndFlip:
    """In each group the first head of coins exp(−rate·(best − utility)) flipped in random order.

    It is better than the exponential mechanism at equal ε. ``spread`` is as for that.
    """

    spread: int
    rate: Fraction

    def __post_init__(self) -> None:
        positive(spread=self.spread, rate=self.rate)

    @classmethod
    def for_epsilon(cls, spread: int, epsilon: Fraction) -> PermuteAndFlip:
        """The choice that costs epsilon: rate = epsilon/spread."""
        positive(spread=spread, epsilon=epsilon)
        return cls(spread, epsilon / spread)

    @property
    def cost(self) -> Cost:
        """ε = spread·rate; ρ = ε·tanh(ε/2), rounded up."""
        epsilon = self.spread * self.rate
        return Cost(epsilon, pure_rho(epsilon))

    def draw(self, utilities: IntegerArray, *, _entropy: Entropy = OPERATING_SYSTEM) -> int:
        """The place of one group's chosen candidate."""
        return permute_and_flip(utilities, self.rate, _entropy=_entropy)


def bounded_range_rho(epsilon: Fraction) -> Fraction:
    """ρ of an ε-bounded-range mechanism: c − 1 − ln c with c = ε/(1 − exp(−ε)), rounded up.

    >>> round(float(bounded_range_rho(Fraction(1))), 7)
    0.1233016
    """
    gaussian_bound = rounded_up(epsilon**2 / 8)
    if epsilon < Fraction(1, 1 << 64):
        return gaussian_bound
    one = 1 << 512
    low, high = exp_bounds(epsilon, 512)
    c_low = epsilon * Fraction(one, one - low)
    c_high = epsilon * Fraction(one, one - high)
    log_low, _ = log_bounds(c_low, 160)
    return min(gaussian_bound, rounded_up(c_high - 1 - log_low))


#: A choice of one of many candidates in each group, by the exponential mechanism.
Exponential: TypeAlias = ExponentialMechanism | ConcentratedExponential


@dataclass(frozen=True)
class TopKPeeling:
    """``most`` of ``values`` values in each group, each chosen by its count among the remaining."""

    values: int
    most: int
    each: Exponential | PermuteAndFlip

    @property
    def cost(self) -> Cost:
        """That of one choice, as often as one is made."""
        return sum([self.each.cost] * self.most, FREE)

    def half_width(self, confidence: float) -> float:
        """How many fewer than another value a chosen one has at most with that confidence,
        in the steps of counts.
        """
        return log(self.values * self.most / confidence_tail(confidence)) / float(self.each.rate)

    def choose(
        self, places: Sequence[int], counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> tuple[int, ...]:
        """The places of the chosen values, over one group's places and their exact counts."""
        utilities = [0] * self.values
        for index, count in zip(places, counts, strict=True):
            if 0 <= index < self.values:
                utilities[index] = min(count, MOST_COUNT)
        remaining = list(range(self.values))
        chosen = list[int]()
        for _ in range(self.most):
            chosen.append(
                remaining.pop(
                    self.each.draw([utilities[index] for index in remaining], _entropy=_entropy)
                )
            )
        return tuple(chosen)
