"""Interval arithmetic over expressions, from the owner's bounds and the conditions of CASE.

Proved in ``docs/proofs/stability.md`` and, for conditions, in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import TypeAlias, assert_never

from dpsql.schema import Bound, SqlType
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.datetimes import is_ordinary
from dpsql.sql.functions.interval_rules import floor_interval, length_interval, round_interval, span
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import (
    INTEGER,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
)
from dpsql.sql.ir.interval import EVERYTHING, UNIT_INTERVAL, Interval, as_number

#: Intervals of expressions at one place of a statement, beyond what their columns declare.
Known: TypeAlias = Mapping[Expression, Interval]


_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def narrowed(known: Known, condition: Expression, holds: bool) -> Known:
    """The intervals of expressions if the condition holds; with ``holds`` false, if it does not.

    A condition that is NULL counts as one that does not hold: what it compares is NULL too and has
    no number.
    """
    if not isinstance(condition, Call):
        return known
    match condition.function, condition.arguments:
        case ("and", (first, second)) if holds:
            return narrowed(narrowed(known, first, True), second, True)
        case ("or", (first, second)) if not holds:
            return narrowed(narrowed(known, first, False), second, False)
        case "not", (inner,):
            return narrowed(known, inner, not holds)
        case ("in", (compared, *options)) if holds:
            points = [_point(option) for option in options]
            known_points = [point for point in points if point is not None]
            return (
                _with(known, compared, Interval(min(known_points), max(known_points)))
                if len(known_points) == len(points)
                else known
            )
        case "<" | "<=" | ">" | ">=" | "=", (first, second):
            return _compared(known, condition.function, first, second, holds=holds)
        case _:
            return known


def _compared(
    known: Known, operator: str, first: Expression, second: Expression, holds: bool
) -> Known:
    if isinstance(first, Literal):
        first, second = second, first
        operator = _TURNED[operator]
    point = _point(second)
    if point is None or (operator == "=" and not holds):
        return known
    operator = operator if holds else _NEGATED[operator]
    return _with(
        known,
        first,
        Interval(None if "<" in operator else point, None if ">" in operator else point),
    )


def _with(known: Known, expression: Expression, interval: Interval) -> Known:
    before = known.get(expression, EVERYTHING)
    return {**known, expression: before.within(interval.low, interval.high)}


def _point(expression: Expression) -> Fraction | None:
    """The number of a constant number or moment; None for anything else."""
    if not isinstance(expression, Literal) or not (
        expression.type.is_numeric or expression.type.is_temporal
    ):
        return None
    value = expression.value
    return as_number(value) if isinstance(value, date) else literal.exact(expression)


#: What is known of no expression.
NOTHING_KNOWN: Known = {}


def bounds(expression: Expression, known: Known = NOTHING_KNOWN) -> Interval:
    """The interval that holds the expression's numbers while every column, and each time between
    two columns that has bounds of its own, stays within its declared bounds.

    Dates and timestamps count in days, texts in characters. Conditions are 0 or 1.
    """
    derived = _derived(expression, known)
    more = known.get(expression) if known else None
    if more is None:
        return derived
    inside = derived.within(more.low, more.high)
    return derived if inside.is_empty else inside


def _derived(expression: Expression, known: Known) -> Interval:
    if expression.type.kind == "boolean":
        return UNIT_INTERVAL
    match expression:
        case ColumnRef(bounds=declared, domain=domain):
            if declared is not None:
                return Interval(as_number(declared[0]), as_number(declared[1]))
            return _unknown(expression) if domain is None else _hull(domain)
        case Subquery(bounds=ends):
            return (
                _unknown(expression)
                if ends is None
                else Interval(as_number(ends[0]), as_number(ends[1]))
            )
        case Literal():
            return _hull((expression.value,))
        case Call(function="greatest" | "least" as function, arguments=arguments):
            return _extreme(function, arguments, known)
        case Call(function=function, arguments=arguments):
            interval = FUNCTIONS[function].interval(
                *(bounds(argument, known) for argument in arguments)
            )
            return _declared_difference(function, arguments, interval)
        case Case():
            return _of_branches(expression, known)
        case Cast(argument=argument, type=sql_type):
            return cast_interval(bounds(argument, known), argument.type, sql_type)
        case _:
            assert_never(expression)


def _declared_difference(
    function: str, arguments: tuple[Expression, ...], interval: Interval
) -> Interval:
    """The interval of the time between two columns of a row, within its declared bounds."""
    if function.partition(" ")[0] not in ("date_diff", "date_sub"):
        return interval
    match arguments:
        case (
            ColumnRef(relation=start_relation, name=start),
            ColumnRef(relation=end_relation, differences=declared),
        ) if start_relation == end_relation:
            for column, low, high in declared:
                if column == start:
                    reached = FUNCTIONS[function].interval(
                        Interval(Fraction(0), Fraction(0)), Interval(low, high)
                    )
                    inside = interval.within(Fraction(0) if low >= 0 else reached.low, reached.high)
                    interval = interval if inside.is_empty else inside
    return interval


def _unknown(expression: Expression) -> Interval:
    return Interval(Fraction(0), None) if expression.type.kind == "text" else EVERYTHING


def _extreme(function: str, arguments: tuple[Expression, ...], known: Known) -> Interval:
    """The interval of GREATEST or LEAST, both of which skip NULL.

    GREATEST is at least, and LEAST at most, each argument that is never NULL.
    """
    intervals = [bounds(argument, known) for argument in arguments]
    hull = FUNCTIONS[function].interval(*intervals)
    sure = [
        interval
        for argument, interval in zip(arguments, intervals, strict=True)
        if _is_present(argument)
    ]
    if function == "greatest":
        lows = [interval.low for interval in sure if interval.low is not None]
        return Interval(max(lows), hull.high) if lows else hull
    highs = [interval.high for interval in sure if interval.high is not None]
    return Interval(hull.low, min(highs)) if highs else hull


def _is_present(expression: Expression) -> bool:
    """Whether it is plainly never NULL: a constant, or a column that is declared so."""
    return isinstance(expression, Literal | ColumnRef) and not is_nullable(expression)


def _of_branches(case: Case, known: Known) -> Interval:
    """The hull of the branches' results, each narrowed by its condition and those before it."""
    hull: Interval | None = None
    for condition, result in case.branches:
        if result != Literal(None, result.type):
            interval = bounds(result, narrowed(known, condition, True))
            hull = interval if hull is None else hull.union(interval)
        known = narrowed(known, condition, False)
    default = case.default
    if default is not None and default != Literal(None, default.type):
        interval = bounds(default, known)
        hull = interval if hull is None else hull.union(interval)
    return hull or EVERYTHING


def cast_interval(interval: Interval, source: SqlType, target: SqlType) -> Interval:
    """The interval of values of type ``source`` after a cast to type ``target``."""
    if target.kind == "text":
        return _text_length_interval(source, interval)
    if source.kind == "text":
        return EVERYTHING
    if target.step is not None and source.is_numeric:
        places = Fraction(target.scale or 0)
        return round_interval(interval, Interval(places, places))
    if target.kind == "date" and source.kind == "timestamp":
        return floor_interval(interval)
    return interval


def _text_length_interval(source: SqlType, interval: Interval) -> Interval:
    """How many characters a value has as a text, among values that keep their declarations."""
    written = source.facts.written
    return length_interval(interval) if written is None else span(*written)


def _hull(values: tuple[object, ...]) -> Interval:
    points = []
    for value in values:
        if isinstance(value, date):
            points.append(as_number(value))
        elif isinstance(value, str):
            points.append(Fraction(len(value)))
        elif value is not None:
            exact = literal.exact(Literal(value, INTEGER))  # type: ignore[arg-type]
            if exact is not None:
                points.append(exact)
    return Interval(min(points), max(points)) if points else EVERYTHING


def is_nullable(expression: Expression) -> bool:
    """Whether the expression may be NULL on data that keep the owner's declarations."""
    match expression:
        case ColumnRef(nullable=nullable) | Subquery(nullable=nullable):
            return nullable
        case Literal(value=value):
            return value is None
        case Call(function="coalesce" | "greatest" | "least", arguments=arguments):
            return all(map(is_nullable, arguments))
        case Call(function="is null" | "is not distinct from" | "is distinct from"):
            return False
        case Call(function=function, arguments=arguments):
            if any(map(is_nullable, arguments)):
                return True
            return FUNCTIONS[function].may_fail(*map(bounds, arguments))
        case Case(branches=branches, default=default):
            results = [value for _, value in branches]
            return default is None or any(map(is_nullable, [*results, default]))
        case Cast(argument=argument, type=sql_type):
            total = sql_type.kind in ("text", "double") and argument.type.kind != "text"
            return not (total or _fits(bounds(argument), argument.type, sql_type)) or is_nullable(
                argument
            )
        case _:
            assert_never(expression)


def _fits(interval: Interval, source: SqlType, target: SqlType) -> bool:
    """Whether every number or moment of the interval has a form as the type."""
    if source.is_temporal and target.is_temporal:
        return is_ordinary(interval)
    if not (source.is_numeric and target.is_numeric) or interval.magnitude is None:
        return False
    digits = 18 if target.kind == "integer" else (target.precision or 0) - (target.scale or 0)
    return interval.magnitude < Fraction(10**digits - 1)


def as_ends(sql_type: SqlType, interval: Interval) -> tuple[Bound, Bound] | None:
    """The interval as bounds of a column; None unless it is finite and of numbers or moments."""
    on_a_line = sql_type.is_numeric or (sql_type.is_temporal and is_ordinary(interval))
    if interval.low is None or interval.high is None or not on_a_line:
        return None
    return sql_type.facts.at(interval.low), sql_type.facts.at(interval.high)


def is_bounded(expression: Expression) -> bool:
    """Whether the expression's numbers lie in a finite interval."""
    return bounds(expression).is_finite
