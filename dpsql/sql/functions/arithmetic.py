"""Arithmetic: operators, signs, rounding, and the bits of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

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
from dpsql.sql.functions.signature import Function, always, floating, product_type, same, sum_type, whole
from dpsql.sql.ir.expression import DOUBLE, INTEGER
from dpsql.sql.ir.interval import Interval

_TWO = ("number", "number")


def by_zero(_: Interval, divisor: Interval) -> bool:
    """Whether the divisor may be zero."""
    return divisor.low is None or divisor.high is None or divisor.low <= 0 <= divisor.high


def _decimal(rule: Callable[..., Interval], *examples: str) -> Function:
    return Function(
        ("number", "constant", "constant"),
        floating,
        lambda value, _, digits: rule(value, digits),
        examples=examples,
    )


def _shift(direction: int, *examples: str) -> Function:
    return Function(
        ("integer", "integer"),
        always(INTEGER),
        lambda x, places: shift_interval(x, places, direction),
        fallible=True,
        whole=True,
        examples=examples,
    )


ARITHMETIC: dict[str, Function] = {
    "+": Function(_TWO, sum_type, lambda x, y: x + y, examples=("i + 1", "m + x")),
    "-": Function(_TWO, sum_type, lambda x, y: x - y, examples=("i - 1", "m - 0.5")),
    "*": Function(_TWO, product_type, lambda x, y: x * y, examples=("m * 1.1", "i * x")),
    "/": Function(
        _TWO,
        always(DOUBLE),
        lambda x, y: x / y,
        fallible=by_zero,
        examples=("m / 4", "i / 2"),
        note="NULL where the divisor is 0",
    ),
    "//": Function(
        _TWO,
        whole,
        lambda x, y: trunc_interval(x / y),
        fallible=by_zero,
        jumps=True,
        examples=("i // 2", "DIVIDE(i, 2)", "DIV(i, 2)"),
        note="cuts decimals and doubles as well, which DuckDB's // only divides",
    ),
    "%": Function(
        _TWO,
        sum_type,
        modulo_interval,
        fallible=by_zero,
        jumps=True,
        examples=("i % 3", "MOD(i, 3)"),
        note="NULL where the divisor is 0",
    ),
    "fdiv": Function(
        _TWO,
        always(DOUBLE),
        lambda x, y: (x / y).monotone(math.floor),
        fallible=by_zero,
        jumps=True,
        examples=("FDIV(i, 2)",),
        note="NULL where the divisor is 0",
    ),
    "fmod": Function(
        _TWO,
        always(DOUBLE),
        floored_modulo_interval,
        fallible=by_zero,
        jumps=True,
        examples=("FMOD(i, 3)",),
        note="NULL where the divisor is 0",
    ),
    "negate": Function(("number",), same, lambda x: -x, examples=("-i", "-m")),
    "abs": Function(("number",), same, abs_interval, examples=("ABS(i)", "ABS(m - 20)")),
    "sign": Function(
        ("number",),
        always(INTEGER),
        sign_interval,
        whole=True,
        jumps=True,
        examples=("SIGN(x)", "SIGN(i - 3)"),
    ),
    "floor": Function(
        ("number",),
        whole,
        lambda x: x.monotone(math.floor),
        jumps=True,
        examples=("FLOOR(x)", "FLOOR(m)"),
    ),
    "ceil": Function(
        ("number",),
        whole,
        lambda x: x.monotone(math.ceil),
        jumps=True,
        examples=("CEIL(x)", "CEILING(m)"),
    ),
    "trunc": Function(
        ("number", "constant"),
        whole,
        trunc_interval,
        optional=1,
        jumps=True,
        examples=("TRUNC(x)", "TRUNC(x, 1)"),
    ),
    "round": Function(
        ("number", "constant"),
        whole,
        round_interval,
        optional=1,
        jumps=True,
        examples=("ROUND(x)", "ROUND(x, 2)"),
    ),
    "round decimal": _decimal(
        round_interval, "ROUND(m)", "ROUND(m, 1)", "ROUND(m * 1.1, 2)", "ROUND(m, -1)", "ROUND(i, -1)"
    ),
    "trunc decimal": _decimal(trunc_interval, "TRUNC(m)", "TRUNC(m, 1)"),
    "even": Function(("number",), floating, even_interval, jumps=True, examples=("EVEN(x)", "EVEN(i)")),
    # the bits of whole numbers
    "&": Function(("integer", "integer"), always(INTEGER), and_interval, whole=True, examples=("i & 3",)),
    "|": Function(("integer", "integer"), always(INTEGER), or_interval, whole=True, examples=("i | 4",)),
    "xor": Function(("integer", "integer"), always(INTEGER), or_interval, whole=True, examples=("XOR(i, 6)",)),
    "~": Function(
        ("integer",),
        always(INTEGER),
        lambda x: -x - span(1, 1),
        whole=True,
        examples=("~i",),
    ),
    "<<": _shift(1, "ABS(i) << 2"),
    ">>": _shift(-1, "i >> 1"),
    "bit_count": Function(
        ("integer",),
        always(INTEGER),
        lambda _: span(0, 64),
        whole=True,
        examples=("BIT_COUNT(ABS(i))",),
    ),
}
