"""Rows that are kept as columns, so that a million of them take little room, and read as rows where one is wanted.

What is kept here is released already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, overload

from dpsql.planning.estimators.linear_forms import Interval

Value = TypeVar("Value")


class _Column(Sequence[Value]):
    """What reads one value after the other; a slice is a list of values."""

    def _at(self, place: int) -> Value:
        raise NotImplementedError

    @overload
    def __getitem__(self, place: int) -> Value: ...
    @overload
    def __getitem__(self, place: slice) -> list[Value]: ...
    def __getitem__(self, place: int | slice) -> Value | list[Value]:
        if isinstance(place, slice):
            return [self._at(each) for each in range(len(self))[place]]
        return self._at(place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == another for one, another in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, eq=False)
class ByColumn(_Column[tuple[Value, ...]], Generic[Value]):
    """``length`` rows, of which ``columns`` has the values.

    >>> rows = ByColumn(([1, 2], ["a", "b"]), 2)
    >>> rows[1], list(rows)
    ((2, 'b'), [(1, 'a'), (2, 'b')])
    """

    columns: tuple[Sequence[Value], ...]
    length: int

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return zip(*self.columns, strict=True) if self.columns else iter([()] * self.length)

    def _at(self, place: int) -> tuple[Value, ...]:
        return tuple(column[place] for column in self.columns)


@dataclass(frozen=True, eq=False)
class Between(_Column[Interval]):
    """Intervals, of which one column has the lower ends and another the upper ones."""

    low: Sequence[float]
    high: Sequence[float]

    def __len__(self) -> int:
        return len(self.low)

    def __iter__(self) -> Iterator[Interval]:
        return zip(self.low, self.high, strict=True)

    def _at(self, place: int) -> Interval:
        return self.low[place], self.high[place]


@dataclass(frozen=True, eq=False)
class Multiples(_Column[Fraction]):
    """Integers, each times a step.

    >>> list(Multiples([1, 3], Fraction(1, 2)))
    [Fraction(1, 2), Fraction(3, 2)]
    """

    counts: Sequence[int]
    step: Fraction

    def __len__(self) -> int:
        return len(self.counts)

    def _at(self, place: int) -> Fraction:
        return self.counts[place] * self.step


def column(rows: Sequence[tuple[Value, ...]], place: int) -> Sequence[Value]:
    """One column of rows, however they are kept."""
    return rows.columns[place] if isinstance(rows, ByColumn) else [row[place] for row in rows]


def rows_at(rows: Sequence[tuple[Value, ...]], places: Sequence[int]) -> Sequence[tuple[Value, ...]]:
    """The rows at these places, kept as the rows are.

    >>> list(rows_at(ByColumn((["a", "b", "c"], Multiples([1, 2, 3], Fraction(1, 2))), 3), [0, 2]))
    [('a', Fraction(1, 2)), ('c', Fraction(3, 2))]
    """
    if not isinstance(rows, ByColumn):
        return [rows[place] for place in places]
    return ByColumn(tuple(_picked(each, places) for each in rows.columns), len(places))


def _picked(values: Sequence[Any], places: Sequence[int]) -> Sequence[Any]:
    match values:
        case Multiples(counts=counts, step=step):
            return Multiples([counts[place] for place in places], step)
        case Between(low=low, high=high):
            return Between([low[place] for place in places], [high[place] for place in places])
        case _:
            return [values[place] for place in places]


def columns(rows: Sequence[tuple[Any, ...]], width: int) -> tuple[Sequence[Any], ...]:
    """The columns of rows that have ``width`` of them."""
    return tuple(column(rows, place) for place in range(width))
