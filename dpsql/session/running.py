"""A piece of work of a session while it runs, which another thread may end.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsql.errors import DatabaseError, QueryCancelled
from dpsql.shell import Shell, Shells

#: Seconds between interrupts: an engine forgets one that comes just before its query begins.
AGAIN = 0.05


class Running:
    """One piece of work of an analyst; `interrupt` may come from any thread, and at any time."""

    def __init__(self, shells: Shells, analyst: str) -> None:
        self._shells, self._analyst = shells, analyst
        self._lock, self._over = threading.Lock(), threading.Event()
        self._interrupts: list[Callable[[], None]] = []
        self.cancelled = False

    @contextmanager
    def on(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While this lasts ``interrupt`` ends the work; QueryCancelled where it was ended before."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)

    @contextmanager
    def sandbox(self) -> Iterator[Shell]:
        """A sandbox for a part of the work."""
        with self._shells.lease(self._analyst, self.check) as shell, self.on(shell.interrupt):
            yield shell

    def check(self) -> None:
        """Raise QueryCancelled where the work was ended."""
        if self.cancelled:
            raise QueryCancelled

    def interrupt(self) -> None:
        """End the work, wherever it is; without effect where it is over."""
        if self.cancelled or self._over.is_set():
            return
        self.cancelled = True
        threading.Thread(target=self._insist, name="dpsql interrupt", daemon=True).start()

    def end(self) -> None:
        """The work is over: nothing interrupts any more."""
        self._over.set()

    def _insist(self) -> None:
        while not self._over.is_set():
            with self._lock:
                for interrupt in self._interrupts:
                    interrupt()
            self._over.wait(AGAIN)


class Turns:
    """The pieces of work of one session, one at a time; `interrupt` may come from any thread."""

    def __init__(self, shells: Shells, analyst: str) -> None:
        self._shells, self._analyst = shells, analyst
        self._running: Running | None = None

    @contextmanager
    def turn(self) -> Iterator[Running]:
        """One piece of work; QueryCancelled where it was ended, whatever it was ended in."""
        running = self._running = Running(self._shells, self._analyst)
        try:
            yield running
        except DatabaseError:
            running.check()
            raise
        finally:
            self._running = None
            running.end()
        running.check()

    @contextmanager
    def sandbox(self) -> Iterator[Shell]:
        """A sandbox, for one piece of work that is done in it alone."""
        with self.turn() as running, running.sandbox() as shell:
            yield shell

    def interrupt(self) -> None:
        """End the piece of work that runs now, if there is one."""
        running = self._running
        if running is not None:
            running.interrupt()
