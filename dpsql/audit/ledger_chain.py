"""The ledger: whether each entry is the one that was written, and what was spent follows from them.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from dpsql.audit.report import Check, Room
from dpsql.errors import LedgerError
from dpsql.planning.workload.block import statements_of
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.ledger import Entry
from dpsql.privacy.ledger.restoring import remembered
from dpsql.privacy.measure import FREE, Cost
from dpsql.schema import Schema
from dpsql.session import ledger_of, open_accountant

#: How far clocks of machines that share a ledger may be apart.
_APART = timedelta(minutes=1)


@dataclass(frozen=True)
class Journal:
    """What the ledger holds, as far as it could be read, and what is to be said of it."""

    room: Room
    entries: tuple[Entry, ...]

    @property
    def statements(self) -> list[str]:
        """The distinct texts, those that were paid for last first; texts that differ in blanks only are one."""
        found: dict[str, str] = {}
        for entry in reversed(self.entries):
            for text in statements_of(entry.statement):
                found.setdefault(" ".join(text.split()), text)
        return list(found.values())


def journal(schema: Schema) -> Journal:
    """The ledger of the schema's database, read whole; one that is not there is not made."""
    try:
        at = ledger_of(schema)
        if isinstance(at.place, Path) and not at.place.exists() and not remembered(at.place, at.names):
            return Journal(_room([Check("ledger", "note", "there is none yet: nothing was spent")]), ())
        accountant = open_accountant(schema)
    except LedgerError as error:
        return Journal(_room([Check("ledger", "failed", str(error))]), ())
    entries: list[Entry] = []
    try:
        checks = [Check("chain", "passed", f"{_entries(accountant.ledger.verify())}, each the one that was written")]
        entries += accountant.ledger.history()
        checks += [_sums(entries), _within(accountant), *_times(entries)]
    except LedgerError as error:
        checks = [Check("chain", "failed", str(error))]
    finally:
        accountant.ledger.close()
    return Journal(_room(checks), tuple(entries))


def _room(checks: Sequence[Check]) -> Room:
    shows = "no entry was changed, left out or put in between, and their sums stay within the budget"
    return Room("ledger", shows, tuple(checks))


def _sums(entries: Sequence[Entry]) -> Check:
    """The totals of each entry, of everybody and of its analyst, added up a second time."""
    total, owns = FREE, dict[str, Cost]()
    for entry in entries:
        total += entry.cost
        owns[entry.analyst] = owns.get(entry.analyst, FREE) + entry.cost
        if entry.total != total or entry.own != owns[entry.analyst]:
            return Check("sums", "failed", f"the totals of entry {entry.seq} are not the sums of the entries before it")
    return Check("sums", "passed", "the totals of each entry are the sums of the costs up to it")


def _within(accountant: Accountant) -> Check:
    """What was spent is admitted by the budget of the schema as it is now, and each analyst's by the cap.

    Where the budget is renewed, that of the present window.
    """
    holders = [None, *accountant.caps]
    over = [
        holder or "the total"
        for holder in holders
        if not all(each.holds for each in accountant.remaining(holder).standings)
    ]
    if over:
        return Check("budget", "failed", f"more was spent than the schema now promises: {', '.join(over)}")
    return Check("budget", "passed", "what was spent is within the total and within each cap")


def _times(entries: Sequence[Entry]) -> list[Check]:
    """Clocks decide nothing; one that goes back, or is ahead, is worth a look at the machine."""
    times = [datetime.fromisoformat(entry.at) for entry in entries]
    back = [str(later.seq) for (earlier, later), (one, other) in zip(pairwise(entries), pairwise(times), strict=True)
            if other < one - _APART and earlier is not later]  # fmt: skip
    found = [Check("clock", "note", f"goes back before entry {', '.join(back[:10])}")] if back else []
    if times and times[-1] > datetime.now(UTC) + _APART:
        found.append(Check("clock", "note", f"entry {entries[-1].seq} is in the future"))
    return found or [Check("clock", "passed", "no entry is older than the one before it, none is in the future")]


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
