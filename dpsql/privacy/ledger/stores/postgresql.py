"""A ledger in a PostgreSQL database, for databases that several machines serve.

``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dpsql.errors import LedgerError
from dpsql.errors.deadline import Patience
from dpsql.privacy.ledger.stores.layout import NAMED_RELEASES
from dpsql.privacy.ledger.stores.locks import alone, watch
from dpsql.privacy.ledger.stores.store import PATIENCE, LedgerLocation, LedgerTables, WriteStatement

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    from dpsql.privacy.ledger.stores.postgresql_connection import (
        LedgerConnection,
        ServerTables,
        connected,
        pipelined,
        reason,
    )
except ImportError:
    raise LedgerError(
        'a ledger on PostgreSQL needs the driver psycopg; pip install "dpsql[postgresql]"; nothing is released'
    ) from None

#: What psycopg logs of a connection that was lost is raised as well;
#: a terminal need not show it #: twice.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

#: The PostgreSQL schema of the tables where the address does not name one with ``?schema=…``.
NAMESPACE = "dpsql_ledger"

#: Taken while the tables are made, so that of several creators one is first.
_CREATING = 0x6470_7371_6C

_TABLES = (
    """
    CREATE TABLE meta (
      dataset text NOT NULL, unit text NOT NULL, version integer NOT NULL,
      id text, neighbours text, began integer, is_backup integer
    )
    """,
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
    NAMED_RELEASES,
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

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

#: Whoever writes has this lock until COMMIT, waits for the disk,
#: and is ended where its process #: stops in between.
_LOCK = f"""
    SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
    SET LOCAL lock_timeout = {{milliseconds}};
    SET LOCAL idle_in_transaction_session_timeout = {int(PATIENCE * 1000)};
    LOCK TABLE head IN EXCLUSIVE MODE;
"""

#: The moment at which this is read, behind the lock,
#: and not the one at which the transaction began #: to wait for it.
_NOW = "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: How PostgreSQL must run for COMMIT to mean that an entry is on the disk,
#: and for text to come #: back as it was.
_WANTED = {
    "fsync": ("on", "it runs without fsync, so that a crash could lose what was charged"),
    "full_page_writes": (
        "on",
        "it runs without full_page_writes, so that a crash could damage what was charged",
    ),
    "server_encoding": ("UTF8", "its encoding is not UTF8"),
}


class LedgerServer:
    """The tables in one schema of a PostgreSQL database,
    over one connection that is made when it is needed.

    The address is ``postgresql://user@host:port/database?schema=NAME``; the rest of it, and what it
    leaves out, is libpq's. LedgerError for one that cannot be read.
    """

    def __init__(self, address: str) -> None:
        self._address, self._namespace = _parts(address)
        self.lock = threading.Lock()
        self._connection: LedgerConnection | None = None
        self._process = -1
        watch(self)

    @property
    def location(self) -> str:
        """The address with its user and schema, without the password."""
        parts = urlsplit(self._address)
        user = f"{parts.username}@" if parts.username else ""
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(
            (parts.scheme, user + host, parts.path, urlencode({"schema": self._namespace}), "")
        )

    def whereabouts(self) -> LedgerLocation:
        return LedgerLocation(self.location, None)

    def exists(self) -> bool:
        """Whether the schema has the tables."""
        with self._making() as tables:
            return self._is_made(tables)

    def create(self, facts: Iterable[WriteStatement]) -> bool:
        """Make the tables with these facts in one transaction; tables that exist stay unchanged."""
        with self._making() as tables:
            if self._is_made(tables):
                return False
            tables.execute("SELECT pg_advisory_xact_lock(?)", (_CREATING,))
            if self._is_made(tables):
                return False
            schemas = tables.execute(
                "SELECT FROM pg_namespace WHERE nspname = ?", (self._namespace,)
            )
            if schemas.fetchone() is None:
                tables.execute(f'CREATE SCHEMA "{self._namespace}"')
            tables.execute(self._search_path_statement())
            for sql, parameters in chain(((table, ()) for table in _TABLES), facts):
                tables.execute(sql, parameters)
            return True

    def require_whole(self, tables: LedgerTables, /) -> None:
        """The server sees to it."""

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[ServerTables]:
        """A transaction: it reads and writes at one moment, and is durable after a clean exit.

        One that writes holds the lock of ``head``, so that each of its statements sees all that was
        committed before; the server ends it if the process stops in its midst. Statements are sent
        without waiting for earlier answers; asking for an answer waits.
        """
        patience = Patience(PATIENCE)
        with alone(self.lock, patience), _ledger_errors():
            lock = _LOCK.format(milliseconds=max(1, int(patience.left * 1000))) if write else ""
            begin = f"{_WRITE if write else _READ}; {self._search_path_statement()}; {lock}{_NOW}"
            connection, milliseconds = self._begun(begin, patience)
            with self._commit_or_rollback(connection) as pipeline:
                yield ServerTables(connection, pipeline, milliseconds)

    def now(self, tables: LedgerTables, /) -> datetime:
        """The server's clock, so that machines whose clocks differ agree on one."""
        assert isinstance(tables, ServerTables)
        try:
            return _EPOCH + timedelta(milliseconds=tables.milliseconds)
        except OverflowError as error:
            raise LedgerError(
                "the server's clock shows no year from 1 to 9999; nothing is released"
            ) from error

    def close(self) -> None:
        with self.lock:
            self.disconnect()

    def disconnect(self) -> None:
        """Let go of the connection; the lock is held."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    @contextmanager
    def _making(self) -> Iterator[ServerTables]:
        """A transaction in which the tables need not be there yet."""
        patience = Patience(PATIENCE)
        with alone(self.lock, patience), _ledger_errors():
            connection, _ = self._begun(f"{_WRITE}; {_NOW}", patience)
            with self._commit_or_rollback(connection) as pipeline:
                yield ServerTables(connection, pipeline)

    def _is_made(self, tables: ServerTables) -> bool:
        query = "SELECT count(*) FROM pg_tables WHERE schemaname = ? AND tablename = 'head'"
        return bool(tables.execute(query, (self._namespace,)).fetchone() == (1,))

    def _search_path_statement(self) -> str:
        return f'SET LOCAL search_path TO "{self._namespace}", pg_temp'

    def _begun(self, begin: str, patience: Patience) -> tuple[LedgerConnection, int]:
        """The connection, once this has begun its transaction, and the clock;
        one that has ended is made anew.
        """
        if self._connection is not None and self._process != os.getpid():
            raise LedgerError(
                "the process was forked where Python could not see it; open the ledger again"
            )
        while True:
            fresh = self._connection is None
            connection = self._connection = self._connection or self._connected(patience)
            connection.patience = patience
            try:
                begun = connection.execute(begin.encode())
                while begun.nextset():
                    pass
                connection.patience = None
                return connection, int(begun.fetchall()[0][0])
            except BaseException as error:
                ended = isinstance(error, psycopg.OperationalError) and connection.closed
                self.disconnect()
                if fresh or not ended:
                    raise

    def _connected(self, patience: Patience) -> LedgerConnection:
        connection = connected(self._address, patience)
        try:
            for setting, (required, reason) in _WANTED.items():
                if connection.execute("SELECT current_setting(%s)", (setting,)).fetchone() != (
                    required,
                ):
                    raise LedgerError(
                        f"the ledger's server cannot be used: {reason}; nothing is released"
                    )
        except BaseException:
            connection.close()
            raise
        self._process = os.getpid()
        return connection

    @contextmanager
    def _commit_or_rollback(
        self, connection: psycopg.Connection[Any]
    ) -> Iterator[psycopg.Pipeline | None]:
        """Commits what happened inside, or takes it back;
        a connection that can do neither is let go.
        """
        try:
            with pipelined(connection) as pipeline:
                yield pipeline
                committed = connection.execute("COMMIT")
            if committed.statusmessage != "COMMIT":
                raise LedgerError("the ledger took an entry back; nothing is released")
        except BaseException:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                self.disconnect()
            raise


def _parts(address: str) -> tuple[str, str]:
    """libpq's part of an address, and the PostgreSQL schema of the tables."""
    try:
        parts = urlsplit(address)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        named = [value for key, value in options if key == "schema"] or [NAMESPACE]
        others = urlencode([option for option in options if option[0] != "schema"])
        rest = urlunsplit(("postgresql", parts.netloc, parts.path, others, ""))
        conninfo_to_dict(rest)
    except (ValueError, psycopg.Error) as error:
        raise LedgerError(
            "the ledger's address cannot be read; write postgresql://user@host/database"
        ) from error
    if parts.scheme not in ("postgresql", "postgres"):
        raise LedgerError("a ledger is a file, or lies at postgresql://user@host/database")
    if len(named) > 1 or not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", named[0]):
        raise LedgerError(
            "the schema of a ledger's address is one name of small letters, digits and underscores"
        )
    return rest, named[0]


@contextmanager
def _ledger_errors() -> Iterator[None]:
    """PostgreSQL's errors as a LedgerError in our words, without an address."""
    try:
        yield
    except psycopg.Error as error:
        message = reason(error.sqlstate, str(error))
        raise LedgerError(f"the ledger cannot be used: {message}; nothing is released") from error
