"""How long an audit may take, how long it will take on this machine, and what it says while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil


class TimeIsUp(Exception):
    """The audit has used the time that it was given; it is caught before anybody sees it."""


@dataclass
class AuditClock:
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


#: Seconds of all but statements, releases and samplers: the attempts at the engine, the ledger, the schema.
REST = 5.0
#: What takes less than so many seconds is told in seconds.
_MINUTES_FROM = 120


@dataclass(frozen=True)
class Expected:
    """How many seconds an audit will take if nothing ends it, and the ``minutes`` after which it ends."""

    seconds: float
    statements: int
    units: int
    minutes: float

    def __str__(self) -> str:
        """What the owner is told before it starts.

        >>> print(Expected(43.2, 4, 24, 10.0))
        this takes about 50 seconds: 4 statements, each with and without 24 units, the samplers and the lock-down
        >>> print(Expected(1500, 1, 24, 10.0))
        this would take about 25 minutes: 1 statement with and without 24 units, the samplers and the lock-down
        what is not reached in 10 minutes is told and not checked; --minutes gives more, and fewer --units take less
        """
        over = self.seconds > 60 * self.minutes
        takes = "would take" if over else "takes"
        statements = "1 statement" if self.statements == 1 else f"{self.statements} statements, each"
        each = f"{statements} with and without {self.units} units, " if self.statements else ""
        said = f"this {takes} about {_said(self.seconds)}: {each}the samplers and the lock-down"
        if not over:
            return said
        least = f"what is not reached in {self.minutes:g} minutes is told and not checked"
        return f"{said}\n{least}; --minutes gives more, and fewer --units take less"


def _said(seconds: float) -> str:
    """
    >>> _said(3), _said(61), _said(121)
    ('10 seconds', '70 seconds', '3 minutes')
    """
    return f"{10 * ceil(seconds / 10)} seconds" if seconds < _MINUTES_FROM else f"{ceil(seconds / 60)} minutes"
