"""The allow-list of scalar functions: for each its parameters, its type, its total form and its interval rule.

A function may stand in a core only if it is listed here. Its *total form* is the engine expression that is emitted for
it and that gives a value or NULL on every input: whether an expression fails is itself data. Numbers are computed as
DOUBLE, which never overflows; what remains fallible stands inside TRY.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sqlglot import exp

from dpsql.query.dates import DATE_FUNCTIONS
from dpsql.query.expression import BOOLEAN, DOUBLE, INTEGER, TEXT
from dpsql.query.function import (
    Function,
    always,
    attempt,
    binary,
    call,
    common_type,
    guarded,
    not_zero,
    product_type,
    same,
    sum_type,
    whole,
)  # fmt: skip
from dpsql.query.interval import Interval
from dpsql.query.rules import abs_interval, length_interval, power_interval, round_interval, union

_NUMBERS = ("number", "number")
_TEXTS = ("text", "text")


def _comparison(kind: type[exp.Binary]) -> Function:
    return Function(("any", "any"), always(BOOLEAN), binary(kind))


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
    "is null": Function(("any",), always(BOOLEAN), lambda x: exp.Is(this=exp.Paren(this=x), expression=exp.null())),
    "and": Function(("boolean", "boolean"), always(BOOLEAN), binary(exp.And)),
    "or": Function(("boolean", "boolean"), always(BOOLEAN), binary(exp.Or)),
    "not": Function(("boolean",), always(BOOLEAN), lambda x: exp.Not(this=exp.Paren(this=x))),
    "in": Function(
        ("any", "any*"), always(BOOLEAN), lambda x, *options: exp.In(this=exp.Paren(this=x), expressions=[*options])
    ),
    "like": Function(_TEXTS, always(BOOLEAN), binary(exp.Like)),
    "ilike": Function(_TEXTS, always(BOOLEAN), binary(exp.ILike)),
    # choices
    "coalesce": Function(
        ("any", "any*"), common_type, lambda x, *rest: exp.Coalesce(this=x, expressions=[*rest]), union
    ),
    "nullif": Function(
        ("any", "any"), same, lambda x, y: exp.Nullif(this=x, expression=y), lambda x, _: x, fallible=True
    ),
    "greatest": Function(("any", "any*"), common_type, call("GREATEST"), union),
    "least": Function(("any", "any*"), common_type, call("LEAST"), union),
    # arithmetic
    "+": Function(_NUMBERS, sum_type, binary(exp.Add), lambda x, y: x + y),
    "-": Function(_NUMBERS, sum_type, binary(exp.Sub), lambda x, y: x - y),
    "*": Function(_NUMBERS, product_type, binary(exp.Mul), lambda x, y: x * y),
    "/": Function(
        _NUMBERS,
        always(DOUBLE),
        lambda x, y: exp.Div(this=exp.Paren(this=x), expression=not_zero(y), typed=False, safe=False),
        lambda x, y: x / y,
        fallible=True,
    ),
    "//": Function(
        _NUMBERS,
        whole,
        lambda x, y: call("TRUNC")(exp.Div(this=exp.Paren(this=x), expression=not_zero(y), typed=False, safe=False)),
        lambda x, y: (x / y).monotone(math.trunc),
        fallible=True,
    ),
    "%": Function(
        _NUMBERS,
        sum_type,
        lambda x, y: exp.Mod(this=exp.Paren(this=x), expression=not_zero(y)),
        lambda _, y: Interval(None, None) if y.magnitude is None else Interval(-y.magnitude, y.magnitude),
        fallible=True,
    ),
    "negate": Function(("number",), same, lambda x: exp.Neg(this=exp.Paren(this=x)), lambda x: -x),
    "abs": Function(("number",), same, call("ABS"), abs_interval),
    "sign": Function(("number",), always(INTEGER), call("SIGN"), lambda _: Interval(Fraction(-1), Fraction(1))),
    "floor": Function(("number",), whole, call("FLOOR"), lambda x: x.monotone(math.floor)),
    "ceil": Function(("number",), whole, call("CEIL"), lambda x: x.monotone(math.ceil)),
    "trunc": Function(("number",), whole, call("TRUNC"), lambda x: x.monotone(math.trunc)),
    "round": Function(("number", "constant"), whole, call("ROUND"), round_interval, optional=1),
    "sqrt": Function(
        ("number",),
        always(DOUBLE),
        guarded(exp.GTE, 0.0, "SQRT"),
        lambda x: x.within(Fraction(0), None).monotone(math.sqrt),
        fallible=True,
    ),
    "ln": Function(
        ("number",), always(DOUBLE), guarded(exp.GT, 0.0, "LN"), lambda x: x.monotone(math.log), fallible=True
    ),
    "log10": Function(
        ("number",), always(DOUBLE), guarded(exp.GT, 0.0, "LOG10"), lambda x: x.monotone(math.log10), fallible=True
    ),
    "log2": Function(
        ("number",), always(DOUBLE), guarded(exp.GT, 0.0, "LOG2"), lambda x: x.monotone(math.log2), fallible=True
    ),
    "exp": Function(
        ("number",), always(DOUBLE), lambda x: attempt(call("EXP")(x)), lambda x: x.monotone(math.exp), fallible=True
    ),
    "power": Function(
        _NUMBERS, always(DOUBLE), lambda x, y: attempt(call("POWER")(x, y)), power_interval, fallible=True
    ),
    # text
    "lower": Function(("text",), always(TEXT), call("LOWER")),
    "upper": Function(("text",), always(TEXT), call("UPPER")),
    "trim": Function(("text",), always(TEXT), call("TRIM")),
    "ltrim": Function(("text",), always(TEXT), call("LTRIM")),
    "rtrim": Function(("text",), always(TEXT), call("RTRIM")),
    "length": Function(("text",), always(INTEGER), call("LENGTH"), length_interval),
    "||": Function(_TEXTS, always(TEXT), binary(exp.DPipe)),
    "replace": Function(("text", "text", "text"), always(TEXT), call("REPLACE")),
    "starts_with": Function(_TEXTS, always(BOOLEAN), call("STARTS_WITH")),
    "ends_with": Function(_TEXTS, always(BOOLEAN), call("SUFFIX")),
    "contains": Function(_TEXTS, always(BOOLEAN), call("CONTAINS")),
    "strpos": Function(_TEXTS, always(INTEGER), call("STRPOS"), length_interval),
    "substring": Function(("text", "constant", "constant"), always(TEXT), call("SUBSTRING"), optional=1),
    "left": Function(("text", "constant"), always(TEXT), call("LEFT")),
    "right": Function(("text", "constant"), always(TEXT), call("RIGHT")),
    **DATE_FUNCTIONS,
}
