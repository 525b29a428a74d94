"""Discrete Laplace noise as a mechanism; proof in `docs/proofs/mechanism.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, sinh, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.measure import Cost
from dpsql.privacy.rounding import confidence_tail, exp_bounds, positive, rounded_up
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy, discrete_laplace
from dpsql.privacy.sampling.discrete_noise import LIMIT


@dataclass(frozen=True)
class Laplace:
    """Integer noise P(z) ∝ exp(−|z|/scale) on every cell of a vector that one unit moves by at most
    l1 in L1 norm.

    ``l1`` and ``scale`` are in grid units.
    """

    l1: int
    scale: Fraction
    family: ClassVar[str] = "laplace"
    norm: ClassVar[str] = "L1"

    def __post_init__(self) -> None:
        positive(l1=self.l1, scale=self.scale)
        if not Fraction(1, LIMIT) <= self.scale <= LIMIT:
            raise ValueError("a Laplace scale must lie between 2^-50 and 2^50 grid units")

    @classmethod
    def for_epsilon(cls, l1: int, epsilon: Fraction) -> Laplace:
        """The noise that costs epsilon: scale = l1/epsilon."""
        positive(epsilon=epsilon)
        return cls(l1, Fraction(l1) / epsilon)

    @property
    def cost(self) -> Cost:
        """Pure epsilon = l1/scale, and the least ρ that holds for it,
        rounded up to a multiple of 2^-192.
        """
        return Cost(self.l1 / self.scale, laplace_rho(self.l1, self.scale))

    @property
    def distance(self) -> int:
        """The claim: by how much one unit moves the vector, in the L1 norm."""
        return self.l1

    @property
    def sensitivity(self) -> float:
        """The L1 norm by which one unit moves the vector."""
        return float(self.l1)

    @property
    def largest_change(self) -> int:
        """By how much one unit moves one cell."""
        return self.l1

    @property
    def size(self) -> Fraction:
        """The parameter of the law, which is its scale."""
        return self.scale

    @property
    def continuous_variance(self) -> float:
        """The variance of the continuous law, 2·scale²; the integers' is smaller."""
        return float(2 * self.scale**2)

    def exponent(self, z: float) -> float:
        """−ln P(noise = z), up to a constant."""
        return abs(z) / float(self.scale)

    @property
    def standard_deviation(self) -> float:
        """That of the noise, in grid units."""
        rate = float(1 / self.scale)
        return 1 / (sqrt(2) * sinh(rate / 2)) if rate < 1000 else 0.0

    def half_width(self, confidence: float) -> int:
        """The least h with P(|noise| <= h) >= confidence (above 2^30 it may be larger by a part in
        2^40).
        """
        tail = confidence_tail(confidence)
        scale = float(self.scale)
        steps = scale * log(2 / (tail * (1 + exp(-1 / scale))))  # P(|Z| > h) = 2q^(h+1)/(1+q)
        return max(ceil(steps * (1 + 2.0**-40)) - 1, 0)

    def above(self, m: int) -> float:
        """P(noise >= m), as a double."""
        if m < 1:
            return 1 - self.above(1 - m)
        rate = float(1 / self.scale)
        return exp(-m * rate) / (1 + exp(-rate))

    def sample(self, size: int, *, _entropy: Entropy = OPERATING_SYSTEM) -> NDArray[np.int64]:
        """size fresh draws of the noise alone."""
        return discrete_laplace(self.scale, size, _entropy=_entropy)

    def perturb(self, values: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM) -> list[int]:
        """Each value plus a draw of its own."""
        noise: list[int] = self.sample(len(values), _entropy=_entropy).tolist()
        return [int(value) + drawn for value, drawn in zip(values, noise, strict=True)]


@lru_cache(maxsize=1024)
def laplace_rho(l1: int, scale: Fraction) -> Fraction:
    """ρ = ε − 2λq(1−q^D)/(1−q²), rounded up, where D = l1, λ = 1/scale, q = exp(−λ), ε = λD.

    >>> round(float(laplace_rho(1, Fraction(1))), 6)  # tanh(1/2)
    0.462117
    """
    one = 1 << 512
    q, _ = exp_bounds(1 / scale, 512)
    _, q_to_l1 = exp_bounds(l1 / scale, 512)
    saving = Fraction(2 * q * (one - q_to_l1), one * one - q * q) / scale
    return rounded_up(l1 / scale - saving)
