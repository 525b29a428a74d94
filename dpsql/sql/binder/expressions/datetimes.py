"""Dates and timestamps: their parts, differences and shifts."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.binder.expressions.constant_arguments import Span, constant_span, unit_word
from dpsql.sql.binder.expressions.intervals import is_interval, moved, moved_by, shifted
from dpsql.sql.functions.call import ReadNode, beside, call, read_call, resolved
from dpsql.sql.functions.datetimes import BUCKETS, PARTS, UNITS
from dpsql.sql.functions.spellings import PART_NAMES, SPELLING
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import DATE, INTEGER, TIMESTAMP, Cast, Expression, Literal
from dpsql.sql.ir.literal import STARTING, starts
from dpsql.sql.ir.refusal import called, only, refuse

#: Parts of an interval between two timestamps: the unit that is counted,
#: and of how many it is the #: remainder.
_ELAPSED = {
    "day": ("day", None),
    "hour": ("hour", 24),
    "minute": ("minute", 60),
    "second": ("second", 60),
}


def extract(bind: ReadNode, node: exp.Expr) -> Expression:
    """EXTRACT of one part."""
    only(node, "this", "expression", code="E_FUNC")
    return part_of(bind, node.this, node.expression, node)


def date_part(bind: ReadNode, node: exp.Expr) -> Expression:
    """DATE_PART, which is EXTRACT with the part as a string."""
    if len(node.expressions) != 2:
        refuse("E_FUNC", "DATE_PART takes 2 arguments", node)
    return part_of(bind, node.expressions[0], node.expressions[1], node)


def part_of(bind: ReadNode, unit: exp.Expr, moment: exp.Expr, node: exp.Expr) -> Expression:
    """One part of a moment, of the time between two, or of an age."""
    name = unit_word(unit.name) if isinstance(unit, exp.Var | exp.Literal) else ""
    name = PART_NAMES.get(name, name)
    moment = moment.unnest()
    if isinstance(moment, exp.Anonymous) and moment.name.lower() == "age":
        if name not in ("year", "month", "day") or len(moment.expressions) != 2:
            refuse("E_FUNC", "EXTRACT reads YEAR, MONTH and DAY of AGE(end, start)", node)
        return read_call(bind, f"age {name}", moment.expressions, node)
    if isinstance(moment, exp.Sub) and not is_interval(moment.expression):
        ends = beside([bind(moment.this), bind(moment.expression)])
        if any(end.type.kind == "timestamp" for end in ends) and all(
            end.type.is_temporal for end in ends
        ):
            return _elapsed(name, ends[1], ends[0], node)
    if name != "epoch" and name not in PARTS:
        refuse("E_FUNC", f"EXTRACT knows EPOCH, {', '.join(PARTS).upper()}", node)
    return read_call(bind, name, (moment,), node)


def _elapsed(name: str, start: Expression, end: Expression, node: exp.Expr) -> Expression:
    """A part of the interval between two timestamps."""
    if name == "epoch":
        return call(
            "/", [call("date_sub microsecond", [start, end], node), Literal(10**6, INTEGER)], node
        )
    if name not in _ELAPSED:
        refuse(
            "E_FUNC",
            "of the time between two timestamps EXTRACT knows EPOCH, DAY, HOUR, MINUTE and SECOND; use "
            "DATE_DIFF('month', start, end)",
            node,
        )
    unit, of = _ELAPSED[name]
    counted = call(f"date_sub {unit}", [start, end], node)
    return counted if of is None else call("%", [counted, Literal(of, INTEGER)], node)


def truncated(bind: ReadNode, node: exp.Expr) -> Expression:
    """DATE_TRUNC."""
    only(node, "this", "unit", *SPELLING, code="E_FUNC")
    unit = unit_name(node.args.get("unit"), node)
    moment = bind(node.this)
    if unit in STARTING and isinstance(moment, Literal) and isinstance(moment.value, date):
        return _start(moment.value, unit, moment.type)
    return call(f"date_trunc {unit}", [moment], node)


def _start(moment: date, unit: str, sql_type: SqlType) -> Literal:
    """The start of the unit that holds a constant moment.

    A statement about today stays the same all day.
    """
    exactly = (
        moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
    )
    start = next(starts(exactly, unit))
    return Literal(start.date() if sql_type.kind == "date" else start, sql_type)


def difference(bind: ReadNode, node: exp.Expr) -> Expression:
    """DATE_DIFF; the parser has the later moment first."""
    only(node, "this", "expression", "unit", *SPELLING, code="E_FUNC")
    unit = unit_name(node.args.get("unit"), node)
    return read_call(bind, f"date_diff {unit}", (node.expression, node.this), node)


def subtracted(bind: ReadNode, node: exp.Expr) -> Expression:
    """DATE_SUB: whole units between two moments, or a moment moved back by an interval."""
    if len(node.expressions) == 3:
        unit, start, end = node.expressions
        return read_call(bind, f"date_sub {unit_name(unit, node)}", (start, end), node)
    if len(node.expressions) != 2:
        refuse("E_FUNC", "DATE_SUB takes a unit and two moments", node)
    return additive(
        bind, exp.Sub(this=node.expressions[0].copy(), expression=node.expressions[1].copy())
    )


def added(bind: ReadNode, node: exp.Expr) -> Expression:
    """DATE_ADD of a moment and an interval."""
    only(node, "this", "expression", *SPELLING, code="E_FUNC")
    return additive(bind, exp.Add(this=node.this.copy(), expression=node.expression.copy()))


def additive(bind: ReadNode, node: exp.Expr) -> Expression:
    """A sum or difference of numbers, or a moment moved by an interval; each side is read once."""
    only(node, "this", "expression", *SPELLING)
    this = node.this
    right = node.expression
    back = isinstance(node, exp.Sub)
    if not back and is_interval(this):
        this, right = right, this
    if is_interval(right):
        return moved_by(bind, this, right, back, node=node)
    first = bind(this)
    second = bind(right)
    if back:
        first, second = beside([first, second])
    if first.type.is_temporal and second.type.is_temporal and back:
        if "timestamp" in (first.type.kind, second.type.kind):
            refuse(
                "E_TYPE",
                "the difference of two timestamps is an interval; write DATE_DIFF('day', start, end) or "
                "EXTRACT(EPOCH FROM end - start)",
                node,
            )
        return call("date_diff day", [second, first], node)
    if second.type.is_temporal and not back:
        first, second = second, first
    if first.type.kind == "date" and second.type.kind == "integer":
        days = call("negate", [second], node) if back else second
        return shifted(first, "day", days, node)
    if first.type.is_temporal:
        refuse(
            "E_TYPE",
            "only a whole number of days is added to a date; write + INTERVAL '1' HOUR for a timestamp",
            node,
        )
    return call("-" if back else "+", [first, second], node)


def bucket(bind: ReadNode, node: exp.Expr) -> Expression:
    """TIME_BUCKET and DATE_BIN of a constant width, counted from a constant origin."""
    only(node, "this", "expression", "unit", code="E_FUNC")
    name = "DATE_BIN" if called(node) == "DATE_BIN" else "TIME_BUCKET"
    span = constant_span(_as_interval(node.this))
    steps = () if span is None else span.steps
    if span is None or len(steps) != 1 or steps[0][1] <= 0:
        refuse(
            "E_FUNC",
            f"{name} takes a constant positive width of one unit, such as INTERVAL '7 days'",
            node,
        )
    unit, width = steps[0]
    if unit == "year":
        unit = "month"
        width = width * 12
    moment = bind(node.expression)
    if name == "DATE_BIN":
        moment = _as_timestamp(moment, node)
    if unit not in BUCKETS or (moment.type == DATE and unit not in ("month", "day")):
        refuse(
            "E_FUNC",
            f"{name} of a date takes months or days, of a timestamp also hours, minutes and seconds",
            node,
        )
    ahead = _ahead(bind, node.args.get("unit"), span, name, node=node)
    counted = call(
        f"time_bucket {unit}", [moved(moment, ahead.times(-1), node), Literal(width, INTEGER)], node
    )
    return moved(counted, ahead, node)


def _as_interval(width: exp.Expr) -> exp.Expr:
    """A width in quotes as the interval that it is."""
    quoted = isinstance(width, exp.Literal) and width.is_string
    return exp.Interval(this=width.copy()) if quoted else width


def _as_timestamp(moment: Expression, node: exp.Expr) -> Expression:
    moment = resolved(moment, TIMESTAMP)
    if moment.type != DATE:
        return moment
    return (
        literal.as_type(moment, TIMESTAMP, node)
        if isinstance(moment, Literal)
        else Cast(moment, TIMESTAMP)
    )


#: Where the engine's buckets of days, hours, minutes and seconds begin, whatever their width.
_FIRST_BUCKET = datetime(2000, 1, 3)


def _ahead(bind: ReadNode, origin: exp.Expr | None, width: Span, name: str, node: exp.Expr) -> Span:
    """How far the buckets from this origin lie ahead of the engine's own."""
    if origin is None:
        return Span()
    # the parser keeps a text there as a word
    value = literal.quoted(origin.name, node) if isinstance(origin, exp.Var) else bind(origin)
    start = _as_timestamp(value, node)
    length = width.whole_microseconds
    if not isinstance(start, Literal) or not isinstance(start.value, datetime) or not length:
        refuse(
            "E_FUNC",
            f"{name} takes a constant timestamp as its origin, and then a width of days or less",
            node,
        )
    days, rest = divmod(
        (start.value - _FIRST_BUCKET) // timedelta(microseconds=1) % length, 86_400 * 10**6
    )
    return Span(days=days, microseconds=rest)


def is_finite(bind: ReadNode, node: exp.Expr) -> Expression:
    """ISFINITE of a number or of a moment."""
    arguments = [bind(argument) for argument in node.expressions]
    moment = bool(arguments) and arguments[0].type.is_temporal
    return call("isfinite moment" if moment else "isfinite", arguments, node)


def as_date(bind: ReadNode, node: exp.Expr) -> Expression:
    """DATE(x) is CAST(x AS DATE)."""
    only(node, "this", code="E_FUNC")
    value = bind(node.this)
    if isinstance(value, Literal):
        return literal.as_type(value, DATE, node)
    if not value.type.is_temporal and value.type.kind != "text":
        refuse("E_TYPE", f"{value.type} has no form as date", node)
    return value if value.type == DATE else Cast(value, DATE)


def unit_name(node: exp.Expr | None, at: exp.Expr) -> str:
    """The unit of time that is written at this place."""
    unit = unit_word(node.name) if isinstance(node, exp.Var | exp.Literal) else ""
    if unit not in UNITS:
        refuse("E_FUNC", "the unit must be a constant such as 'month' or 'day'", at)
    return unit
