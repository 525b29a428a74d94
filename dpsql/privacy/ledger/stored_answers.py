"""Answers that were paid for, kept beside the entries that paid. ``docs/proofs/answers.md``."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from dpsql.privacy.ledger.stores.store import LedgerTables

#: How many lines a ledger keeps (an answer has one, its price has another, and each core that later
#: answers may be made of has one, too), how large one may be, and all together in bytes; the oldest
#: go first.
MOST = 30_000
LARGEST = 8 * 2**20
LARGEST_SUM = 256 * 2**20

_FOUND = """
    SELECT answers.key, answers.entry, entries.digest, answers.answer, answers.digest
    FROM answers JOIN entries ON entries.seq = answers.entry WHERE key IN ({})
"""
_OLDEST = "SELECT number, length(answer) FROM answers ORDER BY number LIMIT 1"


def find(tables: LedgerTables, start: str, key: str) -> bytes | None:
    """The answer that was stored under the key; None if there is none or it was changed."""
    return find_all(tables, start, [key]).get(key)


def find_all(tables: LedgerTables, start: str, keys: Sequence[str]) -> dict[str, bytes]:
    """The answers that are kept under some of the keys, as they were written."""
    rows = (
        tables.execute(_FOUND.format(", ".join("?" * len(keys))), tuple(keys)).fetchall()
        if keys
        else []
    )
    return {
        key: encoded
        for key, entry, paid, encoded, digest in rows
        if isinstance(encoded, bytes)
        and digest == _digest(start, key, entry, paid, encoded=encoded)
    }


def keep(tables: LedgerTables, start: str, key: str, entry: int, encoded: bytes) -> None:
    """Store the answer that the entry paid for, unless one is stored under the key already.

    A damaged one is replaced.
    """
    paid = tables.execute("SELECT digest FROM entries WHERE seq = ?", (entry,)).fetchone()
    if len(encoded) > LARGEST or paid is None or find(tables, start, key) is not None:
        return
    digest = _digest(start, key, entry, paid[0], encoded=encoded)
    tables.execute("DELETE FROM answers WHERE key = ?", (key,))
    tables.execute(
        "INSERT INTO answers (key, entry, answer, digest) VALUES (?, ?, ?, ?)",
        (key, entry, encoded, digest),
    )
    _forget_oldest(tables)


def _forget_oldest(tables: LedgerTables) -> None:
    """Hold the table within its bounds."""
    tables.execute(
        "DELETE FROM answers WHERE number <= (SELECT number FROM answers ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (MOST,),
    )
    (size,) = tables.execute("SELECT sum(length(answer)) FROM answers").fetchone()
    while size > LARGEST_SUM:
        number, freed = tables.execute(_OLDEST).fetchone()
        tables.execute("DELETE FROM answers WHERE number = ?", (number,))
        size -= freed


def _digest(start: str, key: str, entry: int, paid: str, encoded: bytes) -> str:
    """Digest that binds the answer to its key, its ledger and the digest of the entry that paid."""
    digest = blake2b(f"{start} {key} {entry} {paid} ".encode("ascii"), digest_size=32)
    digest.update(encoded)
    return digest.hexdigest()
