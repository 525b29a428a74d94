"""The discrete Gaussian mechanism, made from its noise, from a price in ρ (zCDP) or from (ε, δ).

Statements are priced in ρ (`planning.calibration`); (ε, δ) is for one cell alone.

Proved in `docs/proofs/mechanism.md` and `docs/proofs/analytic_gaussian.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, erfc, exp, isqrt, pi, sqrt
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.measure import Cost, rho_total
from dpsql.privacy.mechanism.analytic_gaussian import analytic_variance, classic_variance
from dpsql.privacy.rounding import confidence_tail, positive
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy, discrete_gaussian
from dpsql.privacy.sampling.discrete_noise import LIMIT

_SUMMED = 36  # below this variance probabilities are summed term by term
_STEPPED = 2.0**20  # below this standard deviation a half-width is corrected by single steps


@dataclass(frozen=True)
class Gaussian:
    """Integer noise P(z) ∝ exp(−z²/(2·variance)) on every cell of a vector that one unit moves by
    at most √l2_squared.

    ``l2_squared`` and ``variance`` are in squared grid units; the distance is the L2 norm.
    """

    l2_squared: int
    variance: Fraction
    family: ClassVar[str] = "gaussian"
    norm: ClassVar[str] = "L2"

    def __post_init__(self) -> None:
        positive(l2_squared=self.l2_squared, variance=self.variance)
        if not Fraction(1, LIMIT**2) <= self.variance <= LIMIT**2:
            raise ValueError(
                "a Gaussian variance must lie between 2^-100 and 2^100 squared grid units"
            )

    @classmethod
    def for_epsilon(cls, l2_squared: int, epsilon: Fraction) -> Gaussian:
        """The noise that costs ρ = epsilon²/2: variance = l2_squared/epsilon²."""
        positive(epsilon=epsilon)
        return cls(l2_squared, Fraction(l2_squared) / epsilon**2)

    @classmethod
    def for_rho(cls, l2_squared: int, rho: Fraction) -> Gaussian:
        """The noise that costs rho: variance = l2_squared/(2·rho)."""
        positive(rho=rho)
        return cls(l2_squared, Fraction(l2_squared) / (2 * rho))

    @classmethod
    def concentrated(cls, l2_squared: int, epsilon: Fraction, delta: Fraction) -> Gaussian:
        """The noise that makes the whole vector (epsilon, delta)-DP by the conversion of its ρ."""
        positive(epsilon=epsilon)
        return cls.for_rho(l2_squared, rho_total(epsilon, delta))

    @classmethod
    def analytic(cls, sensitivity: int, epsilon: Fraction, delta: Fraction) -> Gaussian:
        """The least noise that is (epsilon, delta)-DP if a unit moves one cell alone.

        It moves the cell by at most ``sensitivity``.

        Calibrated with the exact δ of the discrete law; the price is its ρ all the same.
        """
        return cls(sensitivity**2, analytic_variance(sensitivity, epsilon, delta))

    @classmethod
    def classic(cls, sensitivity: int, epsilon: Fraction, delta: Fraction) -> Gaussian:
        """The textbook's σ = sensitivity·√(2 ln(1.25/delta))/epsilon for one cell;
        refused from epsilon = 1 on.
        """
        return cls(sensitivity**2, classic_variance(sensitivity, epsilon, delta))

    @property
    def cost(self) -> Cost:
        """ρ = l2_squared/(2·variance), exactly, and no pure epsilon."""
        return Cost(None, self.l2_squared / (2 * self.variance))

    @property
    def distance(self) -> int:
        """The claim: by how much one unit moves the vector, as the square of its L2 norm."""
        return self.l2_squared

    @property
    def sensitivity(self) -> float:
        """The L2 norm by which one unit moves the vector."""
        return sqrt(self.l2_squared)

    @property
    def largest_change(self) -> int:
        """By how much one unit moves one cell."""
        return isqrt(self.l2_squared)

    @property
    def size(self) -> Fraction:
        """The parameter of the law, which is its variance."""
        return self.variance

    @property
    def continuous_variance(self) -> float:
        """The variance of the continuous law; the integers' is smaller."""
        return float(self.variance)

    def exponent(self, z: float) -> float:
        """−ln P(noise = z), up to a constant."""
        return z * z / (2 * float(self.variance))

    @property
    def standard_deviation(self) -> float:
        """That of the noise, in grid units."""
        if self.variance >= _SUMMED:
            return sqrt(self.variance)  # the true value is smaller by less than a part in 10^300
        weights = _weights(float(self.variance))
        return sqrt(
            2 * sum(k * k * weight for k, weight in enumerate(weights)) / (2 * sum(weights) - 1)
        )

    def half_width(self, confidence: float) -> int:
        """The least h with P(|noise| <= h) >= confidence (above 2^20 it may be larger by a part in
        2^40).
        """
        return _half_width(self.variance, confidence_tail(confidence))

    def above(self, m: int) -> float:
        """P(noise >= m), as a double: summed term by term if the noise is narrow, else by `_tail`."""
        if m < 1:
            return 1 - self.above(1 - m)
        if self.variance >= _SUMMED:
            return _tail(m - 1, sqrt(self.variance)) / 2
        weights = _weights(float(self.variance))
        return sum(weights[m:]) / (2 * sum(weights) - 1)

    def sample(self, size: int, *, _entropy: Entropy = OPERATING_SYSTEM) -> NDArray[np.int64]:
        """size fresh draws of the noise alone."""
        return discrete_gaussian(self.variance, size, _entropy=_entropy)

    def perturb(self, values: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM) -> list[int]:
        """Each value plus a draw of its own."""
        noise: list[int] = self.sample(len(values), _entropy=_entropy).tolist()
        return [int(value) + drawn for value, drawn in zip(values, noise, strict=True)]


@lru_cache(maxsize=1024)
def _half_width(variance: Fraction, tail: float) -> int:
    tail *= 1 - 2.0**-40
    if variance < _SUMMED:
        weights = _weights(float(variance))
        outside = 0.0
        h = len(weights)
        allowed = tail * (2 * sum(weights) - 1)
        while h > 0 and outside + 2 * weights[h - 1] <= allowed:
            h -= 1
            outside += 2 * weights[h]
        return max(h - 1, 0)
    sigma = sqrt(variance)
    quantile = -NormalDist().inv_cdf(tail / 2) * sigma
    if sigma >= _STEPPED:
        return ceil(quantile * (1 + 2.0**-40))
    h = max(ceil(quantile) - 2, 0)
    while _tail(h, sigma) > tail:
        h += 1
    return h


def _weights(variance: float) -> list[float]:
    """exp(−k²/(2·variance)) for k = 0, 1, … down to the smallest positive float."""
    return [exp(-k * k / (2 * variance)) for k in range(ceil(sqrt(2 * 745 * variance)) + 1)]


def _tail(h: int, sigma: float) -> float:
    """P(|Z| > h) for sigma >= 6: the normal tail beyond h + 1/2 with the first two Euler–Maclaurin
    terms.
    """
    z = (h + 0.5) / sigma
    density = exp(-z * z / 2) / sqrt(2 * pi)
    first = z / (24 * sigma**2)
    second = 7 * (z**3 - 3 * z) / (5760 * sigma**4)
    return erfc(z / sqrt(2)) - 2 * density * (first - second)
