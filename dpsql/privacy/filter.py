"""The filter that holds releases within a budget, and what it leaves for one analyst.

Proved in ``docs/proofs/accountant.md`` and ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountants.composition_rule import ChargedTotal, price_of
from dpsql.privacy.budget import Budget, Lifetime, Window
from dpsql.privacy.measure import FREE, Cost, shown


def admits(budget: Budget, spent: Cost, cost: Cost, tallied: Fraction = Fraction(0)) -> bool:
    """Whether a release of this cost keeps all that was spent within the budget.

    The filter: δ stays within its selection share, and the budget's rule holds for all that was
    charged: by default the sum of ε stays within ε or the sum of ρ within the total ρ. Another rule
    looks at its own sum alone, which for some is ``tallied``. The decision uses declared and public
    figures only, never an answer.
    """
    after = spent + cost
    if after.delta > budget.delta_selection:
        return False
    return budget.rule.holds(budget.promise, ChargedTotal(after, tallied + budget.weight(cost)))


@dataclass(frozen=True)
class AnswersLeft:
    """How many answers of one cost a budget admits now, and how many if nothing were spent.

    ``str()`` says it of answers that cost what a statement does.

    >>> print(AnswersLeft(35, 36), AnswersLeft(0, 1), AnswersLeft(0, 0), sep=", ")
    35 of 36 answers like this left, 0 of 1 answer like this left, no budget for an answer like this
    >>> AnswersLeft(35, 36).part, AnswersLeft(0, 1).part
    ('1/36', 'all')
    """

    left: int
    total: int

    @property
    def part(self) -> str:
        """Share of the whole budget that one such answer takes, rounded up to a fraction 1/n."""
        if self.total > 1:
            return f"1/{self.total:,}"
        return "all" if self.total else "more than all"

    @property
    def takes(self) -> str:
        """What one such answer takes, in words."""
        return f"this one takes {self.part}"

    @property
    def took(self) -> str:
        """What one such answer took and what is left, in words."""
        return f"this one took {self.part}; {self}"

    @property
    def share(self) -> Fraction:
        """What is left, from 0 to 1."""
        return Fraction(self.left, self.total) if self.total else Fraction(0)

    def describe(self, answers: str = "like this") -> str:
        """What is left in words; ``answers`` says which answers are counted, and may be empty."""
        which = f" {answers}" if answers else ""
        if not self.total:
            return f"no budget for an answer{which}"
        return f"{self.left:,} of {self.total:,} {'answer' if self.total == 1 else 'answers'}{which} left"

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        return f'<progress max="1" value="{float(self.share):.4f}"></progress> {self}'


@dataclass(frozen=True)
class FilterState:
    """One filter in use: its owner, its budget and what was spent.

    The owner is None for everybody's filter, else the analyst whose cap it is. ``tallied`` is the
    sum that the budget's rule adds up itself, if it has one.
    """

    holder: str | None
    budget: Budget
    spent: Cost
    tallied: Fraction = Fraction(0)

    @property
    def total(self) -> ChargedTotal:
        """All that the budget's rule looks at."""
        return ChargedTotal(self.spent, self.tallied)

    @property
    def holds(self) -> bool:
        """Whether what was spent is within the budget as it is now."""
        return self.spent.delta <= self.budget.delta_selection and self.budget.rule.holds(
            self.budget.promise, self.total
        )

    @property
    def share(self) -> Fraction:
        """What is left of the budget, from 0 to 1, by the better of the sums that its rule uses."""
        return self.budget.rule.share(self.budget.promise, self.total)

    @property
    def epsilon(self) -> Fraction:
        return self.budget.epsilon * self.share

    @property
    def delta(self) -> Fraction:
        """What is left for the thresholds of group keys."""
        return max(self.budget.delta_selection - self.spent.delta, Fraction(0))

    def answers_left(self, cost: Cost) -> AnswersLeft:
        """How many more releases of this cost the filter admits.

        Also how many it would admit if nothing were spent.
        """
        return AnswersLeft(
            self.affordable(cost), FilterState(self.holder, self.budget, FREE).affordable(cost)
        )

    def after(self, cost: Cost) -> FilterState:
        """The same filter once a release of this cost was charged."""
        tallied = self.tallied + self.budget.weight(cost)
        return replace(self, spent=self.spent + cost, tallied=tallied)

    def affordable(self, cost: Cost) -> int:
        """How many more releases of this cost the filter admits."""
        cost = cost.rounded_up()
        self.budget.require_price(cost)
        if self.spent.delta > self.budget.delta_selection:
            return 0
        count = self.budget.rule.affordable(self.budget.promise, self.total, cost)
        return min(count, int(self.delta // cost.delta)) if cost.delta else count

    def require(self, cost: Cost) -> None:
        """Refuse a cost that does not fit; the message has the price, the remainder and the owner."""
        if admits(self.budget, self.spent, cost, self.tallied):
            return
        whose = "the budget" if self.holder is None else f"the cap of {self.holder!r}"
        refusal = self.budget.rule.refusal(self.budget.promise, self.total, cost, whose)
        if refusal is not None:
            raise BudgetExhausted(refusal)
        if self.spent.delta > self.budget.delta_selection > 0:
            used = f"statements have used δ = {shown(self.spent.delta)} and {whose} now sets"
            raise BudgetExhausted(
                f"{used} δ = {shown(self.budget.delta_selection)} aside for that: its delta or its "
                "accountant was another one; with a larger delta there is room again"
            )
        if self.spent.delta + cost.delta > self.budget.delta_selection:
            remaining = f"δ = {shown(self.delta)} left for them; declared keys cost none"
            raise BudgetExhausted(
                f"undeclared group keys cost δ = {shown(cost.delta)} and {whose} has {remaining}"
            )
        if cost.epsilon is None and (not self.budget.delta or self.budget.rule.adds_pure):
            why = "a δ" if not self.budget.delta else "an accountant that adds up zCDP"
            raise BudgetExhausted(
                f"Gaussian noise needs {why} and {whose} has none; SET dpsql.mechanism = laplace"
            )
        count = str(self.answers_left(cost))
        price = f"ε = {shown(price_of(cost))}" + (
            f" (ρ = {shown(cost.rho)})" if self.budget.delta else ""
        )
        remaining = f"ε = {shown(self.epsilon)} of {shown(self.budget.epsilon)}"
        if self.budget.delta:
            if self.budget.rho_total:
                remaining += (
                    f" (ρ = {shown(max(self.budget.rho_total - self.spent.rho, Fraction(0)))})"
                )
            largest = self.budget.rule.largest_price(self.budget.promise, self.total, cost)
            remaining += f" left, of which one statement can take ε = {shown(largest)}"
            raise BudgetExhausted(
                f"{count}: the statement costs {price} and {whose} has {remaining}"
            )
        raise BudgetExhausted(
            f"{count}: the statement costs {price} and {whose} has {remaining} left"
        )


@dataclass(frozen=True)
class RemainingBudget:
    """What is left for one analyst: of the total, or of the analyst's cap if that is tighter.

    If the budget is renewed, this is of the present ``window``; what all windows promise together
    is ``lifetime``.
    """

    standings: tuple[FilterState, ...]
    lifetime: Lifetime
    window: Window | None = None

    @property
    def tightest(self) -> FilterState:
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

    def answers_left(self, cost: Cost) -> AnswersLeft:
        """How many more statements of this cost are admitted, and how many if nothing were spent.

        Assumes that nobody else asks. Counts by the budget that admits the fewest; by the analyst's
        cap if that admits as few as the total.
        """
        return min(
            (standing.answers_left(cost) for standing in reversed(self.standings)),
            key=lambda answers: answers.left,
        )

    def after(self, cost: Cost) -> RemainingBudget | None:
        """What would be left after a charge; None if a budget does not admit it."""
        if cost == FREE:
            return self
        if not all(
            admits(standing.budget, standing.spent, cost, standing.tallied)
            for standing in self.standings
        ):
            return None
        return replace(self, standings=tuple(standing.after(cost) for standing in self.standings))

    def shares_after(self, cost: Cost) -> tuple[Fraction, ...] | None:
        """What would be left of each budget after a charge, from 0 to 1; None if one refuses it."""
        after = self.after(cost)
        return None if after is None else tuple(standing.share for standing in after.standings)

    @property
    def renewal(self) -> date | None:
        """The day, in UTC, on which the budget is renewed; None if it never is."""
        return None if self.window is None else self.window.renewal

    @property
    def renewed(self) -> str:
        """When the budget is renewed and what all windows promise, as a clause; empty if it is not."""
        if self.window is None:
            return ""
        when = "never renewed" if self.renewal is None else f"renewed on {self.renewal}"
        return f", {when} (lifetime: {self.lifetime})"

    def require(self, cost: Cost) -> None:
        """Refuse a cost that does not fit, with the day of the next renewal that would admit it."""
        for standing in self.standings:
            try:
                standing.require(cost)
            except BudgetExhausted as refusal:
                if self.renewal is None or not all(
                    admits(standing.budget, FREE, cost) for standing in self.standings
                ):
                    raise
                raise BudgetExhausted(
                    f"{refusal}; the budget is renewed on {self.renewal} (UTC)"
                ) from None

    def _repr_html_(self) -> str:
        share = float(self.share)
        figures = f"ε = {shown(self.epsilon)} of {shown(self.budget.epsilon)}, δ = {shown(self.delta)} for keys"
        return f'<progress max="1" value="{share:.4f}"></progress> {share:.0%} left: {figures}{self.renewed}'

    def __repr__(self) -> str:
        return f"Remaining(epsilon={float(self.epsilon):.4g}, delta={float(self.delta):.4g})"
