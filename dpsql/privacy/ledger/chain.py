"""The entries of a ledger, read page by page, and the check that they are the chain that was written.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dpsql.errors import LedgerError
from dpsql.privacy.ledger.entry import COLUMNS, Entry, damaged, moment
from dpsql.privacy.ledger.stores.store import LedgerTables, TableRows
from dpsql.privacy.measure import FREE, Cost

#: A number above that of every entry.
EVER = 2**62

_AFTER = f"""
    SELECT {COLUMNS} FROM entries WHERE seq > ? AND (CAST(? AS TEXT) IS NULL OR analyst = ?) ORDER BY seq LIMIT 500
"""
_BACK = "SELECT seq, at FROM entries WHERE seq <= ? ORDER BY seq DESC LIMIT 5000"
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
    """The entry of a number; None where there is none."""
    row = tables.execute(_ONE, (seq,)).fetchone()
    return None if row is None else Entry.of(row)


def newest_before(tables: LedgerTables, start: datetime, seq: int) -> Entry | None:
    """Of the entries up to a number, the newest that was written before a moment; None where there is none."""
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


def own(found: TableRows) -> Cost:
    """What the analyst had spent, of the answer to that."""
    row = found.fetchone()
    return FREE if row is None else Entry.of(row).own


#: The number and the digest of an entry.
KnownEntry = tuple[int, str]
#: That of a ledger without entries.
NOTHING: KnownEntry = (0, "")


def seen_of(last: Entry | None) -> KnownEntry:
    """What is known of a ledger once this is its newest entry."""
    return NOTHING if last is None else (last.seq, last.digest)


def newest(tables: LedgerTables, start: str, seen: KnownEntry) -> Entry | None:
    """The newest entry, which must be the one that the head names, in a ledger that still holds what was seen of it."""
    seq, digest = seen
    asked = [
        tables.execute("SELECT digest FROM entries WHERE seq = ?", (seq,)),
        tables.execute(f"SELECT {COLUMNS} FROM entries ORDER BY seq DESC LIMIT 1"),
        tables.execute("SELECT seq, digest FROM head"),
    ]
    held, row, head = asked[0].fetchone(), asked[1].fetchone(), asked[2].fetchall()
    last = None if row is None else Entry.of(row)
    here = (0, start) if last is None else (last.seq, last.digest)
    if head != [here]:
        raise damaged(min(here[0] + 1, head[0][0]) if head else here[0])
    if seq > here[0]:
        raise LedgerError(
            f"the ledger is behind: {seq} entries were charged to it, and it has {here[0]}; put the newer one back, or "
            "let `dpsql ledger restore` charge what it lacks; nothing is released"
        )
    if seq and held != (digest,):
        raise LedgerError(
            f"the ledger has another history: entry {seq} is not the one that was charged; put the right one back, or "
            "let `dpsql ledger restore` charge what it lacks; nothing is released"
        )
    return last


def walk(tables: LedgerTables, start: str, base: int) -> None:
    """Check the chain and the totals of every entry after number ``base``."""
    last, owns = entry(tables, base), dict[str, Cost]()
    if base and last is None:
        raise damaged(base)
    for each in entries_after(tables, base):
        before = owns.get(each.analyst) or newest_of(tables, each.analyst, base)
        if not each.follows(last, before, start=start):
            raise damaged(1 if last is None else last.seq + 1)
        owns[each.analyst], last = each.own, each
