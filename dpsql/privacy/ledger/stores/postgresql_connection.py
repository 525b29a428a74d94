"""A connection to PostgreSQL: its waits end with the patience of the ledger,
and its errors have words of dpsql's.

The words name no address, role or database, because analysts read them too.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import waiting
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict

from dpsql.errors.deadline import GLANCE, Patience
from dpsql.privacy.ledger.stores.locks import given_up
from dpsql.privacy.ledger.stores.store import PATIENCE, TableRows

#: What PostgreSQL says by SQLSTATE, or by its first two letters.
_BY_STATE = {
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

_PASSWORD = "libpq reads the password from PGPASSWORD or ~/.pgpass"

#: What a server says in English before it lets anybody in, where libpq keeps no SQLSTATE.
_BY_MESSAGE = {
    r'database ".+" does not exist': "the address names a database that the server does not have; make it with "
    "`createdb` and its name",
    r'role ".+" does not exist': "the address names a role that the server does not have; make it with `createuser` "
    "and its name, or name another: postgresql://user@host/database",
    r'role ".+" is not permitted to log in': "the role may not log in; ALTER ROLE … LOGIN lets it",
    r"password authentication failed": f"the server does not take the role's password; {_PASSWORD}",
    r"no password supplied": f"the server wants a password and has got none; {_PASSWORD}",
    r'permission denied for database ".+"': "the role may not connect to the database; GRANT CONNECT lets it",
    r"no pg_hba\.conf entry|pg_hba\.conf rejects": "the server does not let this role in from this machine; its "
    "pg_hba.conf says who may come from where",
    r'database ".+" is not currently accepting': "the database accepts no connections",
    r"too many (?:connections|clients)|connection slots": "the server has too many connections",
    r"the database system is ": "the server is starting or stopping",
    r"FATAL: ": "the server does not let dpsql in",
}


def reason(state: str | None, message: str) -> str:
    """Why a server cannot be used, by its SQLSTATE or, without one, by the error message.

    >>> reason(None, 'connection failed: FATAL:  database "budgets" does not exist')
    'the address names a database that the server does not have; make it with `createdb` and its name'
    >>> reason("25006", ""), reason("XX000", ""), reason(None, "Connection refused")
    ('it is read-only', 'it cannot be read', 'the server cannot be reached')
    """
    if state:
        return _BY_STATE.get(state) or _BY_STATE.get(state[:2]) or "it cannot be read"
    for pattern, sentence in _BY_MESSAGE.items():
        if re.search(pattern, message) is not None:
            return sentence
    return "the server cannot be reached"


T = TypeVar("T")

#: What an address may say otherwise: a server that does not answer is given up in the end.
_SETTINGS: dict[str, Any] = {
    "application_name": "dpsql ledger",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": int(PATIENCE * 1000),
}
#: A server that has this looks so often, in ms, whether who waits for a lock is still there.
_LOOKS = "SET client_connection_check_interval = 1000"
_UNHEARD = "the server does not answer"


class LedgerConnection(psycopg.Connection[Any]):
    """A connection that is closed as soon as a wait is given up or interrupted:
    what it was asked for stays unknown.
    """

    #: Of what is waited for now; None for the ledger's own.
    patience: Patience | None = None

    def wait(self, gen: PQGen[T], interval: float = GLANCE, timeout: float | None = None) -> T:
        try:
            return waiting.wait(_watched(gen, self.patience), self.pgconn.socket, GLANCE, timeout)
        except psycopg.Error:
            raise
        except BaseException:
            self.pgconn.finish()  # at once; psycopg would wait for what was asked to end
            raise


def connected(address: str, patience: Patience) -> LedgerConnection:
    """A connection to the server at the address.

    Raises psycopg.Error if it cannot be made, LedgerError if it takes too long.
    """
    settings = {**_SETTINGS, **conninfo_to_dict(address), "client_encoding": "UTF8"}
    future: Future[LedgerConnection] = Future()

    def connect() -> None:
        try:
            future.set_result(
                LedgerConnection.connect(autocommit=True, prepare_threshold=None, **settings)
            )
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=connect, name="dpsql ledger", daemon=True).start()
    try:
        connection = _awaited(future, patience)
        connection.patience = patience
        with suppress(psycopg.Error):
            connection.execute(_LOOKS)
        return connection
    except BaseException:
        future.add_done_callback(_close)
        raise


def _awaited(future: Future[LedgerConnection], patience: Patience) -> LedgerConnection:
    while True:
        try:
            return future.result(GLANCE)
        except TimeoutError:
            if patience.is_over():
                raise given_up(_UNHEARD) from None


def _close(future: Future[LedgerConnection]) -> None:
    with suppress(Exception):
        future.result().close()


def _watched(gen: PQGen[T], patience: Patience | None) -> Generator[Any, Any, T]:
    """What psycopg waits for, until the patience is over:
    it is asked again whenever nothing comes for a glance.
    """
    try:
        awaited = next(gen)
        while True:
            ready = yield awaited
            while not ready:
                patience = patience or Patience(PATIENCE)
                if patience.is_over():
                    raise given_up(_UNHEARD)
                ready = yield awaited
            awaited = gen.send(ready)
    except StopIteration as end:
        value: T = end.value
        return value


class ServerTables:
    """Runs SQL with ``?`` for parameters over a connection of psycopg,
    in a transaction that began at a moment.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        pipeline: psycopg.Pipeline | None,
        milliseconds: int = 0,
    ) -> None:
        self._connection = connection
        self._pipeline = pipeline
        self._sent = False
        self.milliseconds = milliseconds

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> TableRows:
        """The rows of a statement, with ``?`` for each parameter."""
        self._sent = True
        if not parameters:
            return _ServerRows(self, self._connection.execute(sql.encode()))
        return _ServerRows(
            self, self._connection.execute(sql.replace("?", "%s").encode(), parameters)
        )

    def settle(self) -> None:
        """Wait for all answers; the server then knows that it waits for us,
        and for how long it should.
        """
        if self._pipeline is not None and self._sent:
            self._pipeline.sync()
        self._sent = False


class _ServerRows:
    """The rows of a statement, which are waited for when they are asked for."""

    def __init__(self, tables: ServerTables, cursor: psycopg.Cursor[Any]) -> None:
        self._tables = tables
        self._cursor = cursor

    def fetchone(self) -> Any:
        self._tables.settle()
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        self._tables.settle()
        return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


def pipelined(
    connection: psycopg.Connection[Any],
) -> AbstractContextManager[psycopg.Pipeline | None]:
    """Statements are sent without waiting for one another, where libpq can."""
    return connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext()
