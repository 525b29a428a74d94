"""Discrete Laplace and discrete Gaussian noise; proofs in `docs/proofs/sampling.md`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, isqrt

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.sampling.bernoulli import coins
from dpsql.privacy.sampling.entropy import OPERATING_SYSTEM, Entropy, signs
from dpsql.privacy.sampling.geometric import geometric

#: Scales (and standard deviations) outside [1/LIMIT, LIMIT] are refused.
LIMIT = 1 << 50
_CHUNK = 1 << 16


def discrete_laplace(scale: Fraction, size: int, *, _entropy: Entropy = OPERATING_SYSTEM) -> NDArray[np.int64]:
    """size integers z with P(z) ∝ exp(−|z|/scale)."""
    rate = _laplace_acceptance(scale)

    def propose(n: int) -> NDArray[np.int64]:
        magnitude = geometric(scale, n, _entropy)
        return _signed(magnitude, np.ones(n, np.bool_), _entropy)

    return _collect(size, rate, propose)


def discrete_gaussian(variance: Fraction, size: int, *, _entropy: Entropy = OPERATING_SYSTEM) -> NDArray[np.int64]:
    """size integers z with P(z) ∝ exp(−z²/(2·variance))."""
    scale, centre, near_centre, half_precision = _gaussian_proposal(variance)

    def propose(n: int) -> NDArray[np.int64]:
        magnitude = geometric(scale, n, _entropy)
        near = magnitude.astype(np.float64)
        gamma = (near - near_centre) ** 2 * half_precision
        error = (near + near_centre) ** 2 * (half_precision * 2.0**-49)
        kept = coins(gamma, error, lambda i: (int(magnitude[i]) - centre) ** 2 / (2 * variance), _entropy)
        return _signed(magnitude, kept, _entropy)

    return _collect(size, 0.7 if scale > 4 else 0.3, propose)


@lru_cache(maxsize=1024)
def _laplace_acceptance(scale: Fraction) -> float:
    """The chance that a proposal is not minus zero; refuses a scale out of range."""
    if not Fraction(1, LIMIT) <= scale <= LIMIT:
        raise ValueError("a Laplace scale must lie between 2^-50 and 2^50")
    return (1 + exp(-1 / scale)) / 2


@lru_cache(maxsize=1024)
def _gaussian_proposal(variance: Fraction) -> tuple[Fraction, Fraction, float, float]:
    """t = floor(σ) + 1 and σ²/t, then σ²/t and 1/(2σ²) as doubles; refuses a variance out of range."""
    if not Fraction(1, LIMIT**2) <= variance <= LIMIT**2:
        raise ValueError("a Gaussian variance must lie between 2^-100 and 2^100")
    scale = Fraction(isqrt(int(variance)) + 1)
    centre = variance / scale
    return scale, centre, float(centre), float(1 / (2 * variance))


def _signed(magnitude: NDArray[np.int64], kept: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.int64]:
    """The kept magnitudes under fair signs, without those that came out as minus zero."""
    negative = signs(entropy, len(magnitude))
    signed: NDArray[np.int64] = np.where(negative, -magnitude, magnitude)
    accepted: NDArray[np.int64] = signed[kept & ~(negative & (magnitude == 0))]
    return accepted


def _collect(size: int, rate: float, propose: Callable[[int], NDArray[np.int64]]) -> NDArray[np.int64]:
    """The first size accepted proposals, in order; rate is only a guess at how many are accepted."""
    result = np.empty(size, np.int64)
    filled = 0
    while filled < size:
        accepted = propose(int(min(size - filled, _CHUNK) / rate * 1.02) + 8)[: size - filled]
        result[filled : filled + len(accepted)] = accepted
        filled += len(accepted)
    return result
