"""The variance at which discrete Gaussian noise on one cell is (ε, δ)-DP:
the analytic and the classic formula.

`Gaussian.analytic` and `Gaussian.classic` call them. Statements are priced in zCDP and need
neither: their noise is calibrated in `dpsql.planning.calibration`. Proof in
`docs/proofs/analytic_gaussian.md`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, erfc, exp, floor, pi, sqrt

import numpy as np

from dpsql.privacy.rounding import log_bounds, positive
from dpsql.privacy.sampling.discrete_noise import LIMIT

#: More than the relative error of each of the few steps by which a tail is found, and used,
#: in #: floating point.
_SLACK = 2.0**-32
#: More than what is left out of a sum, or lost to the smallest floats.
_LOST = 1e-300
_SUMMED = 1 << 24  # below this variance tails are summed term by term
_LARGEST_EPSILON = 100
_LEAST_DELTA = Fraction(1, 10**100)


def delta_above(sensitivity: int, variance: Fraction, epsilon: Fraction) -> float:
    """An upper bound on the least δ for which this noise on one cell, moved by at most
    ``sensitivity``, is (ε, δ)-DP.

    δ = P[Y >= k] − e^ε·P[Y >= k + Δ] with P(Y = y) ∝ exp(−y²/(2·variance)), Δ = sensitivity and k
    the least integer above ε·variance/Δ − Δ/2.

    >>> round(delta_above(1, Fraction(4), Fraction(1)), 7)  # continuous noise has 0.0068296
    0.0072488
    """
    first = floor(epsilon * variance / sensitivity - Fraction(sensitivity, 2)) + 1
    _, above = _tail(first, variance)
    beyond, _ = _tail(first + sensitivity, variance)
    return above * (1 + _SLACK) - exp(epsilon) * (1 - _SLACK) * beyond + _LOST


@lru_cache(maxsize=256)
def analytic_variance(sensitivity: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least variance that bisection finds at which noise on one cell is proven (ε, δ)-DP."""
    _require(sensitivity, epsilon, delta)
    low = high = float(sensitivity / epsilon) ** 2
    while not _holds(sensitivity, Fraction(high), epsilon, delta):
        low = high
        high = 4 * high
        if high > LIMIT**2:
            raise ValueError(
                "a Gaussian variance must lie between 2^-100 and 2^100 squared grid units"
            )
    while low == high or _holds(sensitivity, Fraction(low), epsilon, delta):
        high = low
        low = low / 4
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if _holds(sensitivity, Fraction(middle), epsilon, delta)
            else (middle, high)
        )
    return Fraction(high)


def classic_variance(sensitivity: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """2 ln(1.25/δ)·Δ²/ε² of Dwork and Roth (2014), rounded up; refused from ε = 1 on.

    It does not hold there.
    """
    _require(sensitivity, epsilon, delta)
    if epsilon >= 1:
        raise ValueError(
            "the classic Gaussian formula holds for epsilon below 1 only (at 10 its noise has more than "
            "twice the delta that it claims); use Gaussian.analytic"
        )
    _, log = log_bounds(Fraction(5, 4) / delta, 60)
    variance = 2 * log * sensitivity**2 / epsilon**2
    rounded = Fraction(ceil(variance * 2**64), 2**64)
    if not _holds(sensitivity, rounded, epsilon, delta):
        raise ValueError(
            "the classic Gaussian formula is not proven at this epsilon and delta; use Gaussian.analytic"
        )
    return rounded


def _holds(sensitivity: int, variance: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    return Fraction(delta_above(sensitivity, variance, epsilon)) <= delta


def _require(sensitivity: int, epsilon: Fraction, delta: Fraction) -> None:
    positive(sensitivity=sensitivity, epsilon=epsilon)
    if epsilon > _LARGEST_EPSILON:
        raise ValueError(
            f"an epsilon above {_LARGEST_EPSILON} promises nothing; give a smaller one"
        )
    if not _LEAST_DELTA <= delta < 1:
        raise ValueError(
            "delta must be at least 10^-100 and below 1; noise without a delta is Laplace's"
        )


def _tail(k: int, variance: Fraction) -> tuple[float, float]:
    """Bounds of P[Y >= k]."""
    if k <= 0:
        low, high = _tail(1 - k, variance)
        return 1 - high, 1 - low
    low, high = _summed(k, variance) if variance < _SUMMED else _smooth(k, sqrt(variance))
    return low * (1 - _SLACK), high * (1 + _SLACK)


def _summed(k: int, variance: Fraction) -> tuple[float, float]:
    """P[Y >= k] for k >= 1, term by term; what is beyond the reach is less than `_LOST`."""
    weights = _weights(float(variance))
    share = float(weights[k:].sum()) / (2 * float(weights.sum()) - 1)
    return share, share


@lru_cache(maxsize=2)
def _weights(variance: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    reach = ceil(sqrt(2 * 700 * variance))
    return np.exp(np.arange(reach + 1, dtype=np.float64) ** 2 / (-2 * variance))


def _smooth(k: int, sigma: float) -> tuple[float, float]:
    """Bounds of P[Y >= k] for k >= 1 by the normal law.

    By trapezia if it is convex there, else by its curvature.
    """
    middle = erfc((k - 0.5) / (sigma * sqrt(2))) / 2
    if k < sigma + 1:
        error = 1 / (8 * sigma**2)
        return middle - error, middle + error
    density = exp(-((k / sigma) ** 2) / 2) / (sqrt(2 * pi) * sigma)
    return erfc(k / (sigma * sqrt(2))) / 2 + density / 2, middle
