"""The textbook's composition and calibration rules, for comparison only:
no charge and no noise is computed here.

Each function says when its rule holds. ``docs/proofs/measure.md`` sets them beside the filter that
is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from dpsql.errors import DataError


def basic(count: int, epsilon: float) -> float:
    """kε: holds always, for parameters chosen adaptively too."""
    return count * epsilon


def advanced(count: int, epsilon: float, delta: float) -> float:
    """ε√(2k ln(1/δ)) + kε(e^ε − 1), of Dwork, Rothblum and Vadhan (2010).

    Holds for a count and an ε that are fixed before the first answer; it is no filter,
    and can exceed `basic`.
    """
    return epsilon * math.sqrt(2 * count * -math.log(delta)) + count * epsilon * math.expm1(epsilon)


def adaptive_advanced(epsilons: Iterable[float], delta: float) -> float:
    """√(2 ln(1/δ) Σε²) + ½Σε², of Whitehouse, Ramdas, Rogers and Wu (2023).

    Holds adaptively, where the session stops before it passes the declared ε; it equals the
    standard conversion of ρ = ½Σε².
    """
    squares = math.fsum(epsilon**2 for epsilon in epsilons)
    return math.sqrt(2 * -math.log(delta) * squares) + squares / 2


def laplace_rho(epsilon: float) -> float:
    """The tight zCDP ε + e^−ε − 1 of continuous Laplace noise of scale Δ/ε."""
    return epsilon + math.expm1(-epsilon)


def laplace_renyi(epsilon: float, alpha: float) -> float:
    """The Rényi divergence at order α > 1 of continuous Laplace noise of scale Δ/ε (Mironov,
    2017).
    """
    up = math.log(alpha / (2 * alpha - 1)) + (alpha - 1) * epsilon
    down = math.log((alpha - 1) / (2 * alpha - 1)) - alpha * epsilon
    return (max(up, down) + math.log1p(math.exp(-abs(up - down)))) / (alpha - 1)


def epsilon_of_renyi(
    curve: Callable[[float], float], delta: float, orders: Iterable[float]
) -> float:
    """The least ε over the given orders α > 1 of a Rényi curve,
    by the conversion of Canonne, Kamath and Steinke.

    Holds for mechanisms that are fixed before the first answer. With the orders λ + 1 of whole λ it
    is the moments accountant.
    """
    return min(
        curve(a) + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1) for a in orders
    )


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """The exact δ at ε of continuous Gaussian noise (Balle and Wang, 2018)."""
    mu = sensitivity / sigma
    return _normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * _normal(-mu / 2 - epsilon / mu)


def analytic_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The least σ of continuous Gaussian noise that is (ε, δ)-DP, for one release."""
    low, high = 1e-9, 1.0
    while gaussian_delta(epsilon, high) > delta:
        low, high = high, high * 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(epsilon, middle) > delta else (low, middle)
    return high * sensitivity


def classic_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Δ√(2 ln(1.25/δ))/ε of the textbook, which holds for ε below 1 only."""
    if not 0 < epsilon < 1:
        raise DataError("the classic Gaussian calibration holds for epsilon below 1 only")
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def discrete_gaussian_delta(epsilon: float, variance: float, sensitivity: int = 1) -> float:
    """The exact δ at ε of discrete Gaussian noise on an integer of this sensitivity,
    summed in floating point.

    δ = P[Y > εσ²/Δ − Δ/2] − e^ε P[Y > εσ²/Δ + Δ/2].
    """
    edge = epsilon * variance / sensitivity
    reach = math.ceil(40 * math.sqrt(variance) + sensitivity)
    weights = {y: math.exp(-y * y / (2 * variance)) for y in range(-reach, reach + 1)}
    mass = math.fsum(weights.values())
    above = math.fsum(w for y, w in weights.items() if y > edge - sensitivity / 2) / mass
    beyond = math.fsum(w for y, w in weights.items() if y > edge + sensitivity / 2) / mass
    return above - math.exp(epsilon) * beyond


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2
