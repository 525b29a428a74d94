"""Every value that a column or an expression may show,
from the schema and the statement's conditions alone.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from dpsql.schema import Bound, SqlType
from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.functions.datetimes import is_ordinary
from dpsql.sql.ir import literal
from dpsql.sql.ir.core import Days
from dpsql.sql.ir.expression import (
    BOOLEAN,
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Scalar,
    rebuilt,
)
from dpsql.sql.ir.interval import Interval, as_number
from dpsql.sql.ir.literal import STARTING, starts

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
#: Conditions that no row fulfils whose column is NULL.
_STRICT = frozenset({"=", "<>", "<", "<=", ">", ">=", "in", "like", "ilike"})


def narrowed_column(column: ColumnRef, conditions: Iterable[Expression]) -> ColumnRef:
    """The column with the bounds and the nullability that hold for every row which fulfils the
    conditions.

    >>> from dpsql.sql.ir.expression import BOOLEAN, INTEGER
    >>> age = ColumnRef("t", "age", INTEGER, bounds=(Fraction(18), Fraction(100)))
    >>> narrowed_column(age, [Call("<", (age, Literal(30, INTEGER)), BOOLEAN)]).bounds
    (Fraction(18, 1), Fraction(29, 1))
    """
    low, high = column.bounds or (None, None)
    nullable = column.nullable
    for condition in conditions:
        if not isinstance(condition, Call):
            continue
        if column in condition.arguments and condition.function in _STRICT:
            nullable = False
        if condition == Call("not", (Call("is null", (column,), condition.type),), condition.type):
            nullable = False
        for function, end in _ends(column, condition):
            if function in (">", ">=", "="):
                low = end if low is None or as_number(low) < as_number(end) else low
            if function in ("<", "<=", "="):
                high = end if high is None or as_number(end) < as_number(high) else high
    known = low is not None and high is not None and as_number(low) <= as_number(high)
    return replace(column, bounds=(low, high) if known else column.bounds, nullable=nullable)  # type: ignore[arg-type]


def narrowed_moment(
    moment: Expression, within: Interval, nullable: bool, conditions: Iterable[Expression]
) -> ColumnRef:
    """What the conditions say of a computed date or timestamp that lies ``within``,
    as a column that stands for it.

    >>> from dpsql.sql.ir.expression import BOOLEAN, DATE, INTEGER
    >>> start = Literal(date(2000, 1, 1), DATE)
    >>> end = Call("date_add day by", (start, ColumnRef("t", "day", INTEGER)), DATE)
    >>> until = Call("<", (end, Literal(date(2000, 3, 1), DATE)), BOOLEAN)
    >>> narrowed_moment(end, Interval(Fraction(730120), Fraction(731000)), True, [until]).bounds
    (datetime.date(2000, 1, 1), datetime.date(2000, 2, 29))
    """
    bounds = None
    if within.low is not None and within.high is not None and is_ordinary(within):
        bounds = (
            _midnight(floor(within.low), moment.type),
            _midnight(ceil(within.high), moment.type),
        )
    column = ColumnRef("", "moment", moment.type, nullable, bounds=bounds)
    of_moment = [
        condition
        for condition in conditions
        if isinstance(condition, Call) and moment in condition.arguments
    ]
    return narrowed_column(
        column,
        [
            rebuilt(condition, lambda operand: column if operand == moment else operand)
            for condition in of_moment
        ],
    )


def compared_moments(conditions: Iterable[Expression]) -> frozenset[Expression]:
    """The computed dates and timestamps that conditions compare with constants."""
    calls = [
        condition
        for condition in conditions
        if isinstance(condition, Call)
        and (condition.function in _TURNED or condition.function == "in")
    ]
    return frozenset(
        argument
        for call in calls
        for argument in call.arguments
        if isinstance(argument, Call | Cast) and argument.type.is_temporal
    )


def _midnight(day: int, sql_type: SqlType) -> Bound:
    known = date.fromordinal(day)
    return known if sql_type.kind == "date" else datetime(known.year, known.month, known.day)


def _ends(column: ColumnRef, condition: Call) -> Iterable[tuple[str, Bound]]:
    """What the condition says of the column's least and greatest value, as inclusive ends."""
    match condition:
        case Call(
            function=function, arguments=(ColumnRef() as compared, Literal() as constant)
        ) if function in _TURNED:
            pairs = [(function, compared, constant)]
        case Call(
            function=function, arguments=(Literal() as constant, ColumnRef() as compared)
        ) if function in _TURNED:
            pairs = [(_TURNED[function], compared, constant)]
        case Call(function="in", arguments=(ColumnRef() as compared, *options)):
            constants = [option for option in options if isinstance(option, Literal)]
            ends = [
                end
                for end in (_bound(compared, constant) for constant in constants)
                if end is not None
            ]
            if compared == column and ends and len(ends) == len(options):
                yield ">=", min(ends, key=as_number)
                yield "<=", max(ends, key=as_number)
            return
        case _:
            return
    for function, compared, constant in pairs:
        end = _bound(compared, constant)
        if compared == column and end is not None:
            yield function, _inclusive(column, function, end)


def _bound(column: ColumnRef, constant: Literal) -> Bound | None:
    """The constant as a bound of the column; None if its type is of another family."""
    if column.type.is_temporal:
        value = constant.value
        if not isinstance(value, date):
            return None
        if column.type.kind == "timestamp" and not isinstance(value, datetime):
            return datetime(value.year, value.month, value.day)
        return value
    return literal.exact(constant) if column.type.is_numeric else None


def _inclusive(column: ColumnRef, function: str, end: Bound) -> Bound:
    """The end of a strict comparison moved by the smallest step of the column's type, if any."""
    if function not in ("<", ">"):
        return end
    sign = -1 if function == "<" else 1
    try:
        match end:
            case datetime():
                return end + sign * timedelta(microseconds=1)
            case date():
                return end + sign * timedelta(days=1)
    except OverflowError:
        return end
    assert isinstance(end, Fraction)
    step = column.type.step
    return end if step is None or end % step else end + sign * step


#: Values between bounds are enumerated up to the first number, and the days that functions of dates
#: read up to the second.
MAX_RANGE = 1_000
MAX_DAYS = 40_000

_TRUNCATED = frozenset(f"date_trunc {unit}" for unit in STARTING)
_WHOLE = frozenset({"floor", "ceil", "trunc", "round", "//"})


@lru_cache(maxsize=256)
def column_values(column: ColumnRef) -> tuple[Scalar, ...] | None:
    """Every value that a column of a private table may show; None if these are too many."""
    if column.public:
        return None
    if column.domain is not None:
        return (
            column.domain
            if column.nullable
            else tuple(value for value in column.domain if value is not None)
        )
    if column.type == BOOLEAN:
        return values(column)
    if column.type.step is not None:
        return _numbers(column, column.type.step)
    return _moments(column, "day") if column.type.facts.axis == "day" else None


def column_days(column: ColumnRef) -> Days | None:
    """The days of a bounded date or timestamp, for functions with few values over many days."""
    if column.public or not column.type.is_temporal or column.bounds is None:
        return None
    first, last = (_day(bound) for bound in column.bounds)
    count = (last - first).days + 1
    return Days(first, count, column.nullable) if count <= MAX_DAYS else None


def values(expression: Expression) -> tuple[Scalar, ...] | None:
    """Every value that a function of private columns may show, from its interval."""
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
        case Call(
            function="round decimal" | "trunc decimal",
            arguments=(_, _, Literal(value=int() as digits)),
        ):
            return Fraction(10) ** -digits
        case _ if expression.type.kind == "integer":
            return Fraction(1)
        case Call(function="round", arguments=(_, Literal(value=int() as digits))) if (
            abs(digits) <= 18
        ):
            return Fraction(10) ** -digits
        case Call(function=function, arguments=arguments) if (
            function in _WHOLE and expression.type.is_numeric
        ):
            return Fraction(1) if len(arguments) == 1 or function == "//" else None
        case Cast(type=SqlType(kind="decimal", scale=scale)) if expression.type.is_numeric:
            return Fraction(1, 10 ** (scale or 0))
    return None


def _numbers(expression: Expression, step: Fraction) -> tuple[Scalar, ...] | None:
    interval = bounds(expression)
    if (
        interval.low is None
        or interval.high is None
        or (interval.high - interval.low) / step >= MAX_RANGE
    ):
        return None
    steps = range(ceil(interval.low / step), floor(interval.high / step) + 1)
    numbers: list[Scalar] = [_number(number * step, expression.type) for number in steps]
    return (*numbers, None) if is_nullable(expression) else tuple(numbers)


def _number(number: Fraction, sql_type: SqlType) -> Scalar:
    match sql_type.kind:
        case "integer":
            return int(number)
        case "decimal":
            scale = sql_type.scale or 0
            return Decimal(int(number * 10**scale)).scaleb(-scale)
        case _:
            return float(number)


def _moments(
    expression: Expression, unit: str, argument: Expression | None = None
) -> tuple[Scalar, ...] | None:
    """The starts of the days, months, … that the bounds touch, in the expression's type."""
    interval = bounds(expression if argument is None else argument)
    if interval.low is None or interval.high is None or not is_ordinary(interval):
        return None
    start_values: list[Scalar] = []
    last = _moment(interval.high)
    for moment in starts(_moment(interval.low), unit):
        if moment > last:
            break
        if len(start_values) == MAX_RANGE:
            return None
        start_values.append(moment if expression.type.kind == "timestamp" else moment.date())
    return (*start_values, None) if is_nullable(expression) else tuple(start_values)


def _moment(days: Fraction) -> datetime:
    """Days since year 1, as `as_number` counts them, as a moment."""
    whole_days = floor(days)
    return datetime.fromordinal(whole_days) + timedelta(
        microseconds=int((days - whole_days) * 86_400 * 10**6)
    )


def _day(bound: object) -> date:
    assert isinstance(bound, date)
    return bound.date() if isinstance(bound, datetime) else bound
