"""How entries are read, page by page. ``docs/proofs/ledger.md``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dpsql.privacy.ledger.entry import COLUMNS, Entry, moment
from dpsql.privacy.ledger.stores.store import Found, Tables
from dpsql.privacy.measure import FREE, Cost

#: A number above that of every entry.
EVER = 2**62

_AFTER = f"""
    SELECT {COLUMNS} FROM entries WHERE seq > ? AND (CAST(? AS TEXT) IS NULL OR analyst = ?) ORDER BY seq LIMIT 500
"""
_BACK = "SELECT seq, at FROM entries WHERE seq <= ? ORDER BY seq DESC LIMIT 5000"
_ONE = f"SELECT {COLUMNS} FROM entries WHERE seq = ?"
_NEWEST = f"SELECT {COLUMNS} FROM entries WHERE analyst = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"


def page_after(tables: Tables, seq: int, analyst: str | None = None) -> list[Entry]:
    """The next entries after a number, everybody's or one analyst's."""
    return [Entry.of(row) for row in tables.execute(_AFTER, (seq, analyst, analyst)).fetchall()]


def entries_after(tables: Tables, seq: int, analyst: str | None = None) -> Iterator[Entry]:
    """Every entry after a number, within one transaction."""
    while page := page_after(tables, seq, analyst):
        yield from page
        seq = page[-1].seq


def entry(tables: Tables, seq: int) -> Entry | None:
    """The entry of a number; None where there is none."""
    row = tables.execute(_ONE, (seq,)).fetchone()
    return None if row is None else Entry.of(row)


def newest_before(tables: Tables, start: datetime, seq: int) -> Entry | None:
    """Of the entries up to a number, the newest that was written before a moment; None where there is none."""
    while rows := tables.execute(_BACK, (seq,)).fetchall():
        for seq, at in rows:
            if moment(at, seq) < start:
                return entry(tables, seq)
        seq -= 1
    return None


def newest_of(tables: Tables, analyst: str, until: int) -> Cost:
    """What the analyst had spent once entry number ``until`` was written."""
    return own(ask_newest_of(tables, analyst, until))


def ask_newest_of(tables: Tables, analyst: str, until: int) -> Found:
    """Ask for the analyst's newest entry, to be read later."""
    return tables.execute(_NEWEST, (analyst, until))


def own(found: Found) -> Cost:
    """What the analyst had spent, of the answer to that."""
    row = found.fetchone()
    return FREE if row is None else Entry.of(row).own
