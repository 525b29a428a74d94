"""Private choices among candidates; proofs in `docs/proofs/sampling.md`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.sampling.bernoulli import coins
from dpsql.privacy.sampling.entropy import OPERATING_SYSTEM, Entropy, uniform_below


def permute_and_flip(utilities: Sequence[int], rate: Fraction, *, _entropy: Entropy = OPERATING_SYSTEM) -> int:
    """The candidate that a random walk over the permuted candidates stops at, flipping exp(−rate·(best − utility))."""
    heads = np.flatnonzero(_flip(_gaps(utilities), rate, _entropy))
    return int(heads[uniform_below(len(heads), 1, _entropy)[0]])


def exponential(utilities: Sequence[int], rate: Fraction, *, _entropy: Entropy = OPERATING_SYSTEM) -> int:
    """A candidate i with probability ∝ exp(rate·utilities[i])."""
    gaps = _gaps(utilities)
    while True:
        proposed = uniform_below(len(gaps), len(gaps) + 16, _entropy)
        accepted = np.flatnonzero(_flip(gaps[proposed], rate, _entropy))
        if len(accepted):
            return int(proposed[accepted[0]])


def randomized_response(
    values: Sequence[int], categories: int, rate: Fraction, *, _entropy: Entropy = OPERATING_SYSTEM
) -> list[int]:
    """Each value kept with exp(rate) times the chance of any one other category, independently."""
    truth = np.asarray(values, np.int64)
    if len(truth) and (int(truth.min()) < 0 or int(truth.max()) >= categories):
        raise ValueError(f"a value is not one of the {categories} categories 0..{categories - 1}")
    reported = np.empty(len(truth), np.int64)
    open_ = np.arange(len(truth))
    while len(open_):
        proposed = uniform_below(categories, len(open_), _entropy)
        accepted = _flip((proposed != truth[open_]).astype(np.int64), rate, _entropy)
        reported[open_[accepted]] = proposed[accepted]
        open_ = open_[~accepted]
    return [int(value) for value in reported]


def _gaps(utilities: Sequence[int]) -> NDArray[np.int64]:
    if not utilities:
        raise ValueError("a choice needs at least one candidate")
    best = max(utilities)
    if best - min(utilities) >= 1 << 62:
        raise ValueError("utilities must lie within 2^62 of each other")
    return np.array([best - utility for utility in utilities], np.int64)


def _flip(gaps: NDArray[np.int64], rate: Fraction, entropy: Entropy) -> NDArray[np.bool_]:
    """One coin exp(−rate·gap) per gap >= 0."""
    if rate <= 0:
        raise ValueError("a rate must be positive")
    gamma = np.minimum(gaps * float(min(rate, Fraction(1000))), 1000.0)
    return coins(gamma, gamma * 2.0**-50, lambda i: int(gaps[i]) * rate, entropy)
