"""A ledger is copied whole, put back, and charged with what it lacks. ``docs/proofs/ledger.md``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import entries, unreleased
from dpsql.privacy.ledger.checkpoints import Checkpoint, Checkpoints, EntryDigests
from dpsql.privacy.ledger.entries import COLUMNS, Entry, NewEntry, newest_of, page_after
from dpsql.privacy.ledger.journal import Ledger
from dpsql.privacy.ledger.opening import (
    DatabaseNames,
    complete_digests,
    remember,
    require_known,
    store_at,
)
from dpsql.privacy.ledger.stores import layout
from dpsql.privacy.ledger.stores.layout import LedgerIdentity, LedgerMeta
from dpsql.privacy.ledger.stores.sqlite import LedgerFile
from dpsql.privacy.ledger.stores.store import LedgerTables, Store, WriteStatement
from dpsql.privacy.measure import FREE, Cost

#: Who is said to have spent what nobody else is known to have.
NOBODY = "restore"
#: What the lines say by which a ledger that was put back is charged.
SAID = "-- charged by dpsql ledger restore: spent after what was put back, at most"

_ENTRY = f"INSERT INTO entries ({COLUMNS}) VALUES ({', '.join('?' * len(COLUMNS.split(',')))})"
#: Charges that were given up are not copied: the ledger that is copied may have them taken up,
#: and #: a copy would again.
_ANSWERS = f"""
    SELECT number, key, entry, answer, digest FROM answers
    WHERE number > ? AND entry <= ? AND substr(key, 1, {len(unreleased.PREFIX)}) <> '{unreleased.PREFIX}'
    ORDER BY number LIMIT 20
"""
_NAMED_COLUMNS = "name, kind, entry, version, facts, size, content, content_digest, digest"
_NAMED = f"SELECT {_NAMED_COLUMNS} FROM named_releases WHERE entry <= ? AND name > ? ORDER BY name LIMIT 1"
_NAMED_RELEASE = f"INSERT INTO named_releases ({_NAMED_COLUMNS}) VALUES ({', '.join('?' * 9)})"
_ANSWER = "INSERT INTO answers (key, entry, answer, digest) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True)
class RestoredLedger:
    """A ledger that was put back: its entries, and what was charged to it, by whom it was spent."""

    id: str
    entries: int
    charged: tuple[tuple[str, Cost], ...]


@dataclass(frozen=True)
class KnownLedger:
    """A ledger that a database had: its number of entries and its location, as far as remembered."""

    id: str
    entries: int
    place: str


def remembered(location: str | Path, names: DatabaseNames) -> list[KnownLedger]:
    """The ledgers that a database of these names, or with its ledger at this place, had."""
    checkpoints = Checkpoints()
    result = []
    for ledger in sorted(checkpoints.ledgers_of(names.at(store_at(location)).sought)):
        newest = checkpoints.newest(ledger)
        at = checkpoints.whereabouts(ledger)
        entries = 0 if newest is None else newest.seq
        result.append(
            KnownLedger(ledger, entries, "a place that is not known" if at is None else at.place)
        )
    return result


def begin(
    location: str | Path, belongs: LedgerIdentity, names: DatabaseNames, *, again: bool = False
) -> str:
    """Begin a ledger at a location without one, and return its id.

    Raises LedgerError if something lies there, or if the database had a ledger before and is not to
    begin ``again``.
    """
    store = store_at(location)
    checkpoints = Checkpoints()
    meta = LedgerMeta.new(belongs)
    named = names.at(store)
    before = remembered(location, names)
    charged = sum(ledger.entries for ledger in before)
    if before and not again:
        raise LedgerError(
            f"this database had a ledger before (entries charged to it: {charged}); a new "
            "one lets its whole budget be spent once more on the same people; where that is meant, say --new-budget"
        )
    if not store.create(layout.begun(meta)):
        raise LedgerError("there is something where the ledger would begin; move it away first")
    remember(checkpoints, named, meta, store.whereabouts())
    store.close()
    return meta.id


def backup(ledger: Ledger, target: Path) -> int:
    """Write all that is in the ledger at this moment to a new file, and return its entries.

    The ledger may be charged meanwhile.
    """
    file = LedgerFile(target)
    if file.exists():
        raise LedgerError("the file of the backup is already there; name another one")
    entries = ledger.verify()
    if not file.create(_copied(ledger.store, replace(ledger.meta, is_backup=True))):
        raise LedgerError("the file of the backup is already there; name another one")
    with _whole(file, ledger.meta.belongs) as (_, _, last):
        copied = 0 if last is None else last.seq
    if copied < entries:
        raise LedgerError("the backup is not what the ledger is; nothing can be restored from it")
    return copied


def restore(
    location: str | Path,
    belongs: LedgerIdentity,
    names: DatabaseNames,
    source: Path | None,
    charge: Cost | None = None,
) -> RestoredLedger:
    """Put a backup at a location without a ledger, and charge what it lacks.

    If ``source`` is None, the ledger that lies there is accepted instead. What it lacks is what
    this machine remembers to have been charged, in all and by each analyst, beyond its own entries.
    ``charge`` comes on top, and is needed if nothing is remembered. Raises LedgerError if the
    ledger is damaged or not the database's.
    """
    store = store_at(location)
    checkpoints = Checkpoints()
    named = names.at(store)
    if source is None and not store.exists():
        raise LedgerError("there is no ledger to accept; name a backup")
    if source is not None and store.exists():
        raise LedgerError(
            "there is something where the ledger would be put; move it away first, or leave the backup "
            "out to accept what is there"
        )
    with _whole(store if source is None else LedgerFile(source), belongs) as (origin, meta, last):
        require_known(
            {
                ledger_id
                for ledger_id in checkpoints.ledgers_of(named.sought)
                if checkpoints.newest(ledger_id)
            },
            meta,
        )
        newest = checkpoints.newest(meta.id)
        if newest is None and charge is None:
            raise LedgerError(
                "nothing is remembered here of what was charged to this ledger: say what was spent since at most, with "
                "--charge EPSILON or --charge all; where the server runs as another user, DPSQL_STATE names its folder"
            )
        lacking = list[NewEntry]()
        if newest is not None:
            statement = _statement_of_restore(newest)
            costs = _lacking(origin, meta.id, last, newest, checkpoints=checkpoints)
            lacking += [NewEntry(analyst, statement, "[]", cost) for analyst, cost in costs]
        if charge is not None and charge != FREE:
            lacking.append(NewEntry(NOBODY, SAID, "[]", charge))
        ledger = (
            _accepted(store, meta, lacking)
            if source is None
            else _put(store, meta, lacking, origin)
        )
    count = ledger.verify()
    checkpoints.begin_again(meta.id, _newest_of_each(ledger))
    with store.transaction(write=False) as tables:
        complete_digests(checkpoints, meta.id, tables, None)
    remember(checkpoints, named, meta, store.whereabouts())
    store.close()
    return RestoredLedger(meta.id, count, tuple((line.analyst, line.cost) for line in lacking))


def _accepted(store: Store, meta: LedgerMeta, lacking: Sequence[NewEntry]) -> Ledger:
    """The ledger that lies there, with what it lacks.

    Until it has all of it, what is remembered refuses it.
    """
    with store.transaction(write=True) as tables:
        layout.bring_up(tables, meta)
    ledger = Ledger(store, meta)
    _charge(ledger, lacking)
    with store.transaction(write=True) as tables:
        unreleased.forget(tables)
        tables.execute("UPDATE meta SET is_backup = 0")
    return ledger


def _put(store: Store, meta: LedgerMeta, lacking: Sequence[NewEntry], origin: Store) -> Ledger:
    """A copy of the ledger with what it lacks, all at once."""
    meta = replace(meta, is_backup=False)
    with tempfile.TemporaryDirectory() as folder:
        draft = LedgerFile(Path(folder) / "draft")
        draft.create(_copied(origin, meta))
        _charge(Ledger(draft, meta), lacking)
        created = store.create(_copied(draft, meta))
        draft.close()
    if not created:
        raise LedgerError("there is something where the ledger would be put; move it away first")
    return Ledger(store, meta)


def _charge(ledger: Ledger, lacking: Sequence[NewEntry]) -> None:
    for line in lacking:
        ledger.append(line, lambda spent: None)


def _lacking(
    store: Store, ledger: str, last: Entry | None, newest: Checkpoint, checkpoints: Checkpoints
) -> list[tuple[str, Cost]]:
    """What is remembered beyond the last entry that the ledger has in common with it, by analyst.

    The ledger itself holds what its own branch spent after that entry. A restore that was
    interrupted may have charged a part already.
    """
    owns = checkpoints.owns(ledger)
    known = checkpoints.digests(ledger)
    with store.transaction(write=False) as tables:
        shared = 0 if last is None else _shared(tables, min(last.seq, newest.seq), newest, known)
        common = entries.entry(tables, shared)
        recorded = {
            str(checkpoint.analyst): newest_of(tables, str(checkpoint.analyst), shared)
            for checkpoint in owns
        }
        total = FREE if common is None else common.total
        for entry in entries.entries_after(tables, shared):
            if entry.statement == _statement_of_restore(newest):
                recorded[entry.analyst] = recorded.get(entry.analyst, FREE) + entry.cost
                total += entry.cost
    lacking = {
        str(checkpoint.analyst): _beyond(checkpoint.sum, recorded[str(checkpoint.analyst)])
        for checkpoint in owns
    }
    lacking[NOBODY] = _beyond(_beyond(newest.sum, total), sum(lacking.values(), FREE))
    return [(analyst, cost) for analyst, cost in lacking.items() if cost != FREE]


def _statement_of_restore(newest: Checkpoint) -> str:
    """What the lines say that charge what is remembered up to an entry."""
    return f"{SAID}, up to entry {newest.seq} ({newest.digest})"


def _shared(tables: LedgerTables, seq: int, newest: Checkpoint, known: EntryDigests) -> int:
    """The newest entry up to a number that is remembered.

    As digests are chained, all entries before it are the same, too.
    """
    first = next(entries.digests_down(tables, seq), None)
    if first == (newest.seq, newest.digest):
        return newest.seq
    return known.first_known(entries.digests_down(tables, seq))


def _beyond(more: Cost, less: Cost) -> Cost:
    """What must be added to the lesser cost so that it is at least the greater in every measure."""
    rho = max(Fraction(0), more.rho - less.rho)
    delta = max(Fraction(0), more.delta - less.delta)
    if more.epsilon is None or less.epsilon is None:
        return Cost(None if rho else Fraction(0), rho, delta)
    epsilon = max(Fraction(0), more.epsilon - less.epsilon)
    return Cost(epsilon, rho if rho or not epsilon else epsilon**2 / 2, delta)


@contextmanager
def _whole(
    store: Store, belongs: LedgerIdentity
) -> Iterator[tuple[Store, LedgerMeta, Entry | None]]:
    """Check a ledger of this database for damage, wherever it lies, and return its newest entry."""
    try:
        with store.transaction(write=False) as tables:
            meta = layout.read_meta(tables, belongs.neighbours)
            meta.require(belongs)
            store.require_whole(tables)
            entries.check_chain(tables, meta.start, 0)
            last = entries.newest(tables, meta.start, entries.NOTHING)
        yield store, meta, last
    finally:
        store.close()


def _copied(store: Store, meta: LedgerMeta) -> Iterator[WriteStatement]:
    """All that the ledger holds at this moment, page by page, so that charges never wait for long."""
    with store.transaction(write=False) as tables:
        ((newest, digest),) = tables.execute("SELECT seq, digest FROM head").fetchall()
    yield meta.facts()
    yield "INSERT INTO head VALUES (?, ?)", (newest, digest)
    yield from _copied_named(store, newest)
    seq = number = 0
    while seq < newest:
        with store.transaction(write=False) as tables:
            page = [entry for entry in page_after(tables, seq) if entry.seq <= newest]
        yield from ((_ENTRY, entry.row()) for entry in page)
        seq = page[-1].seq
    while True:
        with store.transaction(write=False) as tables:
            answers = tables.execute(_ANSWERS, (number, newest)).fetchall()
        if not answers:
            return
        yield from ((_ANSWER, tuple(stored[1:])) for stored in answers)
        number = answers[-1][0]


def _copied_named(store: Store, newest: int) -> Iterator[WriteStatement]:
    """What is kept under names; ledgers of earlier layouts have none."""
    with store.transaction(write=False) as tables:
        if tables.execute("SELECT version FROM meta").fetchone()[0] < 3:
            return
    name = ""
    while True:
        with store.transaction(write=False) as tables:
            row = tables.execute(_NAMED, (newest, name)).fetchone()
        if row is None:
            return
        yield _NAMED_RELEASE, tuple(row)
        name = row[0]


def _newest_of_each(ledger: Ledger) -> list[Entry]:
    """The newest entry of each analyst, the newest of all last."""
    return sorted(
        {entry.analyst: entry for entry in ledger.history()}.values(), key=lambda entry: entry.seq
    )
