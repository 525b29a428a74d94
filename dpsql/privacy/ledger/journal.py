"""The ledger: facts are appended, nothing is ever changed or taken back. ``docs/proofs/ledger.md``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, SupportsIndex

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import kept
from dpsql.privacy.ledger.entry import COLUMNS, Entry, Line, chain_start, damaged, storable, written
from dpsql.privacy.ledger.file import LedgerFile
from dpsql.privacy.ledger.pages import ask_newest_of, entries_after, entry, newest_of, own, page_after
from dpsql.privacy.ledger.place import is_address
from dpsql.privacy.ledger.spent import Begins, Spent, Sums
from dpsql.privacy.ledger.store import Store, Tables
from dpsql.privacy.ledger.tally import Tally
from dpsql.privacy.measure import FREE, Cost

#: The version of the layout; a ledger of another version is refused.
VERSION = 1

#: How many of the newest entries are checked when a ledger is opened; `Ledger.verify` checks them all.
CHECKED_ON_OPEN = 100

_EVER = 2**62


class Ledger:
    """The journal of one dataset; safe to share between threads, and its store between processes."""

    def __init__(self, store: Store, dataset: str, unit: str) -> None:
        self._store, self._dataset, self._unit = store, dataset, unit
        self._start = chain_start(dataset, unit, VERSION)
        self._seen = (0, self._start)
        self._clock, self._sums = store.now, Sums()

    @classmethod
    def open(cls, place: str | Path, *, dataset: str, unit: str) -> Ledger:
        """The ledger at a path or a ``postgresql://`` address, made where there is none.

        LedgerError where it is another dataset's or not whole. Checked here: the head, and the chain and totals of the
        newest `CHECKED_ON_OPEN` entries.
        """
        store, start = _store(place), chain_start(dataset, unit, VERSION)
        facts = ("INSERT INTO meta VALUES (?, ?, ?)", (dataset, unit, VERSION))
        store.create([facts, ("INSERT INTO head VALUES (0, ?)", (start,))])
        ledger = cls(store, dataset, unit)
        with store.transaction(write=True) as tables:
            ledger._require_meta(tables)
            last = ledger._last(tables)
            ledger._walk(tables, 0 if last is None else max(0, last.seq - CHECKED_ON_OPEN))
        return ledger

    @property
    def place(self) -> str:
        """Where it is: a path, or an address without its password."""
        return self._store.place

    def append(
        self,
        line: Line,
        decide: Callable[[Spent], None],
        begins: Begins | None = None,
        tally: Tally | None = None,
    ) -> int:
        """Write the line if ``decide`` lets it, and return its number once it is on the disk.

        ``decide`` is given what everybody and what the line's analyst have spent, and raises to refuse; no other
        thread or process can write between its decision and the line. ``begins`` says since when a sum counts;
        a ``tally`` is brought up to date before.
        """
        with self._store.transaction(write=True) as tables:
            last, spent = self._spent(tables, storable(line.analyst), begins, tally)
            decide(spent)
            new = Entry.after(last, spent.ever_own, line, start=self._start, at=written(spent.moment))
            marks = ", ".join("?" * len(new.row()))
            tables.execute(f"INSERT INTO entries ({COLUMNS}) VALUES ({marks})", new.row())
            tables.execute("UPDATE head SET seq = ?, digest = ?", (new.seq, new.digest))
        self._seen = (new.seq, new.digest)
        return new.seq

    def spent(self, analyst: str | None = None, begins: Begins | None = None, tally: Tally | None = None) -> Spent:
        """What everybody and this analyst have spent, in all and since the present window began."""
        with self._store.transaction(write=False) as tables:
            return self._spent(tables, None if analyst is None else storable(analyst), begins, tally)[1]

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
        """Check every entry, its totals and the chain; return how many there are, or raise for the first bad one."""
        with self._store.transaction(write=False) as tables:
            self._require_meta(tables)
            self._walk(tables, 0)
            last = self._last(tables)
            return 0 if last is None else last.seq

    def keep(self, key: str, entry: int, answer: bytes) -> bytes | None:
        """Keep an answer that an entry has paid for, and return what is kept under its key: the first counts.

        None where it is too large to be kept. ``docs/proofs/answers.md``.
        """
        with self._store.transaction(write=True) as tables:
            kept.keep(tables, self._start, key, entry, answer)
            return kept.find(tables, self._start, key)

    def kept(self, key: str) -> bytes | None:
        """The answer that is kept under the key; None where there is none, or where it is not what was written."""
        with self._store.transaction(write=False) as tables:
            return kept.find(tables, self._start, key)

    def close(self) -> None:
        """Let go of the store; using the ledger again opens it again."""
        self._store.close()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a Ledger cannot be copied or pickled")

    def _require_meta(self, tables: Tables) -> None:
        found = tables.execute("SELECT dataset, unit, version FROM meta").fetchall()
        if len(found) != 1 or found[0][2] != VERSION:
            raise LedgerError("this is not a ledger of this version of dpsql; nothing is released")
        if found[0][:2] != (self._dataset, self._unit):
            raise LedgerError(
                f"the ledger belongs to the dataset {found[0][0]!r} with unit {found[0][1]!r}, not to "
                f"{self._dataset!r} with unit {self._unit!r}; nothing is released"
            )

    def _spent(
        self, tables: Tables, analyst: str | None, begins: Begins | None, tally: Tally | None
    ) -> tuple[Entry | None, Spent]:
        """The newest entry, and what was spent, at the moment of the store's clock or, if later, of that entry."""
        asked = None if analyst is None else ask_newest_of(tables, analyst, _EVER)
        last, now = self._last(tables), self._clock(tables)
        if tally is not None:
            tally.bring(tables, self._start)
        if last is None:
            return None, Spent(now, now, 0, FREE, FREE, FREE, FREE)
        now = max(now, last.moment)
        spent = (last.total, FREE if asked is None else own(asked))
        window = spent
        if begins is not None:
            window = self._sums.since(tables, begins(now), last, spent[1], analyst)
        return last, Spent(now, self._sums.first(tables), last.seq, *window, *spent)

    def _last(self, tables: Tables) -> Entry | None:
        """The newest entry, which must be the one that the head names, in a ledger that still holds what we saw."""
        seq, digest = self._seen
        asked = [
            tables.execute("SELECT digest FROM entries WHERE seq = ?", (seq,)),
            tables.execute(f"SELECT {COLUMNS} FROM entries ORDER BY seq DESC LIMIT 1"),
            tables.execute("SELECT seq, digest FROM head"),
        ]
        if seq and asked[0].fetchone() != (digest,):
            raise damaged(seq)
        row = asked[1].fetchone()
        last = None if row is None else Entry.of(row)
        here = (0, self._start) if last is None else (last.seq, last.digest)
        head = asked[2].fetchall()
        if head != [here]:
            raise damaged(min(here[0] + 1, head[0][0]) if head else here[0])
        self._seen = here
        return last

    def _walk(self, tables: Tables, base: int) -> None:
        """Check the chain and the totals of every entry after number ``base``."""
        last, owns = entry(tables, base), dict[str, Cost]()
        if base and last is None:
            raise damaged(base)
        for each in entries_after(tables, base):
            before = owns.get(each.analyst) or newest_of(tables, each.analyst, base)
            if not each.follows(last, before, start=self._start):
                raise damaged(1 if last is None else last.seq + 1)
            owns[each.analyst], last = each.own, each


def _store(place: str | Path) -> Store:
    if is_address(place):
        from dpsql.privacy.ledger.server import LedgerServer

        return LedgerServer(str(place))
    return LedgerFile(Path(place))
