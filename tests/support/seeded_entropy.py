"""Entropy for tests, oracles for exact distributions, and the statistics that compare the two."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

#: A statistical test fails below this p-value; a planted fault must push it below.
FALSE_ALARM = 1e-9


class Scripted:
    """The given bytes first, then reproducible ones: SHAKE-256 of a seed and a counter."""

    def __init__(self, script: bytes, seed: int) -> None:
        self.seed, self.pending, self.calls = seed, script, 0

    def read(self, n: int) -> bytes:
        head, self.pending = self.pending[:n], self.pending[n:]
        self.calls += 1
        return head + hashlib.shake_256(f"{self.seed}/{self.calls}".encode()).digest(n - len(head))


class Seeded(Scripted):
    """Reproducible bytes, after any words given at the start."""

    def __init__(self, seed: int, first_words: Sequence[int] = ()) -> None:
        super().__init__(b"".join(word.to_bytes(8, "little") for word in first_words), seed)


def laplace_cdf(k: np.ndarray, scale: float) -> np.ndarray:
    """P(Z <= k) for discrete Laplace Z."""
    q = math.exp(-1 / scale)
    k = np.asarray(k, float)
    below = np.exp(np.minimum(k, -1) / scale) / (1 + q)
    above = 1 - np.exp(-(np.maximum(k, 0) + 1) / scale) / (1 + q)
    return np.where(k < 0, below, above)


def gaussian_cdf(k: np.ndarray, variance: float) -> np.ndarray:
    """P(Z <= k) for discrete Gaussian Z: summed up to σ = 3000,
    the normal law at k + 1/2 beyond.
    """
    sigma = math.sqrt(variance)
    k = np.asarray(k, float)
    if sigma > 3000:
        return stats.norm.cdf((k + 0.5) / sigma)
    reach = math.ceil(40 * sigma) + 2
    weights = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * variance))
    sums = np.cumsum(weights / weights.sum())
    return np.concatenate([[0.0], sums])[np.clip(k + reach + 1, 0, len(sums)).astype(int)]


def fit(draws: np.ndarray, cdf, scale: float) -> float:
    """The chi-square p-value of integer draws against a distribution function,
    in up to about 200 cells.
    """
    spread = np.unique(np.round(np.linspace(-8, 8, 201) * scale)).astype(np.int64)
    bounds = np.concatenate([[-(2**62)], spread, [2**62]])
    expected = np.diff(cdf(bounds)) * len(draws)
    observed = np.histogram(draws, bounds + 0.5)[0] if scale < 2**40 else _counts(draws, bounds)
    return chi_square(observed, expected)


def chi_square(observed: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of counts against expectations,
    cells below 10 expected merged with their neighbours.
    """
    merged_observed, merged_expected, o, e = [], [], 0.0, 0.0
    for seen, hoped in zip(observed, expected, strict=True):
        o, e = o + seen, e + hoped
        if e >= 10:
            merged_observed.append(o)
            merged_expected.append(e)
            o = e = 0.0
    if not merged_observed:
        return 0.0
    merged_observed[-1] += o
    merged_expected[-1] += e
    statistic = sum((a - b) ** 2 / b for a, b in zip(merged_observed, merged_expected, strict=True))
    return float(stats.chi2.sf(statistic, max(len(merged_observed) - 1, 1)))


def _counts(draws: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    return np.diff(np.searchsorted(np.sort(draws), bounds, "right"))
