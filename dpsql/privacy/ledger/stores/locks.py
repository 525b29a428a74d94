"""How threads and processes take turns at a ledger, with waits that end.

No connection or lock crosses a fork.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar
from weakref import WeakSet

from dpsql.errors import LedgerError
from dpsql.errors.deadline import Patience, taken
from dpsql.privacy.ledger.stores.store import PATIENCE

T = TypeVar("T")

#: Seconds for which others may take their turn.
PAUSE = 0.001


def given_up(reason: str) -> LedgerError:
    """The error of a wait that is over."""
    return LedgerError(f"the ledger cannot be used: {reason}; nothing is released")


@contextmanager
def alone(lock: threading.Lock, patience: Patience) -> Iterator[None]:
    """One thread at a time."""
    if not taken(lock, patience.is_over):
        raise given_up("another statement waits for it")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def once_free(lock: threading.Lock, attempt: Callable[[], T]) -> Iterator[T]:
    """One thread at a time, with what the attempt gives once no other process holds the file.

    SQLite waits for a moment in each attempt; in between another thread has its turn,
    which may need no lock.
    """
    patience = Patience(PATIENCE)
    while True:
        with alone(lock, patience):
            result = _unless_busy(attempt, patience)
            if result is not None:
                yield result
                return
        time.sleep(PAUSE)


def commit(connection: sqlite3.Connection) -> None:
    """COMMIT, once all who read the file have read: nobody begins to meanwhile."""
    patience = Patience(PATIENCE)
    while _unless_busy(lambda: connection.execute("COMMIT"), patience) is None:
        time.sleep(PAUSE)


def _unless_busy(attempt: Callable[[], T], patience: Patience) -> T | None:
    try:
        return attempt()
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith("SQLITE_BUSY") or patience.is_over():
            raise
        return None


class ForkGuarded(Protocol):
    """Something with a connection that one thread uses at a time, under its lock."""

    lock: threading.Lock

    def disconnect(self) -> None:
        """Let go of the connection; the lock is held."""
        ...


_FORKING = threading.Lock()
_WATCHED: WeakSet[ForkGuarded] = WeakSet()
_HELD: list[ForkGuarded] = []


def watch(store: ForkGuarded) -> None:
    """Let go of the store's connection whenever the process forks."""
    with _FORKING:
        _WATCHED.add(store)


def _before_fork() -> None:
    _FORKING.acquire()
    _HELD.extend(_WATCHED)
    for store in _HELD:
        store.lock.acquire()
        store.disconnect()


def _after_fork() -> None:
    for store in _HELD:
        store.lock.release()
    _HELD.clear()
    _FORKING.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
