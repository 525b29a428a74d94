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
    ``computed`` is what the column computes of aggregates of one released row. ``row`` tells which of the numbers at
    the end of each row of post-processing is that row's.
    """

    name: str
    type: str
    aggregate: int | None = None
    computed: str | None = None
    row: int = 0
    core: int = 0
    cube: int | None = None

    @property
    def table(self) -> str:
        """The released table that ``row`` numbers."""
        return f"core{self.core}" if self.cube is None else f"cube{self.cube}"


@dataclass(frozen=True)
class IntervalEndColumns:
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
class DeferredEnd:
    """An end of an interval that a column of the result shows, known when all rows are: ``of`` what, and its side."""

    column: int
    of: int
    side: int


@dataclass(frozen=True)
class Resampling:
    """Post-processing on many samples of the noise of its ``tables``, for intervals of what several released rows make.

    Attributes:
        sql: post-processing on all samples, with the percentiles of its columns; empty where no column is wanted.
        wanted: the columns of the result that get an interval so.
        known: those that are the same whatever the noise is, and tell the rows of the result apart.
        tables: the released tables that post-processing reads.
        without: the columns that have no interval because noise chooses what they show.
        beside: how many columns stand behind those of the result, whose ends ``later`` puts into it.
    """

    sql: str
    wanted: tuple[int, ...]
    known: tuple[int, ...]
    tables: tuple[str, ...]
    without: tuple[int, ...] = ()
    beside: int = 0
    later: tuple[DeferredEnd, ...] = ()
