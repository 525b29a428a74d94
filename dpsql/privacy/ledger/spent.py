"""Sums of a ledger's entries: of all, of the present window, and of an accountant's weights.

Proved in ``docs/proofs/window.md`` and ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from dpsql.errors import InternalError
from dpsql.privacy.ledger.entries import (
    COLUMNS,
    Entry,
    chained,
    damaged,
    entries_after,
    entry,
    newest_before,
    newest_of,
)
from dpsql.privacy.ledger.stores.store import LedgerTables
from dpsql.privacy.measure import FREE, Cost

#: The first moment of the window in which a moment lies.
WindowStart = Callable[[datetime], datetime]


@dataclass(frozen=True)
class Spent:
    """What a decision rests on, at one moment: what everybody and one analyst have spent.

    ``total`` and ``own`` are of the present window, ``ever_total`` and ``ever_own`` of all time;
    without windows they are the same. ``moment`` is never before that of the newest entry;
    ``first`` is that of the oldest one.
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
        """What everybody has spent before the present window;
        without ε where that is not known any more.
        """
        ever = self.ever_total
        now = self.total
        pure = None if ever.epsilon is None or now.epsilon is None else ever.epsilon - now.epsilon
        rho = ever.rho - now.rho
        return Cost(Fraction(0) if rho == 0 else pure, rho, ever.delta - now.delta)


class SpentSums:
    """Reads what was spent off the totals of two entries; one transaction uses it at a time.

    It remembers the start of the present window and what was read of it,
    which no later entry changes.
    """

    def __init__(self) -> None:
        self._first: datetime | None = None
        self._start: datetime | None = None
        self._before: Entry | None = None
        self._owns: dict[str, Cost] = {}
        self._pure: dict[str | None, tuple[int, Fraction | None]] = {}

    def first(self, tables: LedgerTables) -> datetime:
        """The moment of the oldest entry; raises LedgerError if it is missing."""
        if self._first is None:
            oldest = entry(tables, 1)
            if oldest is None:
                raise damaged(1)
            self._first = oldest.moment
        return self._first

    def since(
        self,
        tables: LedgerTables,
        start: datetime,
        last: Entry,
        ever_spent: Cost,
        analyst: str | None,
    ) -> tuple[Cost, Cost]:
        """What everybody and the analyst have spent since ``start``.

        ``ever_spent`` is what the analyst spent over the whole ledger.
        """
        if last.moment < start:
            return FREE, FREE
        self._begin(tables, start, last)
        before = self._before
        total = self._difference(
            tables, last, FREE if before is None else before.total, last.total, analyst=None
        )
        if analyst is None:
            return total, FREE
        if analyst not in self._owns:
            self._owns[analyst] = FREE if before is None else newest_of(tables, analyst, before.seq)
        return total, self._difference(
            tables, last, self._owns[analyst], ever_spent, analyst=analyst
        )

    def _begin(self, tables: LedgerTables, start: datetime, last: Entry) -> None:
        """Find the newest entry before the window, which is final once the window has an entry."""
        if start != self._start:
            self._before = newest_before(tables, start, last.seq)
            self._start = start
            self._owns = {}
            self._pure = {}

    def _difference(
        self, tables: LedgerTables, last: Entry, before: Cost, after: Cost, analyst: str | None
    ) -> Cost:
        """The sum of the costs between two totals.

        If ε is ∞ in them, it is added up from the entries.
        """
        if after.epsilon is None or before.epsilon is None:
            pure = None if before.epsilon is not None else self._added(tables, last, analyst)
        else:
            pure = after.epsilon - before.epsilon
        try:
            return Cost(pure, after.rho - before.rho, after.delta - before.delta)
        except InternalError as error:
            raise damaged(last.seq) from error

    def _added(self, tables: LedgerTables, last: Entry, analyst: str | None) -> Fraction | None:
        """The sum of ε of the window's entries, everybody's or the analyst's; None if one has no ε."""
        began = 0 if self._before is None else self._before.seq
        seq, pure = self._pure.get(analyst, (began, Fraction(0)))
        if pure is not None:
            for later in entries_after(tables, seq, analyst):
                pure = None if later.cost.epsilon is None else pure + later.cost.epsilon
                if pure is None:
                    break
        self._pure[analyst] = (last.seq, pure)
        return pure


_AFTER = f"SELECT {COLUMNS} FROM entries WHERE seq > ? ORDER BY seq LIMIT 500"


class WeightTally:
    """For each holder the sum of the weights of every entry: None is everybody, others analysts.

    With ``begins`` the sums are those of the window of the newest entry, and each window begins at
    0. Each entry is read once, in the order of the chain. It is brought up to date within the
    transaction that decides, so that no entry comes between the sum and the decision; one ledger
    uses it, in one transaction at a time.
    """

    def __init__(
        self,
        weights: Mapping[str | None, Callable[[Cost], Fraction]],
        begins: WindowStart | None = None,
    ) -> None:
        self._weights = dict(weights)
        self._begins = begins
        self._window: datetime | None = None
        self._sums = dict.fromkeys(self._weights, Fraction(0))
        self._last: Entry | None = None

    def bring(self, tables: LedgerTables, start: str) -> None:
        """Add the entries that were written since; ``start`` is what the first one is chained to."""
        while page := tables.execute(
            _AFTER, (0 if self._last is None else self._last.seq,)
        ).fetchall():
            for row in page:
                entry = Entry.of(row)
                if not chained(self._last, entry, start=start):
                    raise damaged(entry.seq)
                self._renew(entry.moment)
                for holder in {None, entry.analyst} & self._weights.keys():
                    self._sums[holder] += self._weights[holder](entry.cost)
                self._last = entry

    def of(self, holder: str | None, moment: datetime) -> Fraction:
        """The sum of one holder in the window of the moment, as of the last update."""
        return Fraction(0) if self._is_over(moment) else self._sums[holder]

    def _renew(self, moment: datetime) -> None:
        """Begin at 0 with an entry of a later window."""
        if self._begins is not None and (self._window is None or self._is_over(moment)):
            self._window = self._begins(moment)
            self._sums = dict.fromkeys(self._weights, Fraction(0))

    def _is_over(self, moment: datetime) -> bool:
        """Whether the moment lies in a later window than the sums."""
        return (
            self._begins is not None
            and self._window is not None
            and self._begins(moment) > self._window
        )
