"""Bounds how long a statement waits for what may be stuck:
until it is cancelled or its time is used up.

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
    """The deadline of one task: since when its end is wanted, and how long it has waited in vain.

    Any thread may end it, and it ends by itself after ``seconds``. A deadline inside another one
    ends with that one, and shares its lost time.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._whole = _PRESENT.get()
        self._ended = None if seconds is None else time.monotonic() + seconds
        self._lost = 0.0

    def end(self) -> None:
        """End every wait of the task from now on."""
        now = time.monotonic()
        self._ended = now if self._ended is None else min(now, self._ended)

    def is_over(self, grace: float = 0.0) -> bool:
        """Whether the deadline passed at least ``grace`` seconds ago."""
        ended = self._ended is not None and time.monotonic() - self._ended >= grace
        return ended or (self._whole is not None and self._whole.is_over(grace))

    @property
    def lost(self) -> float:
        """The seconds that the task has waited in vain."""
        return self._lost if self._whole is None else self._whole.lost

    def lose(self, seconds: float) -> None:
        """Add seconds that the task has waited in vain."""
        if self._whole is None:
            self._lost += seconds
        else:
            self._whole.lose(seconds)


_PRESENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Inside the block, waits of this thread end at the deadline."""
    before = _PRESENT.set(deadline)
    try:
        yield
    finally:
        _PRESENT.reset(before)


def is_over(grace: float = 0.0) -> bool:
    """Whether the deadline of this thread's task passed at least ``grace`` seconds ago."""
    present = _PRESENT.get()
    return present is not None and present.is_over(grace)


class Patience:
    """The time limit of one wait: ``seconds``,
    less what the same task has waited in vain before.
    """

    def __init__(self, seconds: float) -> None:
        self._present = _PRESENT.get()
        self._since = time.monotonic()
        self._end = self._since + seconds - (0.0 if self._present is None else self._present.lost)

    @property
    def left(self) -> float:
        """The seconds that are left; 0 once the task's deadline has passed."""
        if self._present is not None and self._present.is_over():
            return 0.0
        return max(0.0, self._end - time.monotonic())

    def is_over(self) -> bool:
        """Whether nothing is left; if so,
        the time of this wait is lost to later waits of the task.
        """
        if self.left:
            return False
        if self._present is not None:
            self._present.lose(time.monotonic() - self._since)
        return True


def taken(lock: threading.Lock, is_over: Callable[[], bool] = is_over) -> bool:
    """Take the lock; False if the wait ended before."""
    while not lock.acquire(blocking=False):
        if lock.acquire(timeout=GLANCE):
            return True
        if is_over():
            return False
    return True
