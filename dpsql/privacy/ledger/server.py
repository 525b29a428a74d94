"""A ledger in a PostgreSQL database, for databases that several machines serve. ``docs/proofs/ledger.md``."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dpsql.errors import LedgerError
from dpsql.privacy.ledger.forks import watch
from dpsql.privacy.ledger.store import PATIENCE, Found, Written

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError:
    raise LedgerError(
        'a ledger on PostgreSQL needs the driver psycopg; pip install "dpsql[postgresql]"; nothing is released'
    ) from None

#: The PostgreSQL schema of the tables where the address does not name one with ``?schema=…``.
NAMESPACE = "dpsql_ledger"

#: Taken while the tables are made, so that of several creators one is first.
_CREATING = 0x6470_7371_6C

_TABLES = (
    "CREATE TABLE meta (dataset text NOT NULL, unit text NOT NULL, version integer NOT NULL)",
    "CREATE TABLE head (seq bigint NOT NULL, digest text NOT NULL)",
    """
    CREATE TABLE entries (
      seq bigint PRIMARY KEY, previous text NOT NULL, digest text NOT NULL, at text NOT NULL,
      analyst text NOT NULL, statement text NOT NULL, cells text NOT NULL,
      epsilon text NOT NULL, rho text NOT NULL, delta text NOT NULL,
      total_epsilon text NOT NULL, total_rho text NOT NULL, total_delta text NOT NULL,
      own_epsilon text NOT NULL, own_rho text NOT NULL, own_delta text NOT NULL
    )
    """,
    """
    CREATE TABLE answers (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL UNIQUE, entry bigint NOT NULL,
      answer bytea NOT NULL, digest text NOT NULL
    )
    """,
    "CREATE INDEX entries_of_analyst ON entries (analyst, seq)",
    """
    CREATE FUNCTION entries_stay() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''entries stay as they are''; END'
    """,
    """
    CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION entries_stay()
    """,
)

#: What an address may say otherwise: a server that does not answer is given up in the end.
_SETTINGS: dict[str, Any] = {
    "application_name": "dpsql ledger",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": int(PATIENCE * 1000),
}

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

#: Whoever writes has this lock until COMMIT, waits for the disk, and is ended where its process stops in between.
_LOCK = f"""
    SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
    SET LOCAL lock_timeout = {int(PATIENCE * 1000)};
    SET LOCAL idle_in_transaction_session_timeout = {int(PATIENCE * 1000)};
    LOCK TABLE head IN EXCLUSIVE MODE
"""

#: How PostgreSQL must run for COMMIT to mean that an entry is on the disk, and for text to come back as it was.
_WANTED = {
    "fsync": ("on", "it runs without fsync, so that a crash could lose what was charged"),
    "full_page_writes": ("on", "it runs without full_page_writes, so that a crash could damage what was charged"),
    "server_encoding": ("UTF8", "its encoding is not UTF8"),
}

#: What PostgreSQL says by SQLSTATE, in our words.
_REASONS = {
    "55P03": "another process holds it",
    "25006": "it is read-only",
    "53100": "the disk is full",
    "53300": "the server has too many connections",
    "42P01": "there is no ledger in it",
    "3F000": "there is no ledger in it",
    "42501": "the server does not permit it",
    "28": "the server does not let dpsql in",
    "3D000": "there is no such database on the server",
    "57": "the server is stopping, or ended the connection",
    "25P03": "the connection was idle for too long in the midst of a charge",
}


class LedgerServer:
    """The tables in one schema of a PostgreSQL database, over one connection that is made when it is needed.

    The address is ``postgresql://user@host:port/database?schema=NAME``; the rest of it, and what it leaves out, is
    libpq's. LedgerError for one that cannot be read.
    """

    def __init__(self, address: str) -> None:
        self._address, self._namespace = _parts(address)
        self.lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._process = -1
        watch(self)

    @property
    def place(self) -> str:
        """The address with its user and schema, without the password."""
        parts = urlsplit(self._address)
        user = f"{parts.username}@" if parts.username else ""
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, user + host, parts.path, urlencode({"schema": self._namespace}), ""))

    def create(self, facts: Sequence[Written]) -> None:
        """Make the tables with these facts in them, whole or not at all; where there are some already they stay."""
        with self.lock, _said():
            connection = self._begun(_WRITE.encode())
            with self._ended(connection):
                found = "SELECT count(*) FROM pg_tables WHERE schemaname = %s AND tablename = 'head'"
                if connection.execute(found, (self._namespace,)).fetchone() == (1,):
                    return
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_CREATING,))
                if connection.execute(found, (self._namespace,)).fetchone() == (1,):
                    return
                there = connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", (self._namespace,))
                if there.fetchone() is None:
                    connection.execute(f'CREATE SCHEMA "{self._namespace}"'.encode())
                connection.execute(self._path().encode())
                tables = _Tables(connection)
                for sql, parameters in [*((table, ()) for table in _TABLES), *facts]:
                    tables.execute(sql, parameters)

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[_Tables]:
        """All that is read and written inside happens at one moment; on a clean exit it is durable.

        One that writes holds the lock of ``head``, so that each of its statements sees all that was committed before;
        the server ends it where the process stops in its midst.
        """
        begin = f"{_WRITE if write else _READ}; {self._path()}; {_LOCK if write else ''}"
        with self.lock, _said():
            connection = self._begun(begin.encode())
            with self._ended(connection):
                yield _Tables(connection)

    def close(self) -> None:
        with self.lock:
            self.disconnect()

    def disconnect(self) -> None:
        """Let go of the connection; the lock is held."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def _path(self) -> str:
        return f'SET LOCAL search_path TO "{self._namespace}", pg_temp'

    def _begun(self, begin: bytes) -> psycopg.Connection[Any]:
        """The connection, once this has begun its transaction; one that the server has ended is made anew."""
        if self._connection is not None and self._process != os.getpid():
            raise LedgerError("the process was forked where Python could not see it; open the ledger again")
        while True:
            fresh = self._connection is None
            connection = self._connection = self._connection or self._connected()
            try:
                connection.execute(begin)
                return connection
            except BaseException as error:
                ended = isinstance(error, psycopg.OperationalError) and connection.closed
                self.disconnect()
                if fresh or not ended:
                    raise

    def _connected(self) -> psycopg.Connection[Any]:
        settings = {**_SETTINGS, **conninfo_to_dict(self._address), "client_encoding": "UTF8"}
        connection = psycopg.connect(autocommit=True, prepare_threshold=None, **settings)
        try:
            for setting, (wanted, reason) in _WANTED.items():
                if connection.execute("SELECT current_setting(%s)", (setting,)).fetchone() != (wanted,):
                    raise LedgerError(f"the ledger's server cannot be used: {reason}; nothing is released")
        except BaseException:
            connection.close()
            raise
        self._process = os.getpid()
        return connection

    @contextmanager
    def _ended(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Commits what happened inside, or takes it back; a connection that can do neither is let go."""
        try:
            yield
            if connection.execute("COMMIT").statusmessage != "COMMIT":
                raise LedgerError("the ledger took an entry back; nothing is released")
        except BaseException:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                self.disconnect()
            raise


class _Tables:
    """Runs SQL with ``?`` for parameters over a connection of psycopg."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Found:
        if not parameters:
            return self._connection.execute(sql.encode())
        return self._connection.execute(sql.replace("?", "%s").encode(), parameters)


def _parts(address: str) -> tuple[str, str]:
    """libpq's part of an address, and the PostgreSQL schema of the tables."""
    try:
        parts = urlsplit(address)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        named = [value for key, value in options if key == "schema"] or [NAMESPACE]
        others = urlencode([each for each in options if each[0] != "schema"])
        rest = urlunsplit(("postgresql", parts.netloc, parts.path, others, ""))
        conninfo_to_dict(rest)
    except (ValueError, psycopg.Error) as error:
        raise LedgerError("the ledger's address cannot be read; write postgresql://user@host/database") from error
    if parts.scheme not in ("postgresql", "postgres"):
        raise LedgerError("a ledger is a file, or lies at postgresql://user@host/database")
    if len(named) > 1 or not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", named[0]):
        raise LedgerError("the schema of a ledger's address is one name of small letters, digits and underscores")
    return rest, named[0]


@contextmanager
def _said() -> Iterator[None]:
    """PostgreSQL's errors as a LedgerError in our words, without an address."""
    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        known = _REASONS.get(state) or _REASONS.get(state[:2])
        reason = known or ("it cannot be read" if state else "the server cannot be reached")
        raise LedgerError(f"the ledger cannot be used: {reason}; nothing is released") from error
