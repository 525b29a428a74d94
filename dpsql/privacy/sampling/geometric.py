"""Geometric integers, drawn digit by digit in base 256; proof in `docs/proofs/sampling.md`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.sampling.enclosure import exp_bounds
from dpsql.privacy.sampling.entropy import Entropy, words

#: No scale above this is sampled: a draw then fits 63 bits but for a chance below exp(−2^11).
LARGEST_SCALE = 1 << 51
_TOP = Fraction(45, 256)  # a top digit then exceeds a byte with probability below 2^-64
_BULK = 1 << 14


@dataclass(frozen=True, eq=False)
class _Level:
    """One base-256 digit: P(digit = v) ∝ exp(−rate·v) for v in 0..255, or for all v >= 0 at the top level."""

    rate: Fraction
    top: bool
    thresholds: NDArray[np.uint64]
    marked: NDArray[np.uint64]


def geometric(scale: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """size integers k >= 0 with P(k) ∝ exp(−k/scale)."""
    levels = _levels(scale)
    drawn = words(entropy, len(levels) * size).reshape(len(levels), size)
    magnitude = np.zeros(size, np.int64)
    for j, level in enumerate(levels):
        digit = _search(level.thresholds, drawn[j])
        for i in np.flatnonzero(level.marked[digit] == drawn[j]):
            digit[i] = _settle(level, int(drawn[j][i]), j, entropy)
        magnitude += digit << 8 * j
    return magnitude


def cumulative(rate: Fraction, count: int, bits: int, top: bool) -> list[int]:
    """floor(2^bits·F(v)) for v < count, where F(v) = P(digit <= v), exactly.

    F(v) = (1 − exp(−rate·(v+1))) / (1 − exp(−256·rate)), with denominator 1 at the top level. F(v) < 1 is irrational.
    """
    precision = bits + 128
    while True:
        low, high = exp_bounds(rate, precision)
        one = 1 << precision
        lows, highs = [low], [high]
        for _ in range(count if top else 255):
            lows.append(lows[-1] * low >> precision)
            highs.append(-(-highs[-1] * high >> precision))
        least, most = (one, one) if top else (one - highs[255], one - lows[255])
        if least > 0:
            floors = [((one - high) << bits) // most for high in highs[:count]]
            ceilings = [min(((one - low) << bits) // least, (1 << bits) - 1) for low in lows[:count]]
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


def _search(thresholds: NDArray[np.uint64], drawn: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many thresholds each word reaches, as ``searchsorted(thresholds, drawn, "right")`` says."""
    if len(drawn) < _BULK:
        return np.searchsorted(thresholds, drawn, "right").astype(np.int64, copy=False)
    edges = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    first = np.searchsorted(thresholds, edges, "right")
    last = np.searchsorted(thresholds, edges | np.uint64((1 << 48) - 1), "right")
    guide = np.where(first == last, first, -1).astype(np.int16)
    digit: NDArray[np.int64] = guide[drawn >> np.uint64(48)].astype(np.int64)
    unclear = np.flatnonzero(digit < 0)
    digit[unclear] = np.searchsorted(thresholds, drawn[unclear], "right")
    return digit


def _settle(level: _Level, word: int, place: int, entropy: Entropy) -> int:
    """The digit for a uniform number whose first 64 bits equal a threshold's, from as many further bits as it takes."""
    prefix, bits = word, 64
    while True:
        prefix, bits = prefix << 64 | int(words(entropy, 1)[0]), bits + 64
        if prefix + 1 == 1 << bits:
            continue  # no finite list of thresholds separates a run of ones from 1
        count = int(bits * Fraction(7, 10) / level.rate) + 2 if level.top else 255
        thresholds = cumulative(level.rate, count, bits, level.top)
        certain = sum(threshold < prefix for threshold in thresholds)
        if certain == sum(threshold <= prefix for threshold in thresholds):
            if certain << 8 * place >= 1 << 62:
                raise OverflowError("a noise value beyond 62 bits")
            return certain
