"""The time of an audit: its limit, its progress lines, and the estimate of its duration."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil


class AuditTimeout(Exception):
    """The audit has used up its time. Each check catches it."""


@dataclass
class AuditClock:
    """The time limit of one audit, and the function that is told its progress."""

    minutes: float
    tell: Callable[[str], None] = lambda line: None
    _start: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return 60 * self.minutes - (time.monotonic() - self._start)

    def check(self) -> None:
        """Raise AuditTimeout if no time is left."""
        if self.left <= 0:
            raise AuditTimeout

    @contextmanager
    def ending(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call ``interrupt`` if the time is up inside the block."""
        timer = threading.Timer(max(self.left, 0.0), interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


#: Seconds of all but statements, releases and samplers: the attempts at the engine, the ledger,
#: the #: schema.
REST = 5.0
#: What takes less than so many seconds is told in seconds.
_MINUTES_FROM = 120


@dataclass(frozen=True)
class ExpectedDuration:
    """The estimated seconds of an audit without a limit, and the limit in minutes."""

    seconds: float
    statements: int
    units: int
    minutes: float

    def __str__(self) -> str:
        """The message to the owner before the audit starts.

        >>> print(ExpectedDuration(43.2, 4, 24, 10.0))
        this takes about 50 seconds: 4 statements, each with and without 24 units, the samplers and the lock-down
        >>> print(ExpectedDuration(1500, 1, 24, 10.0))
        this would take about 25 minutes: 1 statement with and without 24 units, the samplers and the lock-down
        what is not reached in 10 minutes is told and not checked; --minutes gives more, and fewer --units take less
        """
        over = self.seconds > 60 * self.minutes
        takes = "would take" if over else "takes"
        statements = (
            "1 statement" if self.statements == 1 else f"{self.statements} statements, each"
        )
        runs = f"{statements} with and without {self.units} units, " if self.statements else ""
        sentence = (
            f"this {takes} about {_duration(self.seconds)}: {runs}the samplers and the lock-down"
        )
        if not over:
            return sentence
        least = f"what is not reached in {self.minutes:g} minutes is told and not checked"
        return f"{sentence}\n{least}; --minutes gives more, and fewer --units take less"


def _duration(seconds: float) -> str:
    """
    >>> _duration(3), _duration(61), _duration(120), _duration(121)
    ('10 seconds', '70 seconds', '2 minutes', '3 minutes')
    """
    return (
        f"{10 * ceil(seconds / 10)} seconds"
        if seconds < _MINUTES_FROM
        else f"{ceil(seconds / 60)} minutes"
    )
