"""What was spent in all, and since the present window began. ``docs/proofs/window.md``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from dpsql.errors import InternalError
from dpsql.privacy.ledger.entry import Entry, damaged
from dpsql.privacy.ledger.stores.pages import entries_after, entry, newest_before, newest_of
from dpsql.privacy.ledger.stores.store import Tables
from dpsql.privacy.measure import FREE, Cost

#: The first moment of the window in which a moment lies.
Begins = Callable[[datetime], datetime]


@dataclass(frozen=True)
class Spent:
    """What a decision rests on, at one moment: what everybody and one analyst have spent.

    ``total`` and ``own`` are of the present window, ``ever_total`` and ``ever_own`` of all time; without windows
    they are the same. ``moment`` is never before that of the newest entry; ``first`` is that of the oldest one.
    """

    moment: datetime
    first: datetime
    entries: int
    total: Cost
    own: Cost
    ever_total: Cost
    ever_own: Cost

    @property
    def before(self) -> Cost:
        """What everybody has spent before the present window; without ε where that is not known any more."""
        ever, now = self.ever_total, self.total
        pure = None if ever.epsilon is None or now.epsilon is None else ever.epsilon - now.epsilon
        rho = ever.rho - now.rho
        return Cost(Fraction(0) if rho == 0 else pure, rho, ever.delta - now.delta)


class Sums:
    """Reads what was spent off the totals of two entries; one transaction uses it at a time.

    It remembers where the present window began and what was read of it, which no later entry changes.
    """

    def __init__(self) -> None:
        self._first: datetime | None = None
        self._start: datetime | None = None
        self._before: Entry | None = None
        self._owns: dict[str, Cost] = {}
        self._pure: dict[str | None, tuple[int, Fraction | None]] = {}

    def first(self, tables: Tables) -> datetime:
        """The moment of the oldest entry, where there is one."""
        if self._first is None:
            oldest = entry(tables, 1)
            if oldest is None:
                raise damaged(1)
            self._first = oldest.moment
        return self._first

    def since(self, tables: Tables, start: datetime, last: Entry, own: Cost, analyst: str | None) -> tuple[Cost, Cost]:
        """What everybody and the analyst have spent since ``start``; ``own`` is what the analyst ever spent."""
        if last.moment < start:
            return FREE, FREE
        self._begin(tables, start, last)
        before = self._before
        total = self._difference(tables, last, FREE if before is None else before.total, last.total, None)
        if analyst is None:
            return total, FREE
        if analyst not in self._owns:
            self._owns[analyst] = FREE if before is None else newest_of(tables, analyst, before.seq)
        return total, self._difference(tables, last, self._owns[analyst], own, analyst)

    def _begin(self, tables: Tables, start: datetime, last: Entry) -> None:
        """Find the newest entry before the window, which is final once the window has an entry."""
        if start != self._start:
            self._before = newest_before(tables, start, last.seq)
            self._start, self._owns, self._pure = start, {}, {}

    def _difference(self, tables: Tables, last: Entry, before: Cost, after: Cost, analyst: str | None) -> Cost:
        """The sum of the costs between two totals; what ∞ hides in those of ε is added up from the entries."""
        if after.epsilon is None or before.epsilon is None:
            pure = None if before.epsilon is not None else self._added(tables, last, analyst)
        else:
            pure = after.epsilon - before.epsilon
        try:
            return Cost(pure, after.rho - before.rho, after.delta - before.delta)
        except InternalError as error:
            raise damaged(last.seq) from error

    def _added(self, tables: Tables, last: Entry, analyst: str | None) -> Fraction | None:
        """The sum of ε of the window's entries, everybody's or the analyst's; None with one that has no ε."""
        began = 0 if self._before is None else self._before.seq
        seq, pure = self._pure.get(analyst, (began, Fraction(0)))
        if pure is not None:
            for each in entries_after(tables, seq, analyst):
                pure = None if each.cost.epsilon is None else pure + each.cost.epsilon
                if pure is None:
                    break
        self._pure[analyst] = (last.seq, pure)
        return pure
