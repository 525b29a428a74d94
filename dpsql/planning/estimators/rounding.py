"""Released numbers in the types of their columns; rounding comes after the noise and costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

#: The values that a BIGINT holds; released numbers beyond are kept at its ends, after the noise.
INT64 = 2**63
#: The digits that a DECIMAL(38, s) holds.
DIGITS = 10**38 - 1
#: Integers below this are exact as doubles, so that a quotient of two is the nearest double to the true one.
EXACT = 2**53
_CONTEXT = Context(prec=40)


def as_type(number: Fraction | None, sql_type: str) -> bool | int | float | Decimal | None:
    """A released number in its column's type, NULL as it is.

    >>> as_type(Fraction(5, 2), "BIGINT"), as_type(Fraction(1, 3), "DECIMAL(38,2)")
    (2, Decimal('0.33'))
    """
    if number is None:
        return None
    if sql_type == "BOOLEAN":
        return number == 1
    if sql_type == "BIGINT":
        return max(-INT64, min(INT64 - 1, round(number)))
    if sql_type == "DOUBLE":
        return float(number)
    scale = scale_of(sql_type)
    return _decimal(max(-DIGITS, min(DIGITS, round(number * 10**scale))), scale)


def quotients_as_type(numerators: NDArray[np.int64], denominator: int, sql_type: str) -> Sequence[object] | None:
    """What `as_type` makes of each numerator over the denominator, both less than 2^53 in size.

    None where a type takes larger integers than these.
    """
    if sql_type == "DOUBLE":
        doubles: list[float] = (numerators / denominator).tolist()
        return doubles
    if sql_type == "BIGINT":
        return _nearest(numerators, denominator)
    if not sql_type.startswith("DECIMAL"):
        return None
    scale = scale_of(sql_type)
    if int(np.abs(numerators).max(initial=1)) * 10**scale >= INT64 // 4:
        return None
    return [_decimal(each, scale) for each in _nearest(numerators * 10**scale, denominator)]


def scale_of(sql_type: str) -> int:
    """The digits after the point of a DECIMAL type.

    >>> scale_of("DECIMAL(38,2)")
    2
    """
    return int(sql_type.rstrip(")").split(",")[1])


def _nearest(numerators: NDArray[np.int64], denominator: int) -> list[int]:
    """The nearest integer to each quotient; of two that are as near the even one, as `round` has it."""
    whole, rest = np.divmod(numerators, denominator)
    twice = 2 * rest
    up = (twice > denominator) | ((twice == denominator) & (whole % 2 == 1))
    nearest: list[int] = (whole + up).tolist()
    return nearest


def _decimal(number: int, scale: int) -> Decimal:
    return Decimal(number).scaleb(-scale, _CONTEXT)
