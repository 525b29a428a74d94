"""Advanced composition of statements whose number and price are fixed beforehand.

Proved in ``docs/proofs/rule.md``, and for workloads in ``docs/proofs/workload.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import ClassVar, final

from dpsql.errors import DataError
from dpsql.privacy.accountants.composition_rule import ChargedTotal, WeightedRule, price_of
from dpsql.privacy.accountants.composition_theorem import (
    FixedReleases,
    TheoremInvalid,
    approximate_cost,
    require_delta,
    threshold_delta,
)
from dpsql.privacy.measure import PLACES, Cost, Guarantee, shown
from dpsql.privacy.rounding import exp_bounds, log_bounds

#: More statements than this nobody fixes beforehand.
MOST_STATEMENTS = 10**9


@final
@dataclass(frozen=True)
class AdvancedComposition(WeightedRule):
    """Advanced composition, whose number of statements and whose price are fixed before the first
    one.
    """

    statements: int = field(
        metadata={
            "description": "How many statements there will be at most.",
            "phrase": "number of statements",
            "most": MOST_STATEMENTS,
        }
    )
    epsilon: Fraction = field(
        metadata={"description": "What every one of them costs.", "phrase": "their epsilon"}
    )

    name = "advanced"
    title = "advanced composition"
    hints: ClassVar[Mapping[str, str]] = {
        "advanced": "advanced composition holds for a number of statements and a price that are fixed beforehand; "
        'write accountant = { name = "advanced", statements = 100, epsilon = 0.1 }'
    }
    needs_delta = True
    adds_pure = True

    def __post_init__(self) -> None:
        known = isinstance(self.statements, int) and not isinstance(self.statements, bool)
        if not known or not 1 <= self.statements <= MOST_STATEMENTS:
            raise DataError(
                f"advanced composition needs a number of statements from 1 to {MOST_STATEMENTS}, fixed "
                "beforehand"
            )
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise DataError(
                "advanced composition needs the epsilon of a statement, fixed beforehand"
            )

    def conversion(self, delta: Fraction, share: Fraction) -> Fraction:
        return delta

    def allowance(self, promise: Guarantee) -> Fraction:
        return Fraction(most_statements(self.statements, self.epsilon, promise))

    def weight(self, promise: Guarantee, cost: Cost) -> Fraction:
        return Fraction(1 if self.is_price(cost) else self.statements + 1)

    def is_price(self, cost: Cost) -> bool:
        """Whether a cost is the one that was fixed for every statement."""
        return (
            cost.delta == 0
            and cost.epsilon == Cost(self.epsilon, self.epsilon).rounded_up().epsilon
        )

    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        return self.epsilon if total.weight < self.allowance(promise) else Fraction(0)

    def refusal(
        self, promise: Guarantee, total: ChargedTotal, cost: Cost, whose: str
    ) -> str | None:
        """Why it is not the price that was fixed, or that all statements are spent."""
        if cost.delta:
            return None
        if not self.is_price(cost):
            return (
                f"under advanced composition every statement is pure and costs exactly ε = {shown(self.epsilon)}, "
                f"as was fixed beforehand; this one costs ε = {shown(price_of(cost))}"
            )
        allowance = self.allowance(promise)
        if total.weight > allowance:
            return (
                f"{whose} has statements in its ledger that are not of exactly ε = {shown(self.epsilon)}; advanced "
                "composition does not hold for them"
            )
        return (
            f"{whose} has spent all of the {int(allowance)} statements that were fixed beforehand"
        )

    def unfit(self, promise: Guarantee) -> str | None:
        """Why so many statements are more than the budget holds."""
        allowance = self.allowance(promise)
        if allowance >= self.statements:
            return None
        return (
            f"{self.statements} statements of ε = {shown(self.epsilon)} pass the budget by advanced composition; "
            f"it holds {int(allowance)}"
        )

    def misstated(self, query_epsilon: Fraction, query_delta: Fraction | None) -> str | None:
        """Why the price of statements is not the one that was fixed."""
        if query_epsilon != self.epsilon:
            return (
                "under advanced composition every statement costs the epsilon that was fixed; set "
                f"query_epsilon = {float(self.epsilon):g}"
            )
        if query_delta is not None:
            return "under advanced composition statements are pure and use no delta; leave query_delta out"
        return None

    @classmethod
    def block_cost(cls, releases: FixedReleases, delta: Fraction) -> Cost:
        return approximate_cost(_block_epsilon(releases, require_delta(delta)), delta)

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        return _block_epsilon(releases, delta)


def _block_epsilon(releases: FixedReleases, delta: Fraction) -> Fraction:
    """ε at δ by advanced composition; Invalid where statements are not pure or not of one price."""
    prices = {cost.epsilon for cost in releases.costs}
    (price, *others) = prices
    if others or price is None or threshold_delta(releases):
        raise TheoremInvalid("the statements must be pure, without thresholds, and of one price")
    return advanced(len(releases.costs), price, delta)


@lru_cache(maxsize=256)
def most_statements(statements: int, epsilon: Fraction, promise: Guarantee) -> int:
    """How many of so many statements of one ε stay within a promise."""
    low = 0
    high = statements
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high)
            if advanced(middle, epsilon, promise.delta) <= promise.epsilon
            else (low, middle - 1)
        )
    return low


@lru_cache(maxsize=4096)
def advanced(count: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """ε√(2k ln(1/δ)) + kε(e^ε − 1), of Dwork, Rothblum and Vadhan (2010),
    or kε where that is less; rounded up.

    >>> round(float(advanced(100, Fraction(1, 10), Fraction(1, 10**6))), 4)
    6.3082
    """
    basic = count * epsilon
    if not delta:
        return basic
    one = 1 << 512
    grid = 10**PLACES
    inside = 2 * count * -log_bounds(delta, 70)[0]
    root = Fraction(isqrt(inside.numerator * grid**2 // inside.denominator) + 1, grid)
    shrunk, _ = exp_bounds(epsilon, 512)
    if not shrunk:
        return basic
    bound = min(basic, epsilon * root + count * epsilon * (Fraction(one, shrunk) - 1))
    return Fraction(-(-bound.numerator * grid // bound.denominator), grid)
