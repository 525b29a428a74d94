"""Releases that a statement created under a name, kept until somebody drops them.

``docs/proofs/answers.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Literal, TypeAlias

from dpsql.errors import DataError
from dpsql.privacy.ledger.entries import moment
from dpsql.privacy.ledger.stores.store import LedgerTables

#: What a named release is.
ReleaseKind: TypeAlias = Literal["synthetic table", "synopsis", "bounds"]

#: How many named releases a ledger keeps, how large one may be,
#: and all together in bytes. None #: goes by itself.
MOST = 100
LARGEST = 48 * 2**20
LARGEST_SUM = 512 * 2**20

_LISTED = """
    SELECT n.name, n.kind, n.entry, n.version, n.facts, n.size, n.content_digest, n.digest,
           e.digest, e.at, e.analyst, e.statement
    FROM named_releases AS n JOIN entries AS e ON e.seq = n.entry ORDER BY n.entry, n.name
"""
_INSERT = """
    INSERT INTO named_releases (name, kind, entry, version, facts, size, content, content_digest, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True)
class NewRelease:
    """What is to be kept under a name, and the number of the entry that has paid for it.

    ``version`` is that of the data it was made of, empty where that is not known. ``facts``
    describe the content in a text of the kind's own, which is read without the content.
    """

    name: str
    kind: ReleaseKind
    entry: int
    version: str
    facts: str
    content: bytes


@dataclass(frozen=True)
class NamedRelease:
    """A release that is kept under a name. Who made it,
    when and by which statement is what its entry says.

    ``size`` is that of its content in bytes; ``digest`` tells it from every other one,
    of the same name too.
    """

    name: str
    kind: ReleaseKind
    entry: int
    version: str
    facts: str
    size: int
    content_digest: str
    digest: str
    at: datetime
    analyst: str
    statement: str


def listed(tables: LedgerTables, start: str) -> tuple[NamedRelease, ...]:
    """The named releases, in the order in which they were paid for; damaged ones are absent."""
    releases = []
    for *facts, digest, paid, at, analyst, statement in tables.execute(_LISTED).fetchall():
        name, kind, entry, version, described, size, content = facts
        if digest == _digest(start, paid, facts):
            releases.append(
                NamedRelease(
                    name,
                    kind,
                    entry=entry,
                    version=version,
                    facts=described,
                    size=size,
                    content_digest=content,
                    digest=digest,
                    at=moment(at, entry),
                    analyst=analyst,
                    statement=statement,
                )
            )
    return tuple(releases)


def content(tables: LedgerTables, release: NamedRelease) -> bytes | None:
    """The content of a listed release; None if it was dropped or is not what was written."""
    row = tables.execute(
        "SELECT content FROM named_releases WHERE name = ? AND digest = ?",
        (release.name, release.digest),
    ).fetchone()
    stored = None if row is None else row[0]
    return stored if isinstance(stored, bytes) and _hash(stored) == release.content_digest else None


def require_room(tables: LedgerTables, name: str, size: int) -> None:
    """Raise DataError if the name is taken, or a content of that many bytes does not fit."""
    count, total = tables.execute(
        "SELECT count(*), coalesce(sum(size), 0) FROM named_releases"
    ).fetchone()
    taken = tables.execute("SELECT kind FROM named_releases WHERE name = ?", (name,)).fetchone()
    if taken is not None:
        raise DataError(
            f"`{name}` is the name of a {taken[0]} already; drop that first, or choose another name"
        )
    if count >= MOST or total + size > LARGEST_SUM:
        raise DataError(
            f"the ledger keeps at most {MOST} named releases of {LARGEST_SUM >> 20} MiB together; drop one that nobody "
            "reads any more"
        )
    if size > LARGEST:
        raise DataError(f"a named release has at most {LARGEST >> 20} MiB; ask for less")


def put(tables: LedgerTables, start: str, new: NewRelease) -> None:
    """Keep the release, or raise DataError where `require_room` does; the entry must be there."""
    require_room(tables, new.name, len(new.content))
    paid = tables.execute("SELECT digest FROM entries WHERE seq = ?", (new.entry,)).fetchone()
    if paid is None:
        raise DataError("a named release is kept once it is paid for")
    hashed = _hash(new.content)
    facts = [new.name, new.kind, new.entry, new.version, new.facts, len(new.content), hashed]
    digest = _digest(start, paid[0], facts)
    tables.execute(_INSERT, (*facts[:6], new.content, hashed, digest))


def drop(tables: LedgerTables, name: str, kind: ReleaseKind) -> bool:
    """Drop a release of that name and kind, and return whether it existed.

    Its entry and its cost stay.
    """
    where = "FROM named_releases WHERE name = ? AND kind = ?"
    exists = tables.execute(f"SELECT name {where}", (name, kind)).fetchone() is not None
    tables.execute(f"DELETE {where}", (name, kind))
    return exists


def _digest(start: str, paid: str, facts: list[object]) -> str:
    """Digest that binds a content to its name, its ledger and the digest of the entry that paid."""
    return _hash(repr([start, paid, *facts]).encode("utf-8", "backslashreplace"))


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=32).hexdigest()
