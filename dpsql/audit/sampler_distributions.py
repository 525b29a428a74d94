"""The distributions that samplers should draw, written a second time and independently.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, erfc, exp, expm1, prod, sqrt

import numpy as np
from numpy.typing import NDArray

#: Up to this standard deviation a discrete Gaussian is summed term by term;
#: above it a normal law #: is as good.
_SUMMED = 3000


def laplace_below(bounds: Sequence[int], scale: float) -> NDArray[np.float64]:
    """P(Z <= k) for P(z) ∝ exp(−|z|/scale), at each bound k."""
    q = exp(-1 / scale)
    return np.array(
        [exp(k / scale) / (1 + q) if k < 0 else 1 - exp(-(k + 1) / scale) / (1 + q) for k in bounds]
    )


def gaussian_below(bounds: Sequence[int], sigma: float) -> NDArray[np.float64]:
    """P(Z <= k) for P(z) ∝ exp(−z²/(2σ²)), at each bound k."""
    if sigma > _SUMMED:
        return np.array([erfc(-(k + 0.5) / (sigma * sqrt(2))) / 2 for k in bounds])
    reach = ceil(40 * sigma) + 2
    weights = np.exp(-((np.arange(-reach, reach + 1.0) / sigma) ** 2) / 2)
    sums = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    return np.asarray(sums[np.clip(np.array(bounds) + reach + 1, 0, len(sums) - 1)])


def laplace_moments(scale: float) -> tuple[float, float]:
    """E Z² = 2q/(1 − q)² and E Z⁴ = 2q(1 + 10q + q²)/(1 − q)⁴ with q = exp(−1/scale)."""
    q = exp(-1 / scale)
    rest = -expm1(-1 / scale)
    return 2 * q / rest**2, 2 * q * (1 + 10 * q + q * q) / rest**4


def gaussian_moments(sigma: float) -> tuple[float, float]:
    """E Z² and E Z⁴ of the discrete Gaussian; σ² and 3σ⁴ if the normal law is as close."""
    if sigma > _SUMMED:
        return sigma**2, 3 * sigma**4
    reach = ceil(40 * sigma) + 2
    places = np.arange(-reach, reach + 1.0)
    weights = np.exp(-((places / sigma) ** 2) / 2)
    return tuple(float((places**power * weights).sum() / weights.sum()) for power in (2, 4))  # type: ignore[return-value]


def exponential_law(utilities: Sequence[int], rate: Fraction) -> NDArray[np.float64]:
    """The probabilities of the exponential mechanism: ∝ exp(rate·utility)."""
    weights = np.exp(float(rate) * np.array(utilities, float))
    return np.asarray(weights / weights.sum())


def flipped_law(utilities: Sequence[int], rate: Fraction) -> NDArray[np.float64]:
    """The probabilities of permute-and-flip.

    A uniform choice among heads of coins exp(−rate·(best − utility)).
    """
    heads = [exp(-float(rate) * (max(utilities) - utility)) for utility in utilities]
    chances = []
    for index, head_chance in enumerate(heads):
        others = [other for at, other in enumerate(heads) if at != index]
        chance = 0.0
        for size in range(len(others) + 1):
            for fallen in combinations(range(len(others)), size):
                ways = prod(head if at in fallen else 1 - head for at, head in enumerate(others))
                chance += ways / (1 + size)
        chances.append(head_chance * chance)
    return np.array(chances)


def first_above_law(
    answers: Sequence[int], threshold: int, border_scale: float, query_scale: float
) -> NDArray[np.float64]:
    """The probabilities of the sparse vector technique: of each query to be first, then of none.

    Both noises are discrete Laplace; given the noisy threshold, the queries are independent.
    """
    reach = ceil(40 * border_scale) + 2
    border = range(-reach, reach + 1)
    passed = np.exp(-np.abs(np.array(border)) / border_scale)
    passed = passed / passed.sum()
    chances = []
    for count in answers:
        below = laplace_below([threshold + noise - count - 1 for noise in border], query_scale)
        chances.append(float((passed * (1 - below)).sum()))
        passed = passed * below
    return np.array([*chances, float(passed.sum())])


def response_law(truth: int, categories: int, epsilon: Fraction) -> NDArray[np.float64]:
    """The probabilities of randomized response; the true category's is exp(ε) times any other's."""
    weights = np.ones(categories)
    weights[truth] = exp(float(epsilon))
    return np.asarray(weights / weights.sum())
