"""Interval arithmetic over expressions: where a row's value lies, from the owner's bounds alone."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import assert_never

from dpsql.query import literal
from dpsql.query.dates import PARTS, is_ordinary
from dpsql.query.expression import INTEGER, Call, Case, Cast, Column, Expression, Literal, Subquery, columns
from dpsql.query.functions import FUNCTIONS
from dpsql.query.interval import EVERYTHING, UNIT_INTERVAL, Interval
from dpsql.schema import Bound, SqlType


def bounds(expression: Expression) -> Interval:
    """The interval that holds the expression's numbers while every column stays within its declared bounds.

    Dates and timestamps count in days. Conditions are 0 or 1.
    """
    if expression.type.kind == "boolean":
        return UNIT_INTERVAL
    match expression:
        case Column(bounds=declared, domain=domain):
            if declared is not None:
                return Interval(on_the_line(declared[0]), on_the_line(declared[1]))
            return EVERYTHING if domain is None else _hull(domain)
        case Subquery(bounds=ends):
            return EVERYTHING if ends is None else Interval(on_the_line(ends[0]), on_the_line(ends[1]))
        case Literal():
            return _hull((expression.value,))
        case Call(function=function, arguments=arguments):
            return FUNCTIONS[function].interval(*(bounds(argument) for argument in arguments))
        case Case(branches=branches, default=default):
            results = [value for _, value in branches] + ([] if default is None else [default])
            whole = None
            for result in results:
                if result != Literal(None, result.type):
                    whole = bounds(result) if whole is None else whole.union(bounds(result))
            return whole or EVERYTHING
        case Cast(argument=argument, type=sql_type):
            keeps = argument.type.kind != "text" and sql_type.kind != "text"
            return _rounded(bounds(argument), expression) if keeps else EVERYTHING
        case _:
            assert_never(expression)


def _rounded(interval: Interval, cast: Cast) -> Interval:
    """A cast to integers rounds; the ends move to whole numbers outside."""
    if cast.type.kind != "integer" or interval.low is None or interval.high is None:
        return interval
    return Interval(Fraction(interval.low.__floor__()), Fraction(interval.high.__ceil__()))


def on_the_line(bound: Bound) -> Fraction:
    """A bound as a number: dates and timestamps as days since year 1."""
    match bound:
        case datetime():
            seconds = bound.hour * 3600 + bound.minute * 60 + bound.second
            return bound.toordinal() + Fraction(seconds * 10**6 + bound.microsecond, 86_400 * 10**6)
        case date():
            return Fraction(bound.toordinal())
        case _:
            return Fraction(bound)


def _hull(values: tuple[object, ...]) -> Interval:
    points = []
    for value in values:
        if isinstance(value, date):
            points.append(on_the_line(value))
        elif value is not None and not isinstance(value, str):
            exact = literal.exact(Literal(value, INTEGER))  # type: ignore[arg-type]
            if exact is not None:
                points.append(exact)
    return Interval(min(points), max(points)) if points else EVERYTHING


def is_nullable(expression: Expression) -> bool:
    """Whether the expression may be NULL on data that keep the owner's declarations."""
    match expression:
        case Column(nullable=nullable) | Subquery(nullable=nullable):
            return nullable
        case Literal(value=value):
            return value is None
        case Call(function="coalesce", arguments=arguments):
            return all(map(is_nullable, arguments))
        case Call(function="is null" | "is not distinct from" | "is distinct from"):
            return False
        case Call(arguments=arguments):
            return _may_fail(expression) or any(map(is_nullable, arguments))
        case Case(branches=branches, default=default):
            results = [value for _, value in branches]
            return default is None or any(map(is_nullable, [*results, default]))
        case Cast(argument=argument, type=sql_type):
            total = sql_type.kind in ("text", "double") and argument.type.kind != "text"
            return not (total or _fits(bounds(argument), argument.type, sql_type)) or is_nullable(argument)
        case _:
            assert_never(expression)


def _may_fail(call: Call) -> bool:
    """Whether the function may be NULL on arguments that are not and that lie within their bounds."""
    if not FUNCTIONS[call.function].fallible:
        return False
    arguments = [bounds(argument) for argument in call.arguments]
    match call.function:
        case "/" | "//" | "%":
            divisor = arguments[1]
            return divisor.low is None or divisor.high is None or divisor.low <= 0 <= divisor.high
        case name if name in PARTS or name.startswith("date_trunc "):
            return not is_ordinary(arguments[0])
        case name if name.startswith("date_diff "):
            return not all(map(is_ordinary, arguments))
        case _:
            return True


def _fits(interval: Interval, source: SqlType, target: SqlType) -> bool:
    """Whether every number or moment of the interval has a form as the type."""
    if source.is_temporal and target.is_temporal:
        return is_ordinary(interval)
    if not (source.is_numeric and target.is_numeric) or interval.magnitude is None:
        return False
    digits = 18 if target.kind == "integer" else (target.precision or 0) - (target.scale or 0)
    return interval.magnitude < Fraction(10**digits - 1)


def unbounded_columns(expression: Expression) -> list[Column]:
    """The numeric columns without declared bounds: the ones to name when a sum has none."""
    found = dict.fromkeys(column for column in columns(expression) if not bounds(column).is_finite)
    return [column for column in found if column.type.is_numeric or column.type.is_temporal]


def is_bounded(expression: Expression) -> bool:
    """Whether the expression's numbers lie in a finite interval."""
    return bounds(expression).is_finite
