"""The windows of a budget that is renewed, and what all of them promise together. ``docs/proofs/window.md``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from fractions import Fraction
from typing import Literal, assert_never

from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import FREE, Cost, Guarantee, epsilon_of_rho, shown

#: How often a budget is renewed: on each day, ISO week, month or year of the calendar in UTC.
Refresh = Literal["daily", "weekly", "monthly", "yearly"]


@dataclass(frozen=True)
class Window:
    """A day, an ISO week, a month or a year in UTC, and its number among all of its kind."""

    refresh: Refresh
    number: int

    @classmethod
    def at(cls, moment: datetime, refresh: Refresh) -> Window:
        """The window in which an aware moment lies.

        >>> print(Window.at(datetime(2026, 1, 1, tzinfo=UTC), "weekly"))
        2025-12-29 to 2026-01-04
        """
        day = moment.astimezone(UTC).date()
        match refresh:
            case "daily":
                return cls(refresh, day.toordinal())
            case "weekly":
                return cls(refresh, (day.toordinal() - 1) // 7)
            case "monthly":
                return cls(refresh, 12 * day.year + day.month - 1)
            case "yearly":
                return cls(refresh, day.year)
            case _:
                assert_never(refresh)

    @property
    def start(self) -> datetime:
        """Its first moment."""
        return datetime.combine(_first_day(self.refresh, self.number), time(), UTC)

    @property
    def renewal(self) -> date | None:
        """The day on which the next one begins; None where the calendar ends before."""
        try:
            return _first_day(self.refresh, self.number + 1)
        except (ValueError, OverflowError):
            return None

    @property
    def next_start(self) -> datetime:
        """The first moment of the next one, or the last of the calendar."""
        after = self.renewal
        return datetime.max.replace(tzinfo=UTC) if after is None else datetime.combine(after, time(), UTC)

    def __str__(self) -> str:
        after = self.renewal
        last = date.max if after is None else date.fromordinal(after.toordinal() - 1)
        first = self.start.date()
        return f"{first}" if first == last else f"{first} to {last}"


def _first_day(refresh: Refresh, number: int) -> date:
    match refresh:
        case "daily":
            return date.fromordinal(number)
        case "weekly":
            return date.fromordinal(7 * number + 1)
        case "monthly":
            return date(number // 12, number % 12 + 1, 1)
        case "yearly":
            return date(number, 1, 1)
        case _:
            assert_never(refresh)


@dataclass(frozen=True)
class Lifetime:
    """What everything promises together that is released until the present window ends.

    ``windows`` is at least the number of those that were begun, the present one with them, and 1 for a budget that is
    never renewed; ``spent`` is the sum of all entries there are, ``before`` of those before the present window.
    ``passed`` tells that the window's entries are more than its budget now holds, by a sum that is the rule's own.
    """

    budget: Budget
    windows: int
    spent: Cost
    before: Cost = FREE
    passed: bool = False

    @property
    def delta(self) -> Fraction:
        """δ of each window, added up, and not less than that of the entries; 1, which promises nothing, at most."""
        present = self.before.delta + self.budget.delta_selection
        entries = max(self.spent.delta, present) + self._conversion
        return min(max(self.budget.delta * self.windows, entries), Fraction(1))

    @property
    def epsilon(self) -> Fraction | None:
        """The smaller of ε added up and zCDP added up, and not less than what the entries add up to.

        These are what was spent, and what was spent before the present window with all that it may still spend. They
        are more only where the schema once had a larger budget, or where windows went by ε and by zCDP in turn.
        None: no ε holds at this δ, since Gaussian noise was used and the schema now adds up ε alone.
        """
        promised = self.budget.epsilon * self.windows
        if self._most_rho and self._conversion and self.windows > 1:
            promised = min(promised, epsilon_of_rho(self._most_rho * self.windows, self._conversion))
        spent, present = self._added(self.spent), self._with_the_present()
        if self.budget.is_tallied and not self.passed:
            spent = promised  # its own sum, which is smaller than these, is within the budget
        return None if spent is None or present is None else max(promised, spent, present)

    def _with_the_present(self) -> Fraction | None:
        """The ε of what was spent before the present window and of all that this one may hold; None: there is none."""
        before = self._added(self.before)
        apart = None if before is None else before + self.budget.epsilon
        if not self._most_rho or not self._conversion:
            return apart
        together = epsilon_of_rho(self.before.rho + self._most_rho, self._conversion)
        return together if apart is None else min(apart, together)

    def _added(self, cost: Cost) -> Fraction | None:
        """What entries add up to: the smaller of the sum of ε and of zCDP converted; None where there is neither."""
        if not self._conversion or cost.rho == 0:
            return cost.epsilon
        converted = epsilon_of_rho(cost.rho, self._conversion)
        return converted if cost.epsilon is None else min(cost.epsilon, converted)

    def group(self, size: int) -> Guarantee | None:
        """What they promise to ``size`` units together; None where there is no ε, or δ is 1."""
        epsilon, delta = self.epsilon, self.delta
        return None if epsilon is None or delta == 1 else Budget(epsilon, delta).group(size)

    @property
    def _conversion(self) -> Fraction:
        """The δ at which zCDP is converted; 0 where there is none or where it would not be below 1."""
        delta = self.budget.delta_conversion * self.windows
        return delta if delta < 1 else Fraction(0)

    @property
    def _most_rho(self) -> Fraction | None:
        """The most zCDP that a window reaches by its rule; else None."""
        return self.budget.rule.window_rho(self.budget.promise)

    def __str__(self) -> str:
        epsilon = "∞" if self.epsilon is None else shown(self.epsilon)
        windows = "" if self.windows == 1 else f" over {self.windows} windows"
        return f"ε = {epsilon}, δ = {shown(self.delta)}{windows}"
