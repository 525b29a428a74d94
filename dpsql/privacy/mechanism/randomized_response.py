"""Randomized response; proofs in `docs/proofs/mechanism.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

from dpsql.privacy.measure import Cost, pure_rho
from dpsql.privacy.rounding import confidence_tail, exp_bounds, log_bounds, positive, rounded_up
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy, randomized_response

_LARGEST = 1 << 62


@dataclass(frozen=True)
class RandomizedResponse:
    """One of k categories: the true one with ``truth``, each other with (1 − truth)/(k − 1).

    It protects one value: a neighbour has another category in its place.
    """

    categories: int
    truth: Fraction

    def __post_init__(self) -> None:
        if not 2 <= self.categories <= _LARGEST:
            raise ValueError(
                f"randomized response needs at least two categories, not {self.categories}"
            )
        if not Fraction(1, self.categories) < self.truth < 1:
            raise ValueError(
                "the probability of the truth must lie above that of a guess and below 1"
            )
        if self.truth.denominator > _LARGEST:
            raise ValueError(
                "the probability of the truth must be a fraction with a denominator of at most 2^62"
            )

    @classmethod
    def for_epsilon(cls, categories: int, epsilon: Fraction) -> RandomizedResponse:
        """The one that costs at most epsilon and is true as often as 60 bits tell:
        e^ε/(e^ε + k − 1), rounded down.
        """
        positive(epsilon=epsilon)
        _, x = exp_bounds(epsilon, 160)
        x += 1 << 60
        return cls(categories, Fraction((1 << 220) // ((1 << 160) + (categories - 1) * x), 1 << 60))

    @property
    def other(self) -> Fraction:
        """The probability of each category that is not the true one."""
        return (1 - self.truth) / (self.categories - 1)

    @property
    def cost(self) -> Cost:
        """ε = ln(truth/other); ρ = ε(truth − other) while (k−2)² <= 4e^ε, else ε·tanh(ε/2);
        rounded up.
        """
        _, log = log_bounds(self.truth / self.other, 80)
        epsilon = rounded_up(log)
        few = (self.categories - 2) ** 2 * self.other <= 4 * self.truth
        return Cost(
            epsilon, rounded_up(epsilon * (self.truth - self.other)) if few else pure_rho(epsilon)
        )

    def draw(self, values: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM) -> list[int]:
        """A report for each true category 0..k−1, independently."""
        return randomized_response(values, self.categories, self.truth, _entropy=_entropy)

    def estimate(self, reports: Sequence[int]) -> tuple[float, ...]:
        """How many of the true values are in each category, without bias; it may be below 0."""
        n = len(reports)
        gain = self.truth - self.other
        return tuple(float((count - n * self.other) / gain) for count in self._counts(reports))

    def interval(
        self, reports: Sequence[int], confidence: float
    ) -> tuple[tuple[float, float], ...]:
        """Low and high of the true number in each category, each with that confidence."""
        z = NormalDist().inv_cdf(1 - confidence_tail(confidence) / 2)
        n = len(reports)
        return tuple(
            (self._end(count, n, z, -1), self._end(count, n, z, 1))
            for count in self._counts(reports)
        )

    def _end(self, count: int, n: int, z: float, side: int) -> float:
        """The number m at which |count − mean(m)| = z·σ(m) + 1/2,
        above (side 1) or below (side −1) the estimate.
        """
        truth = float(self.truth)
        other = float(self.other)
        gain = truth - other
        shift = count - n * other + side / 2
        if side < 0 and shift <= 0:
            return 0.0
        if side > 0 and shift >= gain * n:
            return float(n)
        growth = z * z * (truth * (1 - truth) - other * (1 - other))
        half = gain * shift + growth / 2
        inside = half**2 - gain**2 * (shift**2 - z * z * n * other * (1 - other))
        end = (half + side * sqrt(max(inside, 0.0))) / gain**2 + side * 1e-9
        return max(min(end, float(n)), 0.0)

    def _counts(self, reports: Sequence[int]) -> list[int]:
        counts = [0] * self.categories
        for report in reports:
            counts[report] += 1
        return counts
