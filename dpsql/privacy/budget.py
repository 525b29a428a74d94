"""A declared budget, and what it promises to groups: proved in ``docs/proofs/accountant.md``.

The rules by which it may add up, other than its own, are proved in ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from dpsql.errors import DataError
from dpsql.privacy.accountants import CONVERSION_SHARE, DEFAULT, CompositionRule
from dpsql.privacy.measure import Cost, Guarantee, epsilon_of_rho, shown

#: Prices below this share of a budget are refused: they are mistakes, or an attempt to ask for ever.
SMALLEST_SHARE = Fraction(1, 2**40)


@dataclass(frozen=True)
class Budget:
    """The (ε, δ) that everything released together may reach, as the owner declared it.

    ``conversion_share`` of δ pays for turning zCDP into (ε, δ), what is left for the thresholds of group keys; a
    ``rule`` may take another part of it (`CompositionRule.conversion`).
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    conversion_share: Fraction = CONVERSION_SHARE
    rule: CompositionRule = DEFAULT

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise DataError("the epsilon of a budget must be a Fraction above 0")
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta < 1:
            raise DataError("the delta of a budget must be a Fraction of at least 0 and below 1")
        if not isinstance(self.conversion_share, Fraction) or not 0 < self.conversion_share <= 1:
            raise DataError("the conversion share of a budget must be a Fraction above 0 and at most 1")
        if not self.delta and self.rule.needs_delta:
            raise DataError(f"{self.rule.name} needs a delta above 0; without one, basic composition is what holds")

    @property
    def delta_conversion(self) -> Fraction:
        """The part of δ that the rule's own proof takes."""
        return self.rule.conversion(self.delta, self.conversion_share)

    @property
    def delta_selection(self) -> Fraction:
        """The part of δ that is left for the thresholds of group keys."""
        return self.delta - self.delta_conversion

    @cached_property
    def promise(self) -> Guarantee:
        """What the rule has to keep: ε, at its own part of δ."""
        return Guarantee(self.epsilon, self.delta_conversion)

    @property
    def rho_total(self) -> Fraction:
        """The zCDP that (ε, δ_conversion) admits, rounded down; 0 in a pure budget, and where the rule adds no ρ."""
        return self.rule.rho_total(self.promise)

    @property
    def is_tallied(self) -> bool:
        """Whether the rule needs a sum of its own over the entries (`weight`), held against `allowance`."""
        return self.rule.is_tallied

    @cached_property
    def allowance(self) -> Fraction:
        """What the weights of all entries may add up to; 0 for a rule that has none."""
        return self.rule.allowance(self.promise)

    def weight(self, cost: Cost) -> Fraction:
        """What an entry of this cost uses of the allowance; more than all of it where the rule does not hold for it."""
        return self.rule.weight(self.promise, cost)

    def is_next_to_nothing(self, cost: Cost) -> bool:
        """Whether the cost is below what the budget admits for a single charge, whatever is left."""
        low = self._least
        return (cost.epsilon is not None and cost.epsilon < low) or 2 * cost.rho < low**2 / 4

    def require_price(self, cost: Cost) -> None:
        """Refuse a price of nothing, or of next to nothing, whatever is left."""
        if self.is_next_to_nothing(cost):
            raise DataError(f"the price is below {shown(self._least)}, 2**-40 of the budget; ask for a larger epsilon")

    @property
    def _least(self) -> Fraction:
        return self.epsilon * SMALLEST_SHARE

    def group(self, size: int, *, thresholds: bool = True) -> Guarantee:
        """What the budget promises to ``size`` units together.

        ``thresholds=False`` is for a ledger in which no entry has a δ: there the zCDP side keeps its δ.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise DataError("a group has at least 1 unit")
        epsilon = self.epsilon * size
        if not self.delta or size == 1:
            return Guarantee(epsilon, self.delta)
        if thresholds or self.is_tallied:
            return Guarantee(epsilon, _grown(self.delta, self.epsilon, size))
        converted = epsilon_of_rho(self.rho_total * size**2, self.delta_conversion)
        return Guarantee(max(epsilon, converted), self.delta_conversion)


def _grown(delta: Fraction, epsilon: Fraction, size: int) -> Fraction:
    """At least δ(1 + e^ε + … + e^((size − 1)ε)), the δ of a group; 1, which promises nothing, where it is more."""
    exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    if exponent * (size - 1) > 700:
        return Fraction(1)
    step = Fraction(exponent.exp()) * (1 + Fraction(1, 10**20))
    total, power = Fraction(0), Fraction(1)
    for _ in range(size):
        total += power
        power = Fraction((-(-(power * step).numerator * 10**30 // (power * step).denominator)), 10**30)
        if total * delta >= 1:
            return Fraction(1)
    return total * delta
