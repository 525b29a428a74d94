"""Roots, logarithms, exponentials and angles: each NULL outside its domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from dpsql.sql.functions.interval_rules import constant, cosh_interval, power_interval, tan_interval
from dpsql.sql.functions.signature import Function, always
from dpsql.sql.ir.expression import DOUBLE
from dpsql.sql.ir.interval import EVERYTHING, Interval

Rule: TypeAlias = Callable[..., Interval]

#: Angles beyond it are taken for infinite ones.
LARGEST = 1.7e308
#: Above this EXP has no double, and COSH neither.
_LARGEST_EXPONENT = 709.0
_PI = Fraction(math.nextafter(math.pi, 4))


def _outside(low: float | None, high: float | None) -> Callable[..., bool]:
    """Whether the argument may lie outside the two."""

    def may(argument: Interval) -> bool:
        below = low is not None and (argument.low is None or argument.low < low)
        return below or (high is not None and (argument.high is None or argument.high > high))

    return may


def _increasing(function: Callable[[float], float], low: float | None = None, high: float | None = None) -> Rule:
    """The image of the part of the argument that lies in the domain."""
    first, last = (None if end is None else Fraction(end) for end in (low, high))

    def rule(argument: Interval) -> Interval:
        inside = argument.within(first, last)
        empty = inside.low is not None and inside.high is not None and inside.low > inside.high
        return EVERYTHING if empty else inside.monotone(function)

    return rule


def _one(rule: Rule, example: str, fallible: bool | Callable[..., bool] = False, note: str = "") -> Function:
    return Function(("number",), always(DOUBLE), rule, fallible=fallible, examples=(example,), note=note)


def _angle(rule: Rule, example: str) -> Function:
    """A function of an angle, which an infinite angle does not have."""
    return _one(rule, example, _outside(-LARGEST, LARGEST), "NULL for ±inf and NaN")


MATHEMATICS: dict[str, Function] = {
    "sqrt": _one(_increasing(math.sqrt, 0), "SQRT(ABS(x))", _outside(0, None), "NULL below 0"),
    "cbrt": _one(_increasing(math.cbrt), "CBRT(x)"),
    "ln": _one(_increasing(math.log), "LN(m + 1)", _outside(5e-324, None), "NULL from 0 down"),
    "log10": _one(
        _increasing(math.log10),
        "LOG10(m + 1)",
        _outside(5e-324, None),
        "NULL from 0 down",
    ),
    "log2": _one(_increasing(math.log2), "LOG2(m + 1)", _outside(5e-324, None), "NULL from 0 down"),
    "exp": _one(_increasing(math.exp), "EXP(x)", _outside(None, _LARGEST_EXPONENT)),
    "power": Function(
        ("number", "number"),
        always(DOUBLE),
        power_interval,
        fallible=lambda base, power: not power_interval(base, power).is_finite,
        examples=("POWER(x, 2)", "x ^ 2", "i ** 2", "POWER(m, 0.5)", "POWER(2, i)"),
    ),
    "degrees": _one(_increasing(math.degrees), "DEGREES(x)"),
    "radians": _one(_increasing(math.radians), "RADIANS(x)"),
    "sin": _angle(constant(-1, 1), "SIN(x)"),
    "cos": _angle(constant(-1, 1), "COS(x)"),
    "tan": _angle(tan_interval, "TAN(x)"),
    "cot": _one(lambda _: EVERYTHING, "COT(x)", True, "NULL for 0, ±inf and NaN"),
    "asin": _one(_increasing(math.asin, -1, 1), "ASIN(x / 10)", _outside(-1, 1), "NULL outside ±1"),
    "acos": _one(constant(0, _PI), "ACOS(x / 10)", _outside(-1, 1), "NULL outside ±1"),
    "atan": _one(lambda x: _increasing(math.atan)(x).within(-_PI / 2, _PI / 2), "ATAN(x)"),
    "atan2": Function(("number", "number"), always(DOUBLE), constant(-_PI, _PI), examples=("ATAN2(x, i)",)),
    "sinh": _one(_increasing(math.sinh), "SINH(x)", _outside(-_LARGEST_EXPONENT, _LARGEST_EXPONENT)),
    "cosh": _one(cosh_interval, "COSH(x)", _outside(-_LARGEST_EXPONENT, _LARGEST_EXPONENT)),
    "tanh": _one(constant(-1, 1), "TANH(x)"),
    "asinh": _one(_increasing(math.asinh), "ASINH(x)"),
    "acosh": _one(
        _increasing(math.acosh, 1),
        "ACOSH(ABS(x) + 1)",
        _outside(1, None),
        "NULL below 1",
    ),
    "atanh": _one(
        _increasing(math.atanh),
        "ATANH(x / 10)",
        _outside(math.nextafter(-1, 0), math.nextafter(1, 0)),
        "NULL from ±1 on",
    ),
}
