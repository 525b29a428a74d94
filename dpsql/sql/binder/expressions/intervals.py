"""Moments moved by an interval, and moments that count from 1970.

The interval is constant, or of as many units as a row says.
"""

from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from dpsql.sql.binder.expressions.constant_arguments import Span, constant_span, unit_word
from dpsql.sql.binder.expressions.unsupported import refuse_unlisted
from dpsql.sql.functions.call import ReadNode, call
from dpsql.sql.functions.datetimes import MICROSECONDS, UNITS
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import INTEGER, TIMESTAMP, Call, Cast, Expression, Literal
from dpsql.sql.ir.refusal import refuse

#: Where Unix time begins.
EPOCH = Literal(datetime(1970, 1, 1), TIMESTAMP)
#: The unit that a function of a number counts, by the power of ten that sqlglot says;
#: None for #: seconds.
_SCALES = {None: "second", "3": "millisecond", "6": "microsecond"}


def is_interval(node: exp.Expr) -> bool:
    """Whether the node is an interval, perhaps negated or multiplied."""
    inner = node.unnest()
    if isinstance(inner, exp.Neg):
        return is_interval(inner.this)
    if isinstance(inner, exp.Mul):
        return is_interval(inner.this) or is_interval(inner.expression)
    return isinstance(inner, exp.Interval) or _counted(inner) is not None


def _counted(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The unit of INTERVAL (n) SECOND, TO_SECONDS and their like, and what is counted.

    None for another node.
    """
    if isinstance(node, exp.Interval) and node.args.get("unit") is not None:
        return unit_word(node.args["unit"].name), node.this
    if isinstance(node, exp.ToDays):
        return "day", node.this
    if (
        not isinstance(node, exp.Anonymous)
        or not node.name.lower().startswith("to_")
        or len(node.expressions) != 1
    ):
        return None
    unit = unit_word(node.name.lower().removeprefix("to_"))
    return (unit, node.expressions[0]) if unit in UNITS else None


def moved_by(
    bind: ReadNode, moment: exp.Expr, interval: exp.Expr, back: bool, node: exp.Expr
) -> Expression:
    """The moment moved by an interval; refused unless that is constant or a number of units."""
    value = bind(moment)
    if not value.type.is_temporal:
        refuse("E_TYPE", "an interval is added to dates and timestamps only", node)
    constant = constant_span(interval)
    if constant is not None:
        return moved(value, constant.times(-1) if back else constant, node)
    number, span = _variable(bind, interval.unnest(), node)
    return _times(value, number, span.times(-1) if back else span, node)


def _variable(bind: ReadNode, interval: exp.Expr, node: exp.Expr) -> tuple[Expression, Span]:
    """An interval that a row says: a number, and what it is multiplied by."""
    number: exp.Expr | None = None
    span: Span | None = None
    counted = _counted(interval)
    if counted is not None:
        unit, number = counted
        return _counts(_whole(bind(number)), unit, node), _one(unit)
    if isinstance(interval, exp.Neg):
        inner, span = _variable(bind, interval.this.unnest(), node)
        return inner, span.times(-1)
    if isinstance(interval, exp.Mul):
        sides = (interval.this, interval.expression)
        number, factor = sides if is_interval(sides[1]) else sides[::-1]
        span = constant_span(factor)
    if number is None or span is None:
        refuse(
            "E_TYPE",
            "an interval is a constant, or a number of constant ones: n * INTERVAL '1' DAY",
            node,
        )
    return _whole(bind(number)), span


def _one(unit: str) -> Span:
    span = constant_span(exp.Interval(this=exp.Literal.string("1"), unit=exp.var(unit.upper())))
    assert span is not None
    return span


def _counts(number: Expression, unit: str, node: exp.Expr) -> Expression:
    """The number of units; only seconds and milliseconds may have a fraction, as in DuckDB."""
    if number.type.kind != "integer" and unit not in ("second", "millisecond"):
        refuse(
            "E_TYPE",
            f"only a whole number of {unit}s is added here; write x * INTERVAL '1' {unit.upper()}",
            node,
        )
    return number


def _times(moment: Expression, number: Expression, span: Span, node: exp.Expr) -> Expression:
    """The moment moved by so many intervals.

    A number with a fraction counts microseconds, which months do not have.
    """
    if number.type.kind != "integer":
        length = span.whole_microseconds
        if length is None or not number.type.is_numeric:
            refuse(
                "E_TYPE",
                "months and years are moved by whole numbers: n * INTERVAL '1' MONTH",
                node,
            )
        product = call("*", [number, Literal(length, INTEGER)], node)
        if isinstance(product, Literal):
            return shifted(moment, "microsecond", literal.as_type(product, INTEGER, node), node)
        return shifted(moment, "microsecond", Cast(product, INTEGER), node)
    for unit, amount in span.steps:
        moment = shifted(moment, unit, call("*", [number, Literal(amount, INTEGER)], node), node)
    return moment


def _whole(number: Expression) -> Expression:
    """A rounded number as the integer that it is."""
    match number:
        case Call(function="floor" | "ceil" | "trunc" | "round", arguments=(_,)):
            return Cast(number, INTEGER)
        case _:
            return number


def of_number(bind: ReadNode, node: exp.Expr) -> Expression:
    """A moment of UTC from a number.

    TO_TIMESTAMP counts seconds, EPOCH_MS milliseconds and MAKE_TIMESTAMP microseconds.
    """
    scale = node.args.get("scale")
    unit = _SCALES.get(None if scale is None else scale.name)
    number = bind(node.this)
    fits = number.type.is_numeric if unit == "second" else number.type.kind == "integer"
    if unit is None or not fits:
        refuse_unlisted(node)
    return _times(EPOCH, number, Span(microseconds=MICROSECONDS[unit]), node)


def of_milliseconds(bind: ReadNode, node: exp.Expr) -> Expression:
    """MAKE_TIMESTAMP_MS, which is EPOCH_MS of a number."""
    if len(node.expressions) != 1:
        refuse_unlisted(node)
    return of_number(
        bind, exp.UnixToTime(this=node.expressions[0].copy(), scale=exp.Literal.number(3))
    )


def moved(moment: Expression, span: Span, node: exp.Expr) -> Expression:
    """The moment moved by months, then days, then microseconds."""
    for unit, amount in span.steps:
        moment = shifted(moment, unit, Literal(amount, INTEGER), node)
    return moment


def shifted(moment: Expression, unit: str, amount: Expression, node: exp.Expr) -> Expression:
    """The moment moved by so many units."""
    if not isinstance(amount, Literal):
        return call(f"date_add {unit} by", [moment, amount], node)
    if type(amount.value) is not int:
        refuse("E_TYPE", "only a whole number of units is added to a date", node)
    if isinstance(moment, Literal) and moment.value is not None:
        return literal.shifted(moment, unit, amount.value, node)
    return call(f"date_add {unit}", [moment, amount], node)
