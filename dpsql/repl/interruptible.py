"""Work that Ctrl-C ends without ending the terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from dpsql.dbapi.boundary import said_by
from dpsql.errors import Error

T = TypeVar("T")
#: How often a waiting terminal looks, in seconds.
_GLANCE: Final = 0.05


def interruptibly(action: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """The action's value; Ctrl-C calls ``interrupt`` until the action ends, with its error.

    The action runs beside the main thread, which alone hears of Ctrl-C.
    """
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(said_by(action))
        except Error as error:
            found.set_exception(error)

    threading.Thread(target=run, name="dpsql statement", daemon=True).start()
    wanted = False
    while True:
        try:
            if wanted:
                interrupt()
            return found.result(_GLANCE)
        except TimeoutError:
            continue
        except KeyboardInterrupt:
            wanted = True
