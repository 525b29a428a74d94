"""What is left for one analyst, of the total and of a cap under it. ``docs/proofs/accountant.md``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from dpsql.errors import BudgetExhausted
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import Standing, admits
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.window import Lifetime, Window


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
