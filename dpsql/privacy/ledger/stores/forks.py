"""Connections and held locks must not cross a fork: stores are let go before it and opened again when used.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something with a connection that one thread uses at a time, under its lock."""

    lock: threading.Lock

    def disconnect(self) -> None:
        """Let go of the connection; the lock is held."""
        ...


_FORKING = threading.Lock()
_WATCHED: WeakSet[Forked] = WeakSet()
_HELD: list[Forked] = []


def watch(store: Forked) -> None:
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
