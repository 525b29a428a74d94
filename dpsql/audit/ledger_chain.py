"""Checks the ledger: its hash chain, the sums of its entries, and the budget that they leave.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from dpsql.audit.report import AuditCheck, CheckGroup
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
class LedgerReading:
    """The checks of the ledger, and the statements in it as far as it could be read."""

    group: CheckGroup
    entries: tuple[Entry, ...]

    @property
    def statements(self) -> list[str]:
        """The distinct statements, the latest first; white space is ignored."""
        texts: dict[str, str] = {}
        for entry in reversed(self.entries):
            for text in statements_of(entry.statement):
                texts.setdefault(" ".join(text.split()), text)
        return list(texts.values())


def check_ledger(schema: Schema) -> LedgerReading:
    """Read and check the whole ledger of the schema's database; a missing ledger is not made."""
    try:
        at = ledger_of(schema)
        if (
            isinstance(at.place, Path)
            and not at.place.exists()
            and not remembered(at.place, at.names)
        ):
            return LedgerReading(
                _group([AuditCheck("ledger", "note", "there is none yet: nothing was spent")]), ()
            )
        accountant = open_accountant(schema)
    except LedgerError as error:
        return LedgerReading(_group([AuditCheck("ledger", "failed", str(error))]), ())
    entries: list[Entry] = []
    try:
        checks = [
            AuditCheck(
                "chain",
                "passed",
                f"{_entries(accountant.ledger.verify())}, each the one that was written",
            )
        ]
        entries += accountant.ledger.history()
        checks += [_sums(entries), _within(accountant), *_times(entries)]
    except LedgerError as error:
        checks = [AuditCheck("chain", "failed", str(error))]
    finally:
        accountant.ledger.close()
    return LedgerReading(_group(checks), tuple(entries))


def _group(checks: Sequence[AuditCheck]) -> CheckGroup:
    shows = (
        "no entry was changed, left out or put in between, and their sums stay within the budget"
    )
    return CheckGroup("ledger", shows, tuple(checks))


def _sums(entries: Sequence[Entry]) -> AuditCheck:
    """Whether each entry's totals, of all analysts and of its own, are the sums of the costs."""
    total = FREE
    owns = dict[str, Cost]()
    for entry in entries:
        total += entry.cost
        owns[entry.analyst] = owns.get(entry.analyst, FREE) + entry.cost
        if entry.total != total or entry.own != owns[entry.analyst]:
            return AuditCheck(
                "sums",
                "failed",
                f"the totals of entry {entry.seq} are not the sums of the entries before it",
            )
    return AuditCheck(
        "sums", "passed", "the totals of each entry are the sums of the costs up to it"
    )


def _within(accountant: Accountant) -> AuditCheck:
    """Whether the present budget and the caps of the schema admit what was spent.

    If the budget is renewed, only the present window counts.
    """
    holders = [None, *accountant.caps]
    over = [
        holder or "the total"
        for holder in holders
        if not all(standing.holds for standing in accountant.remaining(holder).standings)
    ]
    if over:
        return AuditCheck(
            "budget", "failed", f"more was spent than the schema now promises: {', '.join(over)}"
        )
    return AuditCheck("budget", "passed", "what was spent is within the total and within each cap")


def _times(entries: Sequence[Entry]) -> list[AuditCheck]:
    """Note entries whose time goes back or is in the future; nothing depends on them.

    They say that the clock needs a look.
    """
    times = [datetime.fromisoformat(entry.at) for entry in entries]
    back = [
        str(later.seq)
        for (earlier, later), (one, other) in zip(pairwise(entries), pairwise(times), strict=True)
        if other < one - _APART and earlier is not later
    ]
    checks = (
        [AuditCheck("clock", "note", f"goes back before entry {', '.join(back[:10])}")]
        if back
        else []
    )
    if times and times[-1] > datetime.now(UTC) + _APART:
        checks.append(AuditCheck("clock", "note", f"entry {entries[-1].seq} is in the future"))
    return checks or [
        AuditCheck(
            "clock", "passed", "no entry is older than the one before it, none is in the future"
        )
    ]


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
