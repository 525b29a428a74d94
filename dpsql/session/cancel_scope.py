"""Cancel scopes: one statement of a session while it runs, which another thread may cancel.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
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


class CancelScope:
    """One statement of an analyst while it runs. Any thread may call `interrupt`, at any time."""

    def __init__(self, postprocessors: PostProcessors, analyst: str) -> None:
        self._postprocessors = postprocessors
        self._analyst = analyst
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._interrupts: list[Callable[[], None]] = []
        self._deadline = Deadline()
        self.cancelled = False

    @contextmanager
    def on(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call ``interrupt`` if the scope is cancelled inside the block;
        raises QueryCancelled if it already is.
        """
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
        """A sandbox for the length of the block."""
        with (
            self._postprocessors.lease(self._analyst, self.check) as postprocessor,
            self.on(postprocessor.interrupt),
        ):
            yield postprocessor

    @contextmanager
    def reading(self, *, derives: bool = False) -> Iterator[PostProcessor | None]:
        """A place among the statements that read private rows;
        with a sandbox for what is derived between stages.
        """
        with (
            self._postprocessors.reading(self._analyst, self.check, derives=derives) as deriver,
            nullcontext() if deriver is None else self.on(deriver.interrupt),
        ):
            yield deriver

    def check(self) -> None:
        """Raise QueryCancelled if the scope was cancelled."""
        if self.cancelled or self._deadline.is_over():
            raise QueryCancelled

    def interrupt(self) -> None:
        """Cancel the scope; without effect once it has ended."""
        if self.cancelled or self._over.is_set():
            return
        self.cancelled = True
        self._deadline.end()
        threading.Thread(target=self._insist, name="dpsql interrupt", daemon=True).start()

    def end(self) -> None:
        """Mark the scope as ended: later interrupts have no effect."""
        self._over.set()

    def waiting(self) -> AbstractContextManager[None]:
        """Inside the block, cancelling the scope also ends every wait of this thread."""
        return within(self._deadline)

    def _insist(self) -> None:
        while not self._over.is_set():
            with self._lock:
                for interrupt in self._interrupts:
                    interrupt()
            self._over.wait(AGAIN)


class CancelScopes:
    """The scopes of one session, one for each thread. Any thread may call `interrupt`."""

    def __init__(self, postprocessors: PostProcessors, analyst: str) -> None:
        self._postprocessors = postprocessors
        self._analyst = analyst
        self._open: dict[int, CancelScope] = {}

    @contextmanager
    def scope(self) -> Iterator[CancelScope]:
        """Open a cancel scope; raises QueryCancelled if it was cancelled,
        whatever error the cancelled part raised.

        A scope inside a scope of the same thread is the same scope.
        """
        thread = threading.get_ident()
        if thread in self._open:
            yield self._open[thread]
            return
        scope = self._open[thread] = CancelScope(self._postprocessors, self._analyst)
        try:
            with scope.waiting():
                yield scope
        except DatabaseError:
            scope.check()
            raise
        finally:
            del self._open[thread]
            scope.end()
        scope.check()

    @contextmanager
    def sandbox(self) -> Iterator[PostProcessor]:
        """A sandbox in a scope of its own, or in the one that is open."""
        with self.scope() as scope, scope.sandbox() as postprocessor:
            yield postprocessor

    def interrupt(self) -> None:
        """Cancel every scope that is open now."""
        for scope in list(self._open.values()):
            scope.interrupt()


class _Interruptible(Protocol):
    """An object whose methods run in cancel scopes."""

    _scopes: CancelScopes


def cancellable(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run the method in one cancel scope, so that one interrupt ends all of it."""

    @wraps(method)
    def scoped(self: S, /, *values: P.args, **named: P.kwargs) -> T:
        with self._scopes.scope():
            return method(self, *values, **named)

    return scoped
