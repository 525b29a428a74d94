"""Waiting for a ledger that another thread or process holds: for its patience in all, and not once somebody ended it.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dpsql.deadline import Patience, taken
from dpsql.errors import LedgerError
from dpsql.privacy.ledger.store import PATIENCE

T = TypeVar("T")


def given_up(reason: str) -> LedgerError:
    """The error of a wait that is over."""
    return LedgerError(f"the ledger cannot be used: {reason}; nothing is released")


@contextmanager
def alone(lock: threading.Lock) -> Iterator[Patience]:
    """One thread at a time, with what is left of its patience once its turn has come."""
    patience = Patience(PATIENCE)
    if not taken(lock, patience.is_over):
        raise given_up("another statement waits for it")
    try:
        yield patience
    finally:
        lock.release()


def once_free(attempt: Callable[[], T], patience: Patience) -> T:
    """What the attempt gives, once no other process holds the file; SQLite waits for a moment in each."""
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or patience.is_over():
                raise
