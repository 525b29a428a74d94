"""A piece of work of a session while it runs, which another thread may end.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from dpsql.errors import DatabaseError, QueryCancelled
from dpsql.errors.deadline import Deadline, within
from dpsql.postprocessing import PostProcessor, PostProcessors

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="_Interruptible")

#: Seconds between interrupts: an engine forgets one that comes just before its query begins.
AGAIN = 0.05


class Running:
    """One piece of work of an analyst; `interrupt` may come from any thread, and at any time."""

    def __init__(self, postprocessors: PostProcessors, analyst: str) -> None:
        self._postprocessors, self._analyst = postprocessors, analyst
        self._lock, self._over = threading.Lock(), threading.Event()
        self._interrupts: list[Callable[[], None]] = []
        self._deadline = Deadline()
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
    def sandbox(self) -> Iterator[PostProcessor]:
        """A sandbox for a part of the work."""
        with self._postprocessors.lease(self._analyst, self.check) as postprocessor, self.on(postprocessor.interrupt):
            yield postprocessor

    def check(self) -> None:
        """Raise QueryCancelled where the work was ended."""
        if self.cancelled or self._deadline.is_over():
            raise QueryCancelled

    def interrupt(self) -> None:
        """End the work, wherever it is; without effect where it is over."""
        if self.cancelled or self._over.is_set():
            return
        self.cancelled = True
        self._deadline.end()
        threading.Thread(target=self._insist, name="dpsql interrupt", daemon=True).start()

    def end(self) -> None:
        """The work is over: nothing interrupts any more."""
        self._over.set()

    def waiting(self) -> AbstractContextManager[None]:
        """While this lasts the thread waits for nothing any more once the work was ended."""
        return within(self._deadline)

    def _insist(self) -> None:
        while not self._over.is_set():
            with self._lock:
                for interrupt in self._interrupts:
                    interrupt()
            self._over.wait(AGAIN)


class Turns:
    """The pieces of work of one session, one at a time in a thread; `interrupt` may come from any thread."""

    def __init__(self, postprocessors: PostProcessors, analyst: str) -> None:
        self._postprocessors, self._analyst = postprocessors, analyst
        self._running: dict[int, Running] = {}

    @contextmanager
    def turn(self) -> Iterator[Running]:
        """One piece of work; QueryCancelled where it was ended, whatever it was ended in.

        A turn within a turn is a part of the same piece of work.
        """
        thread = threading.get_ident()
        if thread in self._running:
            yield self._running[thread]
            return
        running = self._running[thread] = Running(self._postprocessors, self._analyst)
        try:
            with running.waiting():
                yield running
        except DatabaseError:
            running.check()
            raise
        finally:
            del self._running[thread]
            running.end()
        running.check()

    @contextmanager
    def sandbox(self) -> Iterator[PostProcessor]:
        """A sandbox, for a part of the work that is done in it alone."""
        with self.turn() as running, running.sandbox() as postprocessor:
            yield postprocessor

    def interrupt(self) -> None:
        """End what runs now, if there is anything."""
        for running in list(self._running.values()):
            running.interrupt()


class _Interruptible(Protocol):
    """Something whose work is done in turns."""

    _turns: Turns


def in_one_turn(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The method as one piece of work, which one interrupt ends wherever it is."""

    @wraps(method)
    def turned(self: S, /, *values: P.args, **named: P.kwargs) -> T:
        with self._turns.turn():
            return method(self, *values, **named)

    return turned
