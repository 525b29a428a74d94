"""Charges that were given up before anything was released for them; each may be taken up once.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

from contextlib import suppress

from dpsql.privacy.ledger import stored_answers
from dpsql.privacy.ledger.entries import Entry, entry
from dpsql.privacy.ledger.stores.store import LedgerTables

#: How the keys of charges that were given up begin among those of answers.
PREFIX = "unreleased/"


def give_up(tables: LedgerTables, start: str, key: str, number: int) -> None:
    """Note that nothing was released for an entry, and that its payer will release nothing.

    An entry that was given up under the key before is not taken up any more.
    """
    forget(tables, key)
    stored_answers.keep(tables, start, PREFIX + key, number, encoded=str(number).encode("ascii"))


def given_up(tables: LedgerTables, start: str, key: str) -> Entry | None:
    """The entry that was given up under the key, if it was and has not been taken up."""
    noted = stored_answers.find(tables, start, PREFIX + key)
    with suppress(ValueError):
        return None if noted is None else entry(tables, int(noted))
    return None


def forget(tables: LedgerTables, key: str | None = None) -> None:
    """Forget what was given up under a key, or all of it: nobody may take it up any more."""
    if key is None:
        tables.execute("DELETE FROM answers WHERE key LIKE ?", (f"{PREFIX}%",))
    else:
        tables.execute("DELETE FROM answers WHERE key = ?", (PREFIX + key,))
