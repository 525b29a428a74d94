"""A connection to PostgreSQL whose waits end with the patience of the ledger, whatever the server does.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import waiting
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict

from dpsql.errors.deadline import GLANCE, Patience
from dpsql.privacy.ledger.stores.store import PATIENCE
from dpsql.privacy.ledger.stores.waiting import given_up

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
    """A connection that is closed as soon as a wait is given up or interrupted: what it was asked for stays unknown."""

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
    """A connection to the server at the address; psycopg.Error where it cannot be made, LedgerError where it takes too
    long."""
    settings = {**_SETTINGS, **conninfo_to_dict(address), "client_encoding": "UTF8"}
    made: Future[LedgerConnection] = Future()

    def connect() -> None:
        try:
            made.set_result(LedgerConnection.connect(autocommit=True, prepare_threshold=None, **settings))
        except BaseException as error:
            made.set_exception(error)

    threading.Thread(target=connect, name="dpsql ledger", daemon=True).start()
    try:
        connection = _awaited(made, patience)
        connection.patience = patience
        with suppress(psycopg.Error):
            connection.execute(_LOOKS)
        return connection
    except BaseException:
        made.add_done_callback(_close)
        raise


def _awaited(made: Future[LedgerConnection], patience: Patience) -> LedgerConnection:
    while True:
        try:
            return made.result(GLANCE)
        except TimeoutError:
            if patience.is_over():
                raise given_up(_UNHEARD) from None


def _close(made: Future[LedgerConnection]) -> None:
    with suppress(Exception):
        made.result().close()


def _watched(gen: PQGen[T], patience: Patience | None) -> Generator[Any, Any, T]:
    """What psycopg waits for, until the patience is over: it is asked again whenever nothing comes for a glance."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            while not ready:
                patience = patience or Patience(PATIENCE)
                if patience.is_over():
                    raise given_up(_UNHEARD)
                ready = yield wanted
            wanted = gen.send(ready)
    except StopIteration as end:
        value: T = end.value
        return value
