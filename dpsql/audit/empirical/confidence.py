"""Confidence bounds for counted outcomes that hold for any number of draws, without approximations.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray


def surprise(observed: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """An upper bound of the p-value of counts under a law,
    with relative entropy as the test statistic.

    With t = Σ o·ln(o/(n·p)) over k cells the chance of t or more is at most
    exp(−t)·(e·t/(k − 1))^(k − 1) where t > k − 1 (Agrawal, Finite-sample concentration of the
    multinomial in relative entropy, 2020).
    """
    total = int(observed.sum())
    free = len(observed) - 1
    seen = observed > 0
    if (probabilities[seen] <= 0).any():
        return 0.0
    distance = float(
        (observed[seen] * np.log(observed[seen] / (total * probabilities[seen]))).sum()
    )
    if distance <= free or free == 0:
        return 1.0
    return exp(min(-distance + free * (1 + log(distance / free)), 0.0))


def deviation(successes: int, trials: int, probability: float) -> float:
    """An upper bound of the two-sided p-value of k heads of n coins: 2·exp(−n·KL(k/n ‖ p)),
    after Chernoff.
    """
    counts = np.array([successes, trials - successes])
    law = np.array([probability, 1 - probability])
    seen = counts > 0
    if (law[seen] <= 0).any():
        return 0.0
    return min(
        1.0, 2 * exp(-float((counts[seen] * np.log(counts[seen] / (trials * law[seen]))).sum()))
    )


@lru_cache(2**15)
def least(successes: int, trials: int, tail: float) -> float:
    """The lower end of Clopper and Pearson's interval for a tail probability ``tail``."""
    return (
        0.0
        if successes == 0
        else _reached(lambda p: beta(p, successes, trials - successes + 1), tail)
    )


def greatest(successes: int, trials: int, tail: float) -> float:
    """The upper end of Clopper and Pearson's interval for a tail probability ``tail``."""
    return 1 - least(trials - successes, trials, tail)


def beta(p: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_p(a, b),
    which is P(X ≥ a) for X binomial (a + b − 1, p).

    By its continued fraction (Numerical Recipes 6.4, after Lentz),
    which converges where p < (a + 1)/(a + b + 2).
    """
    if p <= 0 or p >= 1:
        return float(p >= 1)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(p) + b * log1p(-p))
    if p < (a + 1) / (a + b + 2):
        return front * _fraction(p, a, b) / a
    return 1 - front * _fraction(1 - p, b, a) / b


def _fraction(p: float, a: float, b: float) -> float:
    c = 1.0
    d = 1 / (1 - (a + b) * p / (a + 1))
    value = d
    for m in range(1, 200 + int(20 * sqrt(max(a, b)))):
        step = a + 2 * m
        for term in (
            m * (b - m) * p / ((step - 1) * step),
            -(a + m) * (a + b + m) * p / (step * (step + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


def _reached(rising: Callable[[float], float], tail: float) -> float:
    """The greatest float below which a rising function is known to stay under ``tail``."""
    low = 0.0
    high = 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if rising(middle) < tail else (low, middle)
    return low
