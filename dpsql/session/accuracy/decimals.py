"""Prices as people write them, with three significant digits, and the least of them at which something holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor, log10

#: Three-digit numbers of one power of ten: 100 … 999.
_MANTISSAS = 900
#: The prices that are looked at lie between 10^−15 and 10^12.
LEAST, MOST = -17 * _MANTISSAS, 10 * _MANTISSAS


def nearest(value: float) -> int:
    """The place of a number of three digits near the value, in the order of their size.

    >>> [str(decimal(nearest(value))) for value in (0.1, 4.2, 999.4, 1000)]
    ['1/10', '21/5', '999', '1000']
    """
    if value <= 0:
        return LEAST
    power = floor(log10(value)) - 2
    place = power * _MANTISSAS + round(value / 10.0**power) - 100
    return min(max(place, LEAST), MOST)


def decimal(place: int) -> Fraction:
    """The number at a place; places one apart are between 0.1 and 1 % apart in size."""
    power, mantissa = divmod(place, _MANTISSAS)
    return (mantissa + 100) * Fraction(10) ** power


def least(holds: Callable[[Fraction], bool], guess: float) -> Fraction | None:
    """The least number of three digits at which a condition holds that goes on to hold above; None beyond `MOST`.

    >>> least(lambda value: value * value >= 2, 1.0)
    Fraction(71, 50)
    """
    high, step = nearest(guess), 1
    low = high
    while not holds(decimal(high)):
        if high >= MOST:
            return None
        low, high, step = high, min(high + step, MOST), 2 * step
    while low == high:
        low, step = max(high - step, LEAST), 2 * step
        if holds(decimal(low)):
            if low <= LEAST:
                return decimal(LEAST)
            high = low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(decimal(middle)) else (middle, high)
    return decimal(high)
