"""Work in other threads: statements that Ctrl-C cancels, and the opening of a session."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from dpsql.dbapi.pep249 import with_dpsql_errors
from dpsql.errors import Error

if TYPE_CHECKING:
    from dpsql.schema import Schema
    from dpsql.session import Session

T = TypeVar("T")
#: How often a waiting terminal looks, in seconds.
_GLANCE: Final = 0.05


def interruptibly(action: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Run an action in another thread and return its value;
    Ctrl-C calls ``interrupt`` until the action ends.

    Python delivers Ctrl-C to the main thread alone, so the action runs in another one.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(with_dpsql_errors(action))
        except Error as error:
            future.set_exception(error)

    threading.Thread(target=run, name="dpsql statement", daemon=True).start()
    is_interrupted = False
    while True:
        try:
            if is_interrupted:
                interrupt()
            return future.result(_GLANCE)
        except TimeoutError:
            continue
        except KeyboardInterrupt:
            is_interrupted = True


def opened(schema: Schema | Path, analyst: str, epsilon: Fraction | None) -> Session:
    """A session whose statements cost ``epsilon``, or what the schema says."""
    from dpsql.session import open_session

    session = open_session(schema, analyst)
    try:
        session.epsilon = epsilon
    except Error:
        session.close()
        raise
    return session


class BackgroundSession:
    """A session that opens in the background; ``failed`` is called there if it cannot be opened."""

    def __init__(self, schema: Schema, analyst: str, epsilon: Fraction | None) -> None:
        self._wanted = schema, analyst, epsilon
        self._found: Session | None = None
        self.error: Error | None = None
        self.failed: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._open, name="dpsql opening", daemon=True)

    def start(self) -> None:
        """Start to open the session."""
        self._thread.start()

    def _open(self) -> None:
        try:
            self._found = with_dpsql_errors(lambda: opened(*self._wanted))
        except Error as error:
            self.error = error
            self.failed()

    @property
    def ready(self) -> Session | None:
        """The session if it is open, else None."""
        return self._found

    def session(self) -> Session:
        """Wait for the session; raises the error if it could not be opened."""
        self._thread.join()
        if self.error is not None:
            raise self.error
        assert self._found is not None
        return self._found

    def close(self) -> None:
        """Close the session, if it ever opened."""
        self._thread.join()
        if self._found is not None:
            self._found.close()
