"""Constants of a statement as typed values, and the calendar of its dates and timestamps.

The starts of days, months and years are proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal, DecimalException, localcontext
from fractions import Fraction

from sqlglot import exp

from dpsql.errors import Position
from dpsql.schema import SqlType
from dpsql.schema.types import TYPES
from dpsql.schema.types.numbers import INTEGER_LIMIT, MAX_EXPONENT
from dpsql.sql.ir.expression import DOUBLE, INTEGER, TEXT, TIMESTAMP, Call, Expression, Literal
from dpsql.sql.ir.refusal import position_of, refuse

#: The units whose starts are known.
STARTING = ("year", "quarter", "month", "week", "day", "hour", "minute")


def moment_of(text: str, pattern: str) -> datetime | None:
    """The moment that a text writes in a format of Python's ``strptime``; None if it has none.

    >>> moment_of("2024-03-01", "%Y-%m-%d"), moment_of("2024-03-01", "%Y-%m"), moment_of("1-1", "%m-%m")
    (datetime.datetime(2024, 3, 1, 0, 0), None, None)
    """
    try:
        return datetime.strptime(text, pattern)
    except (
        ValueError,
        re.error,
    ):  # Python makes a pattern of the format, in which no part may stand twice
        return None


def starts(moment: datetime, unit: str) -> Iterator[datetime]:
    """The start of the unit that holds the moment, and the starts after it."""
    midnight = datetime(moment.year, moment.month, moment.day)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        start = (
            midnight - timedelta(days=midnight.weekday())
            if unit == "week" and midnight.year > 1
            else midnight
        )
        if unit in ("hour", "minute"):
            start = moment.replace(
                minute=0 if unit == "hour" else moment.minute, second=0, microsecond=0
            )
        span = {
            "week": timedelta(days=7),
            "hour": timedelta(hours=1),
            "minute": timedelta(minutes=1),
        }
        while True:
            yield start
            if datetime.max - start < timedelta(days=8):
                return
            start += span.get(unit, timedelta(days=1))
    count = (moment.year * 12 + moment.month - 1) // months * months
    while count // 12 <= 9999:
        yield datetime(count // 12, count % 12 + 1, 1)
        count += months


MAX_DIGITS = 18
_NUMBER = re.compile(r"(\d+)?(\.\d*)?([eE][+-]?\d{1,4})?", re.ASCII)

#: NULL has no type of its own; it takes that of the other operand.
NULL = Literal(None, INTEGER)


def number(text: str, node: exp.Expr) -> Literal:
    """The exact number that the digits say: integer, decimal or, with an exponent, double."""
    if not _NUMBER.fullmatch(text) or text in ("", "."):
        refuse("E_TYPE", "this number is not read; write plain digits", node)
    value = Decimal(text)
    if value and not -MAX_EXPONENT <= value.adjusted() <= MAX_EXPONENT:
        refuse("E_TYPE", f"a number must lie within ±1e{MAX_EXPONENT}", node)
    return typed_number(value, node)


def typed_number(value: Decimal, node: exp.Expr | None) -> Literal:
    """A number of the statement with the narrowest type that holds it."""
    exponent = value.as_tuple().exponent
    if exponent == 0 and abs(value) < INTEGER_LIMIT:
        return Literal(int(value), INTEGER)
    digits = len(value.as_tuple().digits)
    if isinstance(exponent, int) and -MAX_DIGITS <= exponent < 0 and digits <= MAX_DIGITS:
        return Literal(value, SqlType("decimal", MAX_DIGITS, -exponent))
    return Literal(float(value), DOUBLE)


def parameter(value: object, node: exp.Expr) -> Literal:
    """A bound parameter as a typed constant; refused if its Python type has no SQL type."""
    if value is None:
        return NULL
    for kind, facts in TYPES.items():
        converted = facts.parameter(value)
        match converted:
            case None:
                continue
            case str():
                return quoted(converted, node)
            case Decimal():
                return typed_number(converted, node)
            case _:
                return Literal(converted, SqlType(kind))
    refuse(
        "E_PARAM",
        f"a parameter of type {type(value).__name__} with this value has no SQL form",
        node,
    )


def quoted(value: str, node: exp.Expr) -> Literal:
    """A constant in quotes, which takes the type of the other operand; refused as other texts."""
    return replace(text(value, node), quoted_at=position_of(node) or Position(1, 1))


def text(value: str, node: exp.Expr) -> Literal:
    """A string constant; refused if it holds characters that engines read in different ways."""
    if (
        any(ord(character) < 32 or 0xD800 <= ord(character) < 0xE000 for character in value)
        or "\x7f" in value
    ):
        refuse("E_CHARSET", "a string may not hold control characters", node)
    return Literal(value, TEXT)


def as_type(literal: Literal, target: SqlType, node: exp.Expr) -> Literal:
    """The constant as a value of the type, converted now; refused if it has no such value."""
    value = literal.value
    if value is None or literal.type == target:
        return Literal(value, target)
    try:
        return Literal(target.facts.constant(target, value), target)
    except (ValueError, OverflowError, DecimalException):
        refuse("E_TYPE", f"this constant is no {target}", node)


_ARITHMETIC: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
}


def folded(call: Call) -> Expression:
    """The call itself, or its value if all arguments are exact numbers.

    ``0.06 + 0.01`` is 0.07 here, as it is for the reader, and not the nearest double.
    """
    values = [argument.value for argument in call.arguments if isinstance(argument, Literal)]
    if len(values) < len(call.arguments) or not all(
        type(value) in (int, Decimal) for value in values
    ):
        return call
    numbers = [Decimal(value) for value in values]  # type: ignore[arg-type]
    with localcontext(prec=60):
        if call.function == "negate":
            return typed_number(-numbers[0], None)
        if call.function in _ARITHMETIC:
            return typed_number(_ARITHMETIC[call.function](numbers[0], numbers[1]), None)
    return call


def shifted(moment: Literal, unit: str, amount: int, node: exp.Expr) -> Literal:
    """A constant date or timestamp moved by a calendar span."""
    value = moment.value
    if not isinstance(value, date):
        refuse("E_TYPE", "an interval is added to dates and timestamps only", node)
    try:
        if unit in ("year", "month"):
            months = value.year * 12 + value.month - 1 + amount * (12 if unit == "year" else 1)
            year, month = divmod(months, 12)
            day = min(value.day, monthrange(year, month + 1)[1])
            return Literal(value.replace(year=year, month=month + 1, day=day), moment.type)
        if unit in ("day", "week"):
            return Literal(
                value + timedelta(days=amount * (7 if unit == "week" else 1)), moment.type
            )
        start = as_type(moment, TIMESTAMP, node).value
        assert isinstance(start, datetime)
        return Literal(start + timedelta(**{f"{unit}s": amount}), TIMESTAMP)
    except (ValueError, OverflowError):
        refuse("E_TYPE", "this date is outside the calendar", node)


def exact(literal: Literal) -> Fraction | None:
    """The number as a fraction; None if the constant is no number."""
    value = literal.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Fraction(value)
