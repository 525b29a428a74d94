"""The ledger: facts are appended, nothing is ever changed or taken back. ``docs/proofs/ledger.md``."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn, SupportsIndex

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import kept
from dpsql.privacy.ledger.entry import COLUMNS, Entry, Line, chain_start, damaged, storable
from dpsql.privacy.ledger.file import LedgerFile
from dpsql.privacy.measure import FREE, Cost

#: The version of the file's layout; a file of another version is refused.
VERSION = 1

#: How many of the newest entries are checked when a ledger is opened; `Ledger.verify` checks them all.
CHECKED_ON_OPEN = 100

_EVER = 2**62

_TABLES = (
    "CREATE TABLE meta (dataset TEXT NOT NULL, unit TEXT NOT NULL, version INTEGER NOT NULL)",
    "CREATE TABLE head (seq INTEGER NOT NULL, digest TEXT NOT NULL)",
    """
    CREATE TABLE entries (
      seq INTEGER PRIMARY KEY, previous TEXT NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL,
      analyst TEXT NOT NULL, statement TEXT NOT NULL, cells TEXT NOT NULL,
      epsilon TEXT NOT NULL, rho TEXT NOT NULL, delta TEXT NOT NULL,
      total_epsilon TEXT NOT NULL, total_rho TEXT NOT NULL, total_delta TEXT NOT NULL,
      own_epsilon TEXT NOT NULL, own_rho TEXT NOT NULL, own_delta TEXT NOT NULL
    )
    """,
    "CREATE INDEX entries_of_analyst ON entries (analyst, seq)",
    "CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay'); END",
    "CREATE TRIGGER entries_are_fixed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are fixed'); END",
)

_PAGE = f"SELECT {COLUMNS} FROM entries WHERE seq > ? AND (? IS NULL OR analyst = ?) ORDER BY seq LIMIT 500"


class Ledger:
    """The journal of one dataset; safe to share between threads, and its file between processes."""

    def __init__(self, file: LedgerFile, dataset: str, unit: str) -> None:
        self._file, self._dataset, self._unit = file, dataset, unit
        self._start = chain_start(dataset, unit, VERSION)
        self._seen = (0, self._start)

    @classmethod
    def open(cls, path: str | Path, *, dataset: str, unit: str) -> Ledger:
        """The ledger at this path, made where there is none; LedgerError where it is another dataset's or not whole.

        Checked here: the head, and the chain and totals of the newest `CHECKED_ON_OPEN` entries.
        """
        file = LedgerFile(Path(path))
        start = chain_start(dataset, unit, VERSION)
        facts = ("INSERT INTO meta VALUES (?, ?, ?)", (dataset, unit, VERSION))
        head = ("INSERT INTO head VALUES (0, ?)", (start,))
        file.create([*((table, ()) for table in _TABLES), facts, head])
        ledger = cls(file, dataset, unit)
        with file.transaction(write=True) as connection:
            ledger._require_meta(connection)
            connection.execute(kept.TABLE)
            last = ledger._last(connection)
            ledger._walk(connection, 0 if last is None else max(0, last.seq - CHECKED_ON_OPEN))
        return ledger

    @property
    def path(self) -> Path:
        return self._file.path

    def append(self, line: Line, decide: Callable[[Cost, Cost], None]) -> int:
        """Write the line if ``decide`` lets it, and return its number once it is on the disk.

        ``decide`` is given what everybody and what the line's analyst have spent, and raises to refuse; no other
        thread or process can write between its decision and the line.
        """
        with self._file.transaction(write=True) as connection:
            last = self._last(connection)
            own = _spent(connection, storable(line.analyst), _EVER)
            decide(FREE if last is None else last.total, own)
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            entry = Entry.after(last, own, line, start=self._start, at=now)
            marks = ", ".join("?" * len(entry.row()))
            connection.execute(f"INSERT INTO entries ({COLUMNS}) VALUES ({marks})", entry.row())
            connection.execute("UPDATE head SET seq = ?, digest = ?", (entry.seq, entry.digest))
        self._seen = (entry.seq, entry.digest)
        return entry.seq

    def totals(self, analyst: str | None = None) -> tuple[Cost, Cost]:
        """What everybody has spent, and what this analyst has."""
        with self._file.transaction(write=False) as connection:
            last = self._last(connection)
            own = FREE if analyst is None else _spent(connection, storable(analyst), _EVER)
            return (FREE if last is None else last.total), own

    def history(self, analyst: str | None = None) -> Iterator[Entry]:
        """Every entry, or those of one analyst, oldest first."""
        seq = 0
        while True:
            with self._file.transaction(write=False) as connection:
                page = connection.execute(_PAGE, (seq, analyst, analyst)).fetchall()
            if not page:
                return
            yield from map(Entry.of, page)
            seq = page[-1][0]

    def verify(self) -> int:
        """Check every entry, its totals and the chain; return how many there are, or raise for the first bad one."""
        with self._file.transaction(write=False) as connection:
            self._require_meta(connection)
            self._walk(connection, 0)
            last = self._last(connection)
            return 0 if last is None else last.seq

    def keep(self, key: str, entry: int, answer: bytes) -> bytes | None:
        """Keep an answer that an entry has paid for, and return what is kept under its key: the first counts.

        None where it is too large to be kept. ``docs/proofs/answers.md``.
        """
        with self._file.transaction(write=True) as connection:
            kept.keep(connection, self._start, key, entry, answer)
            return kept.find(connection, self._start, key)

    def kept(self, key: str) -> bytes | None:
        """The answer that is kept under the key; None where there is none, or where it is not what was written."""
        with self._file.transaction(write=False) as connection:
            return kept.find(connection, self._start, key)

    def close(self) -> None:
        """Let go of the file; using the ledger again opens it again."""
        self._file.close()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a Ledger cannot be copied or pickled")

    def _require_meta(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("SELECT dataset, unit, version FROM meta").fetchall()
        if len(found) != 1 or found[0][2] != VERSION:
            raise LedgerError("the file is not a ledger of this version of dpsql; nothing is released")
        if found[0][:2] != (self._dataset, self._unit):
            raise LedgerError(
                f"the ledger belongs to the dataset {found[0][0]!r} with unit {found[0][1]!r}, not to "
                f"{self._dataset!r} with unit {self._unit!r}; nothing is released"
            )

    def _last(self, connection: sqlite3.Connection) -> Entry | None:
        """The newest entry, which must be the one that the head names, in a ledger that still holds what we saw."""
        seq, digest = self._seen
        if seq and connection.execute("SELECT digest FROM entries WHERE seq = ?", (seq,)).fetchone() != (digest,):
            raise damaged(seq)
        row = connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        last = None if row is None else Entry.of(row)
        here = (0, self._start) if last is None else (last.seq, last.digest)
        head = connection.execute("SELECT seq, digest FROM head").fetchall()
        if head != [here]:
            raise damaged(min(here[0] + 1, head[0][0]) if head else here[0])
        self._seen = here
        return last

    def _walk(self, connection: sqlite3.Connection, base: int) -> None:
        """Check the chain and the totals of every entry after number ``base``."""
        row = connection.execute(f"SELECT {COLUMNS} FROM entries WHERE seq = ?", (base,)).fetchone()
        if base and row is None:
            raise damaged(base)
        last, owns = None if row is None else Entry.of(row), dict[str, Cost]()
        for found in connection.execute(f"SELECT {COLUMNS} FROM entries WHERE seq > ? ORDER BY seq", (base,)):
            entry = Entry.of(found)
            own = owns.get(entry.analyst) or _spent(connection, entry.analyst, base)
            if not entry.follows(last, own, start=self._start):
                raise damaged(1 if last is None else last.seq + 1)
            owns[entry.analyst], last = entry.own, entry


def _spent(connection: sqlite3.Connection, analyst: str, until: int) -> Cost:
    """What the analyst had spent once entry number ``until`` was written."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM entries WHERE analyst = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", (analyst, until)
    ).fetchone()
    return FREE if row is None else Entry.of(row).own
