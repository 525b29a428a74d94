"""Interval rules of single functions: where their values lie when their arguments lie in given intervals."""

from __future__ import annotations

from fractions import Fraction

from dpsql.query.interval import EVERYTHING, Interval


def union(*intervals: Interval) -> Interval:
    """The smallest interval that holds all."""
    whole = intervals[0]
    for interval in intervals[1:]:
        whole = whole.union(interval)
    return whole


def abs_interval(argument: Interval) -> Interval:
    """|x|."""
    if argument.low is not None and argument.low >= 0:
        return argument
    if argument.high is not None and argument.high <= 0:
        return -argument
    return Interval(Fraction(0), argument.magnitude)


def power_interval(base: Interval, power: Interval) -> Interval:
    """xⁿ for a constant whole n from 0 to 8; anything else has no bounds."""
    exponent = power.low if power.low == power.high else None
    if exponent is None or exponent.denominator != 1 or not 0 <= exponent <= 8:
        return EVERYTHING
    if exponent % 2 == 0:
        base = abs_interval(base)
    return base.monotone(lambda x: x ** int(exponent))


def round_interval(argument: Interval, digits: Interval | None = None) -> Interval:
    """x rounded to a constant number of digits."""
    places = int(digits.low) if digits is not None and digits.low is not None else 0
    return argument.monotone(lambda x: round(x, places))


def length_interval(*_: Interval) -> Interval:
    """A length or a position: from 0."""
    return Interval(Fraction(0), None)
