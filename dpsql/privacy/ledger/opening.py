"""The location of the ledger of some data, and how it is found or begun; copies are refused.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import entries
from dpsql.privacy.ledger.checkpoints import Checkpoint, Checkpoints
from dpsql.privacy.ledger.entries import NOTHING, KnownEntry, seen_of
from dpsql.privacy.ledger.stores import layout
from dpsql.privacy.ledger.stores.layout import LedgerIdentity, LedgerMeta
from dpsql.privacy.ledger.stores.sqlite import LedgerFile
from dpsql.privacy.ledger.stores.store import LedgerLocation, LedgerTables, Store


def is_address(location: str | Path) -> bool:
    """Whether a ledger is named by the address of a server and not by a path."""
    return isinstance(location, str) and "://" in location


def ledger_path(source: str | Path) -> Path:
    """The default ledger of a file or a folder of data; it depends on the data's real path alone.

    ``x.duckdb`` has ``x.duckdb.ledger`` next to it, a folder has ``dpsql.ledger`` in it; symbolic
    links are followed.
    """
    if is_address(str(source)):
        raise LedgerError(
            'data elsewhere has no default ledger; name one with `ledger = "…"` in the schema'
        )
    try:
        real = Path(source).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise LedgerError("the data that the ledger belongs to cannot be found") from error
    if real.is_dir():
        return real / "dpsql.ledger"
    if real.stat().st_nlink > 1:
        raise LedgerError(
            "the database has a second name (a hard link), and one budget all the same; name its ledger "
            'with `ledger = "…"` in the schema'
        )
    return real.with_name(f"{real.name}.ledger")


@dataclass(frozen=True)
class DatabaseNames:
    """The names by which a database is known again, whatever ledger its schema names.

    A database that comes under one of ``sought`` has the ledger that was remembered under it.
    ``kept`` are remembered beside them, and sought once they are sought: the inodes of data files,
    which a file system gives to other files once a file is gone.
    """

    sought: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All that are remembered."""
        return (*self.sought, *self.kept)

    def at(self, store: Store) -> DatabaseNames:
        """The same names, and that of the place of the ledger."""
        return DatabaseNames((f"ledger {store.whereabouts().place}", *self.sought), self.kept)


#: Of a ledger that is known by its place alone.
NAMELESS: Final = DatabaseNames()


def names_of(dataset: str, source: Path | str, schema: Path | None) -> DatabaseNames:
    """The names of a database, each together with the name of its dataset.

    They are the path of its data as written and with links followed, its schema file, and the
    inodes of its data files; an inode is sought if a file has hard links. Remote data have the name
    of their address.
    """
    if isinstance(source, str):
        files = [
            f"data {source.rstrip('/')}",
            *([] if schema is None else [f"schema {schema.resolve()}"]),
        ]
        return DatabaseNames(tuple(f"{file} {dataset}" for file in files))
    try:
        real = source.resolve(strict=True)
        files = [f"data {source.absolute()}", f"data {real}"]
        files += [] if schema is None else [f"schema {schema.resolve()}"]
        inodes = [
            data_file.stat()
            for data_file in ([real] if real.is_file() else sorted(_data_files(real)))
        ]
    except (OSError, RuntimeError) as error:
        raise LedgerError("the data that the ledger belongs to cannot be found") from error
    linked, single = (
        [_inode(inode) for inode in inodes if (inode.st_nlink > 1) == several]
        for several in (True, False)
    )
    sought, stored = (
        [f"{name} {dataset}" for name in dict.fromkeys(names)]
        for names in ([*files, *linked], single)
    )
    return DatabaseNames(tuple(sought), tuple(stored))


def _data_files(folder: Path) -> Iterator[Path]:
    """The files of tables somewhere below a folder."""
    endings = (".parquet", ".csv", ".tsv", ".gz")
    return (file for file in folder.rglob("*") if file.name.endswith(endings) and file.is_file())


def _inode(file: os.stat_result) -> str:
    return f"data {file.st_dev}:{file.st_ino}"


#: How many of the newest entries are checked when a ledger is opened where it was before;
#: all where #: it was not.
CHECKED_ON_OPEN = 100


@dataclass(frozen=True)
class FoundLedger:
    """A ledger that may be charged: its location, what it says of itself, and what is remembered."""

    store: Store
    meta: LedgerMeta
    checkpoints: Checkpoints
    seen: KnownEntry


def store_at(location: str | Path) -> Store:
    """The store of a path or of a ``postgresql://`` address."""
    if is_address(location):
        from dpsql.privacy.ledger.stores.postgresql import LedgerServer

        return LedgerServer(str(location))
    return LedgerFile(Path(location))


def found(
    location: str | Path, belongs: LedgerIdentity, names: DatabaseNames = NAMELESS
) -> FoundLedger:
    """The ledger at the location; begun if none is there and no database of these names had one.

    Raises LedgerError if it is missing, behind, another one, a copy, another database's or damaged.
    """
    store = store_at(location)
    checkpoints = Checkpoints()
    named = names.at(store)
    known = checkpoints.ledgers_of(named.sought)
    if known and not store.exists():
        raise _missing(checkpoints, known)
    store.create(layout.begun(LedgerMeta.new(belongs)))
    with store.transaction(write=True) as tables:
        meta = layout.read_meta(tables, belongs.neighbours)
        if meta.is_backup:
            raise LedgerError(
                "this is the backup of a ledger; `dpsql ledger restore` puts it back; nothing is released"
            )
        meta.require(belongs)
        require_known(known, meta)
        location_now = store.whereabouts()
        before = checkpoints.whereabouts(meta.id)
        _require_original(meta, location_now, before)
        layout.bring_up(tables, meta)
        newest = checkpoints.newest(meta.id)
        last = entries.newest(
            tables, meta.start, NOTHING if newest is None else (newest.seq, newest.digest)
        )
        if location_now == before:
            entries.check_chain(
                tables, meta.start, 0 if last is None else max(0, last.seq - CHECKED_ON_OPEN)
            )
        else:
            store.require_whole(tables)
            entries.check_chain(tables, meta.start, 0)
    remember(checkpoints, named, meta, location_now)
    if last is not None and (newest is None or newest.seq < last.seq):
        checkpoints.prepare(meta.id, last.analyst)
        checkpoints.advance(meta.id, last)
    with store.transaction(write=False) as tables:
        complete_digests(checkpoints, meta.id, tables, newest)
    return FoundLedger(store, meta, checkpoints, seen_of(last))


def remember(
    checkpoints: Checkpoints, names: DatabaseNames, meta: LedgerMeta, location: LedgerLocation
) -> None:
    """From now on the databases of these names have this ledger, and it lies here."""
    checkpoints.bind(names.all, meta.id)
    checkpoints.set_location(meta.id, location)


def complete_digests(
    checkpoints: Checkpoints, ledger: str, tables: LedgerTables, newest: Checkpoint | None
) -> None:
    """Remember the digests of all entries of a ledger that may be charged.

    ``newest`` is what was remembered before.
    """
    known = 0 if newest is None else newest.seq
    checkpoints.digests(ledger).complete(lambda seq: entries.digests_after(tables, seq), known)


def require_known(known: set[str], meta: LedgerMeta) -> None:
    """Raise LedgerError if the database is known to have another ledger."""
    if known - {meta.id}:
        raise LedgerError(
            "this is another ledger than the one that the database had; put that one back, or mend `ledger` in the "
            "schema (`dpsql ledger verify` says where it was); nothing is released"
        )


def _require_original(
    meta: LedgerMeta, location: LedgerLocation, before: LedgerLocation | None
) -> None:
    """Raise LedgerError if the ledger lay somewhere else, and still does."""
    if (
        before is None
        or before.place == location.place
        or before.file in (None, location.file)
        or location.file is None
    ):
        return
    if _id_at(Path(before.place), meta) == meta.id:
        raise LedgerError(
            "this is a copy of a ledger that still lies where it was; use that one, or remove it where this is the "
            "newer; nothing is released"
        )


def _id_at(path: Path, meta: LedgerMeta) -> str | None:
    """The id of the ledger in a file; None if no ledger can be read there."""
    store = LedgerFile(path)
    try:
        with store.transaction(write=False) as tables:
            return layout.read_meta(tables, meta.belongs.neighbours).id
    except LedgerError:
        return None
    finally:
        store.close()


def _missing(checkpoints: Checkpoints, known: set[str]) -> LedgerError:
    newest = [checkpoint for checkpoint in map(checkpoints.newest, known) if checkpoint is not None]
    entries = sum(checkpoint.seq for checkpoint in newest)
    return LedgerError(
        f"the ledger of this database is missing (entries charged to it: {entries}); put it back or mend `ledger` in "
        "the schema (`dpsql ledger verify` says where it was), or restore a backup with `dpsql ledger restore`; "
        "nothing is released"
    )
