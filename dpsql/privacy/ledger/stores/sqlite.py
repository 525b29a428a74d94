"""The SQLite file under a ledger, kept whole across threads, processes and forks.

``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from dpsql.errors import LedgerError
from dpsql.errors.deadline import GLANCE
from dpsql.privacy.ledger.stores.layout import NAMED_RELEASES
from dpsql.privacy.ledger.stores.locks import commit, once_free, watch
from dpsql.privacy.ledger.stores.store import LedgerLocation, LedgerTables, WriteStatement

_TABLES = (
    """
    CREATE TABLE meta (
      dataset TEXT NOT NULL, unit TEXT NOT NULL, version INTEGER NOT NULL,
      id TEXT, neighbours TEXT, began INTEGER, is_backup INTEGER
    )
    """,
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
    """
    CREATE TABLE answers (
      number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, entry INTEGER NOT NULL,
      answer BLOB NOT NULL, digest TEXT NOT NULL
    )
    """,
    NAMED_RELEASES,
    "CREATE INDEX entries_of_analyst ON entries (analyst, seq)",
    "CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay'); END",
    "CREATE TRIGGER entries_are_fixed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are fixed'); END",
)

#: What SQLite says of a file that cannot be used, in our words.
_REASONS = {
    "SQLITE_BUSY": "another process holds it",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_NOTADB": "the file is not a ledger",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_CANTOPEN": "the file cannot be opened",
    "SQLITE_IOERR": "the disk fails",
}


class LedgerFile:
    """One SQLite file, written durably by one thread of a process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = -1
        self._identity: tuple[int, int] | None = None
        watch(self)

    @property
    def location(self) -> str:
        return str(self.path)

    def whereabouts(self) -> LedgerLocation:
        """The path with its links followed, and the file that has it now."""
        try:
            path = str(self.path.parent.resolve() / self.path.name)
        except (OSError, RuntimeError) as error:
            raise LedgerError(
                "the folder of the ledger cannot be found; nothing is released"
            ) from error
        return LedgerLocation(path, _identity(self.path) if self.exists() else None)

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def create(self, facts: Iterable[WriteStatement]) -> bool:
        """Make the file with these facts in one step; a file that is already there stays."""
        if self.exists():
            return False
        script = chain(((table, ()) for table in _TABLES), facts)
        try:
            handle, draft = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
            os.close(handle)
            try:
                with _ledger_errors():
                    self._draft(draft, script)
                created = _link(draft, self.path)
            finally:
                Path(draft).unlink()
            _sync(self.path.parent)
            return created
        except OSError as error:
            raise LedgerError("the ledger cannot be created; nothing is released") from error

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """A transaction: it reads and writes at one moment, and is on the disk after a clean exit."""
        with _ledger_errors(), once_free(self.lock, lambda: self._begun(write)) as connection:
            try:
                yield connection
                commit(connection)
                if write and _identity(self.path) != self._identity:
                    raise _replaced()
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def require_whole(self, tables: LedgerTables, /) -> None:
        """LedgerError where SQLite finds a damaged page."""
        if tables.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
            raise LedgerError("the ledger cannot be used: the file is damaged; nothing is released")

    def now(self, tables: LedgerTables, /) -> datetime:
        """The machine's clock."""
        try:
            return datetime.now(UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise LedgerError(
                "the machine's clock shows no year from 1 to 9999; nothing is released"
            ) from error

    def close(self) -> None:
        with self.lock:
            self.disconnect()

    @staticmethod
    def _draft(draft: str, script: Iterable[WriteStatement]) -> None:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.execute("BEGIN")
            for statement, parameters in script:
                connection.execute(statement, parameters)
            connection.execute("COMMIT")
        finally:
            connection.close()

    def _begun(self, write: bool) -> sqlite3.Connection:
        """The connection in a transaction, which has what it needs of SQLite's locks."""
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        if not write:
            try:
                connection.execute("SELECT seq FROM head").fetchall()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        return connection

    def _connected(self) -> sqlite3.Connection:
        identity = _identity(self.path)
        if self._connection is not None:
            if self._process != os.getpid():
                raise LedgerError(
                    "the process was forked where Python could not see it; open the ledger again"
                )
            if identity != self._identity:
                raise _replaced()
            return self._connection
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=GLANCE,
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
                raise LedgerError(
                    "the ledger cannot keep every charge in one file; nothing is released"
                )
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")
            if identity != _identity(self.path) or self._identity not in (None, identity):
                raise _replaced()
        except BaseException:
            connection.close()
            raise
        self._process = os.getpid()
        self._connection = connection
        self._identity = identity
        return connection

    def disconnect(self) -> None:
        """Let go of the connection; one that was inherited by a fork is left alone."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None


@contextmanager
def _ledger_errors() -> Iterator[None]:
    """SQLite's errors as a LedgerError in our words, without a path."""
    try:
        yield
    except sqlite3.Error as error:
        name = str(getattr(error, "sqlite_errorname", ""))
        reason = next(
            (text for code, text in _REASONS.items() if name.startswith(code)), "it cannot be read"
        )
        raise LedgerError(f"the ledger cannot be used: {reason}; nothing is released") from error


def _replaced() -> LedgerError:
    return LedgerError("the ledger was replaced while it was open; nothing is released")


def _identity(path: Path) -> tuple[int, int]:
    """The file's device and inode; raises LedgerError unless the path is one file with one name."""
    for _ in range(30):
        try:
            status = path.lstat()
        except OSError as error:
            raise LedgerError("the ledger is missing; nothing is released") from error
        if not stat.S_ISREG(status.st_mode):
            raise LedgerError("the ledger must be a plain file, not a link; nothing is released")
        if status.st_nlink == 1:
            return (status.st_dev, status.st_ino)
        # A ledger has two names for the moment in which another process creates it.
        time.sleep(0.01)
    raise LedgerError("the ledger file has a second name (a hard link); nothing is released")


def _link(draft: str, path: Path) -> bool:
    """Whether the draft has the name now; where another process was first, its ledger counts."""
    _sync(Path(draft))
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
