"""Interval rules of single functions: where their values lie when their arguments lie in given
intervals.

Texts count by their number of characters, dates and timestamps by their number of days.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

from dpsql.sql.ir.interval import EVERYTHING, Interval


def span(low: int | Fraction, high: int | Fraction) -> Interval:
    """All numbers from the one to the other."""
    return Interval(Fraction(low), Fraction(high))


def constant(low: int | Fraction, high: int | Fraction) -> Callable[..., Interval]:
    """Values between two numbers, whatever the arguments."""
    return lambda *_: span(low, high)


def union(*intervals: Interval) -> Interval:
    """The smallest interval that holds all."""
    result = intervals[0]
    for interval in intervals[1:]:
        result = result.union(interval)
    return result


def abs_interval(argument: Interval) -> Interval:
    """|x|."""
    if argument.low is not None and argument.low >= 0:
        return argument
    if argument.high is not None and argument.high <= 0:
        return -argument
    return Interval(Fraction(0), argument.magnitude)


def floor_interval(argument: Interval) -> Interval:
    """⌊x⌋, exactly."""
    return Interval(
        None if argument.low is None else Fraction(math.floor(argument.low)),
        None if argument.high is None else Fraction(math.floor(argument.high)),
    )


def ceil_interval(argument: Interval) -> Interval:
    """⌈x⌉, exactly."""
    return -floor_interval(-argument)


def sign_interval(argument: Interval) -> Interval:
    """−1, 0 or 1, as far as the argument can have that sign."""
    low, high = (
        None if end is None else (end > 0) - (end < 0) for end in (argument.low, argument.high)
    )
    return span(-1 if low is None else low, 1 if high is None else high)


def modulo_interval(argument: Interval, divisor: Interval) -> Interval:
    """x % y, which has the sign of x and is smaller than y and no larger than x."""
    sizes = [size for size in (argument.magnitude, divisor.magnitude) if size is not None]
    if not sizes:
        return EVERYTHING
    size = min(sizes)
    return Interval(
        Fraction(0) if argument.low is not None and argument.low >= 0 else -size,
        Fraction(0) if argument.high is not None and argument.high <= 0 else size,
    )


def floored_modulo_interval(_: Interval, divisor: Interval) -> Interval:
    """x − y·⌊x / y⌋ has the sign of y and is no larger."""
    size = divisor.magnitude
    return EVERYTHING if size is None else span(-size, size)


#: The largest whole exponent for which a base may be negative.
_LARGEST_POWER = 64


def power_interval(base: Interval, power: Interval) -> Interval:
    """xʸ: at the corners where x > 0, since it is monotone in each;
    for a constant whole y ≥ 0 everywhere.
    """
    if base.low is None or base.high is None or power.low is None or power.high is None:
        return EVERYTHING
    if base.low > 0 or (base.low == 0 and power.low > 0):
        return hull(
            [_power(x, y) for x, y in product((base.low, base.high), (power.low, power.high))]
        )
    exponent = power.low if power.low == power.high else None
    if exponent is None or exponent.denominator != 1 or not 0 <= exponent <= _LARGEST_POWER:
        return EVERYTHING
    if exponent % 2 == 0:
        base = abs_interval(base)
    return base.monotone(lambda x: x ** int(exponent))


def _power(base: Fraction, power: Fraction) -> Interval:
    return Interval(base, base).monotone(lambda x: x ** float(power))


def hull(points: list[Interval]) -> Interval:
    """The smallest interval that holds all, without bounds where one has none."""
    return union(*points)


def round_interval(argument: Interval, digits: Interval | None = None) -> Interval:
    """x rounded to a constant number of digits; a half may be rounded up or down."""
    unit = _unit(digits)
    return Interval(
        None if argument.low is None else math.ceil(argument.low / unit - Fraction(1, 2)) * unit,
        None if argument.high is None else math.floor(argument.high / unit + Fraction(1, 2)) * unit,
    )


def trunc_interval(argument: Interval, digits: Interval | None = None) -> Interval:
    """x cut to a constant number of digits."""
    unit = _unit(digits)
    return Interval(
        None if argument.low is None else math.trunc(argument.low / unit) * unit,
        None if argument.high is None else math.trunc(argument.high / unit) * unit,
    )


def _unit(digits: Interval | None) -> Fraction:
    return Fraction(10) ** -(
        int(digits.low) if digits is not None and digits.low is not None else 0
    )


def even_interval(argument: Interval) -> Interval:
    """EVEN(x), which is the next even number away from zero and less than two away."""
    return argument + span(-2, 2)


def tan_interval(argument: Interval) -> Interval:
    """TAN(x), which increases between its poles."""
    inside = (
        argument.low is not None
        and argument.high is not None
        and argument.low > -1.57
        and argument.high < 1.57
    )
    return argument.monotone(math.tan) if inside else EVERYTHING


def cosh_interval(argument: Interval) -> Interval:
    """COSH(x), which grows with |x|."""
    return abs_interval(argument).monotone(math.cosh)


# -- whole numbers ---------------------------------------------------------------------------------


def and_interval(first: Interval, second: Interval) -> Interval:
    """The bits that both have: no more than either, where one is not negative."""
    highs = [
        interval.high
        for interval in (first, second)
        if interval.low is not None and interval.low >= 0 and interval.high is not None
    ]
    return span(0, min(highs)) if highs else EVERYTHING


def or_interval(first: Interval, second: Interval) -> Interval:
    """Bits of either: below the next power of two, where neither is negative."""
    if (
        first.low is None
        or second.low is None
        or first.high is None
        or second.high is None
        or min(first.low, second.low) < 0
    ):
        return EVERYTHING
    return span(0, 2 ** math.floor(max(first.high, second.high)).bit_length() - 1)


def shift_interval(argument: Interval, places: Interval, direction: int) -> Interval:
    """x · 2ⁿ or ⌊x / 2ⁿ⌋ for a constant n."""
    if places.low is None or places.low != places.high or not 0 <= places.low < 64:
        return EVERYTHING
    scaled = argument * Interval(
        Fraction(2) ** (direction * int(places.low)), Fraction(2) ** (direction * int(places.low))
    )
    return floor_interval(scaled)


# -- texts -----------------------------------------------------------------------------------------


def length_interval(text: Interval, *_: Interval) -> Interval:
    """The number of characters of a text."""
    return text.within(Fraction(0), None)


def bytes_interval(text: Interval) -> Interval:
    """The number of bytes of a text: a character takes one to four."""
    return length_interval(text) * span(1, 4)


def shorter(text: Interval, *_: Interval) -> Interval:
    """The length of a text that is made no longer."""
    return Interval(Fraction(0), text.high)


def cut_to(text: Interval, size: Interval) -> Interval:
    """The length of the first or last n characters; with a negative n, of all but as many."""
    if size.low is None or size.low < 0:
        return shorter(text)
    return Interval(
        Fraction(0) if text.low is None else min(text.low, size.low),
        size.low if text.high is None else min(text.high, size.low),
    )


def cut_from(text: Interval, _: Interval, size: Interval | None = None) -> Interval:
    """The length of the characters from a place on, n of them at most."""
    if size is None or size.low is None:
        return shorter(text)
    most = abs(size.low)
    return Interval(Fraction(0), most if text.high is None else min(text.high, most))


def place_interval(text: Interval, *_: Interval) -> Interval:
    """A place in the text, 0 for none; the empty text is at place 1 even of an empty text."""
    return Interval(Fraction(0), None if text.high is None else max(Fraction(1), text.high))


def padded(_: Interval, size: Interval, *__: Interval) -> Interval:
    """The length of a text that is padded or cut to n characters."""
    return Interval(Fraction(0), None) if size.low is None else span(size.low, size.low)
