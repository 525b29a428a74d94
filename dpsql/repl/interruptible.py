"""Work that Ctrl-C ends without ending the terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from dpsql.dbapi.boundary import said_by
from dpsql.errors import Error

T = TypeVar("T")
#: How often a waiting terminal looks, in seconds; Ctrl-C is noticed at once, this bounds how soon it is passed on again.
_GLANCE = 0.05


class _Work(Generic[T]):
    """An action in a thread of its own, and what came of it."""

    def __init__(self, action: Callable[[], T]) -> None:
        self._action = action
        self.found: list[T] = []
        self.error: Error | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.found.append(said_by(self._action))
        except Error as error:
            self.error = error


def interruptibly(action: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """The action's value; Ctrl-C calls ``interrupt`` until the action ends, with its error.

    The action runs beside the main thread, which alone hears of Ctrl-C.
    """
    work, wanted = _Work(action), False
    work.thread.start()
    while work.thread.is_alive():
        try:
            if wanted:
                interrupt()
            work.thread.join(_GLANCE)
        except KeyboardInterrupt:
            wanted = True
    if work.error is not None:
        raise work.error
    return work.found[0]
