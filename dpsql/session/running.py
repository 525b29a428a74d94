"""A statement while it runs, which another thread may end.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsql.errors import QueryCancelled

#: Seconds between interrupts: an engine forgets one that comes just before its query begins.
AGAIN = 0.05


class Running:
    """One statement of a session; `interrupt` may come from any thread, and at any time."""

    def __init__(self) -> None:
        self._lock, self._over = threading.Lock(), threading.Event()
        self._interrupts: list[Callable[[], None]] = []
        self.cancelled = False

    @contextmanager
    def on(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While this lasts ``interrupt`` ends the statement; QueryCancelled where it was ended before."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)

    def check(self) -> None:
        """Raise QueryCancelled where the statement was ended."""
        if self.cancelled:
            raise QueryCancelled

    def interrupt(self) -> None:
        """End the statement, wherever it is; without effect where it is over."""
        if self.cancelled or self._over.is_set():
            return
        self.cancelled = True
        threading.Thread(target=self._insist, name="dpsql interrupt", daemon=True).start()

    def end(self) -> None:
        """The statement is over: nothing interrupts any more."""
        self._over.set()

    def _insist(self) -> None:
        while not self._over.is_set():
            with self._lock:
                for interrupt in self._interrupts:
                    interrupt()
            self._over.wait(AGAIN)
