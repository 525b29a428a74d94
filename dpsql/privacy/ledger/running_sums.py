"""Sums over entries that their totals do not hold, as some accountants need them. ``docs/proofs/ledger.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction

from dpsql.privacy.ledger.entry import COLUMNS, Entry, chained, damaged
from dpsql.privacy.ledger.spent import Begins
from dpsql.privacy.ledger.stores.store import Tables
from dpsql.privacy.measure import Cost

_AFTER = f"SELECT {COLUMNS} FROM entries WHERE seq > ? ORDER BY seq LIMIT 500"


class Tally:
    """For each holder the sum of what its weight makes of every entry's cost: None is everybody, others analysts.

    With ``begins`` the sums are those of the window of the newest entry, and each window begins at 0.
    Each entry is read once, in its place in the chain. It is brought up to date within the transaction that decides,
    so that no entry comes between the sum and the decision; one ledger uses it, in one transaction at a time.
    """

    def __init__(self, weights: Mapping[str | None, Callable[[Cost], Fraction]], begins: Begins | None = None) -> None:
        self._weights, self._begins = dict(weights), begins
        self._window: datetime | None = None
        self._sums = dict.fromkeys(self._weights, Fraction(0))
        self._last: Entry | None = None

    def bring(self, tables: Tables, start: str) -> None:
        """Add the entries that were written since; ``start`` is what the first one is chained to."""
        while page := tables.execute(_AFTER, (0 if self._last is None else self._last.seq,)).fetchall():
            for row in page:
                entry = Entry.of(row)
                if not chained(self._last, entry, start=start):
                    raise damaged(entry.seq)
                self._renew(entry.moment)
                for holder in {None, entry.analyst} & self._weights.keys():
                    self._sums[holder] += self._weights[holder](entry.cost)
                self._last = entry

    def of(self, holder: str | None, moment: datetime) -> Fraction:
        """The sum of one holder in the window of the moment, as of the last time it was brought up to date."""
        return Fraction(0) if self._is_over(moment) else self._sums[holder]

    def _renew(self, moment: datetime) -> None:
        """Begin at 0 with an entry of a later window."""
        if self._begins is not None and (self._window is None or self._is_over(moment)):
            self._window = self._begins(moment)
            self._sums = dict.fromkeys(self._weights, Fraction(0))

    def _is_over(self, moment: datetime) -> bool:
        """Whether the moment lies in a later window than the sums."""
        return self._begins is not None and self._window is not None and self._begins(moment) > self._window
