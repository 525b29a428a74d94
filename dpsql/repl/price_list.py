"""A dry run: what statements would cost one after the other, and the most that a person wants to pay."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.errors import BudgetExhausted
from dpsql.output import OutputRows
from dpsql.privacy.measure import FREE, shown

if TYPE_CHECKING:
    from dpsql.planning.plan import Plan
    from dpsql.privacy.filter import RemainingBudget
    from dpsql.session.named_releases.statements import NamedPrice


class PriceList:
    """A list of planned statements that grows; nothing in it is charged."""

    def __init__(self) -> None:
        self._lines: list[tuple[object, ...]] = []
        self._seen: set[tuple[str, Fraction]] = set()
        self.epsilon, self._cost = Fraction(0), FREE
        self._takes = "nothing"

    def add(self, plan: Plan | NamedPrice, bought: Plan | NamedPrice | None, remaining: RemainingBudget) -> None:
        """Add a statement and what it is charged for; BudgetExhausted where the budget does not admit it behind those
        before it.

        A statement that stands there twice is priced once: its second answer would be the first one again.
        """
        again = (plan.text, plan.price)
        free = bought is None or again in self._seen
        cost, price = (FREE, Fraction(0)) if free or bought is None else (bought.cost, bought.price)
        self._seen.add(again)
        self.epsilon, self._cost = self.epsilon + price, self._cost + cost
        figures = (float(each) for each in (price, cost.rho, cost.delta, self.epsilon))
        takes = remaining.answers_left(cost).part if price else "nothing"
        self._lines.append((" ".join(plan.text.split()), takes, *figures))
        self._takes = remaining.answers_left(self._cost).part if self.epsilon else "nothing"
        if price:
            for standing in remaining.standings:
                standing.require(self._cost)

    @property
    def rows(self) -> OutputRows:
        """The statements with the part of the budget that each takes, its price, and the sum up to each."""
        return OutputRows.exact(["statement", "takes", "epsilon", "rho", "delta", "epsilon_so_far"], self._lines)

    @property
    def said(self) -> str:
        """What all of them cost, in words."""
        count = "1 statement" if len(self._lines) == 1 else f"{len(self._lines)} statements"
        return f"{count}, which {'takes' if len(self._lines) == 1 else 'take'} {self._takes} in all; nothing was run"


def require_within(limit: Fraction | None, paid: Fraction, price: Fraction) -> None:
    """Refuse a price that would take what was paid above the limit; None is no limit."""
    if limit is not None and paid + price > limit:
        raise BudgetExhausted(
            f"the statement costs ε = {shown(price)}, and of the most that may be spent, ε = {shown(limit)}, "
            f"ε = {shown(max(limit - paid, Fraction(0)))} is left"
        )
