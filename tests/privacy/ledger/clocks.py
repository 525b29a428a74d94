"""Clocks that tests set, put in the place of a store's own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dpsql.privacy.ledger import Ledger
from dpsql.privacy.ledger.stores.store import LedgerTables


class SetClock:
    """Shows what it was last set to, whoever asks."""

    def __init__(self, *date: int) -> None:
        self.moment = datetime(*date, tzinfo=UTC)  # type: ignore[misc, arg-type]

    def __call__(self, tables: LedgerTables) -> datetime:
        return self.moment

    def set(self, *date: int) -> None:
        self.moment = datetime(*date, tzinfo=UTC)  # type: ignore[misc, arg-type]

    def move(self, by: timedelta) -> None:
        """Move it, to no further than the ends of the calendar."""
        try:
            self.moment += by
        except OverflowError:
            ends = {True: datetime.max, False: datetime.min}
            self.moment = ends[by > timedelta()].replace(tzinfo=UTC)


def under(ledger: Ledger, clock: SetClock) -> Ledger:
    """The ledger, which goes by this clock from now on."""
    ledger._clock = clock
    return ledger
