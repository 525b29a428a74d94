"""The bins in which the values of a bounded expression are counted: equal parts of its range, fixed by the schema.

Proved in ``docs/proofs/quantiles.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor
from typing import Literal as OneOf

from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.analysis.quantum import quantum
from dpsql.sql.ir.expression import Expression

#: The most bins of one expression; a range of more steps has several of them in each bin.
MOST_BINS = 2**16
SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Bins:
    """``count`` bins of ``width`` steps each, the first of which begins with the step ``low``; a step is ``size``.

    Steps are whole numbers of days (since the year 1) for dates, of seconds for timestamps, and of the expression's
    grid for numbers.
    """

    axis: OneOf["number", "day", "second"]
    low: int
    high: int
    width: int
    count: int
    size: Fraction

    @property
    def are_values(self) -> bool:
        """Whether each bin is one value, so that nothing is lost by counting in bins."""
        return self.width == 1

    def value(self, place: int) -> Fraction:
        """The value of a bin that is one."""
        return (self.low + place) * self.size

    def position(self, place: int, part: Fraction) -> Fraction:
        """The point that lies ``part`` of the way through a bin, kept within the bounds."""
        start = self.low + place * self.width - Fraction(1, 2)
        return min(max(start + part * self.width, Fraction(self.low)), Fraction(self.high)) * self.size


def bins(expression: Expression) -> Bins:
    """The bins of an expression with finite bounds, whatever the data hold."""
    interval = bounds(expression)
    assert interval.low is not None and interval.high is not None
    match expression.type.kind:
        case "date":
            return _bins("day", _known(floor(interval.low)), _known(ceil(interval.high)), Fraction(1))
        case "timestamp":
            low, high = floor(interval.low * SECONDS), ceil(interval.high * SECONDS)
            return _bins("second", _known(low, SECONDS), _known(high, SECONDS), Fraction(1))
        case _:
            grid = quantum(expression)
            return _bins("number", grid.low, grid.high, grid.size)


def _known(step: int, steps: int = 1) -> int:
    """The step, or the nearest within the years 1 to 9999; a day has so many ``steps``."""
    return min(max(step, date.min.toordinal() * steps), date.max.toordinal() * steps)


def _bins(axis: OneOf["number", "day", "second"], low: int, high: int, size: Fraction) -> Bins:
    steps = high - low + 1
    width = -(-steps // MOST_BINS)
    return Bins(axis, low, high, width, -(-steps // width), size)
