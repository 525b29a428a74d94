"""The filter that holds releases within a budget, and what it leaves for one analyst.

Proved in ``docs/proofs/accountant.md`` and ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from dpsql.errors import BudgetExhausted
from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import FREE, Cost, shown
from dpsql.privacy.rule import Advanced, Basic, Concentrated, Hybrid, Renyi
from dpsql.privacy.window import Lifetime, Window


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

    def after(self, cost: Cost) -> Standing:
        """The same filter once a release of this cost was charged."""
        tallied = self.tallied + self.budget.weight(cost)
        return replace(self, spent=self.spent + cost, tallied=tallied)

    def affordable(self, cost: Cost) -> int:
        """How many more releases of this cost the filter admits."""
        cost = cost.rounded_up()
        self.budget.require_price(cost)
        if self.spent.delta > self.budget.delta_selection:
            return 0
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
        if isinstance(self.budget.rule, Advanced) and not cost.delta:
            raise BudgetExhausted(self._of_fixed_statements(self.budget.rule, cost, whose))
        if self.spent.delta > self.budget.delta_selection > 0:
            used = f"statements have used δ = {shown(self.spent.delta)} and {whose} now sets"
            raise BudgetExhausted(f"{used} δ = {shown(self.budget.delta_selection)} aside for that: its delta or its "
                                  "accountant was another one; with a larger delta there is room again")  # fmt: skip
        if self.spent.delta + cost.delta > self.budget.delta_selection:
            left = f"δ = {shown(self.delta)} left for them; declared keys cost none"
            raise BudgetExhausted(f"undeclared group keys cost δ = {shown(cost.delta)} and {whose} has {left}")
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
        if not rule.is_price(cost):
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


def _price(cost: Cost) -> Fraction:
    """The ε in which the cost is said: its own, or √(2ρ) of Gaussian noise (to four digits, for people)."""
    if cost.epsilon is not None:
        return cost.epsilon
    return Fraction((Decimal(2 * cost.rho.numerator) / Decimal(cost.rho.denominator)).sqrt())


@dataclass(frozen=True)
class Remaining:
    """What is left for one analyst: of the total, or of the analyst's cap where that is tighter.

    Where the budget is renewed, this is of the present ``window``; what all windows promise together is ``lifetime``.
    """

    standings: tuple[Standing, ...]
    lifetime: Lifetime
    window: Window | None = None

    @property
    def tightest(self) -> Standing:
        return min(self.standings, key=lambda standing: standing.epsilon)

    @property
    def epsilon(self) -> Fraction:
        return self.tightest.epsilon

    @property
    def delta(self) -> Fraction:
        """What is left of δ for the thresholds of group keys."""
        return min(standing.delta for standing in self.standings)

    @property
    def share(self) -> Fraction:
        """From 0 to 1, of the budget that is tightest."""
        return self.tightest.share

    @property
    def spent(self) -> Cost:
        return self.tightest.spent

    @property
    def budget(self) -> Budget:
        return self.tightest.budget

    @property
    def rho_total(self) -> Fraction:
        return self.tightest.budget.rho_total

    def affordable(self, cost: Cost) -> int:
        """How many more statements of this cost are admitted, if nobody else asks."""
        return min(standing.affordable(cost) for standing in self.standings)

    @property
    def renewal(self) -> date | None:
        """The day, in UTC, on which the budget is renewed; None where it never is."""
        return None if self.window is None else self.window.renewal

    @property
    def renewed(self) -> str:
        """When the budget is renewed and what all windows promise, to be said behind what is left; else nothing."""
        if self.window is None:
            return ""
        when = "never renewed" if self.renewal is None else f"renewed on {self.renewal}"
        return f", {when} (lifetime: {self.lifetime})"

    def require(self, cost: Cost) -> None:
        """Refuse a cost that does not fit, with the day on which it would where the budget is renewed."""
        for standing in self.standings:
            try:
                standing.require(cost)
            except BudgetExhausted as refusal:
                if self.renewal is None or not all(admits(each.budget, FREE, cost) for each in self.standings):
                    raise
                raise BudgetExhausted(f"{refusal}; the budget is renewed on {self.renewal} (UTC)") from None

    def __repr__(self) -> str:
        return f"Remaining(epsilon={float(self.epsilon):.4g}, delta={float(self.delta):.4g})"
