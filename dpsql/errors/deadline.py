"""How long a statement waits for what may be stuck: until somebody ends it, or its patience is over.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

#: Seconds between looks at whether a wait is over.
GLANCE: Final = 0.05


class Deadline:
    """Of one piece of work: since when somebody wants its end, and what of its patience is used up.

    Any thread may end it, and so do so many ``seconds``. A piece of work that is part of another one ends with that,
    and shares its patience.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._whole = _PRESENT.get()
        self._ended = None if seconds is None else time.monotonic() + seconds
        self._lost = 0.0

    def end(self) -> None:
        """From now on nothing is waited for any more."""
        now = time.monotonic()
        self._ended = now if self._ended is None else min(now, self._ended)

    def is_over(self, grace: float = 0.0) -> bool:
        """Whether its end was wanted at least ``grace`` seconds ago."""
        ended = self._ended is not None and time.monotonic() - self._ended >= grace
        return ended or (self._whole is not None and self._whole.is_over(grace))

    @property
    def lost(self) -> float:
        """Seconds for which it has waited in vain."""
        return self._lost if self._whole is None else self._whole.lost

    def lose(self, seconds: float) -> None:
        """It has waited in vain for so many seconds more."""
        if self._whole is None:
            self._lost += seconds
        else:
            self._whole.lose(seconds)


_PRESENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """While this lasts, what this thread waits for is waited for until that deadline."""
    before = _PRESENT.set(deadline)
    try:
        yield
    finally:
        _PRESENT.reset(before)


def is_over(grace: float = 0.0) -> bool:
    """Whether somebody has wanted the end of what this thread does for ``grace`` seconds."""
    present = _PRESENT.get()
    return present is not None and present.is_over(grace)


class Patience:
    """So many seconds for a wait; who has waited in vain before, in the same piece of work, has so many less."""

    def __init__(self, seconds: float) -> None:
        self._present, self._since = _PRESENT.get(), time.monotonic()
        self._end = self._since + seconds - (0.0 if self._present is None else self._present.lost)

    @property
    def left(self) -> float:
        """Seconds that are left; 0 where somebody has ended the piece of work."""
        if self._present is not None and self._present.is_over():
            return 0.0
        return max(0.0, self._end - time.monotonic())

    def is_over(self) -> bool:
        """Whether nothing is left; the time until now is then lost to later waits of the piece of work."""
        if self.left:
            return False
        if self._present is not None:
            self._present.lose(time.monotonic() - self._since)
        return True


def taken(lock: threading.Lock, is_over: Callable[[], bool] = is_over) -> bool:
    """Whether the lock was taken; False where the wait was over before."""
    while not lock.acquire(blocking=False):
        if lock.acquire(timeout=GLANCE):
            return True
        if is_over():
            return False
    return True
