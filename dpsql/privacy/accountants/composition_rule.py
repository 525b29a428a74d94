"""A composition rule: a theorem that is a filter, so an owner may name it as an accountant.

Every rule is proved, with the condition under which it holds, in ``docs/proofs/rule.md``.
`price_for` finds the price at which a budget of a rule admits a number of answers:
``docs/proofs/accountant.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor, log10
from typing import ClassVar

from dpsql.privacy.accountants.composition_theorem import FixedReleases, Theorem, sum_of
from dpsql.privacy.measure import FREE, Cost, Guarantee


@dataclass(frozen=True)
class ChargedTotal:
    """What was charged so far: the sum of all costs, and of the weights that the rule gives them."""

    cost: Cost = FREE
    weight: Fraction = Fraction(0)


class CompositionRule(Theorem):
    """How a budget adds up costs, if each statement may depend on the answers to earlier ones.

    ``promise`` is always the budget's ε with that part of its δ which `conversion` takes. Decisions
    use declared and public figures only, never an answer. Thresholds have a δ of their own, which
    the filter adds up for every rule.
    """

    @property
    @abstractmethod
    def needs_delta(self) -> bool:
        """Whether the rule holds for budgets with a δ above 0 only."""

    @property
    @abstractmethod
    def adds_pure(self) -> bool:
        """Whether the rule adds up pure ε alone, so that all noise is Laplace's."""

    @property
    @abstractmethod
    def is_tallied(self) -> bool:
        """Whether the rule needs the sum of its weights over all entries.

        The ledger keeps that sum in addition to its totals.
        """

    @abstractmethod
    def conversion(self, delta: Fraction, share: Fraction) -> Fraction:
        """What the rule takes of a budget's δ for its own proof; the rest is for thresholds.

        Args:
            delta: The δ of the budget.
            share: The part of it that is set aside for turning zCDP or Rényi divergences into (ε,
                δ).
        """

    @abstractmethod
    def rho_total(self, promise: Guarantee) -> Fraction:
        """The zCDP that all costs may add up to, rounded down; 0 if the rule adds up none."""

    @abstractmethod
    def window_rho(self, promise: Guarantee) -> Fraction | None:
        """The most zCDP that one window of a budget can come to; None where no bound is proved."""

    @abstractmethod
    def allowance(self, promise: Guarantee) -> Fraction:
        """What the weights of all entries may add up to; 0 for a rule that has none."""

    @abstractmethod
    def weight(self, promise: Guarantee, cost: Cost) -> Fraction:
        """What an entry of this cost uses of the allowance.

        More than all of it if the rule does not hold for the cost.
        """

    @abstractmethod
    def holds(self, promise: Guarantee, total: ChargedTotal) -> bool:
        """Whether all that was charged keeps the promise."""

    @abstractmethod
    def share(self, promise: Guarantee, total: ChargedTotal) -> Fraction:
        """What is left of the budget, from 0 to 1."""

    @abstractmethod
    def affordable(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> int:
        """How many more charges of one cost keep the promise."""

    @abstractmethod
    def largest_price(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> Fraction:
        """The largest ε at which one more statement is admitted, to four digits.

        Its noise is of the same kind as the cost's.
        """

    @property
    def title(self) -> str:
        """The rule in a sentence."""
        return self.name

    def refusal(
        self, promise: Guarantee, total: ChargedTotal, cost: Cost, whose: str
    ) -> str | None:
        """Why a cost is refused, in the rule's own words; None if the filter's words suffice."""
        return None

    def unfit(self, promise: Guarantee) -> str | None:
        """Why the owner's fixed parameters do not fit in the budget; None if they do."""
        return None

    def misstated(self, query_epsilon: Fraction, query_delta: Fraction | None) -> str | None:
        """Why the rule does not hold for the schema's statement prices; None if it does."""
        return None


class LedgerSums(CompositionRule):
    """A rule over the sums of ε and ρ in the ledger, which charges a workload by adding up."""

    ledger_name: ClassVar[str | None] = "hybrid"
    is_tallied = False

    def allowance(self, promise: Guarantee) -> Fraction:
        return Fraction(0)

    def weight(self, promise: Guarantee, cost: Cost) -> Fraction:
        return Fraction(0)

    @classmethod
    def block_cost(cls, releases: FixedReleases, delta: Fraction) -> Cost:
        return sum_of(releases.costs)


class WeightedRule(CompositionRule):
    """A rule that weighs each entry, and keeps the sum of the weights within its allowance."""

    is_tallied = True

    def rho_total(self, promise: Guarantee) -> Fraction:
        return Fraction(0)

    def window_rho(self, promise: Guarantee) -> Fraction | None:
        return None

    def holds(self, promise: Guarantee, total: ChargedTotal) -> bool:
        return total.weight <= self.allowance(promise)

    def share(self, promise: Guarantee, total: ChargedTotal) -> Fraction:
        """What is left of the allowance."""
        most = self.allowance(promise)
        return max(1 - total.weight / most, Fraction(0)) if most else Fraction(0)

    def affordable(self, promise: Guarantee, total: ChargedTotal, cost: Cost) -> int:
        return max(int((self.allowance(promise) - total.weight) // self.weight(promise, cost)), 0)


def price_of(cost: Cost) -> Fraction:
    """The ε that stands for a cost: its own, or √(2ρ) of Gaussian noise (four digits, for people)."""
    return gaussian_price(cost.rho) if cost.epsilon is None else cost.epsilon


def gaussian_price(rho: Fraction) -> Fraction:
    """√(2ρ): the ε at which Gaussian noise has this ρ (to four digits, for people)."""
    return Fraction((Decimal(2 * rho.numerator) / Decimal(rho.denominator)).sqrt())


#: The part of δ that a budget gives to the conversion of zCDP where its rule takes no other one.
CONVERSION_SHARE = Fraction(9, 10)
#: Significant digits of a price, which is rounded down to them.
DIGITS = 3
#: Prices below 2**-40 of a budget are refused by it.
_STEPS = 38


def price_for(
    answers: int, epsilon: Fraction, delta: Fraction, rule: CompositionRule, *, gaussian: bool
) -> Fraction:
    """The largest price, of three digits, at which a budget admits so many plain counts.

    All have the same kind of noise. Raises ValueError if no price is that small.
    """
    promise = Guarantee(epsilon, rule.conversion(delta, CONVERSION_SHARE))

    def admitted(price: Fraction) -> bool:
        rho = price**2 / 2
        cost = Cost(None, rho) if gaussian else Cost(price, rho)
        return rule.affordable(promise, ChargedTotal(), cost.rounded_up()) >= answers

    if admitted(epsilon):
        return epsilon
    low = Fraction(0)
    high = epsilon
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if admitted(middle) else (low, middle)
    price = _rounded_down(low) if low else low
    if not price or not admitted(price):
        raise ValueError(f"the budget cannot be split into {answers} answers; ask for fewer")
    return price


def _rounded_down(number: Fraction) -> Fraction:
    unit = Fraction(10) ** (floor(log10(number)) - DIGITS + 1)
    return number // unit * unit
