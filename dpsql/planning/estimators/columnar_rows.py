"""Released rows kept as columns, and released numbers in the types of their columns.

A million rows take little room as columns. What is kept here is released already; rounding comes
after the noise and costs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.linear_forms import ConfidenceInterval

ValueT = TypeVar("ValueT")


class _Column(Sequence[ValueT]):
    """What reads one value after the other; a slice is a list of values."""

    def _at(self, index: int) -> ValueT:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> ValueT: ...
    @overload
    def __getitem__(self, index: slice) -> list[ValueT]: ...
    def __getitem__(self, index: int | slice) -> ValueT | list[ValueT]:
        if isinstance(index, slice):
            return [self._at(position) for position in range(len(self))[index]]
        return self._at(index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == another for one, another in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, eq=False)
class ColumnarRows(_Column[tuple[ValueT, ...]], Generic[ValueT]):
    """``length`` rows with the values of ``columns``.

    >>> rows = ColumnarRows(([1, 2], ["a", "b"]), 2)
    >>> rows[1], list(rows)
    ((2, 'b'), [(1, 'a'), (2, 'b')])
    """

    columns: tuple[Sequence[ValueT], ...]
    length: int

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[tuple[ValueT, ...]]:
        return zip(*self.columns, strict=True) if self.columns else iter([()] * self.length)

    def _at(self, index: int) -> tuple[ValueT, ...]:
        return tuple(column[index] for column in self.columns)


@dataclass(frozen=True, eq=False)
class IntervalColumn(_Column[ConfidenceInterval]):
    """Intervals from a column of their lower ends and a column of their upper ones."""

    low: Sequence[float]
    high: Sequence[float]

    def __len__(self) -> int:
        return len(self.low)

    def __iter__(self) -> Iterator[ConfidenceInterval]:
        return zip(self.low, self.high, strict=True)

    def _at(self, index: int) -> ConfidenceInterval:
        return self.low[index], self.high[index]


@dataclass(frozen=True, eq=False)
class StepColumn(_Column[Fraction]):
    """Integers, each times a step.

    >>> list(StepColumn([1, 3], Fraction(1, 2)))
    [Fraction(1, 2), Fraction(3, 2)]
    """

    counts: Sequence[int]
    step: Fraction

    def __len__(self) -> int:
        return len(self.counts)

    def _at(self, index: int) -> Fraction:
        return self.counts[index] * self.step


def column(rows: Sequence[tuple[ValueT, ...]], index: int) -> Sequence[ValueT]:
    """One column of rows, however they are kept."""
    return rows.columns[index] if isinstance(rows, ColumnarRows) else [row[index] for row in rows]


def rows_at(
    rows: Sequence[tuple[ValueT, ...]], places: Sequence[int]
) -> Sequence[tuple[ValueT, ...]]:
    """The rows at these places, kept as the rows are.

    >>> list(rows_at(ColumnarRows((["a", "b", "c"], StepColumn([1, 2, 3], Fraction(1, 2))), 3), [0, 2]))
    [('a', Fraction(1, 2)), ('c', Fraction(3, 2))]
    """
    if not isinstance(rows, ColumnarRows):
        return [rows[index] for index in places]
    return ColumnarRows(tuple(_picked(values, places) for values in rows.columns), len(places))


def _picked(values: Sequence[Any], places: Sequence[int]) -> Sequence[Any]:
    match values:
        case StepColumn(counts=counts, step=step):
            return StepColumn([counts[index] for index in places], step)
        case IntervalColumn(low=low, high=high):
            return IntervalColumn(
                [low[index] for index in places], [high[index] for index in places]
            )
        case _:
            return [values[index] for index in places]


def columns(rows: Sequence[tuple[Any, ...]], width: int) -> tuple[Sequence[Any], ...]:
    """The columns of rows that have ``width`` of them."""
    return tuple(column(rows, index) for index in range(width))


#: The values that a BIGINT holds; released numbers beyond are kept at its ends, after the noise.
INT64 = 2**63
#: The types of whole numbers that are released.
WHOLE_NUMBERS = ("BIGINT", "HUGEINT")
#: The digits that a DECIMAL(38, s) holds; a HUGEINT is kept within them,
#: since a later stage reads #: it as a decimal.
DIGITS = 10**38 - 1
#: Integers below this are exact as doubles,
#: so that a quotient of two is the nearest double to the #: true one.
EXACT = 2**53
_CONTEXT = Context(prec=40)


def as_type(number: Fraction | None, sql_type: str) -> bool | int | float | Decimal | None:
    """A released number in its column's type, NULL as it is.

    >>> as_type(Fraction(5, 2), "BIGINT"), as_type(Fraction(1, 3), "DECIMAL(38,2)"), as_type(Fraction(2**63), "HUGEINT")
    (2, Decimal('0.33'), 9223372036854775808)
    """
    if number is None:
        return None
    if sql_type == "BOOLEAN":
        return number == 1
    if sql_type == "BIGINT":
        return max(-INT64, min(INT64 - 1, round(number)))
    if sql_type == "HUGEINT":
        return max(-DIGITS, min(DIGITS, round(number)))
    if sql_type == "DOUBLE":
        return float(number)
    scale = scale_of(sql_type)
    return _decimal(max(-DIGITS, min(DIGITS, round(number * 10**scale))), scale)


def quotients_as_type(
    numerators: NDArray[np.int64], denominator: int, sql_type: str
) -> Sequence[object] | None:
    """The result of `as_type` for each numerator over the denominator, both below 2^53 in size.

    None if a type takes larger integers than these.
    """
    if sql_type == "DOUBLE":
        doubles: list[float] = (numerators / denominator).tolist()
        return doubles
    if sql_type in WHOLE_NUMBERS:
        return _nearest(numerators, denominator)
    if not sql_type.startswith("DECIMAL"):
        return None
    scale = scale_of(sql_type)
    if int(np.abs(numerators).max(initial=1)) * 10**scale >= INT64 // 4:
        return None
    return [_decimal(number, scale) for number in _nearest(numerators * 10**scale, denominator)]


def scale_of(sql_type: str) -> int:
    """The digits after the point of a DECIMAL type.

    >>> scale_of("DECIMAL(38,2)")
    2
    """
    return int(sql_type.rstrip(")").split(",")[1])


def _nearest(numerators: NDArray[np.int64], denominator: int) -> list[int]:
    """The nearest integer to each quotient; of two equally near the even one, as `round` has it."""
    quotient, rest = np.divmod(numerators, denominator)
    twice = 2 * rest
    up = (twice > denominator) | ((twice == denominator) & (quotient % 2 == 1))
    nearest: list[int] = (quotient + up).tolist()
    return nearest


def _decimal(number: int, scale: int) -> Decimal:
    return Decimal(number).scaleb(-scale, _CONTEXT)
