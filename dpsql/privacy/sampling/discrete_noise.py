"""Discrete Laplace and Gaussian noise, and the geometric magnitudes that they are made of.

Proofs in `docs/proofs/sampling.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, isqrt

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.rounding import exp_bounds
from dpsql.privacy.sampling.categorical import coins
from dpsql.privacy.sampling.entropy import OPERATING_SYSTEM, Entropy, read_bytes, signs, words

#: No scale above this is sampled: a draw then fits 63 bits but for a chance below exp(−2^11).
LARGEST_SCALE = 1 << 51
_TOP = Fraction(45, 256)  # a top digit then exceeds a byte with probability below 2^-64
_BULK = 1 << 14


@dataclass(frozen=True, eq=False)
class _Level:
    """One base-256 digit: P(digit = v) ∝ exp(−rate·v) for v in 0..255,
    or for all v >= 0 at the top level.
    """

    rate: Fraction
    top: bool
    thresholds: NDArray[np.uint64]
    marked: NDArray[np.uint64]


def geometric(scale: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """size integers k >= 0 with P(k) ∝ exp(−k/scale)."""
    levels = _levels(scale)
    magnitude = np.zeros(size, np.int64)
    if size < _BULK:
        drawn = words(entropy, len(levels) * size).reshape(len(levels), size)
        for index, level in enumerate(levels):
            magnitude += _digits(level, index, drawn[index], entropy) << 8 * index
    else:
        for index, level in enumerate(levels):
            magnitude += _many_digits(level, index, size, entropy) << 8 * index
    return magnitude


def cumulative(rate: Fraction, count: int, bits: int, top: bool) -> list[int]:
    """floor(2^bits·F(v)) for v < count, where F(v) = P(digit <= v), exactly.

    F(v) = (1 − exp(−rate·(v+1))) / (1 − exp(−256·rate)),
    with denominator 1 at the top level. F(v) < 1 is irrational.
    """
    precision = bits + 128
    while True:
        low, high = exp_bounds(rate, precision)
        one = 1 << precision
        lows = [low]
        highs = [high]
        for _ in range(count if top else 255):
            lows.append(lows[-1] * low >> precision)
            highs.append(-(-highs[-1] * high >> precision))
        least, most = (one, one) if top else (one - highs[255], one - lows[255])
        if least > 0:
            floors = [((one - high) << bits) // most for high in highs[:count]]
            ceilings = [
                min(((one - low) << bits) // least, (1 << bits) - 1) for low in lows[:count]
            ]
            if floors == ceilings:
                return floors
        precision *= 2


@lru_cache(maxsize=512)
def _levels(scale: Fraction) -> tuple[_Level, ...]:
    if not 0 < scale <= LARGEST_SCALE:
        raise ValueError(f"a scale must be positive and at most 2^51, not {float(scale):g}")
    levels: list[_Level] = []
    rate = 1 / scale
    while not levels or not levels[-1].top:
        top = rate >= _TOP
        thresholds = np.array(cumulative(rate, 255, 64, top), np.uint64)
        levels.append(_Level(rate, top, thresholds, np.concatenate([thresholds[:1], thresholds])))
        rate *= 256
    return tuple(levels)


def _digits(
    level: _Level, index: int, drawn: NDArray[np.uint64], entropy: Entropy
) -> NDArray[np.int64]:
    """The digit for each uniform number whose first 64 bits are drawn: how many F(v) it reaches."""
    digit = level.thresholds.searchsorted(drawn, "right").astype(np.int64, copy=False)
    for i in (level.marked[digit] == drawn).nonzero()[0]:
        digit[i] = _settle(level, int(drawn[i]), index, entropy)
    return digit


def _many_digits(level: _Level, index: int, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """size digits, from 16 bits each where no threshold begins with these 16 bits, else from 64."""
    prefix = np.frombuffer(read_bytes(entropy, 2 * size), "<u2").astype(np.uint64)
    thresholds_in_bucket = np.bincount(
        (level.thresholds >> np.uint64(48)).astype(np.int64), minlength=1 << 16
    )
    guide = np.where(thresholds_in_bucket == 0, np.cumsum(thresholds_in_bucket), -1)
    digit: NDArray[np.int64] = guide[prefix].astype(np.int64, copy=False)
    unclear = (digit < 0).nonzero()[0]
    drawn = prefix[unclear] << np.uint64(48) | words(entropy, len(unclear)) >> np.uint64(16)
    digit[unclear] = _digits(level, index, drawn, entropy)
    return digit


def _settle(level: _Level, word: int, index: int, entropy: Entropy) -> int:
    """The digit for a uniform number whose first 64 bits equal a threshold's,
    from as many further bits as it takes.
    """
    prefix = word
    bits = 64
    while True:
        prefix = prefix << 64 | int(words(entropy, 1)[0])
        bits = bits + 64
        if prefix + 1 == 1 << bits:
            continue  # no finite list of thresholds separates a run of ones from 1
        count = int(bits * Fraction(7, 10) / level.rate) + 2 if level.top else 255
        thresholds = cumulative(level.rate, count, bits, level.top)
        certain = sum(threshold < prefix for threshold in thresholds)
        if certain == sum(threshold <= prefix for threshold in thresholds):
            if certain << 8 * index >= 1 << 62:
                raise OverflowError("a noise value beyond 62 bits")
            return certain


#: Scales (and standard deviations) outside [1/LIMIT, LIMIT] are refused.
LIMIT = 1 << 50
_CHUNK = 1 << 16


def discrete_laplace(
    scale: Fraction, size: int, *, _entropy: Entropy = OPERATING_SYSTEM
) -> NDArray[np.int64]:
    """size integers z with P(z) ∝ exp(−|z|/scale)."""
    rate = _laplace_acceptance(scale)

    def propose(n: int) -> NDArray[np.int64]:
        magnitude = geometric(scale, n, _entropy)
        return _signed(magnitude, np.ones(n, np.bool_), _entropy)

    return _collect(size, rate, propose)


def discrete_gaussian(
    variance: Fraction, size: int, *, _entropy: Entropy = OPERATING_SYSTEM
) -> NDArray[np.int64]:
    """size integers z with P(z) ∝ exp(−z²/(2·variance))."""
    scale, centre, near_centre, half_precision = _gaussian_proposal(variance)

    def propose(n: int) -> NDArray[np.int64]:
        magnitude = geometric(scale, n, _entropy)
        near = magnitude.astype(np.float64)
        gamma = (near - near_centre) ** 2 * half_precision
        error = (near + near_centre) ** 2 * (half_precision * 2.0**-49)
        accepted = coins(
            gamma, error, lambda i: (int(magnitude[i]) - centre) ** 2 / (2 * variance), _entropy
        )
        return _signed(magnitude, accepted, _entropy)

    return _collect(size, 0.7 if scale > 4 else 0.3, propose)


@lru_cache(maxsize=1024)
def _laplace_acceptance(scale: Fraction) -> float:
    """The chance that a proposal is not minus zero; refuses a scale out of range."""
    if not Fraction(1, LIMIT) <= scale <= LIMIT:
        raise ValueError("a Laplace scale must lie between 2^-50 and 2^50")
    return (1 + exp(-1 / scale)) / 2


@lru_cache(maxsize=1024)
def _gaussian_proposal(variance: Fraction) -> tuple[Fraction, Fraction, float, float]:
    """t = floor(σ) + 1 and σ²/t, then σ²/t and 1/(2σ²) as doubles;
    refuses a variance out of range.
    """
    if not Fraction(1, LIMIT**2) <= variance <= LIMIT**2:
        raise ValueError("a Gaussian variance must lie between 2^-100 and 2^100")
    scale = Fraction(isqrt(int(variance)) + 1)
    centre = variance / scale
    return scale, centre, float(centre), float(1 / (2 * variance))


def _signed(
    magnitude: NDArray[np.int64], proposed: NDArray[np.bool_], entropy: Entropy
) -> NDArray[np.int64]:
    """The kept magnitudes under fair signs, without those that came out as minus zero."""
    negative = signs(entropy, len(magnitude))
    signed: NDArray[np.int64] = np.where(negative, -magnitude, magnitude)
    accepted: NDArray[np.int64] = signed[proposed & ~(negative & (magnitude == 0))]
    return accepted


def _collect(
    size: int, rate: float, propose: Callable[[int], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """The first size accepted proposals, in order;
    rate is only a guess at how many are accepted.
    """
    result = np.empty(size, np.int64)
    filled = 0
    while filled < size:
        accepted = propose(int(min(size - filled, _CHUNK) / rate * 1.02) + 8)[: size - filled]
        result[filled : filled + len(accepted)] = accepted
        filled += len(accepted)
    return result
