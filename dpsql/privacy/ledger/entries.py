"""The entries of a ledger: their content, their storage and the check of their chain.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from hashlib import blake2b

from dpsql.errors import InternalError, LedgerError
from dpsql.privacy.ledger.stores.store import LedgerTables, TableRows
from dpsql.privacy.measure import FREE, Cost

COLUMNS = (
    "seq, previous, digest, at, analyst, statement, cells, epsilon, rho, delta, "
    "total_epsilon, total_rho, total_delta, own_epsilon, own_rho, own_delta"
)

#: A row of the journal as SQLite holds it: the number first, all else text.
EntryRow = tuple[int | str, ...]


#: The number and the digest of an entry.
KnownEntry = tuple[int, str]
#: That of a ledger without entries.
NOTHING: KnownEntry = (0, "")


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
    def after(
        cls, last: Entry | None, of_analyst: Cost, line: NewEntry, *, start: str, at: str
    ) -> Entry:
        """The entry that follows ``last``.

        ``of_analyst`` is what its analyst had spent before, and ``start`` begins the chain.
        """
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
            own=of_analyst + line.cost,
        )
        return replace(entry, digest=_digest(entry.row()))

    @classmethod
    def of(cls, row: EntryRow) -> Entry:
        """The entry of a stored row; raises LedgerError if the row is not what was written."""
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

    def follows(self, last: Entry | None, of_analyst: Cost, *, start: str) -> bool:
        """Whether number, chain and totals continue those of ``last`` and of the analyst.

        ``of_analyst`` is what the analyst had spent before.
        """
        seq, previous, total = (
            (0, start, FREE) if last is None else (last.seq, last.digest, last.total)
        )
        chained = self.seq == seq + 1 and self.previous == previous
        return chained and self.total == total + self.cost and self.own == of_analyst + self.cost

    @property
    def moment(self) -> datetime:
        """When it was written, in UTC; never before the entry that it follows."""
        return moment(self.at, self.seq)

    def row(self) -> EntryRow:
        """The entry as the columns of its line."""
        facts = (
            self.seq,
            self.previous,
            self.digest,
            self.at,
            self.analyst,
            self.statement,
            self.cells,
        )
        return facts + cost_texts(self.cost) + cost_texts(self.total) + cost_texts(self.own)


def chained(last: Entry | None, entry: Entry, *, start: str) -> bool:
    """Whether the entry stands in its place in the chain: directly after ``last``, or first."""
    return (entry.seq, entry.previous) == (
        (1, start) if last is None else (last.seq + 1, last.digest)
    )


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
        result = datetime.fromisoformat(at)
    except ValueError as error:
        raise damaged(seq) from error
    if result.utcoffset() != timedelta():
        raise damaged(seq)
    return result


def damaged(seq: object) -> LedgerError:
    """The error for an entry that does not hash to what the chain says."""
    return LedgerError(
        f"the ledger is damaged: entry {seq} is not what was written; nothing is released"
    )


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


#: A number above that of every entry.
EVER = 2**62

_AFTER = f"""
    SELECT {COLUMNS} FROM entries WHERE seq > ? AND (CAST(? AS TEXT) IS NULL OR analyst = ?) ORDER BY seq LIMIT 500
"""
_BACK = "SELECT seq, at FROM entries WHERE seq <= ? ORDER BY seq DESC LIMIT 5000"
_DIGESTS_AFTER = "SELECT seq, digest FROM entries WHERE seq > ? ORDER BY seq LIMIT 5000"
_DIGESTS_DOWN = "SELECT seq, digest FROM entries WHERE seq <= ? ORDER BY seq DESC LIMIT 5000"
_ONE = f"SELECT {COLUMNS} FROM entries WHERE seq = ?"
_NEWEST = f"SELECT {COLUMNS} FROM entries WHERE analyst = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"


def page_after(tables: LedgerTables, seq: int, analyst: str | None = None) -> list[Entry]:
    """The next entries after a number, everybody's or one analyst's."""
    return [Entry.of(row) for row in tables.execute(_AFTER, (seq, analyst, analyst)).fetchall()]


def entries_after(tables: LedgerTables, seq: int, analyst: str | None = None) -> Iterator[Entry]:
    """Every entry after a number, within one transaction."""
    while page := page_after(tables, seq, analyst):
        yield from page
        seq = page[-1].seq


def entry(tables: LedgerTables, seq: int) -> Entry | None:
    """The entry of a number; None if it does not exist."""
    row = tables.execute(_ONE, (seq,)).fetchone()
    return None if row is None else Entry.of(row)


def digests_after(tables: LedgerTables, seq: int) -> Iterator[KnownEntry]:
    """The numbers and digests of the entries after a number."""
    while rows := tables.execute(_DIGESTS_AFTER, (seq,)).fetchall():
        yield from ((seq, str(digest)) for seq, digest in rows)
        seq = rows[-1][0]


def digests_down(tables: LedgerTables, seq: int) -> Iterator[KnownEntry]:
    """The numbers and digests of the entries from a number down to the first."""
    while rows := tables.execute(_DIGESTS_DOWN, (seq,)).fetchall():
        yield from ((seq, str(digest)) for seq, digest in rows)
        seq = rows[-1][0] - 1


def newest_before(tables: LedgerTables, start: datetime, seq: int) -> Entry | None:
    """The newest entry up to a number that was written before a moment; None if none was."""
    while rows := tables.execute(_BACK, (seq,)).fetchall():
        for seq, at in rows:
            if moment(at, seq) < start:
                return entry(tables, seq)
        seq -= 1
    return None


def newest_of(tables: LedgerTables, analyst: str, until: int) -> Cost:
    """What the analyst had spent once entry number ``until`` was written."""
    return own(ask_newest_of(tables, analyst, until))


def ask_newest_of(tables: LedgerTables, analyst: str, until: int) -> TableRows:
    """Ask for the analyst's newest entry, to be read later."""
    return tables.execute(_NEWEST, (analyst, until))


def own(rows: TableRows) -> Cost:
    """What the analyst had spent, of the answer to that."""
    row = rows.fetchone()
    return FREE if row is None else Entry.of(row).own


def seen_of(last: Entry | None) -> KnownEntry:
    """What is known of a ledger once this is its newest entry."""
    return NOTHING if last is None else (last.seq, last.digest)


def newest(tables: LedgerTables, start: str, seen: KnownEntry) -> Entry | None:
    """The newest entry; the head must name it, and the ledger must hold what was seen of it."""
    seq, digest = seen
    asked = [
        tables.execute("SELECT digest FROM entries WHERE seq = ?", (seq,)),
        tables.execute(f"SELECT {COLUMNS} FROM entries ORDER BY seq DESC LIMIT 1"),
        tables.execute("SELECT seq, digest FROM head"),
    ]
    digest_at_seq = asked[0].fetchone()
    row = asked[1].fetchone()
    head = asked[2].fetchall()
    last = None if row is None else Entry.of(row)
    last_link = (0, start) if last is None else (last.seq, last.digest)
    if head != [last_link]:
        raise damaged(min(last_link[0] + 1, head[0][0]) if head else last_link[0])
    if seq > last_link[0]:
        raise LedgerError(
            f"the ledger is behind: {seq} entries were charged to it, and it has {last_link[0]}; "
            "put the newer one back, or let `dpsql ledger restore` charge what it lacks; nothing is released"
        )
    if seq and digest_at_seq != (digest,):
        raise LedgerError(
            f"the ledger has another history: entry {seq} is not the one that was charged; put the right one back, or "
            "let `dpsql ledger restore` charge what it lacks; nothing is released"
        )
    return last


def check_chain(tables: LedgerTables, start: str, base: int) -> None:
    """Check the chain and the totals of every entry after number ``base``."""
    last = entry(tables, base)
    owns = dict[str, Cost]()
    if base and last is None:
        raise damaged(base)
    for link in entries_after(tables, base):
        before = owns.get(link.analyst) or newest_of(tables, link.analyst, base)
        if not link.follows(last, before, start=start):
            raise damaged(1 if last is None else last.seq + 1)
        owns[link.analyst] = link.own
        last = link
