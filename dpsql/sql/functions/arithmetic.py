"""Arithmetic: operators, signs, rounding, and the bits of whole numbers.

Numbers are computed as DOUBLE, which never overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sqlglot import exp

from dpsql.sql.functions.interval_rules import (
    abs_interval,
    and_interval,
    even_interval,
    floored_modulo_interval,
    modulo_interval,
    or_interval,
    round_interval,
    shift_interval,
    sign_interval,
    span,
    trunc_interval,
)  # fmt: skip
from dpsql.sql.functions.signature import (
    Function,
    Node,
    always,
    binary,
    both,
    call,
    case,
    cast,
    compare,
    divided,
    floating,
    number,
    product_type,
    same,
    sum_type,
    whole,
)  # fmt: skip
from dpsql.sql.ir.expression import DOUBLE, INTEGER
from dpsql.sql.ir.interval import Interval

_TWO = ("number", "number")


def by_zero(_: Interval, divisor: Interval) -> bool:
    """Whether the divisor may be zero."""
    return divisor.low is None or divisor.high is None or divisor.low <= 0 <= divisor.high


def _floored(left: Node, right: Node) -> Node:
    return call("FLOOR")(divided(left, right))


def _modulo(left: Node, right: Node) -> Node:
    return exp.Mod(this=exp.Paren(this=left), expression=exp.Nullif(this=right, expression=number(0.0)))


def _floored_modulo(left: Node, right: Node) -> Node:
    """The remainder with the sign of the divisor: the other one and the divisor, once more modulo the divisor."""
    added = exp.Add(this=exp.Paren(this=_modulo(left, right)), expression=exp.Paren(this=right.copy()))
    return _modulo(added, right.copy())


def half_away(value: Node, scale: int, digits: int, name: str = "ROUND") -> Node:
    """A decimal of that scale at fewer digits, as the engine has it for its own decimals.

    The double is first made the whole number of steps that the decimal is, so that 2.345 is a half and not a little
    less.
    """
    steps = call("ROUND")(exp.Mul(this=exp.Paren(this=value), expression=number(10.0**scale)))
    kept = call(name)(exp.Div(this=steps, expression=number(10.0 ** (scale - digits)), typed=False, safe=False))
    if digits < 0:
        return exp.Mul(this=kept, expression=number(10.0**-digits))
    return exp.Div(this=kept, expression=number(10.0**digits), typed=False, safe=False) if digits else kept


def _whole(literal: Node) -> int:
    return -int(literal.this.name) if isinstance(literal, exp.Neg) else int(literal.name)


def _decimal(name: str, rule: Callable[..., Interval], *examples: str) -> Function:
    return Function(
        ("number", "constant", "constant"),
        floating,
        lambda value, scale, digits: half_away(value, _whole(scale), _whole(digits), name),
        lambda value, _, digits: rule(value, digits),
        examples=examples,
    )


def _shifted_left(left: Node, right: Node) -> Node:
    """The number times a power of two, NULL beyond 64 bits and where either is negative; nothing of it fails.

    The product of two numbers up to 2^63 fits in 128 bits, and 2^63 stands for all larger powers.
    """
    zero, last = exp.Literal.number(0), exp.Literal.number(62)
    fits = both(compare(exp.GTE, right, zero), compare(exp.LTE, right.copy(), last))
    shifted = exp.BitwiseLeftShift(this=cast(exp.Literal.number(1), "bigint"), expression=exp.Paren(this=right.copy()))
    beyond = exp.If(this=compare(exp.GT, right.copy(), last.copy()), true=exp.Literal.number(2**63))
    power = exp.Case(ifs=[exp.If(this=fits, true=cast(shifted, "hugeint")), beyond])
    product = exp.Mul(this=cast(exp.Paren(this=left.copy()), "hugeint"), expression=power)
    return case(compare(exp.GTE, left, zero.copy()), exp.TryCast(this=product, to=exp.DataType.build("bigint")))


def _shift(build: Callable[[Node, Node], Node], direction: int, *examples: str) -> Function:
    return Function(
        ("integer", "integer"),
        always(INTEGER),
        build,
        lambda x, places: shift_interval(x, places, direction),
        fallible=True,
        whole=True,
        examples=examples,
    )


ARITHMETIC: dict[str, Function] = {
    "+": Function(_TWO, sum_type, binary(exp.Add), lambda x, y: x + y, examples=("i + 1", "m + x")),
    "-": Function(_TWO, sum_type, binary(exp.Sub), lambda x, y: x - y, examples=("i - 1", "m - 0.5")),
    "*": Function(_TWO, product_type, binary(exp.Mul), lambda x, y: x * y, examples=("m * 1.1", "i * x")),
    "/": Function(
        _TWO,
        always(DOUBLE),
        divided,
        lambda x, y: x / y,
        fallible=by_zero,
        examples=("m / 4", "i / 2"),
        note="NULL where the divisor is 0",
    ),
    "//": Function(
        _TWO,
        whole,
        lambda x, y: call("TRUNC")(divided(x, y)),
        lambda x, y: trunc_interval(x / y),
        fallible=by_zero,
        jumps=True,
        examples=("i // 2", "DIVIDE(i, 2)", "DIV(i, 2)"),
        note="cuts decimals and doubles as well, which DuckDB's // only divides",
    ),
    "%": Function(
        _TWO,
        sum_type,
        _modulo,
        modulo_interval,
        fallible=by_zero,
        jumps=True,
        examples=("i % 3", "MOD(i, 3)"),
        note="NULL where the divisor is 0",
    ),
    "fdiv": Function(
        _TWO,
        always(DOUBLE),
        _floored,
        lambda x, y: (x / y).monotone(math.floor),
        fallible=by_zero,
        jumps=True,
        examples=("FDIV(i, 2)",),
        note="NULL where the divisor is 0",
    ),
    "fmod": Function(
        _TWO,
        always(DOUBLE),
        _floored_modulo,
        floored_modulo_interval,
        fallible=by_zero,
        jumps=True,
        examples=("FMOD(i, 3)",),
        note="NULL where the divisor is 0",
    ),
    "negate": Function(
        ("number",), same, lambda x: exp.Neg(this=exp.Paren(this=x)), lambda x: -x, examples=("-i", "-m")
    ),
    "abs": Function(("number",), same, call("ABS"), abs_interval, examples=("ABS(i)", "ABS(m - 20)")),
    "sign": Function(
        ("number",),
        always(INTEGER),
        call("SIGN"),
        sign_interval,
        whole=True,
        jumps=True,
        examples=("SIGN(x)", "SIGN(i - 3)"),
    ),
    "floor": Function(
        ("number",),
        whole,
        call("FLOOR"),
        lambda x: x.monotone(math.floor),
        jumps=True,
        examples=("FLOOR(x)", "FLOOR(m)"),
    ),
    "ceil": Function(
        ("number",),
        whole,
        call("CEIL"),
        lambda x: x.monotone(math.ceil),
        jumps=True,
        examples=("CEIL(x)", "CEILING(m)"),
    ),
    "trunc": Function(
        ("number", "constant"),
        whole,
        call("TRUNC"),
        trunc_interval,
        optional=1,
        jumps=True,
        examples=("TRUNC(x)", "TRUNC(x, 1)"),
    ),
    "round": Function(
        ("number", "constant"),
        whole,
        call("ROUND"),
        round_interval,
        optional=1,
        jumps=True,
        examples=("ROUND(x)", "ROUND(x, 2)"),
    ),
    "round decimal": _decimal(
        "ROUND", round_interval, "ROUND(m)", "ROUND(m, 1)", "ROUND(m * 1.1, 2)", "ROUND(m, -1)", "ROUND(i, -1)"
    ),
    "trunc decimal": _decimal("TRUNC", trunc_interval, "TRUNC(m)", "TRUNC(m, 1)"),
    "even": Function(("number",), floating, call("EVEN"), even_interval, jumps=True, examples=("EVEN(x)", "EVEN(i)")),
    # the bits of whole numbers
    "&": Function(
        ("integer", "integer"), always(INTEGER), binary(exp.BitwiseAnd), and_interval, whole=True, examples=("i & 3",)
    ),
    "|": Function(
        ("integer", "integer"), always(INTEGER), binary(exp.BitwiseOr), or_interval, whole=True, examples=("i | 4",)
    ),
    "xor": Function(
        ("integer", "integer"), always(INTEGER), call("XOR"), or_interval, whole=True, examples=("XOR(i, 6)",)
    ),
    "~": Function(
        ("integer",),
        always(INTEGER),
        lambda x: exp.BitwiseNot(this=exp.Paren(this=x)),
        lambda x: -x - span(1, 1),
        whole=True,
        examples=("~i",),
    ),
    "<<": _shift(_shifted_left, 1, "ABS(i) << 2"),
    ">>": _shift(binary(exp.BitwiseRightShift), -1, "i >> 1"),
    "bit_count": Function(
        ("integer",),
        always(INTEGER),
        call("BIT_COUNT"),
        lambda _: span(0, 64),
        whole=True,
        examples=("BIT_COUNT(ABS(i))",),
    ),
}
