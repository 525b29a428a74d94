"""Rows with their column names, types and intervals, ready to be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dpsql.planning.result_columns import end_type, result_type, unused_name

if TYPE_CHECKING:
    from dpsql.dbapi import Cursor
    from dpsql.planning.result_columns import CellInterval
    from dpsql.postprocessing import Result

Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class OutputRows:
    """Rows to be written; ``intervals`` has (low, high) for each estimated cell,
    and None for the others.

    ``has_ends`` tells that the ends of intervals are columns already.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[Row]
    intervals: Sequence[tuple[CellInterval | None, ...]]
    has_ends: bool = False

    @classmethod
    def of_cursor(cls, cursor: Cursor) -> OutputRows:
        """The remaining rows of a cursor."""
        described = cursor.description or []
        intervals = cursor.intervals
        rows = cursor.fetchall()
        names = tuple(column[0] for column in described)
        types = tuple(column[1] for column in described)
        bars = intervals[len(intervals) - len(rows) :]
        return cls(
            names, types, rows, bars, has_ends=cursor.has_interval_columns if described else False
        )

    @classmethod
    def of_result(cls, result: Result) -> OutputRows:
        """The rows of a session's result."""
        names = tuple(column.name for column in result.columns)
        types = tuple(column.type for column in result.columns)
        return cls(names, types, result.rows, result.intervals, has_ends=result.has_ends)

    @classmethod
    def exact(cls, names: Sequence[str], rows: Sequence[Row]) -> OutputRows:
        """Rows of texts and numbers without estimates."""
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        types = tuple("DOUBLE" if _all_numbers(column) else "VARCHAR" for column in columns)
        return cls(tuple(names), types, rows, [(None,) * len(names)] * len(rows))

    @property
    def estimated(self) -> tuple[bool, ...]:
        """For each column, whether any of its cells has an interval."""
        return tuple(
            any(row[index] is not None for row in self.intervals)
            for index in range(len(self.names))
        )

    @property
    def leftward(self) -> tuple[bool, ...]:
        """For each column, whether it is aligned to the left, as words are."""
        return tuple(kind.endswith("]") or _side(kind) == "left" for kind in self.types)

    def with_ends(self) -> OutputRows:
        """These rows with columns ``x_low`` and ``x_high`` after each estimated column ``x``."""
        if self.has_ends:
            return self
        names: list[str] = []
        types: list[str] = []
        barred = self.estimated
        for name, kind, bar in zip(self.names, self.types, barred, strict=True):
            names += [name, f"{name}_low", f"{name}_high"] if bar else [name]
            types += [kind, *[end_type(kind)] * 2] if bar else [kind]
        rows = [
            tuple(_spread(row, ends, barred))
            for row, ends in zip(self.rows, self.intervals, strict=True)
        ]
        return OutputRows(
            tuple(names), tuple(types), rows, [(None,) * len(names)] * len(rows), has_ends=True
        )

    def apart(self) -> OutputRows:
        """These rows with unique column names: a repeated name gets a number.

        >>> OutputRows.exact(["n", "N"], [(1, 2)]).apart().names
        ('n', 'N_1')
        """
        names: list[str] = []
        for name in self.names:
            names.append(unused_name(name, names))
        return OutputRows(
            tuple(names), self.types, self.rows, self.intervals, has_ends=self.has_ends
        )


def _side(kind: str) -> str:
    facts = result_type(kind)
    return "right" if facts is None else facts.side


def _spread(
    row: Row, ends: Sequence[CellInterval | None], barred: Sequence[bool]
) -> Iterator[object]:
    for value, interval, bar in zip(row, ends, barred, strict=True):
        yield value
        if bar:
            yield from (None, None) if interval is None else interval


def _all_numbers(column: Sequence[object]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in column)
