"""DuckDB's total forms of functions of numbers: operators, rounding, bits, roots,
logarithms, exponentials and angles.

Numbers are computed as DOUBLE, which never overflows; a function outside its domain is NULL.
DuckDB's ROUND rounds a half away from zero; another rule, such as half to even, is another total
form of ``round`` and ``round decimal``, whose function `dpsql.engines.duckdb.emitted_sql_check`
must let pass. Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import math
from typing import Final

from sqlglot import exp

from dpsql.sql.emit.duckdb.guarded_calls import attempted, between, cast, guarded
from dpsql.sql.emit.node import number
from dpsql.sql.emit.total_form import (
    Node,
    TotalForm,
    binary,
    both,
    call,
    case,
    compare,
    divided,
    opposite,
    remainder,
)
from dpsql.sql.functions.numbers import LARGEST


def _floored_modulo(left_side: Node, right_side: Node) -> Node:
    """The remainder with the sign of the divisor: the other one and the divisor,
    once more modulo the divisor.
    """
    added = exp.Add(
        this=exp.Paren(this=remainder(left_side, right_side)),
        expression=exp.Paren(this=right_side.copy()),
    )
    return remainder(added, right_side.copy())


def _half_away(value: Node, scale: int, digits: int, name: str) -> Node:
    """A decimal of that scale at fewer digits, as the engine has it for its own decimals.

    The double is first made the whole number of steps that the decimal is,
    so that 2.345 is a half and not a little less.
    """
    steps = call("ROUND")(exp.Mul(this=exp.Paren(this=value), expression=number(10.0**scale)))
    rounded = call(name)(
        exp.Div(this=steps, expression=number(10.0 ** (scale - digits)), typed=False, safe=False)
    )
    if digits < 0:
        return exp.Mul(this=rounded, expression=number(10.0**-digits))
    return (
        exp.Div(this=rounded, expression=number(10.0**digits), typed=False, safe=False)
        if digits
        else rounded
    )


def _whole(literal: Node) -> int:
    return -int(literal.this.name) if isinstance(literal, exp.Neg) else int(literal.name)


def _decimal(name: str) -> TotalForm:
    return lambda value, scale, digits: _half_away(value, _whole(scale), _whole(digits), name)


def _shifted_left(left_side: Node, right_side: Node) -> Node:
    """The number times a power of two, NULL beyond 64 bits and where either is negative;
    nothing of it fails.

    The product of two numbers up to 2^63 fits in 128 bits, and 2^63 stands for all larger powers.
    """
    zero = exp.Literal.number(0)
    last = exp.Literal.number(62)
    fits = both(compare(exp.GTE, right_side, zero), compare(exp.LTE, right_side.copy(), last))
    shifted = exp.BitwiseLeftShift(
        this=cast(exp.Literal.number(1), "bigint"), expression=exp.Paren(this=right_side.copy())
    )
    beyond = exp.If(
        this=compare(exp.GT, right_side.copy(), last.copy()), true=exp.Literal.number(2**63)
    )
    power = exp.Case(ifs=[exp.If(this=fits, true=cast(shifted, "hugeint")), beyond])
    product = exp.Mul(this=cast(exp.Paren(this=left_side.copy()), "hugeint"), expression=power)
    return case(
        compare(exp.GTE, left_side, zero.copy()),
        exp.TryCast(this=product, to=exp.DataType.build("bigint")),
    )


ARITHMETIC: Final[dict[str, TotalForm]] = {
    "+": binary(exp.Add),
    "-": binary(exp.Sub),
    "*": binary(exp.Mul),
    "/": divided,
    "//": lambda x, y: call("TRUNC")(divided(x, y)),
    "%": remainder,
    "fdiv": lambda x, y: call("FLOOR")(divided(x, y)),
    "fmod": _floored_modulo,
    "negate": opposite,
    "abs": call("ABS"),
    "sign": call("SIGN"),
    "floor": call("FLOOR"),
    "ceil": call("CEIL"),
    "trunc": call("TRUNC"),
    "round": call("ROUND"),
    "round decimal": _decimal("ROUND"),
    "trunc decimal": _decimal("TRUNC"),
    "even": call("EVEN"),
    # the bits of whole numbers
    "&": binary(exp.BitwiseAnd),
    "|": binary(exp.BitwiseOr),
    "xor": call("XOR"),
    "~": lambda x: exp.BitwiseNot(this=exp.Paren(this=x)),
    "<<": _shifted_left,
    ">>": binary(exp.BitwiseRightShift),
    "bit_count": call("BIT_COUNT"),
}


def _angle(name: str) -> TotalForm:
    """A function of an angle, which an infinite angle does not have."""
    return between(-LARGEST, LARGEST, name)


def _cotangent(argument: Node) -> Node:
    return _angle("COT")(exp.Nullif(this=argument, expression=exp.Literal.number(0)))


MATHEMATICS: Final[dict[str, TotalForm]] = {
    "sqrt": guarded(exp.GTE, 0.0, "SQRT"),
    "cbrt": call("CBRT"),
    "ln": guarded(exp.GT, 0.0, "LN"),
    "log10": guarded(exp.GT, 0.0, "LOG10"),
    "log2": guarded(exp.GT, 0.0, "LOG2"),
    "exp": attempted("EXP"),
    "power": attempted("POWER"),
    "degrees": call("DEGREES"),
    "radians": call("RADIANS"),
    "sin": _angle("SIN"),
    "cos": _angle("COS"),
    "tan": _angle("TAN"),
    "cot": _cotangent,
    "asin": between(-1, 1, "ASIN"),
    "acos": between(-1, 1, "ACOS"),
    "atan": call("ATAN"),
    "atan2": call("ATAN2"),
    "sinh": attempted("SINH"),
    "cosh": attempted("COSH"),
    "tanh": call("TANH"),
    "asinh": call("ASINH"),
    "acosh": guarded(exp.GTE, 1.0, "ACOSH"),
    "atanh": between(math.nextafter(-1, 0), math.nextafter(1, 0), "ATANH"),
}
