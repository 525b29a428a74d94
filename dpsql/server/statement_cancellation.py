"""Cancels the running statement: on another connection's request, at a timeout,
or at the server's end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsql.errors import Error, QueryCancelled
from dpsql.errors.deadline import Deadline, within
from dpsql.server.protocol.error_response import WireError

_BY_USER = "canceling statement due to user request"
_BY_CLOCK = "canceling statement due to statement timeout"
_BY_END = "terminating connection due to administrator command"
#: Seconds between interrupts: one that comes between two parts of a statement ends neither.
AGAIN = 0.05


class StatementCancellation:
    """The cancellation of one connection's statements;
    a request between statements has no effect, as in PostgreSQL.
    """

    def __init__(self, *interrupts: Callable[[], None]) -> None:
        self._interrupts = interrupts
        self._lock = threading.Lock()
        self._running: tuple[Deadline, threading.Event] | None = None
        self._reason = ""

    @contextmanager
    def running(self, timeout: float | None) -> Iterator[None]:
        """Run a statement inside the block, at most for ``timeout`` seconds."""
        deadline = Deadline()
        over = threading.Event()
        with self._lock:
            self._running = (deadline, over)
            self._reason = ""
        clock = None if timeout is None else threading.Timer(timeout, self._cancel, [_BY_CLOCK])
        if clock is not None:
            clock.daemon = True
            clock.start()
        try:
            with within(deadline):
                yield
        finally:
            if clock is not None:
                clock.cancel()
            over.set()
            with self._lock:
                self._running = None

    def cancel(self) -> None:
        """Cancel the statement at its user's request; any thread may call it."""
        self._cancel(_BY_USER)

    def end(self) -> None:
        """Cancel the statement because the server ends."""
        self._cancel(_BY_END)

    def check(self) -> None:
        """Raise an error (57014) if the statement was cancelled."""
        if self._reason:
            raise WireError("57014", self._reason)

    def client_error(self, error: Error) -> Error:
        """The error or, if the statement was cancelled, PostgreSQL's words for that."""
        return (
            WireError("57014", self._reason)
            if error.sqlstate == QueryCancelled.sqlstate and self._reason
            else error
        )

    def _cancel(self, reason: str) -> None:
        with self._lock:
            if self._running is None or self._reason:
                return
            self._reason = reason
            deadline, over = self._running
            deadline.end()
        threading.Thread(
            target=self._insist, args=(over,), name="dpsql cancel", daemon=True
        ).start()

    def _insist(self, over: threading.Event) -> None:
        """Interrupt the statement repeatedly until it ends, and nothing after it."""
        while True:
            with self._lock:
                if over.is_set():
                    return
                for interrupt in self._interrupts:
                    interrupt()
            over.wait(AGAIN)
