"""Intervals of numbers, which hold the values of an expression."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from dpsql.schema import Bound

#: Numbers whose size is above this are as good as unbounded: no double holds their sum.
_HUGE = Fraction(10) ** 300
#: Up to this size a double that is a whole number has not been rounded to one.
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from ``low`` to ``high``; None is an end without a bound.

    An interval only chooses where values are clamped. A wrong one would cost accuracy, never
    privacy, since the same ends are enforced in the engine's SQL.

    >>> Interval(Fraction(1), Fraction(2)) * Interval(Fraction(-3), Fraction(5))
    Interval(low=Fraction(-6, 1), high=Fraction(10, 1))
    """

    low: Fraction | None
    high: Fraction | None

    @property
    def is_finite(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def is_empty(self) -> bool:
        """Whether the low end lies above the high one."""
        return self.low is not None and self.high is not None and self.low > self.high

    @property
    def magnitude(self) -> Fraction | None:
        """The largest absolute value, or None if the interval is not finite."""
        if self.low is None or self.high is None:
            return None
        return max(abs(self.low), abs(self.high))

    def __add__(self, other: Interval) -> Interval:
        return _tame(
            None if self.low is None or other.low is None else self.low + other.low,
            None if self.high is None or other.high is None else self.high + other.high,
        )

    def __neg__(self) -> Interval:
        return Interval(
            None if self.high is None else -self.high, None if self.low is None else -self.low
        )

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        if self == ZERO or other == ZERO:
            return ZERO
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return _half_bounded_product(self, other)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _tame(min(corners), max(corners))

    def __truediv__(self, other: Interval) -> Interval:
        if other.low is None or other.high is None or other.low <= 0 <= other.high:
            return EVERYTHING
        return self * Interval(1 / other.high, 1 / other.low)

    def union(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(
            None if self.low is None or other.low is None else min(self.low, other.low),
            None if self.high is None or other.high is None else max(self.high, other.high),
        )

    def monotone(self, function: Callable[[float], float]) -> Interval:
        """The image under an increasing function, each end rounded outwards by one part in 2^40."""
        return _tame(_outward(function, self.low, -1), _outward(function, self.high, +1))

    def within(self, low: Fraction | None, high: Fraction | None) -> Interval:
        """The part of the interval between the two, which the function's definition guarantees."""
        lows = [end for end in (low, self.low) if end is not None]
        highs = [end for end in (high, self.high) if end is not None]
        return Interval(max(lows, default=None), min(highs, default=None))


def _half_bounded_product(one: Interval, other: Interval) -> Interval:
    """Two intervals from 0 upwards stay from 0 upwards; everything else loses its bounds."""
    nonnegative = all(factor.low is not None and factor.low >= 0 for factor in (one, other))
    return Interval(Fraction(0), None) if nonnegative else EVERYTHING


def _outward(
    function: Callable[[float], float], end: Fraction | None, direction: int
) -> Fraction | None:
    if end is None:
        return None
    try:
        value = function(float(end))
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(value):
        return None
    exact = Fraction(value)
    is_exact = exact.denominator == 1 and abs(exact) <= _EXACT and float(end) == end
    return exact if is_exact else exact + direction * abs(exact) / 2**40


def _tame(low: Fraction | None, high: Fraction | None) -> Interval:
    if low is not None and abs(low) > _HUGE:
        low = None
    if high is not None and abs(high) > _HUGE:
        high = None
    return Interval(low, high)


def as_number(bound: Bound) -> Fraction:
    """A bound as a number, moments as days since year 1; `TypeFacts.at` is the inverse."""
    match bound:
        case datetime():
            seconds = bound.hour * 3600 + bound.minute * 60 + bound.second
            return bound.toordinal() + Fraction(seconds * 10**6 + bound.microsecond, 86_400 * 10**6)
        case date():
            return Fraction(bound.toordinal())
        case _:
            return Fraction(bound)


ZERO = Interval(Fraction(0), Fraction(0))
EVERYTHING = Interval(None, None)
UNIT_INTERVAL = Interval(Fraction(0), Fraction(1))
FROM_ZERO = Interval(Fraction(0), None)
