"""One line of the journal: what it holds, how it is stored, how it is chained. ``docs/proofs/ledger.md``."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from hashlib import blake2b

from dpsql.errors import InternalError, LedgerError
from dpsql.privacy.measure import FREE, Cost

COLUMNS = (
    "seq, previous, digest, at, analyst, statement, cells, epsilon, rho, delta, "
    "total_epsilon, total_rho, total_delta, own_epsilon, own_rho, own_delta"
)

#: A row of the journal as SQLite holds it: the number first, all else text.
EntryRow = tuple[int | str, ...]


@dataclass(frozen=True)
class NewEntry:
    """What is to be written: who asked what, how it is answered, at which cost."""

    analyst: str
    statement: str
    cells: str
    cost: Cost


@dataclass(frozen=True)
class Entry:
    """A line that was written, with the totals after it: of everybody, and of its analyst alone."""

    seq: int
    previous: str
    digest: str
    at: str
    analyst: str
    statement: str
    cells: str
    cost: Cost
    total: Cost
    own: Cost

    @classmethod
    def after(cls, last: Entry | None, own: Cost, line: NewEntry, *, start: str, at: str) -> Entry:
        """The entry that follows ``last``; ``own`` is what its analyst had spent before, ``start`` begins the chain."""
        entry = cls(
            seq=1 if last is None else last.seq + 1,
            previous=start if last is None else last.digest,
            digest="",
            at=at,
            analyst=storable(line.analyst),
            statement=storable(line.statement),
            cells=storable(line.cells),
            cost=line.cost,
            total=(FREE if last is None else last.total) + line.cost,
            own=own + line.cost,
        )
        return replace(entry, digest=_digest(entry.row()))

    @classmethod
    def of(cls, row: EntryRow) -> Entry:
        """The entry of a stored row, or LedgerError where the row is not what was written."""
        try:
            if row[2] != _digest(row):
                raise damaged(row[0])
            costs = [cost_of(*(str(cell) for cell in row[at : at + 3])) for at in (7, 10, 13)]
        except (TypeError, ValueError, ZeroDivisionError, InternalError) as error:
            raise damaged(row[0]) from error
        seq, previous, digest, at, analyst, statement, cells = row[:7]
        texts = (str(previous), str(digest), str(at), str(analyst), str(statement), str(cells))
        moment(str(at), int(seq))
        return cls(int(seq), *texts, *costs)

    def follows(self, last: Entry | None, own: Cost, *, start: str) -> bool:
        """Whether number, chain and totals continue those of ``last`` and, for the analyst, ``own``."""
        seq, previous, total = (0, start, FREE) if last is None else (last.seq, last.digest, last.total)
        chained = self.seq == seq + 1 and self.previous == previous
        return chained and self.total == total + self.cost and self.own == own + self.cost

    @property
    def moment(self) -> datetime:
        """When it was written, in UTC; never before the entry that it follows."""
        return moment(self.at, self.seq)

    def row(self) -> EntryRow:
        """The entry as the columns of its line."""
        facts = (self.seq, self.previous, self.digest, self.at, self.analyst, self.statement, self.cells)
        return facts + cost_texts(self.cost) + cost_texts(self.total) + cost_texts(self.own)


def chained(last: Entry | None, entry: Entry, *, start: str) -> bool:
    """Whether the entry stands in its place in the chain: directly after ``last``, or first."""
    return (entry.seq, entry.previous) == ((1, start) if last is None else (last.seq + 1, last.digest))


def chain_start(version: int, *belongs: str) -> str:
    """What the first entry is chained to: what the ledger belongs to, in a layout of this version."""
    return _hash(["dpsql ledger", version, *belongs])


def written(at: datetime) -> str:
    """A moment as an entry holds it: in UTC, with milliseconds.

    >>> written(datetime(2026, 1, 2, 3, 4, 5, 678_900, UTC))
    '2026-01-02T03:04:05.678+00:00'
    """
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def moment(at: str, seq: int) -> datetime:
    """The moment that the entry of this number holds."""
    try:
        found = datetime.fromisoformat(at)
    except ValueError as error:
        raise damaged(seq) from error
    if found.utcoffset() != timedelta():
        raise damaged(seq)
    return found


def damaged(seq: object) -> LedgerError:
    """The error for an entry that does not hash to what the chain says."""
    return LedgerError(f"the ledger is damaged: entry {seq} is not what was written; nothing is released")


def _digest(row: EntryRow) -> str:
    return _hash([*row[:2], *row[3:]])


def _hash(cells: list[int | str]) -> str:
    return blake2b(json.dumps(cells).encode("ascii"), digest_size=32).hexdigest()


def storable(text: str) -> str:
    """The text with what UTF-8 or PostgreSQL cannot hold written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def cost_texts(cost: Cost) -> tuple[str, str, str]:
    """A cost as the columns of an entry."""
    return ("inf" if cost.epsilon is None else str(cost.epsilon), str(cost.rho), str(cost.delta))


def cost_of(epsilon: str, rho: str, delta: str) -> Cost:
    """The cost that such columns hold."""
    return Cost(None if epsilon == "inf" else Fraction(epsilon), Fraction(rho), Fraction(delta))
