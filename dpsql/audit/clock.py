"""How long an audit may take, and what it says while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class TimeIsUp(Exception):
    """The audit has used the time that it was given; it is caught before anybody sees it."""


@dataclass
class Clock:
    """The minutes of one audit, and where it tells how far it is."""

    minutes: float
    tell: Callable[[str], None] = lambda line: None
    _start: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds."""
        return 60 * self.minutes - (time.monotonic() - self._start)

    def check(self) -> None:
        """Raise TimeIsUp where it is."""
        if self.left <= 0:
            raise TimeIsUp

    @contextmanager
    def ending(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While this lasts, ``interrupt`` is called when the time is up."""
        timer = threading.Timer(max(self.left, 0.0), interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
