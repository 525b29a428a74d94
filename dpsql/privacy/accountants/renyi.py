"""The moments accountant: Rényi divergences of one fixed order.

Proved in ``docs/proofs/renyi.md``; as a filter in ``docs/proofs/rule.md`` and for workloads in
``docs/proofs/workload.md``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, final

from dpsql.errors import DataError
from dpsql.privacy.accountants.composition_rule import ChargedTotal, WeightedRule, gaussian_price
from dpsql.privacy.accountants.composition_theorem import (
    FixedReleases,
    TheoremInvalid,
    approximate_cost,
    require_delta,
    threshold_delta,
)
from dpsql.privacy.measure import PLACES, Cost, Guarantee, rho_total
from dpsql.privacy.rounding import exp_bounds, log_bounds

#: Orders are whole numbers, as those of the moments accountant are (λ = order − 1), from 2 to this.
MOST_ORDER = 2**20
#: The orders of which a block, whose parameters are all fixed, takes the best.
ORDERS = (*range(2, 65), *range(72, 257, 8), *range(288, 1025, 32))
_GRID = 10**PLACES
_BITS = 256
_DIGITS = 70
#: In 2^-256: what is smaller than 2^-128 is no logarithm's business, as 0 <= ln(1 + x) <= x.
_SMALL = 2**128


@final
@dataclass(frozen=True)
class Renyi(WeightedRule):
    """The sum of Rényi divergences of the one order that the promise gives: the moments accountant."""

    name = "rdp"
    hints: ClassVar[Mapping[str, str]] = {"moments": 'the moments accountant is called "rdp" here'}
    needs_delta = True
    adds_pure = False

    def conversion(self, delta: Fraction, share: Fraction) -> Fraction:
        return delta * share

    def order(self, promise: Guarantee) -> int:
        """The order at which divergences are added up: fixed by the promise itself."""
        return order_of(promise.epsilon, promise.delta)

    def allowance(self, promise: Guarantee) -> Fraction:
        return renyi_total(promise.epsilon, promise.delta, self.order(promise))

    def weight(self, promise: Guarantee, cost: Cost) -> Fraction:
        return renyi_of(cost, self.order(promise))

    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        """The ε that Gaussian noise would have."""
        return gaussian_price(
            max(self.allowance(promise) - total.weight, Fraction(0)) / self.order(promise)
        )

    @classmethod
    def block_cost(cls, releases: FixedReleases, delta: Fraction) -> Cost:
        """ε at the best order, with the δ of thresholds beside it."""
        leaks = threshold_delta(releases)
        return approximate_cost(best_epsilon(releases, require_delta(delta)), delta + leaks)

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        """ε at the best order and the δ that thresholds leave."""
        leaks = threshold_delta(releases)
        if delta <= leaks:
            raise TheoremInvalid("thresholds use all of δ")
        return best_epsilon(releases, delta - leaks)


def best_epsilon(releases: FixedReleases, delta: Fraction) -> Fraction:
    """ε at δ by Rényi divergences at the best order for these releases.

    What thresholds use comes on top.
    """
    much = Fraction(10**9)
    epsilon = min(
        sum((renyi_of(cost, order) for cost in releases.mechanism_costs), Fraction(0))
        + much
        - renyi_total(much, delta, order)
        for order in ORDERS
    )
    return max(epsilon, Fraction(0))


@lru_cache(maxsize=256)
def order_of(epsilon: Fraction, delta: Fraction) -> int:
    """The order at which a promise (ε, δ) adds up divergences.

    It is a function of the promise, so it cannot be chosen.

    It is the whole number nearest to the order that is best for zCDP,
    1 + √(ln(1/δ)/ρ) up to lower terms.
    """
    rho = rho_total(epsilon, delta)
    if rho <= 0:
        return MOST_ORDER
    log_inverse = -log_bounds(delta, _DIGITS)[0]
    low = 1
    high = MOST_ORDER - 1
    while low < high:  # the largest b = order − 1 with ρb² + ln(1 + b) <= ln(1/δ)
        middle = (low + high + 1) // 2
        holds = rho * middle**2 + log_bounds(Fraction(1 + middle), _DIGITS)[1] <= log_inverse
        low, high = (middle, high) if holds else (low, middle - 1)
    return 1 + low


@lru_cache(maxsize=256)
def renyi_total(epsilon: Fraction, delta: Fraction, order: int) -> Fraction:
    """The largest divergence of this order that implies (ε, δ)-DP, rounded down; 0 where none does.

    ε − ln(1 − 1/α) + (ln δ + ln α)/(α − 1), from the conversion of Canonne,
    Kamath and Steinke (2020).
    """
    _require(order)
    if not 0 < delta < 1:
        raise DataError("delta must be above 0 and below 1")
    gained = -log_bounds(1 - Fraction(1, order), _DIGITS)[1]
    paid = (log_bounds(delta, _DIGITS)[0] + log_bounds(Fraction(order), _DIGITS)[0]) / (order - 1)
    total = max(epsilon + gained + paid, Fraction(0))
    return Fraction(total.numerator * _GRID // total.denominator, _GRID)


@lru_cache(maxsize=4096)
def renyi_of(cost: Cost, order: int) -> Fraction:
    """The largest divergence of this order that a release of the cost may have, rounded up.

    The smaller of αρ and, if it is pure, that of randomized response at ε.

    >>> round(float(renyi_of(Cost(Fraction(1), Fraction(1, 2)), 2)), 6)  # ln((e² + 1/e)/(e + 1))
    0.735326
    """
    _require(order)
    bound = order * cost.rho
    if cost.epsilon is not None:
        bound = min(bound, response_renyi(cost.epsilon, order))
    return Fraction(-(-bound.numerator * _GRID // bound.denominator), _GRID)


def response_renyi(epsilon: Fraction, order: int) -> Fraction:
    """The divergence of randomized response, and so of every ε-DP mechanism at most; from above.

    ln((e^(αε) + e^((1−α)ε))/(1 + e^ε))/(α − 1) = ε + (ln(1 + e^(−(2α−1)ε)) − ln(1 + e^(−ε)))/(α −
    1).
    """
    one = 1 << _BITS
    _, far = exp_bounds((2 * order - 1) * epsilon, _BITS)
    near, _ = exp_bounds(epsilon, _BITS)
    rises = log_bounds(1 + Fraction(far, one), _DIGITS)[1] if far >= _SMALL else Fraction(far, one)
    falls = log_bounds(1 + Fraction(near, one), _DIGITS)[0] if near >= _SMALL else Fraction(0)
    return min(epsilon, max(epsilon + (rises - falls) / (order - 1), Fraction(0)))


def _require(order: int) -> None:
    if isinstance(order, bool) or not isinstance(order, int) or not 2 <= order <= MOST_ORDER:
        raise DataError(f"an order is a whole number from 2 to {MOST_ORDER}")
