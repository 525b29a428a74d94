"""Bounds and key domains of a column, read as values of the column's type."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from dpsql.schema.numbers import exact
from dpsql.schema.types import Bound, SqlType, Value

INTEGER_LIMIT = 2**63


def bound_of(sql_type: SqlType, value: object) -> Bound:
    """One end of a range as a value of the type; ValueError where it is none."""
    if sql_type.kind == "date":
        return _date(value)
    if sql_type.kind == "timestamp":
        return _timestamp(value)
    if not sql_type.is_numeric:
        raise ValueError(f"a {sql_type} column has no bounds; leave `bounds` out")
    number = exact(value)
    if sql_type.kind == "integer" and number.denominator != 1:
        raise ValueError(f"{value} is not an integer; round the bound outwards")
    if not fits(sql_type, number):
        raise ValueError(f"{value} does not fit in {sql_type}; take a bound that the type can hold")
    return number


def bounds_of(sql_type: SqlType, pair: object) -> tuple[Bound, Bound]:
    """The range [low, high] as values of the type; ValueError where it is not one."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ValueError("must be a pair [low, high]")
    low, high = bound_of(sql_type, pair[0]), bound_of(sql_type, pair[1])
    if low > high:  # type: ignore[operator]
        raise ValueError(f"low {pair[0]} is above high {pair[1]}; swap them")
    if low == high == 0:
        raise ValueError("[0, 0] leaves nothing to measure; take the real range of the column")
    return low, high


def value_of(sql_type: SqlType, value: object) -> Value:
    """One member of a key domain as a value of the type; ValueError where it is none."""
    match sql_type.kind:
        case "text" if isinstance(value, str):
            if any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
                raise ValueError(f"{value!r} has a control character; leave it out of the values")
            return value
        case "boolean" if isinstance(value, bool):
            return value
        case "integer" if isinstance(value, int) and not isinstance(value, bool) and fits(sql_type, Fraction(value)):
            return value
        case "decimal" if isinstance(value, int | Decimal) and not isinstance(value, bool):
            number = exact(value)
            if fits(sql_type, number) and (number * 10 ** (sql_type.scale or 0)).denominator == 1:
                return Decimal(value)
        case "date":
            return _date(value)
        case "timestamp":
            return _timestamp(value)
        case "double":
            raise ValueError("a double column has no key domain; declare it as decimal(p,s) or integer")
    raise ValueError(f"{value!r} is not a value of type {sql_type}")


def fits(sql_type: SqlType, number: Fraction) -> bool:
    """Whether the number lies in the range of the numeric type."""
    if sql_type.kind == "integer":
        return -INTEGER_LIMIT <= number < INTEGER_LIMIT
    if sql_type.kind == "decimal":
        return abs(number) < Fraction(10) ** ((sql_type.precision or 0) - (sql_type.scale or 0))
    return abs(number) <= Fraction(10) ** 300


def _date(value: object) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError(f"{value} is not a date; write it as 2020-01-31 without quotes")
    return value


def _timestamp(value: object) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise ValueError(f"{value} is not a timestamp; write it as 2020-01-31T12:00:00, with no quotes and no zone")
    return value
