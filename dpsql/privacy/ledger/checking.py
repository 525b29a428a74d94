"""Whether a ledger is the one that was written: its newest entry, and the chain. ``docs/proofs/ledger.md``."""

from __future__ import annotations

from dpsql.errors import LedgerError
from dpsql.privacy.ledger.entry import COLUMNS, Entry, damaged
from dpsql.privacy.ledger.stores.pages import entries_after, entry, newest_of
from dpsql.privacy.ledger.stores.store import Tables
from dpsql.privacy.measure import Cost

#: The number and the digest of an entry.
Seen = tuple[int, str]
#: That of a ledger without entries.
NOTHING: Seen = (0, "")


def seen_of(last: Entry | None) -> Seen:
    """What is known of a ledger once this is its newest entry."""
    return NOTHING if last is None else (last.seq, last.digest)


def newest(tables: Tables, start: str, seen: Seen) -> Entry | None:
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


def walk(tables: Tables, start: str, base: int) -> None:
    """Check the chain and the totals of every entry after number ``base``."""
    last, owns = entry(tables, base), dict[str, Cost]()
    if base and last is None:
        raise damaged(base)
    for each in entries_after(tables, base):
        before = owns.get(each.analyst) or newest_of(tables, each.analyst, base)
        if not each.follows(last, before, start=start):
            raise damaged(1 if last is None else last.seq + 1)
        owns[each.analyst], last = each.own, each
