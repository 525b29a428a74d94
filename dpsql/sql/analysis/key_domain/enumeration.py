"""Every value that an expression may show, from the schema and the statement alone.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.functions.dates import is_ordinary
from dpsql.sql.ir.calendar import STARTING, starts
from dpsql.sql.ir.expression import BOOLEAN, Call, Cast, Column, Expression, Literal, Scalar
from dpsql.sql.ir.relation import Days

#: Values between bounds are enumerated up to this many, the days behind functions of dates up to the second number.
MAX_RANGE, MAX_DAYS = 1_000, 40_000

_TRUNCATED = frozenset(f"date_trunc {unit}" for unit in STARTING)
_WHOLE = frozenset({"floor", "ceil", "trunc", "round", "//"})


@lru_cache(maxsize=256)
def column_values(column: Column) -> tuple[Scalar, ...] | None:
    """Every value that a column of a private table may show; None where there are too many to tell."""
    if column.public:
        return None
    if column.domain is not None:
        return column.domain if column.nullable else tuple(value for value in column.domain if value is not None)
    kind = column.type.kind
    if kind == "boolean":
        return values(column)
    if kind == "integer":
        return _numbers(column, Fraction(1))
    if kind == "decimal":
        return _numbers(column, Fraction(1, 10 ** (column.type.scale or 0)))
    return _moments(column, "day") if kind == "date" else None


def column_days(column: Column) -> Days | None:
    """The days of a bounded date or timestamp, for functions that give few values over many days."""
    if column.public or not column.type.is_temporal or column.bounds is None:
        return None
    first, last = (_day(bound) for bound in column.bounds)
    count = (last - first).days + 1
    return Days(first, count, column.nullable) if count <= MAX_DAYS else None


def values(expression: Expression) -> tuple[Scalar, ...] | None:
    """Every value that a function of private columns may show, from where its numbers or moments can lie."""
    if expression.type == BOOLEAN:
        return (False, True, None) if is_nullable(expression) else (False, True)
    if expression.type.is_temporal:
        match expression:
            case Call(function=function, arguments=(argument,)) if function in _TRUNCATED:
                return _moments(expression, function.removeprefix("date_trunc "), argument)
            case Cast(argument=argument, type=SqlType(kind="date")) if argument.type.is_temporal:
                return _moments(expression, "day", argument)
        return None
    step = _step(expression)
    return None if step is None else _numbers(expression, step)


def _step(expression: Expression) -> Fraction | None:
    """The number that all values of the expression are multiples of."""
    match expression:
        case Call(function="round decimal" | "trunc decimal", arguments=(_, _, Literal(value=int() as digits))):
            return Fraction(10) ** -digits
        case _ if expression.type.kind == "integer":
            return Fraction(1)
        case Call(function="round", arguments=(_, Literal(value=int() as digits))) if abs(digits) <= 18:
            return Fraction(10) ** -digits
        case Call(function=function, arguments=arguments) if function in _WHOLE and expression.type.is_numeric:
            return Fraction(1) if len(arguments) == 1 or function == "//" else None
        case Cast(type=SqlType(kind="decimal", scale=scale)) if expression.type.is_numeric:
            return Fraction(1, 10 ** (scale or 0))
    return None


def _numbers(expression: Expression, step: Fraction) -> tuple[Scalar, ...] | None:
    interval = bounds(expression)
    if interval.low is None or interval.high is None or (interval.high - interval.low) / step >= MAX_RANGE:
        return None
    steps = range(ceil(interval.low / step), floor(interval.high / step) + 1)
    found: list[Scalar] = [_number(number * step, expression.type) for number in steps]
    return (*found, None) if is_nullable(expression) else tuple(found)


def _number(number: Fraction, sql_type: SqlType) -> Scalar:
    match sql_type.kind:
        case "integer":
            return int(number)
        case "decimal":
            scale = sql_type.scale or 0
            return Decimal(int(number * 10**scale)).scaleb(-scale)
        case _:
            return float(number)


def _moments(expression: Expression, unit: str, argument: Expression | None = None) -> tuple[Scalar, ...] | None:
    """The starts of all days, months, … that the bounds of the argument touch, in the expression's type."""
    interval = bounds(expression if argument is None else argument)
    if interval.low is None or interval.high is None or not is_ordinary(interval):
        return None
    found: list[Scalar] = []
    last = _moment(interval.high)
    for moment in starts(_moment(interval.low), unit):
        if moment > last:
            break
        if len(found) == MAX_RANGE:
            return None
        found.append(moment if expression.type.kind == "timestamp" else moment.date())
    return (*found, None) if is_nullable(expression) else tuple(found)


def _moment(days: Fraction) -> datetime:
    """Days since year 1, as `on_the_line` counts them, as a moment."""
    whole = floor(days)
    return datetime.fromordinal(whole) + timedelta(microseconds=int((days - whole) * 86_400 * 10**6))


def _day(bound: object) -> date:
    assert isinstance(bound, date)
    return bound.date() if isinstance(bound, datetime) else bound
