"""The columns of a result, and where the intervals of what they show come from.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

#: The ends of the interval of a number, or of a date or a timestamp.
CellInterval: TypeAlias = tuple[float, float] | tuple[date, date]


@dataclass(frozen=True)
class OutputColumn:
    """One column of the result: its name, its type in the sandbox, and where its interval comes from.

    ``aggregate`` is the place of the aggregate of ``core`` (or of ``cube``) that the column is, where it is one;
    ``drawn`` is what the column computes of aggregates of one released row, so that its interval is found by drawing
    their noise again. ``row`` tells which of the numbers at the end of each row of post-processing is that row's.
    """

    name: str
    type: str
    aggregate: int | None = None
    drawn: str | None = None
    row: int = 0
    core: int = 0
    cube: int | None = None

    @property
    def simulated(self) -> bool:
        """Whether the interval is found by drawing noise."""
        return self.drawn is not None

    @property
    def table(self) -> str:
        """The released table that ``row`` numbers."""
        return f"core{self.core}" if self.cube is None else f"cube{self.cube}"


@dataclass(frozen=True)
class Ends:
    """An expression over one row of a released table; post-processing reads the ends of its interval as columns.

    ``aggregate`` is the place of the aggregate that it is, where it is one.
    """

    table: str
    sql: str
    number: int
    aggregate: int | None = None

    @property
    def columns(self) -> tuple[str, str]:
        """The names of the columns of the lower and of the upper end."""
        return f"e{self.number}_low", f"e{self.number}_high"


@dataclass(frozen=True)
class Later:
    """An end of an interval that a column of the result shows, known when all rows are: ``of`` what, and its side."""

    column: int
    of: int
    side: int


@dataclass(frozen=True)
class Redrawn:
    """Post-processing over many draws of its ``tables``' noise at once: for intervals of what no single row is behind.

    The result's columns ``wanted`` get one; those that are ``known`` whatever the noise is tell its rows apart. Of
    those that are ``jumping`` the values where all released numbers are as far as they may be count too; some are the
    ``greatest`` or the ``least`` of a column; where noise may be ``choosing`` among numbers for the others, they are
    looked at with those equal that may be; those ``from_zero`` cannot be below 0. ``with_ends`` tells
    whether MIN or MAX of private rows are computed with. Behind the result's columns are ``beside`` others, whose ends
    ``later`` puts into it.
    """

    sql: str
    wanted: tuple[int, ...]
    known: tuple[int, ...]
    tables: tuple[str, ...]
    jumping: tuple[int, ...] = ()
    greatest: tuple[int, ...] = ()
    least: tuple[int, ...] = ()
    choosing: bool = False
    from_zero: tuple[int, ...] = ()
    with_ends: bool = False
    beside: int = 0
    later: tuple[Later, ...] = ()
