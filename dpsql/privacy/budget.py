"""A declared budget and the filter that holds releases within it: proved in ``docs/proofs/accountant.md``.

The rules by which it may add up, other than its own, are proved in ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import assert_never

from dpsql.errors import BudgetExhausted, DataError
from dpsql.privacy.measure import Cost, epsilon_of_rho, rho_total, shown
from dpsql.privacy.renyi import order_of, renyi_of, renyi_total
from dpsql.privacy.rule import DEFAULT, Advanced, Basic, Concentrated, Hybrid, Renyi, Rule

#: Prices below this share of a budget are refused: they are mistakes, or an attempt to ask for ever.
SMALLEST_SHARE = Fraction(1, 2**40)


@dataclass(frozen=True)
class Promise:
    """An (ε, δ) guarantee."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Budget:
    """The (ε, δ) that everything released together may reach, as the owner declared it.

    ``conversion_share`` of δ pays for turning zCDP into (ε, δ), what is left for the thresholds of group keys; a
    ``rule`` that converts nothing leaves them all of it, and advanced composition leaves them none.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    conversion_share: Fraction = Fraction(9, 10)
    rule: Rule = DEFAULT

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise DataError("the epsilon of a budget must be a Fraction above 0")
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta < 1:
            raise DataError("the delta of a budget must be a Fraction of at least 0 and below 1")
        if not isinstance(self.conversion_share, Fraction) or not 0 < self.conversion_share <= 1:
            raise DataError("the conversion share of a budget must be a Fraction above 0 and at most 1")
        if not self.delta and not isinstance(self.rule, Hybrid | Basic):
            raise DataError(f"{self.rule.name} needs a delta above 0; without one, basic composition is what holds")

    @property
    def delta_conversion(self) -> Fraction:
        match self.rule:
            case Hybrid() | Concentrated() | Renyi():
                return self.delta * self.conversion_share
            case Basic():
                return Fraction(0)
            case Advanced():
                return self.delta
            case _:
                assert_never(self.rule)

    @property
    def delta_selection(self) -> Fraction:
        return self.delta - self.delta_conversion

    @property
    def rho_total(self) -> Fraction:
        """The zCDP that (ε, δ_conversion) admits, rounded down; 0 in a pure budget, and where the rule adds no ρ."""
        adds = isinstance(self.rule, Hybrid | Concentrated) and self.delta
        return rho_total(self.epsilon, self.delta_conversion) if adds else Fraction(0)

    @cached_property
    def order(self) -> int:
        """The order at which Rényi divergences are added up: fixed by the promise itself."""
        return order_of(self.epsilon, self.delta_conversion)

    @property
    def is_tallied(self) -> bool:
        """Whether the rule needs a sum of its own over the entries (`weight`), held against `allowance`."""
        return isinstance(self.rule, Renyi | Advanced)

    @cached_property
    def allowance(self) -> Fraction:
        """What the weights of all entries may add up to; 0 for a rule that has none."""
        match self.rule:
            case Renyi():
                return renyi_total(self.epsilon, self.delta_conversion, self.order)
            case Advanced() as rule:
                return Fraction(rule.affordable(self.epsilon, self.delta))
            case _:
                return Fraction(0)

    def weight(self, cost: Cost) -> Fraction:
        """What an entry of this cost uses of the allowance; more than all of it where the rule does not hold for it."""
        match self.rule:
            case Renyi():
                return renyi_of(cost, self.order)
            case Advanced() as rule:
                return Fraction(1 if _is_fixed(cost, rule) else rule.statements + 1)
            case _:
                return Fraction(0)

    def require_price(self, cost: Cost) -> None:
        """Refuse a price of nothing, or of next to nothing, whatever is left."""
        low = self.epsilon * SMALLEST_SHARE
        if (cost.epsilon is not None and cost.epsilon < low) or 2 * cost.rho < low**2 / 4:
            raise DataError(f"the price is below {shown(low)}, 2**-40 of the budget; ask for a larger epsilon")

    def group(self, size: int, *, thresholds: bool = True) -> Promise:
        """What the budget promises to ``size`` units together.

        ``thresholds=False`` is for a ledger in which no entry has a δ: there the zCDP side keeps its δ.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise DataError("a group has at least 1 unit")
        epsilon = self.epsilon * size
        if not self.delta or size == 1:
            return Promise(epsilon, self.delta)
        if thresholds or self.is_tallied:
            return Promise(epsilon, _grown(self.delta, self.epsilon, size))
        converted = epsilon_of_rho(self.rho_total * size**2, self.delta_conversion)
        return Promise(max(epsilon, converted), self.delta_conversion)


def admits(budget: Budget, spent: Cost, cost: Cost, tallied: Fraction = Fraction(0)) -> bool:
    """Whether a release of this cost keeps all that was spent within the budget.

    The filter: δ stays within its selection share and, by default, the sum of ε within ε or the sum of ρ within the
    total ρ; another rule looks at its own sum alone, which for some is ``tallied``. The decision uses declared and
    public figures only, never an answer.
    """
    after = spent + cost
    if after.delta > budget.delta_selection:
        return False
    pure = after.epsilon is not None and after.epsilon <= budget.epsilon
    match budget.rule:
        case Hybrid():
            return pure or after.rho <= budget.rho_total
        case Basic():
            return pure
        case Concentrated():
            return after.rho <= budget.rho_total
        case Renyi() | Advanced():
            return tallied + budget.weight(cost) <= budget.allowance
        case _:
            assert_never(budget.rule)


@dataclass(frozen=True)
class Standing:
    """One filter in use: whose it is (None: everybody's, else an analyst's cap), its budget and what was spent.

    ``tallied`` is what the budget's rule has added up, where it adds up something of its own.
    """

    holder: str | None
    budget: Budget
    spent: Cost
    tallied: Fraction = Fraction(0)

    @property
    def share(self) -> Fraction:
        """What is left of the budget, from 0 to 1, by the sum that its rule goes by (the better of the two)."""
        pure = Fraction(0) if self.spent.epsilon is None else 1 - self.spent.epsilon / self.budget.epsilon
        rho = self.budget.rho_total
        converted = 1 - self.spent.rho / rho if rho else Fraction(0)
        match self.budget.rule:
            case Hybrid():
                return max(pure, converted, Fraction(0))
            case Basic():
                return max(pure, Fraction(0))
            case Concentrated():
                return max(converted, Fraction(0))
            case Renyi() | Advanced():
                most = self.budget.allowance
                return max(1 - self.tallied / most, Fraction(0)) if most else Fraction(0)
            case _:
                assert_never(self.budget.rule)

    @property
    def epsilon(self) -> Fraction:
        return self.budget.epsilon * self.share

    @property
    def delta(self) -> Fraction:
        """What is left for the thresholds of group keys."""
        return max(self.budget.delta_selection - self.spent.delta, Fraction(0))

    def affordable(self, cost: Cost) -> int:
        """How many more releases of this cost the filter admits."""
        cost = cost.rounded_up()
        self.budget.require_price(cost)
        converted = max(int((self.budget.rho_total - self.spent.rho) // cost.rho), 0)
        pure = 0
        if cost.epsilon is not None and self.spent.epsilon is not None:
            pure = max(int((self.budget.epsilon - self.spent.epsilon) // cost.epsilon), 0)
        match self.budget.rule:
            case Hybrid():
                count = max(pure, converted)
            case Basic():
                count = pure
            case Concentrated():
                count = converted
            case Renyi() | Advanced():
                count = max(int((self.budget.allowance - self.tallied) // self.budget.weight(cost)), 0)
            case _:
                assert_never(self.budget.rule)
        return min(count, int(self.delta // cost.delta)) if cost.delta else count

    def require(self, cost: Cost) -> None:
        """Refuse the cost with a message that says the price, what is left and whose budget it is."""
        if admits(self.budget, self.spent, cost, self.tallied):
            return
        whose = "the budget" if self.holder is None else f"the cap of {self.holder!r}"
        if self.spent.delta + cost.delta > self.budget.delta_selection:
            left = f"δ = {shown(self.delta)} left for them; declared keys cost none"
            raise BudgetExhausted(f"undeclared group keys cost δ = {shown(cost.delta)} and {whose} has {left}")
        if isinstance(self.budget.rule, Advanced):
            raise BudgetExhausted(self._of_fixed_statements(self.budget.rule, cost, whose))
        if cost.epsilon is None and (not self.budget.delta or isinstance(self.budget.rule, Basic)):
            why = "a δ" if not self.budget.delta else "an accountant that adds up zCDP"
            raise BudgetExhausted(f"Gaussian noise needs {why} and {whose} has none; SET dpsql.mechanism = laplace")
        price = f"ε = {shown(_price(cost))}" + (f" (ρ = {shown(cost.rho)})" if self.budget.delta else "")
        left = f"ε = {shown(self.epsilon)} of {shown(self.budget.epsilon)}"
        if self.budget.delta:
            if self.budget.rho_total:
                left += f" (ρ = {shown(max(self.budget.rho_total - self.spent.rho, Fraction(0)))})"
            left += f" left, of which one statement can take ε = {shown(self._largest_price(cost))}"
            raise BudgetExhausted(f"the statement costs {price} and {whose} has {left}")
        raise BudgetExhausted(f"the statement costs {price} and {whose} has {left} left")

    def _of_fixed_statements(self, rule: Advanced, cost: Cost, whose: str) -> str:
        if not _is_fixed(cost, rule):
            return (f"under advanced composition every statement is pure and costs exactly ε = {shown(rule.epsilon)}, "
                    f"as was fixed beforehand; this one costs ε = {shown(_price(cost))}")  # fmt: skip
        if self.tallied > self.budget.allowance:
            return (f"{whose} has statements in its ledger that are not of exactly ε = {shown(rule.epsilon)}; advanced "
                    "composition does not hold for them")  # fmt: skip
        return f"{whose} has spent all of the {int(self.budget.allowance)} statements that were fixed beforehand"

    def _largest_price(self, cost: Cost) -> Fraction:
        """The largest ε at which one more release of the same kind of noise is admitted (to four digits).

        Of Rényi divergences it is the ε that Gaussian noise would have.
        """
        rho = max(self.budget.rho_total - self.spent.rho, Fraction(0))
        if isinstance(self.budget.rule, Renyi):
            rho = max(self.budget.allowance - self.tallied, Fraction(0)) / self.budget.order
        price = Fraction((Decimal(2 * rho.numerator) / Decimal(rho.denominator)).sqrt())
        pure = cost.epsilon is not None and isinstance(self.budget.rule, Hybrid | Basic)
        if not pure or self.spent.epsilon is None:
            return price
        return max(price, self.budget.epsilon - self.spent.epsilon)


def _is_fixed(cost: Cost, rule: Advanced) -> bool:
    """Whether a cost is the one that was fixed for every statement."""
    return cost.delta == 0 and cost.epsilon == Cost(rule.epsilon, rule.epsilon).rounded_up().epsilon


def _price(cost: Cost) -> Fraction:
    """The ε in which the cost is said: its own, or √(2ρ) of Gaussian noise (to four digits, for people)."""
    if cost.epsilon is not None:
        return cost.epsilon
    return Fraction((Decimal(2 * cost.rho.numerator) / Decimal(cost.rho.denominator)).sqrt())


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
