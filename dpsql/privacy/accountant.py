"""The accountant: charges a plan's cost to the ledger, durably, or refuses it.

``docs/proofs/accountant.md``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from fractions import Fraction
from typing import Final, Generic, NoReturn, Protocol, SupportsIndex, TypeVar, final

from dpsql.errors import InternalError
from dpsql.privacy.budget import Budget, Lifetime, Refresh, Window
from dpsql.privacy.filter import FilterState, RemainingBudget
from dpsql.privacy.ledger import Entry, Ledger, NewEntry, Spent, WeightTally
from dpsql.privacy.ledger.entries import storable
from dpsql.privacy.ledger.spent import WindowStart
from dpsql.privacy.measure import FREE, Cost, Guarantee


class Priced(Protocol):
    """Anything that says what releasing it costs."""

    @property
    def cost(self) -> Cost: ...


P_co = TypeVar("P_co", covariant=True)
PlanT = TypeVar("PlanT", bound=Priced)

#: Only the accountant holds this, so only the accountant makes a charge.
_MINT: Final = object()


class _Single:
    """Something that must exist once: it can neither be copied nor pickled."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")


@final
class Charge(_Single, Generic[P_co]):
    """Proof that a plan was paid for in a durable ledger entry.

    It is redeemed once, in the process that paid.
    """

    __slots__ = ("_cost", "_entry", "_lock", "_plan", "_process", "_redeemed")

    def __init__(self, mint: object, plan: P_co, cost: Cost, entry: int) -> None:
        if mint is not _MINT:
            raise InternalError("only the accountant makes a charge")
        self._plan = plan
        self._cost = cost
        self._entry = entry
        self._process = os.getpid()
        self._redeemed = False
        self._lock = threading.Lock()

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a Charge has no subclasses")

    @property
    def plan(self) -> P_co:
        return self._plan

    @property
    def cost(self) -> Cost:
        """What the ledger was charged: the plan's cost, rounded up to the ledger's grid."""
        return self._cost

    @property
    def entry(self) -> int:
        """The number of the ledger entry that paid."""
        return self._entry

    def redeem(self) -> P_co:
        """The plan, for the one reading that was paid for."""
        with self._lock:
            if self._redeemed:
                raise InternalError(
                    "this charge was already used; a second reading needs a charge of its own"
                )
            if self._process != os.getpid():
                raise InternalError("this charge was made by another process")
            self._redeemed = True
        return self._plan


class PlanBatch(Priced, Protocol[P_co]):
    """Plans that have one price together."""

    @property
    def plans(self) -> tuple[P_co, ...]: ...


def divided(charge: Charge[PlanBatch[PlanT]]) -> tuple[Charge[PlanT], ...]:
    """A charge for each of the plans that were paid for together.

    Uses up the charge that paid for them. ``docs/proofs/workload.md``.
    """
    together = charge.redeem()
    return tuple(Charge(_MINT, plan, charge.cost, charge.entry) for plan in together.plans)


@final
class Accountant(_Single):
    """Holds the releases of a database within its budget, and an analyst's within a cap.

    With ``refresh`` it does so in each window of the calendar; without,
    for the whole life of the ledger.
    """

    def __init__(
        self,
        ledger: Ledger,
        budget: Budget,
        caps: Mapping[str, Budget] | None = None,
        refresh: Refresh | None = None,
    ) -> None:
        self._ledger = ledger
        self._budget = budget
        self._caps = dict(caps or {})
        self._refresh = refresh
        holders: list[tuple[str | None, Budget]] = [(None, budget), *self._caps.items()]
        weights = {holder: analyst.weight for holder, analyst in holders}
        self._tally = WeightTally(weights, self._begins) if budget.is_tallied else None

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("an Accountant has no subclasses")

    @property
    def budget(self) -> Budget:
        return self._budget

    @property
    def caps(self) -> Mapping[str, Budget]:
        return dict(self._caps)

    @property
    def refresh(self) -> Refresh | None:
        return self._refresh

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    def spend(self, plan: PlanT, *, analyst: str, statement: str, cells: str = "") -> Charge[PlanT]:
        """Charge the plan's cost, durably on return, or raise BudgetExhausted and charge nothing.

        ``cells`` is what the journal shall say of the plan: JSON for a person to read;
        no decision rests on it.
        """
        cost = plan.cost.rounded_up()
        self._budget.require_price(cost)

        def decide(spent: Spent) -> None:
            self._remaining(analyst, spent).require(cost)

        entry = self._ledger.append(
            NewEntry(analyst, statement, cells, cost), decide, self._begins, self._tally
        )
        return Charge(_MINT, plan, cost, entry)

    def give_up(self, charge: Charge[Priced], key: str) -> None:
        """Leave a charge for which nothing was or will be released to `resumed`; durable on return."""
        self._ledger.give_up(key, charge.entry)

    def given_up(self, key: str) -> int | None:
        """The number of the entry that was given up under the key."""
        entry = self._ledger.given_up(key)
        return None if entry is None else entry.seq

    def resumed(
        self, plan: PlanT, key: str, *, analyst: str, statement: str, cells: str
    ) -> Charge[PlanT] | None:
        """The charge that was given up under the key, if it paid for this plan in this window.

        It is durable on return that nobody else can take it up.
        """
        cost = plan.cost.rounded_up()
        charged = (storable(analyst), storable(statement), storable(cells), cost)
        begins = self._begins

        def fits(paid: Entry, spent: Spent) -> bool:
            is_present = begins is None or begins(paid.moment) == begins(spent.moment)
            return is_present and (paid.analyst, paid.statement, paid.cells, paid.cost) == charged

        entry = self._ledger.take_up(key, analyst, fits)
        return None if entry is None else Charge(_MINT, plan, cost, entry.seq)

    def remaining(self, analyst: str | None = None) -> RemainingBudget:
        """What is left of the total or, for an analyst who has a cap, of the tighter of the two."""
        return self._remaining(analyst, self.spent(analyst))

    def spent(self, analyst: str | None = None) -> Spent:
        """What everybody and this analyst have spent, in the present window and ever."""
        return self._ledger.spent(analyst, self._begins, self._tally)

    def group(self, size: int) -> Guarantee:
        """The promise of each window, or of the whole ledger, to a group of ``size`` units."""
        return self._budget.group(size)

    @property
    def _begins(self) -> WindowStart | None:
        """The first moment of the window in which a moment lies."""
        refresh = self._refresh
        return None if refresh is None else lambda moment: Window.at(moment, refresh).start

    def _remaining(self, analyst: str | None, spent: Spent) -> RemainingBudget:
        standing = FilterState(None, self._budget, spent.total, self._tallied(None, spent))
        cap = None if analyst is None else self._caps.get(analyst)
        of_analyst = (
            ()
            if cap is None
            else (FilterState(analyst, cap, spent.own, self._tallied(analyst, spent)),)
        )
        standings = (standing, *of_analyst)
        over = self._budget.is_tallied and standing.tallied > self._budget.allowance
        if self._refresh is None:
            return RemainingBudget(
                standings, Lifetime(self._budget, 1, spent.ever_total, passed=over)
            )
        window = Window.at(spent.moment, self._refresh)
        passed = window.number - Window.at(spent.first, self._refresh).number + 1
        most = spent.entries + (spent.total == FREE)
        lifetime = Lifetime(
            self._budget, max(1, min(passed, most)), spent.ever_total, spent.before, passed=over
        )
        return RemainingBudget(standings, lifetime, window)

    def _tallied(self, holder: str | None, spent: Spent) -> Fraction:
        return Fraction(0) if self._tally is None else self._tally.of(holder, spent.moment)
