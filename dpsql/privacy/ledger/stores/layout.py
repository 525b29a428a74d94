"""The tables of a ledger in each version of their layout, and what a ledger says of itself.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.errors import LedgerError
from dpsql.privacy.ledger.entries import chain_start
from dpsql.privacy.ledger.stores.store import LedgerTables, WriteStatement
from dpsql.privacy.measure import NeighbourRelation

#: The version of the layout; an older one is brought up to it when a ledger is opened.
VERSION = 3

#: The table of named releases, in words that every store understands;
#: layouts before the third have #: none.
NAMED_RELEASES = """
    CREATE TABLE named_releases (
      name TEXT PRIMARY KEY, kind TEXT NOT NULL, entry BIGINT NOT NULL, version TEXT NOT NULL, facts TEXT NOT NULL,
      size BIGINT NOT NULL, content BYTEA NOT NULL, content_digest TEXT NOT NULL, digest TEXT NOT NULL
    )
"""

_NEW = "INSERT INTO meta (dataset, unit, version, id, neighbours, began, is_backup) VALUES (?, ?, ?, ?, ?, ?, ?)"
_READ = "SELECT dataset, unit, version, id, neighbours, began, is_backup FROM meta"


@dataclass(frozen=True)
class LedgerIdentity:
    """Whose budget a ledger keeps, and what its entries were priced for."""

    dataset: str
    unit: str
    neighbours: NeighbourRelation


@dataclass(frozen=True)
class LedgerMeta:
    """What a ledger says of itself.

    ``began`` is the layout in which it was begun, from which its chain starts.
    """

    belongs: LedgerIdentity
    id: str
    began: int = VERSION
    is_backup: bool = False

    @classmethod
    def new(cls, belongs: LedgerIdentity) -> LedgerMeta:
        """That of a ledger that begins now."""
        return cls(belongs, uuid.uuid4().hex)

    @property
    def start(self) -> str:
        """What the first entry is chained to."""
        dataset = self.belongs.dataset
        unit = self.belongs.unit
        if self.began == 1:
            return chain_start(1, dataset, unit)
        return chain_start(self.began, dataset, unit, self.belongs.neighbours, self.id)

    def facts(self) -> WriteStatement:
        """The statement that writes it into new tables."""
        of = self.belongs
        return _NEW, (
            of.dataset,
            of.unit,
            VERSION,
            self.id,
            of.neighbours,
            self.began,
            int(self.is_backup),
        )

    def require(self, belongs: LedgerIdentity) -> None:
        """Raise LedgerError if the ledger is another database's, or priced for other neighbours."""
        mine = self.belongs
        if (mine.dataset, mine.unit) != (belongs.dataset, belongs.unit):
            raise LedgerError(
                f"the ledger belongs to the dataset {mine.dataset!r} with unit {mine.unit!r}, not to "
                f"{belongs.dataset!r} with unit {belongs.unit!r}; nothing is released"
            )
        if mine.neighbours != belongs.neighbours:
            raise LedgerError(
                f'the ledger was begun under neighbours = "{mine.neighbours}", and what it holds is priced for that; '
                f'write neighbours = "{mine.neighbours}" in the schema; nothing is released'
            )


def begun(meta: LedgerMeta) -> Sequence[WriteStatement]:
    """What new tables hold of a ledger without entries."""
    return [meta.facts(), ("INSERT INTO head VALUES (0, ?)", (meta.start,))]


def read_meta(tables: LedgerTables, neighbours: NeighbourRelation) -> LedgerMeta:
    """What the ledger says of itself; one of the first layout says no neighbours,
    and has those of the schema.
    """
    versions = tables.execute("SELECT dataset, unit, version FROM meta").fetchall()
    if len(versions) != 1 or not isinstance(versions[0][2], int):
        raise LedgerError("this is not a ledger of dpsql; nothing is released")
    dataset, unit, version = versions[0]
    if version > VERSION:
        raise LedgerError(
            f"the ledger has layout {version}, which a newer dpsql wrote; this one knows layouts up to {VERSION}: "
            "install the newer dpsql again; nothing is released"
        )
    if version == 1:
        return LedgerMeta(LedgerIdentity(dataset, unit, neighbours), _id_of_first(tables), began=1)
    ((dataset, unit, _, number, stored_neighbours, began, backup),) = tables.execute(
        _READ
    ).fetchall()
    return LedgerMeta(LedgerIdentity(dataset, unit, stored_neighbours), number, began, bool(backup))


def bring_up(tables: LedgerTables, meta: LedgerMeta) -> None:
    """Bring the tables up to the layout of this version, in the transaction that read ``meta``."""
    ((version,),) = tables.execute("SELECT version FROM meta").fetchall()
    if version == VERSION:
        return
    if version == 1:
        for column in ("id TEXT", "neighbours TEXT", "began INTEGER", "is_backup INTEGER"):
            tables.execute(f"ALTER TABLE meta ADD COLUMN {column}")
    tables.execute(NAMED_RELEASES)
    tables.execute("DELETE FROM meta")
    tables.execute(*meta.facts())


def _id_of_first(tables: LedgerTables) -> str:
    """What is taken for the id of a ledger of the first layout: its first entry's,
    so that copies have one id.
    """
    first = tables.execute("SELECT digest FROM entries WHERE seq = 1").fetchone()
    return uuid.uuid4().hex if first is None else str(first[0])[:32]
