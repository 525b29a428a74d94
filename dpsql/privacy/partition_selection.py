"""Thresholds by which undeclared group keys are shown, and the weights of units in groups.

Proved in ``docs/proofs/partition_selection.md`` and ``docs/proofs/key_weights.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, isqrt, log, sqrt
from statistics import NormalDist

from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.privacy.rounding import exp_bounds, log_bounds
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: The weight of a unit that stands in one group: weights are whole numbers of this part of it.
WHOLE = 4096


@dataclass(frozen=True)
class KeyWeights:
    """A unit of k groups, at most ``most``, weighs `WHOLE`/√k in each if ``squared``,
    else `WHOLE`/k, rounded down.
    """

    most: int
    squared: bool

    def __post_init__(self) -> None:
        if not 1 <= self.most <= WHOLE:
            raise ValueError(f"a unit may weigh in 1 to {WHOLE} groups, not {self.most}")

    @property
    def sensitivity(self) -> int:
        """The largest L1 norm of a unit's weights, or the square of their largest L2 norm."""
        return WHOLE**2 if self.squared else WHOLE

    def weight(self, groups: int) -> int:
        """What a unit weighs in each of so many groups."""
        return isqrt(WHOLE**2 // groups) if self.squared else WHOLE // groups

    def threshold(self, unreached_noise: Callable[[int], int]) -> int:
        """The least sum that no unit reaches by itself, whatever the number of its groups.

        ``unreached_noise(groups)``, which never falls,
        is what the noise of none of so many groups may reach.
        """
        result = 0
        least = 1
        while least <= self.most:
            last = min(2 * least - 1, self.most)
            result = max(result, self.weight(least) + unreached_noise(last))
            least = last + 1
        return result


_ROOT_TWO_PI = Fraction(2506628274631, 10**12)  # below √(2π) = 2.50662827463100050…
_LEVELS = 25  # of the continued fraction; odd, so that it bounds from above


def laplace_tail(scale: Fraction, m: int, bits: int) -> Fraction:
    """An upper bound, within 2^(1−bits), on P(Z >= m) = q^m/(1+q) for m >= 0,
    where q = exp(−1/scale).
    """
    q, _ = exp_bounds(1 / scale, bits)
    _, power = exp_bounds(m / scale, bits)
    return Fraction(power, (1 << bits) + q)


def gaussian_tail(variance: Fraction, m: int, bits: int) -> Fraction:
    """An upper bound on P(Z >= m) for discrete Gaussian Z and m >= 1: the smaller of two,
    or 1 where neither holds.
    """
    one = 1 << bits
    sigma = _root_below(variance, bits)
    _, first = exp_bounds(m * m / (2 * variance), bits)
    _, ratio = exp_bounds((2 * m + 1) / (2 * variance), bits)
    bounds = [Fraction(1)]
    if ratio < one:
        bounds.append(Fraction(first, one - ratio) / max(Fraction(1), sigma * _ROOT_TWO_PI))
    middle = Fraction(2 * m - 1, 2)
    if middle**2 >= variance:
        _, density = exp_bounds(middle**2 / (2 * variance), bits)
        bounds.append(
            Fraction(density, one)
            / _ROOT_TWO_PI
            * mills_above(_root_below(middle**2 / variance, 64))
        )
    return min(bounds)


def mills_above(x: Fraction) -> Fraction:
    """An upper bound on Mills' ratio P(N > x)/density(x) of the normal law,
    for x > 0: 1/(x + 1/(x + 2/(x + …))).
    """
    value = x
    for level in range(_LEVELS - 1, 0, -1):
        value = x + level / value
    return 1 / value


def _root_below(value: Fraction, bits: int) -> Fraction:
    """A multiple of 2^-bits at most √value."""
    return Fraction(isqrt((value.numerator << 2 * bits) // value.denominator), 1 << bits)


@lru_cache(maxsize=8192)
def shown_interval(
    noise: Mechanism, threshold: int, noisy_count: int, confidence: float, smallest: int = 1
) -> tuple[int, int]:
    """The least and the greatest number of units that explain a noisy count above the threshold.

    Among the shown groups of any one size, ``smallest`` or more, the interval holds that size in at
    least ``confidence`` of cases.
    """
    half = noise.half_width(confidence)
    low = max(noisy_count - half, smallest)
    high = noisy_count + half
    if low > smallest and _explains(noise, threshold, noisy_count, low - 1, confidence=confidence):
        low = smallest
    return _furthest_plausible_count(
        noise, threshold, noisy_count, low, confidence=confidence
    ), _furthest_plausible_count(noise, threshold, noisy_count, high, confidence=confidence)


def _furthest_plausible_count(
    noise: Mechanism, threshold: int, noisy_count: int, end: int, confidence: float
) -> int:
    """The last number of units from what is shown to the end that explains it."""
    if _explains(noise, threshold, noisy_count, end, confidence=confidence):
        return end
    known = noisy_count
    beyond = end
    while abs(beyond - known) > 1:
        middle = (known + beyond) // 2
        if _explains(noise, threshold, noisy_count, middle, confidence=confidence):
            known = middle
        else:
            beyond = middle
    return known


def _explains(
    noise: Mechanism, threshold: int, noisy_count: int, units: int, confidence: float
) -> bool:
    """Whether a group of that size explains the noisy count.

    It does if less than ``confidence`` of all counts that such a group is shown with are nearer to
    its size.
    """
    nearer = abs(noisy_count - units) - 1
    passes = noise.above(threshold - units)
    between = noise.above(max(threshold - units, -nearer)) - noise.above(nearer + 1)
    return passes == 0 or between < confidence * passes


@dataclass(frozen=True)
class KeyThreshold:
    """A group is shown, with its noisy number of units, if that number reaches the threshold.

    The count vector must hold exact numbers of distinct units, and one unit may count in at most
    ``groups`` of them; or with ``weights`` the sums of their weights. The keys that only one unit
    has are shown with probability at most ``delta`` together.
    """

    noise: Mechanism
    delta: Fraction
    weights: KeyWeights | None = None

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ValueError(
                "delta must lie strictly between 0 and 1: undeclared keys cannot be shown without it"
            )

    @classmethod
    def for_epsilon(
        cls, groups: int, epsilon: Fraction, delta: Fraction, gaussian: bool
    ) -> KeyThreshold:
        """The selection that costs epsilon (for Gaussian noise ρ = epsilon²/2) and delta."""
        return cls((Gaussian if gaussian else Laplace).for_epsilon(groups, epsilon), delta)

    @property
    def groups(self) -> int:
        """In how many groups one unit may count.

        Each count moves by one, so this is the L1 and the squared L2 distance. Weighted groups move
        by less; if one unit may replace another, both may count in as many.
        """
        distance = self.noise.distance
        return (
            distance
            if self.weights is None
            else distance // self.weights.sensitivity * self.weights.most
        )

    @property
    def cost(self) -> Cost:
        return self.noise.cost + Cost(Fraction(0), Fraction(0), self.delta)

    @property
    def threshold(self) -> int:
        """The least τ for which P(1 + noise >= τ) <= 1 − (1−delta)^(1/groups) is proven.

        With weights τ is one for which that holds of each number of groups,
        with the weight that a unit then has for 1.
        """
        if self.weights is None:
            return _threshold(self.noise, self.groups, self.delta)
        units = self.groups // self.weights.most
        return self.weights.threshold(
            lambda groups: unreached_noise(self.noise, units * groups, self.delta)
        )

    def select(
        self, counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> list[int | None]:
        """The noisy count of each group that may be shown, None for the others.

        A group with a count below 1 is no candidate.
        """
        noisy = self.noise.perturb(counts, _entropy=_entropy)
        threshold = self.threshold
        return [
            noisy_count if count >= 1 and noisy_count >= threshold else None
            for count, noisy_count in zip(counts, noisy, strict=True)
        ]

    def units_needed(self, probability: float = 0.5) -> int:
        """The least number of units that a group is shown with at this probability (0.5 or more).

        With weights these are units that stand in no other group.
        """
        if not 0.5 <= probability < 1:
            raise ValueError(f"a probability must lie in [0.5, 1), not {probability}")
        needed = self.threshold + (
            self.noise.half_width(2 * probability - 1) if probability > 0.5 else 0
        )
        return needed if self.weights is None else -(-needed // WHOLE)

    def half_width(self, confidence: float) -> int:
        """The least h with P(|noise| <= h) >= confidence, for a group chosen beforehand."""
        return self.noise.half_width(confidence)

    def interval(self, noisy_count: int, confidence: float) -> tuple[int, int]:
        """The range of the number of units of a group that is shown with this noisy count."""
        assert self.weights is None
        return shown_interval(self.noise, self.threshold, noisy_count, confidence)


def allowance(groups: int, delta: Fraction) -> Fraction:
    """A lower bound on 1 − (1−delta)^(1/groups): how often one lonely key may be shown."""
    bits = 256 + (groups * delta.denominator).bit_length()
    _, log_high = log_bounds(1 - delta, bits * 30103 // 100000)
    _, passed = exp_bounds(-log_high / groups, bits)
    return Fraction((1 << bits) - passed, 1 << bits)


@lru_cache(maxsize=1024)
def _threshold(noise: Mechanism, groups: int, delta: Fraction) -> int:
    return 1 + unreached_noise(noise, groups, delta)


@lru_cache(maxsize=1024)
def unreached_noise(noise: Mechanism, draws: int, chance: Fraction) -> int:
    """The least m >= 1 for which it is proven that none of so many draws reaches m with
    at least 1 − ``chance``.
    """
    allowed = allowance(draws, chance)
    log_allowed = log(allowed.numerator) - log(allowed.denominator)
    bits = 128 + max(int(-log_allowed * 1.5), 0)
    if isinstance(noise, Laplace):
        scale = noise.scale
        guess = ceil(float(scale) * (-log_allowed - log(1 + exp(-1 / float(scale)))))
        return _least(guess, lambda m: laplace_tail(scale, m, bits) <= allowed)
    variance = noise.variance
    quantile = (
        -NormalDist().inv_cdf(float(allowed)) if log_allowed > -600 else sqrt(-2 * log_allowed)
    )
    guess = ceil(quantile * sqrt(variance) + 0.5)
    return _least(guess, lambda m: gaussian_tail(variance, m, bits) <= allowed)


def _least(guess: int, holds: Callable[[int], bool]) -> int:
    """The least m >= 1 at which a monotone condition holds, looked for around a guess."""
    high = max(guess, 1)
    step = 1
    while not holds(high):
        high = high + step
        step = 2 * step
    low = high
    step = 1
    while low > 0 and (low == high or holds(low)):
        high = low
        low = max(low - step, 0)
        step = 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
