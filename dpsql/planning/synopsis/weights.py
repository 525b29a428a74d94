"""How the price of a synopsis is split over the marginals that it may measure, for a workload of queries.

A query's variance is 1 / Σ precision · weight, over the marginals that tell it. The sum of the logarithms of the
variances is convex in the weights. ResidualPlanner (Xiao, He, Zhang, Kifer: An optimal and scalable matrix mechanism
for noisy marginals under convex loss functions, NeurIPS 2023) minimises convex functions of the variances over all
linear Gaussian mechanisms; here one is minimised over noisy marginals that are measured as they are.

Proved in ``docs/proofs/synopsis.md``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

#: How often weights are improved, and how often queries that came off worse are given more importance.
STEPS, ROUNDS = 400, 60
#: Weights are multiples of this; a marginal of a smaller weight is not measured.
GRAIN = Fraction(1, 4096)
_TRIED = 64


def least_variances(
    precisions: NDArray[np.float64], importance: NDArray[np.float64], power: int = 1
) -> NDArray[np.float64]:
    """The weights, with the sum 1, that make the queries' variances small, by their importance.

    ``precisions`` has a row for each query, with the precision that each marginal gives it at the whole price. With
    ``power`` 1 the geometric mean is made small, by expectation maximisation for the weights of a mixture, and with 2
    the sum, by the multiplicative algorithm for designs (Yu: Monotonic convergence of a general algorithm for computing
    optimal designs, 2010). No step of either makes it larger.

    >>> [round(float(each), 3) for each in least_variances(np.array([[1, 0], [4, 0], [0, 9.0]]), np.ones(3))]
    [0.667, 0.333]
    """
    weights = np.full(precisions.shape[1], 1.0 / precisions.shape[1])
    for _ in range(STEPS):
        told = precisions @ weights
        weights *= ((importance / told**power) @ precisions) ** (1 / power)
        weights /= weights.sum()
    return weights


def variances(
    precisions: NDArray[np.float64], weights: NDArray[np.float64], power: int, most: int
) -> NDArray[np.float64]:
    """The variance of each query, where at most so many estimates are combined: the ``most`` exact ones.

    The precision of a marginal grows with its weight (``power`` 1, Gaussian noise) or with its square (2, Laplace).
    """
    each = np.sort(precisions * weights**power, axis=1)[:, -most:]
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / each.sum(axis=1), dtype=np.float64)


def chosen_weights(
    precisions: NDArray[np.float64],
    separate: NDArray[np.float64],
    bound: NDArray[np.float64],
    importance: NDArray[np.float64],
    power: int,
    most: int,
) -> tuple[Fraction, ...]:
    """Weights with the sum 1, by which no query has a variance above its bound, which the ``separate`` weights keep.

    A marginal that tells two queries three quarters as well as each one's own is measured alone:

    >>> three = np.array([[1.0, 0.0, 0.75], [0.0, 1.0, 0.75]])
    >>> chosen = chosen_weights(three, np.array([0.5, 0.5, 0.0]), np.full(2, 2.0), np.ones(2), 1, 4)
    >>> [str(each) for each in chosen]
    ['0', '0', '1']
    """
    found = [
        _within(precisions, separate, bound, importance / bound ** (loss - 1), power, most, loss) for loss in (1, 2)
    ]

    def mean(weights: tuple[Fraction, ...]) -> float:
        told = variances(precisions, np.array(weights, dtype=np.float64), power, most)
        return float(importance @ np.log(told / bound))

    return min(found, key=mean)


def _within(
    precisions: NDArray[np.float64],
    separate: NDArray[np.float64],
    bound: NDArray[np.float64],
    importance: NDArray[np.float64],
    power: int,
    most: int,
    loss: int,
) -> tuple[Fraction, ...]:
    """Weights that keep the bounds: queries above theirs get more importance, the rest is mixed in."""
    for _ in range(ROUNDS):
        found = least_variances(precisions, importance, loss)
        ratio = variances(precisions, found, power, most) / bound
        if np.all(ratio <= 1):
            break
        importance = importance * np.maximum(ratio, 1) ** 0.7
    for part in range(_TRIED, 0, -1):
        mixed = _whole(found * (part / _TRIED) + separate * (1 - part / _TRIED))
        if np.all(variances(precisions, np.array(mixed, dtype=np.float64), power, most) <= bound * (1 + 1e-9)):
            return mixed
    return _whole(separate, GRAIN / 2**20)


def _whole(weights: NDArray[np.float64], grain: Fraction = GRAIN) -> tuple[Fraction, ...]:
    """The weights as multiples of the grain, whose sum is 1: the largest takes what rounding leaves."""
    found = [Fraction(round(each / float(grain))) * grain for each in weights]
    largest = max(range(len(found)), key=found.__getitem__)
    found[largest] = 1 - sum(found[:largest] + found[largest + 1 :], Fraction(0))
    return tuple(found)
