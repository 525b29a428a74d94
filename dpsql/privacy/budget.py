"""A declared budget, what it promises to groups, and the windows in which it is renewed.

Proved in ``docs/proofs/accountant.md`` and ``docs/proofs/window.md``. The rules by which it may add
up, other than its own, are proved in ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Literal, assert_never

from dpsql.errors import DataError
from dpsql.privacy.accountants import CONVERSION_SHARE, DEFAULT, CompositionRule
from dpsql.privacy.measure import FREE, Cost, Guarantee, epsilon_of_rho, shown

#: Prices below this share of a budget are refused: they are mistakes,
#: or an attempt to ask for #: ever.
SMALLEST_SHARE = Fraction(1, 2**40)


@dataclass(frozen=True)
class Budget:
    """The (ε, δ) that everything released together may reach, as the owner declared it.

    ``conversion_share`` of δ pays for turning zCDP into (ε, δ), what is left for the thresholds of
    group keys; a ``rule`` may take another part of it (`CompositionRule.conversion`).
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
            raise DataError(
                "the conversion share of a budget must be a Fraction above 0 and at most 1"
            )
        if not self.delta and self.rule.needs_delta:
            raise DataError(
                f"{self.rule.name} needs a delta above 0; without one, basic composition is what holds"
            )

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
        """The zCDP that (ε, δ_conversion) admits, rounded down.

        It is 0 in a pure budget, and if the rule adds up no ρ.
        """
        return self.rule.rho_total(self.promise)

    @property
    def is_tallied(self) -> bool:
        """Whether the rule needs a sum of its own over the entries (`weight`).

        It is bounded by `allowance`.
        """
        return self.rule.is_tallied

    @cached_property
    def allowance(self) -> Fraction:
        """What the weights of all entries may add up to; 0 for a rule that has none."""
        return self.rule.allowance(self.promise)

    def weight(self, cost: Cost) -> Fraction:
        """What an entry of this cost uses of the allowance.

        More than all of it if the rule does not hold for the cost.
        """
        return self.rule.weight(self.promise, cost)

    def is_next_to_nothing(self, cost: Cost) -> bool:
        """Whether the cost is below what the budget admits for a single charge, whatever remains."""
        low = self._least
        return (cost.epsilon is not None and cost.epsilon < low) or 2 * cost.rho < low**2 / 4

    def require_price(self, cost: Cost) -> None:
        """Refuse a price of nothing, or of next to nothing, whatever is left."""
        if self.is_next_to_nothing(cost):
            raise DataError(
                f"the price is below {shown(self._least)}, 2**-40 of the budget; ask for a larger epsilon"
            )

    @property
    def _least(self) -> Fraction:
        return self.epsilon * SMALLEST_SHARE

    def group(self, size: int, *, thresholds: bool = True) -> Guarantee:
        """What the budget promises to ``size`` units together.

        ``thresholds=False`` is for a ledger in which no entry has a δ:
        there the zCDP side keeps its δ.
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
    """At least δ(1 + e^ε + … + e^((size − 1)ε)), the δ of a group.

    At most 1, which promises nothing.
    """
    exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    if exponent * (size - 1) > 700:
        return Fraction(1)
    step = Fraction(exponent.exp()) * (1 + Fraction(1, 10**20))
    total = Fraction(0)
    power = Fraction(1)
    for _ in range(size):
        total += power
        power = Fraction(
            (-(-(power * step).numerator * 10**30 // (power * step).denominator)), 10**30
        )
        if total * delta >= 1:
            return Fraction(1)
    return total * delta


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
        """The day on which the next window begins; None if the calendar ends before."""
        try:
            return _first_day(self.refresh, self.number + 1)
        except (ValueError, OverflowError):
            return None

    @property
    def next_start(self) -> datetime:
        """The first moment of the next one, or the last of the calendar."""
        after = self.renewal
        return (
            datetime.max.replace(tzinfo=UTC)
            if after is None
            else datetime.combine(after, time(), UTC)
        )

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

    ``windows`` is at least the number of those that were begun, the present one with them, and 1
    for a budget that is never renewed; ``spent`` is the sum of all entries there are, ``before`` of
    those before the present window. ``passed`` tells that the window's entries are more than its
    budget now holds, by a sum that is the rule's own.
    """

    budget: Budget
    windows: int
    spent: Cost
    before: Cost = FREE
    passed: bool = False

    @property
    def delta(self) -> Fraction:
        """δ of each window, added up, and not less than that of the entries; 1,
        which promises nothing, at most.
        """
        present = self.before.delta + self.budget.delta_selection
        entries = max(self.spent.delta, present) + self._conversion
        return min(max(self.budget.delta * self.windows, entries), Fraction(1))

    @property
    def epsilon(self) -> Fraction | None:
        """The smaller of ε added up and zCDP added up; not less than the sum of the entries.

        These are what was spent, and what was spent before the present window with all that it may
        still spend. They are more only if the schema once had a larger budget, or if windows
        went by ε and by zCDP in turn. None: no ε holds at this δ, since Gaussian noise was used and
        the schema now adds up ε alone.
        """
        promised = self.budget.epsilon * self.windows
        if self._most_rho and self._conversion and self.windows > 1:
            promised = min(
                promised, epsilon_of_rho(self._most_rho * self.windows, self._conversion)
            )
        spent = self._added(self.spent)
        present = self._with_the_present()
        if self.budget.is_tallied and not self.passed:
            spent = promised  # its own sum, which is smaller than these, is within the budget
        return None if spent is None or present is None else max(promised, spent, present)

    def _with_the_present(self) -> Fraction | None:
        """The ε of what was spent before the present window and of all that this one may hold.

        None if no ε holds.
        """
        before = self._added(self.before)
        apart = None if before is None else before + self.budget.epsilon
        if not self._most_rho or not self._conversion:
            return apart
        together = epsilon_of_rho(self.before.rho + self._most_rho, self._conversion)
        return together if apart is None else min(apart, together)

    def _added(self, cost: Cost) -> Fraction | None:
        """The smaller of the sum of ε and of zCDP converted, over entries; None without either."""
        if not self._conversion or cost.rho == 0:
            return cost.epsilon
        converted = epsilon_of_rho(cost.rho, self._conversion)
        return converted if cost.epsilon is None else min(cost.epsilon, converted)

    def group(self, size: int) -> Guarantee | None:
        """The promise to ``size`` units together; None if there is no ε, or δ is 1."""
        epsilon = self.epsilon
        delta = self.delta
        return None if epsilon is None or delta == 1 else Budget(epsilon, delta).group(size)

    @property
    def _conversion(self) -> Fraction:
        """The δ at which zCDP is converted; 0 if there is none or if it would not be below 1."""
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
