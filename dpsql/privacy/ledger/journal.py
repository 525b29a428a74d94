"""The ledger: facts are appended, nothing is ever changed or taken back.

``docs/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, SupportsIndex

from dpsql.privacy.ledger import entries as checking
from dpsql.privacy.ledger import named_releases, stored_answers, unreleased
from dpsql.privacy.ledger.checkpoints import Checkpoints
from dpsql.privacy.ledger.entries import (
    COLUMNS,
    EVER,
    NOTHING,
    Entry,
    KnownEntry,
    NewEntry,
    ask_newest_of,
    own,
    page_after,
    seen_of,
    storable,
    written,
)
from dpsql.privacy.ledger.named_releases import NamedRelease, NewRelease, ReleaseKind
from dpsql.privacy.ledger.opening import NAMELESS, DatabaseNames, found
from dpsql.privacy.ledger.spent import Spent, SpentSums, WeightTally, WindowStart
from dpsql.privacy.ledger.stores.layout import LedgerIdentity, LedgerMeta
from dpsql.privacy.ledger.stores.store import LedgerTables, Store
from dpsql.privacy.measure import FREE, Cost


class NothingGivenUp(Exception):
    """There is no charge to be taken up: nothing is written."""


class Ledger:
    """The journal of one dataset; safe to share between threads, and its store between processes."""

    def __init__(
        self,
        store: Store,
        meta: LedgerMeta,
        checkpoints: Checkpoints | None = None,
        seen: KnownEntry = NOTHING,
    ) -> None:
        self._store = store
        self._meta = meta
        self._checkpoints = checkpoints
        self._start = meta.start
        self._seen = seen
        self._clock = store.now
        self._sums = SpentSums()

    @classmethod
    def open(
        cls, location: str | Path, belongs: LedgerIdentity, names: DatabaseNames = NAMELESS
    ) -> Ledger:
        """The ledger at a path or an address, begun if none is there and none is remembered.

        The address is ``postgresql://…``; ``names`` are those by which the database is known again.
        Checks the head, and the chain and totals of the newest `CHECKED_ON_OPEN` entries; of a
        ledger that was not there before, of all entries. Raises LedgerError if the ledger is
        missing, behind, a copy, another one, another dataset's or damaged.
        """
        at = found(location, belongs, names)
        return cls(at.store, at.meta, at.checkpoints, at.seen)

    @property
    def id(self) -> str:
        """The ledger's own, whatever place it has."""
        return self._meta.id

    @property
    def meta(self) -> LedgerMeta:
        """What it says of itself."""
        return self._meta

    @property
    def store(self) -> Store:
        """What it is written to."""
        return self._store

    @property
    def location(self) -> str:
        """Location of the ledger: a path, or an address without its password."""
        return self._store.location

    def append(
        self,
        line: NewEntry,
        decide: Callable[[Spent], None],
        begins: WindowStart | None = None,
        tally: WeightTally | None = None,
    ) -> int:
        """Write the line if ``decide`` lets it, and return its number once it is on the disk.

        ``decide`` is given what everybody and what the line's analyst have spent, and raises to
        refuse; no other thread or process can write between its decision and the line. ``begins``
        says since when a sum counts; a ``tally`` is brought up to date before.
        """
        analyst = storable(line.analyst)
        return self._append(
            analyst, lambda tables, spent: self._decided(decide, spent, line), begins, tally
        )

    @staticmethod
    def _decided(decide: Callable[[Spent], None], spent: Spent, line: NewEntry) -> NewEntry:
        decide(spent)
        return line

    def give_up(self, key: str, entry: int) -> None:
        """Note that nothing was or will be released for an entry; its payer may take it up, once."""
        with self._store.transaction(write=True) as tables:
            unreleased.give_up(tables, self._start, key, entry)

    def given_up(self, key: str) -> Entry | None:
        """The entry that was given up under the key and was not taken up."""
        with self._store.transaction(write=False) as tables:
            return unreleased.given_up(tables, self._start, key)

    def take_up(self, key: str, analyst: str, fits: Callable[[Entry, Spent], bool]) -> Entry | None:
        """Take up the entry that was given up under the key, if it ``fits``; nobody else can after.

        A line that costs nothing records it, so that an earlier copy of the ledger is behind.
        """
        taken = list[Entry]()

        def line(tables: LedgerTables, spent: Spent) -> NewEntry:
            paid = unreleased.given_up(tables, self._start, key)
            if paid is None or not fits(paid, spent):
                raise NothingGivenUp
            unreleased.forget(tables, key)
            taken.append(paid)
            return NewEntry(
                analyst, f"-- takes up entry {paid.seq}, for which nothing was released", "[]", FREE
            )

        with suppress(NothingGivenUp):
            self._append(storable(analyst), line)
        return taken[0] if taken else None

    def _append(
        self,
        analyst: str,
        decided: Callable[[LedgerTables, Spent], NewEntry],
        begins: WindowStart | None = None,
        tally: WeightTally | None = None,
    ) -> int:
        if self._checkpoints is not None:
            self._checkpoints.prepare(self.id, analyst)
        with self._store.transaction(write=True) as tables:
            last, spent = self._spent(tables, analyst, begins, tally, known=self._known())
            line = decided(tables, spent)
            new = Entry.after(
                last, spent.ever_own, line, start=self._start, at=written(spent.moment)
            )
            marks = ", ".join("?" * len(new.row()))
            tables.execute(f"INSERT INTO entries ({COLUMNS}) VALUES ({marks})", new.row())
            tables.execute("UPDATE head SET seq = ?, digest = ?", (new.seq, new.digest))
        self._seen = (new.seq, new.digest)
        if self._checkpoints is not None:
            self._checkpoints.advance(self.id, new)
        return new.seq

    def spent(
        self,
        analyst: str | None = None,
        begins: WindowStart | None = None,
        tally: WeightTally | None = None,
    ) -> Spent:
        """What everybody and this analyst have spent, in all and since the present window began."""
        known = self._known()
        with self._store.transaction(write=False) as tables:
            return self._spent(
                tables, None if analyst is None else storable(analyst), begins, tally, known=known
            )[1]

    def totals(self, analyst: str | None = None) -> tuple[Cost, Cost]:
        """What everybody has ever spent, and what this analyst has."""
        spent = self.spent(analyst)
        return spent.ever_total, spent.ever_own

    def history(self, analyst: str | None = None) -> Iterator[Entry]:
        """Every entry, or those of one analyst, oldest first."""
        seq = 0
        while True:
            with self._store.transaction(write=False) as tables:
                page = page_after(tables, seq, analyst)
            if not page:
                return
            yield from page
            seq = page[-1].seq

    def verify(self) -> int:
        """Check every entry, its totals and the chain, and return the number of entries.

        Raises for the first bad one.
        """
        known = self._known()
        with self._store.transaction(write=False) as tables:
            self._store.require_whole(tables)
            checking.check_chain(tables, self._start, 0)
            last = self._last(tables, known)
            return 0 if last is None else last.seq

    def keep(self, key: str, entry: int, encoded: bytes) -> bytes | None:
        """Store an answer that an entry has paid for, and return the one stored under its key.

        The first one counts. None if it is too large to be stored. ``docs/proofs/answers.md``.
        """
        with self._store.transaction(write=True) as tables:
            stored_answers.keep(tables, self._start, key, entry, encoded=encoded)
            return stored_answers.find(tables, self._start, key)

    def kept(self, key: str) -> bytes | None:
        """The answer that is stored under the key; None if there is none or it was changed."""
        with self._store.transaction(write=False) as tables:
            return stored_answers.find(tables, self._start, key)

    def kept_among(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The answers that are kept under some of the keys, as they were written."""
        with self._store.transaction(write=False) as tables:
            return stored_answers.find_all(tables, self._start, keys)

    def named(self) -> tuple[NamedRelease, ...]:
        """What is kept under names, in the order in which it was paid for."""
        with self._store.transaction(write=False) as tables:
            return named_releases.listed(tables, self._start)

    def named_content(self, release: NamedRelease) -> bytes | None:
        """The content of a named release; None if it was dropped or is not what was written."""
        with self._store.transaction(write=False) as tables:
            return named_releases.content(tables, release)

    def require_room(self, name: str, size: int) -> None:
        """Raise DataError if the name is taken, or a content of that many bytes does not fit."""
        with self._store.transaction(write=False) as tables:
            named_releases.require_room(tables, name, size)

    def put_named(self, new: NewRelease) -> None:
        """Store a release under its name, durably on return.

        Raises DataError as `require_room` does.
        """
        with self._store.transaction(write=True) as tables:
            named_releases.put(tables, self._start, new)

    def drop_named(self, name: str, kind: ReleaseKind) -> bool:
        """Drop a release, and return whether it existed; what it cost stays charged."""
        with self._store.transaction(write=True) as tables:
            return named_releases.drop(tables, name, kind)

    def close(self) -> None:
        """Let go of the store; using the ledger again opens it again."""
        self._store.close()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a Ledger cannot be copied or pickled")

    def _known(self) -> KnownEntry:
        """The newest entry that this process, or any on this machine, knows of.

        Asked before a transaction that reads, and within one that writes:
        an entry is remembered once it is durable.
        """
        newest = None if self._checkpoints is None else self._checkpoints.newest(self.id)
        return (
            self._seen
            if newest is None or newest.seq < self._seen[0]
            else (newest.seq, newest.digest)
        )

    def _spent(
        self,
        tables: LedgerTables,
        analyst: str | None,
        begins: WindowStart | None,
        tally: WeightTally | None,
        known: KnownEntry,
    ) -> tuple[Entry | None, Spent]:
        """The newest entry, and what was spent at the present moment.

        The moment is that of the store's clock or, if later, of that entry.
        """
        asked = None if analyst is None else ask_newest_of(tables, analyst, EVER)
        last = self._last(tables, known)
        now = self._clock(tables)
        if tally is not None:
            tally.bring(tables, self._start)
        if last is None:
            return None, Spent(
                now, now, entries=0, total=FREE, own=FREE, ever_total=FREE, ever_own=FREE
            )
        now = max(now, last.moment)
        spent = (last.total, FREE if asked is None else own(asked))
        window = spent
        if begins is not None:
            window = self._sums.since(tables, begins(now), last, spent[1], analyst=analyst)
        return last, Spent(now, self._sums.first(tables), last.seq, *window, *spent)

    def _last(self, tables: LedgerTables, known: KnownEntry) -> Entry | None:
        """The newest entry of a ledger that still holds what is known of it."""
        last = checking.newest(tables, self._start, known)
        self._seen = seen_of(last)
        return last
