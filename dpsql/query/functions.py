"""The allow-list of scalar functions: for each its parameters, its type, its total form and its interval rule.

A function may stand in a core only if it is listed here. Its *total form* is the engine expression that is emitted for
it and that gives a value or NULL on every input: whether an expression fails is itself data. Numbers are computed as
DOUBLE, which never overflows; what remains fallible stands inside TRY.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from dpsql.query.expression import BOOLEAN, DOUBLE, INTEGER, TEXT, TIMESTAMP
from dpsql.query.interval import EVERYTHING, Interval
from dpsql.schema import SqlType

Node: TypeAlias = exp.Expr

#: How many digits behind the point a product of decimals may keep before it is treated as a double.
MAX_SCALE = 6


@dataclass(frozen=True)
class Function:
    """One function of the allow-list.

    ``parameters`` names the kind of each argument (``number``, ``text``, ``temporal``, ``boolean``, ``any``, or
    ``constant`` for a literal integer); a kind that ends in ``*`` may repeat. ``total`` builds the engine expression
    from emitted arguments, numbers already as DOUBLE. ``fallible`` tells whether it may be NULL on non-NULL arguments.
    """

    parameters: tuple[str, ...]
    result: Callable[..., SqlType]
    total: Callable[..., Node]
    interval: Callable[..., Interval] = lambda *_: EVERYTHING
    fallible: bool = False
    optional: int = 0


def attempt(node: Node) -> Node:
    """The expression inside TRY: NULL where it would have failed."""
    return exp.Try(this=node)


def number(value: int | float) -> Node:
    """A DOUBLE literal; the cast keeps the engine from reading it as a DECIMAL."""
    return exp.Cast(this=exp.Literal.number(repr(value)), to=exp.DataType.build("double"))


def _always(sql_type: SqlType) -> Callable[..., SqlType]:
    return lambda *_: sql_type


def _sum_type(left: SqlType, right: SqlType) -> SqlType:
    """Integers stay integers, decimals keep the longer scale, everything else is a double."""
    if left.kind == right.kind == "integer":
        return INTEGER
    if "double" in (left.kind, right.kind):
        return DOUBLE
    return SqlType("decimal", 38, max(left.scale or 0, right.scale or 0))


def _product_type(left: SqlType, right: SqlType) -> SqlType:
    if left.kind == right.kind == "integer":
        return INTEGER
    scale = (left.scale or 0) + (right.scale or 0)
    if "double" in (left.kind, right.kind) or scale > MAX_SCALE:
        return DOUBLE
    return SqlType("decimal", 38, scale)


def _same(first: SqlType, *_: SqlType) -> SqlType:
    return first


def _whole(argument: SqlType, *rest: SqlType) -> SqlType:
    return DOUBLE if argument.kind == "double" or rest else INTEGER


def common_type(first: SqlType, *others: SqlType) -> SqlType:
    """The type that values of all the given types share; numbers and temporal types widen."""
    result = first
    for other in others:
        if result.is_numeric and other.is_numeric:
            result = _sum_type(result, other)
        elif result.is_temporal and other.is_temporal:
            result = result if result == other else TIMESTAMP
    return result


def _binary(kind: type[exp.Binary]) -> Callable[..., Node]:
    return lambda left, right: kind(this=exp.Paren(this=left), expression=exp.Paren(this=right))


def _not_zero(node: Node) -> Node:
    return exp.Nullif(this=node, expression=number(0.0))


def _call(name: str) -> Callable[..., Node]:
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def _guarded(condition: type[exp.Binary], bound: float, name: str) -> Callable[..., Node]:
    """NULL outside the function's domain, and TRY inside, on every version of the engine."""

    def build(argument: Node) -> Node:
        inside = condition(this=exp.Paren(this=argument), expression=number(bound))
        return exp.Case(ifs=[exp.If(this=inside, true=attempt(_call(name)(argument.copy())))])

    return build


def _union(*intervals: Interval) -> Interval:
    whole = intervals[0]
    for interval in intervals[1:]:
        whole = whole.union(interval)
    return whole


def _abs_interval(argument: Interval) -> Interval:
    if argument.low is not None and argument.low >= 0:
        return argument
    if argument.high is not None and argument.high <= 0:
        return -argument
    return Interval(Fraction(0), argument.magnitude)


def _power_interval(base: Interval, power: Interval) -> Interval:
    exponent = power.low if power.low == power.high else None
    if exponent is None or exponent.denominator != 1 or not 0 <= exponent <= 8:
        return EVERYTHING
    if exponent % 2 == 0:
        base = _abs_interval(base)
    return base.monotone(lambda x: x ** int(exponent))


def _round_interval(argument: Interval, digits: Interval | None = None) -> Interval:
    places = int(digits.low) if digits is not None and digits.low is not None else 0
    return argument.monotone(lambda x: round(x, places))


def _length_interval(*_: Interval) -> Interval:
    return Interval(Fraction(0), None)


def _part(name: str, low: int, high: int) -> Function:
    """EXTRACT of one part, whose values lie between two numbers whatever the date."""
    return Function(
        ("temporal",),
        _always(INTEGER),
        lambda moment: exp.Extract(this=exp.var(name.upper()), expression=moment),
        lambda _: Interval(Fraction(low), Fraction(high)),
        fallible=True,
    )


def _trunc(unit: str) -> Function:
    def build(moment: Node) -> Node:
        return attempt(exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(unit), moment]))

    return Function(("temporal",), _same, build, fallible=True)


def _difference(unit: str) -> Function:
    def build(start: Node, end: Node) -> Node:
        return attempt(exp.Anonymous(this="DATE_DIFF", expressions=[exp.Literal.string(unit), start, end]))

    def interval(start: Interval, end: Interval) -> Interval:
        return (end - start) * _PER_DAY[unit] + Interval(Fraction(-1), Fraction(1))

    return Function(("temporal", "temporal"), _always(INTEGER), build, interval, fallible=True)


def _shift(unit: str) -> Function:
    def build(moment: Node, amount: Node) -> Node:
        span = exp.Interval(this=exp.Literal.string(amount.name), unit=exp.var(unit.upper()))
        return attempt(exp.Add(this=exp.Paren(this=moment), expression=span))

    keeps_date = unit in ("day", "week", "month", "year")
    return Function(("temporal", "constant"), _same if keeps_date else _always(TIMESTAMP), build, fallible=True)


_PER_DAY = {
    unit: Interval(Fraction(per_day), Fraction(per_day))
    for unit, per_day in {
        "year": Fraction(1, 365),
        "quarter": Fraction(1, 90),
        "month": Fraction(1, 28),
        "week": Fraction(1, 7),
        "day": Fraction(1),
        "hour": Fraction(24),
        "minute": Fraction(1_440),
        "second": Fraction(86_400),
    }.items()
}
SHIFTS = ("year", "month", "week", "day", "hour", "minute", "second")
PARTS = {
    "year": (-290_308, 294_247), "quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31),
    "dayofyear": (1, 366), "dayofweek": (0, 6), "isodow": (1, 7), "hour": (0, 23), "minute": (0, 59), "second": (0, 59),
}  # fmt: skip

_NUMBERS = ("number", "number")
_TEXTS = ("text", "text")


def _comparison(kind: type[exp.Binary]) -> Function:
    return Function(("any", "any"), _always(BOOLEAN), _binary(kind))


FUNCTIONS: dict[str, Function] = {
    # conditions
    "=": _comparison(exp.EQ),
    "<>": _comparison(exp.NEQ),
    "<": _comparison(exp.LT),
    "<=": _comparison(exp.LTE),
    ">": _comparison(exp.GT),
    ">=": _comparison(exp.GTE),
    "is not distinct from": _comparison(exp.NullSafeEQ),
    "is distinct from": _comparison(exp.NullSafeNEQ),
    "is null": Function(("any",), _always(BOOLEAN), lambda x: exp.Is(this=exp.Paren(this=x), expression=exp.null())),
    "and": Function(("boolean", "boolean"), _always(BOOLEAN), _binary(exp.And)),
    "or": Function(("boolean", "boolean"), _always(BOOLEAN), _binary(exp.Or)),
    "not": Function(("boolean",), _always(BOOLEAN), lambda x: exp.Not(this=exp.Paren(this=x))),
    "in": Function(
        ("any", "any*"), _always(BOOLEAN), lambda x, *options: exp.In(this=exp.Paren(this=x), expressions=[*options])
    ),
    "like": Function(_TEXTS, _always(BOOLEAN), _binary(exp.Like)),
    "ilike": Function(_TEXTS, _always(BOOLEAN), _binary(exp.ILike)),
    # choices
    "coalesce": Function(
        ("any", "any*"), common_type, lambda x, *rest: exp.Coalesce(this=x, expressions=[*rest]), _union
    ),
    "nullif": Function(
        ("any", "any"), _same, lambda x, y: exp.Nullif(this=x, expression=y), lambda x, _: x, fallible=True
    ),
    "greatest": Function(("any", "any*"), common_type, _call("GREATEST"), _union),
    "least": Function(("any", "any*"), common_type, _call("LEAST"), _union),
    # arithmetic
    "+": Function(_NUMBERS, _sum_type, _binary(exp.Add), lambda x, y: x + y),
    "-": Function(_NUMBERS, _sum_type, _binary(exp.Sub), lambda x, y: x - y),
    "*": Function(_NUMBERS, _product_type, _binary(exp.Mul), lambda x, y: x * y),
    "/": Function(
        _NUMBERS,
        _always(DOUBLE),
        lambda x, y: exp.Div(this=exp.Paren(this=x), expression=_not_zero(y), typed=False, safe=False),
        lambda x, y: x / y,
        fallible=True,
    ),
    "//": Function(
        _NUMBERS,
        _whole,
        lambda x, y: _call("TRUNC")(exp.Div(this=exp.Paren(this=x), expression=_not_zero(y), typed=False, safe=False)),
        lambda x, y: (x / y).monotone(math.trunc),
        fallible=True,
    ),
    "%": Function(
        _NUMBERS,
        _sum_type,
        lambda x, y: exp.Mod(this=exp.Paren(this=x), expression=_not_zero(y)),
        lambda _, y: Interval(None, None) if y.magnitude is None else Interval(-y.magnitude, y.magnitude),
        fallible=True,
    ),
    "negate": Function(("number",), _same, lambda x: exp.Neg(this=exp.Paren(this=x)), lambda x: -x),
    "abs": Function(("number",), _same, _call("ABS"), _abs_interval),
    "sign": Function(("number",), _always(INTEGER), _call("SIGN"), lambda _: Interval(Fraction(-1), Fraction(1))),
    "floor": Function(("number",), _whole, _call("FLOOR"), lambda x: x.monotone(math.floor)),
    "ceil": Function(("number",), _whole, _call("CEIL"), lambda x: x.monotone(math.ceil)),
    "trunc": Function(("number",), _whole, _call("TRUNC"), lambda x: x.monotone(math.trunc)),
    "round": Function(("number", "constant"), _whole, _call("ROUND"), _round_interval, optional=1),
    "sqrt": Function(
        ("number",),
        _always(DOUBLE),
        _guarded(exp.GTE, 0.0, "SQRT"),
        lambda x: x.within(Fraction(0), None).monotone(math.sqrt),
        fallible=True,
    ),
    "ln": Function(
        ("number",), _always(DOUBLE), _guarded(exp.GT, 0.0, "LN"), lambda x: x.monotone(math.log), fallible=True
    ),
    "log10": Function(
        ("number",), _always(DOUBLE), _guarded(exp.GT, 0.0, "LOG10"), lambda x: x.monotone(math.log10), fallible=True
    ),
    "log2": Function(
        ("number",), _always(DOUBLE), _guarded(exp.GT, 0.0, "LOG2"), lambda x: x.monotone(math.log2), fallible=True
    ),
    "exp": Function(
        ("number",), _always(DOUBLE), lambda x: attempt(_call("EXP")(x)), lambda x: x.monotone(math.exp), fallible=True
    ),
    "power": Function(
        _NUMBERS, _always(DOUBLE), lambda x, y: attempt(_call("POWER")(x, y)), _power_interval, fallible=True
    ),
    # text
    "lower": Function(("text",), _always(TEXT), _call("LOWER")),
    "upper": Function(("text",), _always(TEXT), _call("UPPER")),
    "trim": Function(("text",), _always(TEXT), _call("TRIM")),
    "ltrim": Function(("text",), _always(TEXT), _call("LTRIM")),
    "rtrim": Function(("text",), _always(TEXT), _call("RTRIM")),
    "length": Function(("text",), _always(INTEGER), _call("LENGTH"), _length_interval),
    "||": Function(_TEXTS, _always(TEXT), _binary(exp.DPipe)),
    "replace": Function(("text", "text", "text"), _always(TEXT), _call("REPLACE")),
    "starts_with": Function(_TEXTS, _always(BOOLEAN), _call("STARTS_WITH")),
    "ends_with": Function(_TEXTS, _always(BOOLEAN), _call("SUFFIX")),
    "contains": Function(_TEXTS, _always(BOOLEAN), _call("CONTAINS")),
    "strpos": Function(_TEXTS, _always(INTEGER), _call("STRPOS"), _length_interval),
    "substring": Function(("text", "constant", "constant"), _always(TEXT), _call("SUBSTRING"), optional=1),
    "left": Function(("text", "constant"), _always(TEXT), _call("LEFT")),
    "right": Function(("text", "constant"), _always(TEXT), _call("RIGHT")),
    # dates
    **{name: _part(name, low, high) for name, (low, high) in PARTS.items()},
    **{f"date_trunc {unit}": _trunc(unit) for unit in ("year", "quarter", "month", "week", "day", "hour", "minute")},
    **{f"date_diff {unit}": _difference(unit) for unit in _PER_DAY},
    **{f"date_add {unit}": _shift(unit) for unit in SHIFTS},
}
