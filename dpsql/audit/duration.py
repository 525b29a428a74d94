"""How long an audit will take: what a small part of it takes on this machine, for all the work that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

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
