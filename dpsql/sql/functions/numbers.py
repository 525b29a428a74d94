"""Functions of numbers: operators, signs, rounding, bits of whole numbers, roots,
logarithms, exponentials and angles.

A function outside its domain is NULL. ROUND and TRUNC have two entries each: ``round`` for doubles,
which may round a half either way, and ``round decimal`` for decimals and whole numbers, which
rounds a half away from zero. How a half is rounded is decided by the total form in the
``numbers.py`` of each dialect (`dpsql.sql.emit.duckdb.numbers`); the interval rule here
(`dpsql.sql.functions.interval_rules.round_interval`) allows both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from dpsql.sql.functions.interval_rules import (
    abs_interval,
    and_interval,
    ceil_interval,
    constant,
    cosh_interval,
    even_interval,
    floor_interval,
    floored_modulo_interval,
    modulo_interval,
    or_interval,
    power_interval,
    round_interval,
    shift_interval,
    sign_interval,
    span,
    tan_interval,
    trunc_interval,
)
from dpsql.sql.functions.signature import (
    CallCost,
    Function,
    always,
    floating,
    product_type,
    same,
    sum_type,
    whole,
)
from dpsql.sql.ir.expression import DOUBLE, INTEGER
from dpsql.sql.ir.interval import EVERYTHING, Interval

#: Gives the interval of a function's values from the intervals of its arguments.
Rule: TypeAlias = Callable[..., Interval]

_TWO = ("number", "number")
#: Angles beyond it are taken for infinite ones.
LARGEST = 1.7e308
#: Above this EXP has no double, and COSH neither.
_LARGEST_EXPONENT = 709.0
_PI = Fraction(math.nextafter(math.pi, 4))


def by_zero(_: Interval, divisor: Interval) -> bool:
    """Whether the divisor may be zero."""
    return divisor.low is None or divisor.high is None or divisor.low <= 0 <= divisor.high


def _decimal(rule: Rule, *examples: str) -> Function:
    return Function(
        ("number", "constant", "constant"),
        floating,
        lambda value, _, digits: rule(value, digits),
        examples=examples,
        cost=CallCost.ONE_LOOK,
    )


def _shift(direction: int, *examples: str) -> Function:
    return Function(
        ("integer", "integer"),
        always(INTEGER),
        lambda x, places: shift_interval(x, places, direction),
        fallible=True,
        whole=True,
        examples=examples,
        cost=CallCost.QUICK,
    )


ARITHMETIC: dict[str, Function] = {
    "+": Function(
        _TWO, sum_type, lambda x, y: x + y, examples=("i + 1", "m + x"), cost=CallCost.QUICK
    ),
    "-": Function(
        _TWO, sum_type, lambda x, y: x - y, examples=("i - 1", "m - 0.5"), cost=CallCost.QUICK
    ),
    "*": Function(
        _TWO, product_type, lambda x, y: x * y, examples=("m * 1.1", "i * x"), cost=CallCost.QUICK
    ),
    "/": Function(
        _TWO,
        always(DOUBLE),
        lambda x, y: x / y,
        fallible=by_zero,
        examples=("m / 4", "i / 2"),
        note="NULL where the divisor is 0",
        cost=CallCost.QUICK,
    ),
    "//": Function(
        _TWO,
        whole,
        lambda x, y: trunc_interval(x / y),
        fallible=by_zero,
        jumps=True,
        examples=("i // 2", "DIVIDE(i, 2)", "DIV(i, 2)"),
        note="cuts decimals and doubles as well, which DuckDB's // only divides",
        cost=CallCost.QUICK,
    ),
    "%": Function(
        _TWO,
        sum_type,
        modulo_interval,
        fallible=by_zero,
        jumps=True,
        examples=("i % 3", "MOD(i, 3)"),
        note="NULL where the divisor is 0",
        cost=CallCost.ONE_LOOK,
    ),
    "fdiv": Function(
        _TWO,
        always(DOUBLE),
        lambda x, y: floor_interval(x / y),
        fallible=by_zero,
        jumps=True,
        examples=("FDIV(i, 2)",),
        note="NULL where the divisor is 0",
        cost=CallCost.ONE_LOOK,
    ),
    "fmod": Function(
        _TWO,
        always(DOUBLE),
        floored_modulo_interval,
        fallible=by_zero,
        jumps=True,
        examples=("FMOD(i, 3)",),
        note="NULL where the divisor is 0",
        cost=CallCost.ONE_LOOK,
    ),
    "negate": Function(("number",), same, lambda x: -x, examples=("-i", "-m"), cost=CallCost.QUICK),
    "abs": Function(
        ("number",), same, abs_interval, examples=("ABS(i)", "ABS(m - 20)"), cost=CallCost.QUICK
    ),
    "sign": Function(
        ("number",),
        always(INTEGER),
        sign_interval,
        whole=True,
        jumps=True,
        examples=("SIGN(x)", "SIGN(i - 3)"),
        cost=CallCost.ONE_LOOK,
    ),
    "floor": Function(
        ("number",),
        whole,
        floor_interval,
        jumps=True,
        examples=("FLOOR(x)", "FLOOR(m)"),
        cost=CallCost.ONE_LOOK,
    ),
    "ceil": Function(
        ("number",),
        whole,
        ceil_interval,
        jumps=True,
        examples=("CEIL(x)", "CEILING(m)"),
        cost=CallCost.ONE_LOOK,
    ),
    "trunc": Function(
        ("number", "constant"),
        whole,
        trunc_interval,
        optional=1,
        jumps=True,
        examples=("TRUNC(x)", "TRUNC(x, 1)"),
        cost=CallCost.ONE_LOOK,
    ),
    "round": Function(
        ("number", "constant"),
        whole,
        round_interval,
        optional=1,
        jumps=True,
        examples=("ROUND(x)", "ROUND(x, 2)"),
        cost=CallCost.ONE_LOOK,
    ),
    "round decimal": _decimal(
        round_interval,
        "ROUND(m)",
        "ROUND(m, 1)",
        "ROUND(m * 1.1, 2)",
        "ROUND(m, -1)",
        "ROUND(i, -1)",
    ),
    "trunc decimal": _decimal(trunc_interval, "TRUNC(m)", "TRUNC(m, 1)"),
    "even": Function(
        ("number",),
        floating,
        even_interval,
        jumps=True,
        examples=("EVEN(x)", "EVEN(i)"),
        cost=CallCost.ONE_LOOK,
    ),
    # the bits of whole numbers
    "&": Function(
        ("integer", "integer"),
        always(INTEGER),
        and_interval,
        whole=True,
        examples=("i & 3",),
        cost=CallCost.QUICK,
    ),
    "|": Function(
        ("integer", "integer"),
        always(INTEGER),
        or_interval,
        whole=True,
        examples=("i | 4",),
        cost=CallCost.QUICK,
    ),
    "xor": Function(
        ("integer", "integer"),
        always(INTEGER),
        or_interval,
        whole=True,
        examples=("XOR(i, 6)",),
        cost=CallCost.QUICK,
    ),
    "~": Function(
        ("integer",),
        always(INTEGER),
        lambda x: -x - span(1, 1),
        whole=True,
        examples=("~i",),
        cost=CallCost.QUICK,
    ),
    "<<": _shift(1, "ABS(i) << 2"),
    ">>": _shift(-1, "i >> 1"),
    "bit_count": Function(
        ("integer",),
        always(INTEGER),
        lambda _: span(0, 64),
        whole=True,
        examples=("BIT_COUNT(ABS(i))",),
        cost=CallCost.ONE_LOOK,
    ),
}


def _outside(low: float | None, high: float | None) -> Callable[..., bool]:
    """Whether the argument may lie outside the two."""

    def may(argument: Interval) -> bool:
        below = low is not None and (argument.low is None or argument.low < low)
        return below or (high is not None and (argument.high is None or argument.high > high))

    return may


def _increasing(
    function: Callable[[float], float], low: float | None = None, high: float | None = None
) -> Rule:
    """The image of the part of the argument that lies in the domain."""
    first, last = (None if end is None else Fraction(end) for end in (low, high))

    def rule(argument: Interval) -> Interval:
        inside = argument.within(first, last)
        empty = inside.low is not None and inside.high is not None and inside.low > inside.high
        return EVERYTHING if empty else inside.monotone(function)

    return rule


def _unary_function(
    rule: Rule, example: str, fallible: bool | Callable[..., bool] = False, note: str = ""
) -> Function:
    return Function(
        ("number",),
        always(DOUBLE),
        rule,
        fallible=fallible,
        examples=(example,),
        note=note,
        cost=CallCost.ONE_LOOK,
    )


def _angle(rule: Rule, example: str) -> Function:
    """A function of an angle, which an infinite angle does not have."""
    return _unary_function(rule, example, _outside(-LARGEST, LARGEST), "NULL for ±inf and NaN")


MATHEMATICS: dict[str, Function] = {
    "sqrt": _unary_function(
        _increasing(math.sqrt, 0), "SQRT(ABS(x))", _outside(0, None), "NULL below 0"
    ),
    "cbrt": _unary_function(_increasing(math.cbrt), "CBRT(x)"),
    "ln": _unary_function(
        _increasing(math.log), "LN(m + 1)", _outside(5e-324, None), "NULL from 0 down"
    ),
    "log10": _unary_function(
        _increasing(math.log10),
        "LOG10(m + 1)",
        _outside(5e-324, None),
        "NULL from 0 down",
    ),
    "log2": _unary_function(
        _increasing(math.log2), "LOG2(m + 1)", _outside(5e-324, None), "NULL from 0 down"
    ),
    "exp": _unary_function(_increasing(math.exp), "EXP(x)", _outside(None, _LARGEST_EXPONENT)),
    "power": Function(
        ("number", "number"),
        always(DOUBLE),
        power_interval,
        fallible=lambda base, power: not power_interval(base, power).is_finite,
        examples=("POWER(x, 2)", "x ^ 2", "i ** 2", "POWER(m, 0.5)", "POWER(2, i)"),
        cost=CallCost.ONE_LOOK,
    ),
    "degrees": _unary_function(_increasing(math.degrees), "DEGREES(x)"),
    "radians": _unary_function(_increasing(math.radians), "RADIANS(x)"),
    "sin": _angle(constant(-1, 1), "SIN(x)"),
    "cos": _angle(constant(-1, 1), "COS(x)"),
    "tan": _angle(tan_interval, "TAN(x)"),
    "cot": _unary_function(lambda _: EVERYTHING, "COT(x)", True, "NULL for 0, ±inf and NaN"),
    "asin": _unary_function(
        _increasing(math.asin, -1, 1), "ASIN(x / 10)", _outside(-1, 1), "NULL outside ±1"
    ),
    "acos": _unary_function(constant(0, _PI), "ACOS(x / 10)", _outside(-1, 1), "NULL outside ±1"),
    "atan": _unary_function(
        lambda x: _increasing(math.atan)(x).within(-_PI / 2, _PI / 2), "ATAN(x)"
    ),
    "atan2": Function(
        ("number", "number"),
        always(DOUBLE),
        constant(-_PI, _PI),
        examples=("ATAN2(x, i)",),
        cost=CallCost.ONE_LOOK,
    ),
    "sinh": _unary_function(
        _increasing(math.sinh), "SINH(x)", _outside(-_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    ),
    "cosh": _unary_function(
        cosh_interval, "COSH(x)", _outside(-_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    ),
    "tanh": _unary_function(constant(-1, 1), "TANH(x)"),
    "asinh": _unary_function(_increasing(math.asinh), "ASINH(x)"),
    "acosh": _unary_function(
        _increasing(math.acosh, 1),
        "ACOSH(ABS(x) + 1)",
        _outside(1, None),
        "NULL below 1",
    ),
    "atanh": _unary_function(
        _increasing(math.atanh),
        "ATANH(x / 10)",
        _outside(math.nextafter(-1, 0), math.nextafter(1, 0)),
        "NULL from ±1 on",
    ),
}
