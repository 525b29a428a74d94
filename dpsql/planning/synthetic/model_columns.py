"""The columns of a synthetic table as a model has them: a few values, or bins within public bounds.

Proved in ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsql.errors import Refused
from dpsql.schema import Bound, Column
from dpsql.schema.types import Scalar

#: The most bins of a column with bounds, and the most declared values of one that has them.
MOST_BINS = 32
MOST_VALUES = 100
#: Seconds, and the part of a day that one is.
_SECONDS = 86_400


@dataclass(frozen=True)
class ModelColumn:
    """One column: its ``name`` in the synthetic table, the ``source`` column and its declaration.

    The declaration is the owner's.
    """

    name: str
    source: str
    declared: Column

    def __post_init__(self) -> None:
        column = self.declared
        values = self.declared.values
        if values is not None and len(values) > MOST_VALUES:
            raise Refused(
                "E_KEY",
                f"`{self.source}` has {len(values)} declared values; a model has at most "
                f"{MOST_VALUES}: leave the column out",
            )
        if values is not None or column.type.kind == "boolean" or column.bounds is not None:
            return
        declaration = "`values`" if column.type.facts.axis is None else "`bounds` or `values`"
        raise Refused(
            "E_KEY",
            f"nothing public is known of the values of `{self.source}`; declare {declaration} for it, or "
            "leave the column out",
        )

    @property
    def values(self) -> tuple[Scalar, ...] | None:
        """The values, without NULL; None for a column in bins."""
        if self.declared.type.kind == "boolean" and self.declared.values is None:
            return (False, True)
        return self.declared.values

    @cached_property
    def cuts(self) -> tuple[Fraction, ...]:
        """The lower end of each bin, and the end after the last one, on the line of the type."""
        assert self.declared.bounds is not None
        low, high = map(_point, self.declared.bounds)
        step = self._step
        if step is None:
            bins = MOST_BINS if low < high else 1
            return tuple(low + (high - low) * Fraction(index, bins) for index in range(bins + 1))
        steps = (high - low) // step + 1
        bins = min(MOST_BINS, steps)
        return tuple(low + index * steps // bins * step for index in range(bins + 1))

    @property
    def bins(self) -> int:
        """The number of bins or values, without that of NULL."""
        return len(self.cuts) - 1 if self.values is None else len(self.values)

    @property
    def size(self) -> int:
        """The number of places that a value may have.

        If the column may hold NULL, NULL has the last one.
        """
        return self.bins + self.declared.nullable

    @property
    def key(self) -> str:
        """The SQL by which a row's place is grouped: the column, or the number of its bin."""
        name = f'"{self.source}"'
        if self.values is not None:
            return name
        null = [f"WHEN {name} IS NULL THEN {self.bins}"] if self.declared.nullable else []
        inner = [
            f"WHEN {name} < {self._literal(cut)} THEN {index}"
            for index, cut in enumerate(self.cuts[1:-1])
        ]
        branches = [*null, *inner] or [f"WHEN {name} < {self._literal(self.cuts[0])} THEN 0"]
        return f"CASE {' '.join(branches)} ELSE {self.bins - 1} END"

    @cached_property
    def _places(self) -> dict[object, int]:
        listed: Sequence[object] = range(self.bins) if self.values is None else self.values
        places = {value: index for index, value in enumerate(listed)}
        if self.declared.nullable:
            places[self.bins if self.values is None else None] = self.bins
        return places

    def index_of(self, key: object) -> int:
        """The place of a key as the engine returns it."""
        return self._places[key]

    def drawn(self, places: NDArray[np.int64], random: np.random.Generator) -> list[object]:
        """A value for each place: the declared one, or one of the bin.

        All values of a bin are equally likely.
        """
        if self.values is not None:
            listed = [*self.values, None]
            return [listed[index] for index in places.tolist()]
        ends = [*self.cuts[:-1], self.cuts[-1]]
        share = random.random(len(places)).tolist()
        return [
            None if index == self.bins else self._within(ends[index], ends[index + 1], fraction)
            for index, fraction in zip(places.tolist(), share, strict=True)
        ]

    def _within(self, low: Fraction, high: Fraction, fraction: float) -> object:
        """The value at a part of the way from one end of a bin to the other.

        It does not reach the other end.
        """
        if self._step is None:
            return float(low) + (float(high) - float(low)) * fraction
        steps = int((high - low) / self._step)
        return self._value(low + min(int(fraction * steps), steps - 1) * self._step)

    @property
    def _step(self) -> Fraction | None:
        """What all values are multiples of, as points; moments are drawn in whole seconds."""
        match self.declared.type.facts.axis:
            case "day":
                return Fraction(1)
            case "second":
                return Fraction(1, _SECONDS)
        return self.declared.type.step

    def _value(self, point: Fraction) -> object:
        """The value of the column's type at a point."""
        sql_type = self.declared.type
        value = sql_type.facts.at(point)
        if not isinstance(value, Fraction):
            return value
        return sql_type.facts.constant(
            sql_type, str(float(value)) if sql_type.step is None else _decimal(value)
        )

    def _literal(self, point: Fraction) -> str:
        """The point as a constant of SQL."""
        match self.declared.type.facts.axis:
            case "day":
                return f"DATE '{self._value(point)}'"
            case "second":
                return f"TIMESTAMP '{self._value(point)}'"
        return str(self._value(point)) if self._step is not None else repr(float(point))


def _point(bound: Bound) -> Fraction:
    """The point of a bound on the line of its type: numbers are themselves, moments are days."""
    match bound:
        case datetime():
            midnight = datetime(bound.year, bound.month, bound.day)
            return bound.toordinal() + Fraction(int((bound - midnight).total_seconds()), _SECONDS)
        case date():
            return Fraction(bound.toordinal())
    return bound


def _decimal(value: Fraction) -> str:
    """A number whose denominator is a power of ten, or divides one, as a text of its digits."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    scaled = int(value * 10**digits)
    text = str(abs(scaled)).rjust(digits + 1, "0")
    sign = "-" if scaled < 0 else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
