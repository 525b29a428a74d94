"""Which expressions are computed as whole numbers,
and how large these become whatever the rows hold.

A DOUBLE has every whole number up to 2^53 and few beyond it. So arithmetic and choices of whole
numbers that may be larger are whole numbers in the engine too. How large they may be follows from
the types alone: rows need not keep the bounds that the schema declares. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Final

from dpsql.schema import SqlType
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.interval_rules import (
    abs_interval,
    round_interval,
    span,
    trunc_interval,
    union,
)
from dpsql.sql.ir.expression import (
    INTEGER,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
)
from dpsql.sql.ir.interval import UNIT_INTERVAL, ZERO, Interval

#: The whole numbers of the engine's own columns.
LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1
BIGINT: Final = span(LEAST, MOST)
#: Those that fit in 127 bits and a sign.
WIDE: Final = span(-(2**127) + 1, 2**127 - 1)
#: Up to this size every whole number is a DOUBLE.
LARGEST_EXACT: Final = 2**53
#: ROUND and TRUNC before the point go no further than a power of ten of 64 bits.
MOST_DIGITS: Final = 18

_DIGITS = frozenset({"round decimal", "trunc decimal"})
_ARITHMETIC = frozenset({"+", "-", "*", "negate", "abs", "//", "%"})
_CHOICES = frozenset({"coalesce", "greatest", "least", "nullif"})
#: How long texts are, and where moments lie, of which functions give whole numbers.
_TEXTS = span(0, 2**32)
_MOMENTS = span(date.min.toordinal(), date.max.toordinal())


def is_arithmetic(expression: Expression) -> bool:
    """Whether the expression is arithmetic, or a choice, of whole numbers alone."""
    if expression.type.kind != "integer":
        return False
    match expression:
        case Case():
            return all(value.type.kind == "integer" for value in results(expression))
        case Call(function=function, arguments=(value, _, Literal(value=int(digits)))) if (
            function in _DIGITS
        ):
            return value.type.kind == "integer" and -MOST_DIGITS <= digits <= 0
        case Call(function=function, arguments=arguments) if function in _ARITHMETIC | _CHOICES:
            return all(argument.type.kind == "integer" for argument in arguments)
        case _:
            return False


def is_whole(expression: Expression) -> bool:
    """Whether the expression is a whole number in the engine and would not be exact as a DOUBLE."""
    return is_arithmetic(expression) and is_large(expression)


def is_large(expression: Expression) -> bool:
    """Whether a number of the expression may be beyond those that a DOUBLE has exactly.

    A whole number that is computed of decimals or doubles does not count: it is a DOUBLE already.
    """
    return _sizes(expression)[1] > LARGEST_EXACT


#: How a bound with a fraction is rounded beside a whole number,
#: so that the same whole numbers #: fulfil the comparison.
_ROUNDED = {"<": ceil, ">=": ceil, "<=": floor, ">": floor}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def whole_comparison(call: Call) -> Call:
    """A comparison of a large whole number with a decimal constant,
    as one with a whole number, which is exact.

    >>> from dpsql.schema import SqlType
    >>> x, half = ColumnRef("t", "x", INTEGER), Literal(Decimal("7.5"), SqlType("decimal", 18, 1))
    >>> rewritten = whole_comparison(Call(">", (x, half), SqlType("boolean")))
    >>> rewritten.function, rewritten.arguments[1].value
    ('>', 7)
    """
    if len(call.arguments) != 2:
        return call
    places = (0, 1) if isinstance(call.arguments[1], Literal) else (1, 0)
    number, constant = (call.arguments[index] for index in places)
    if (
        not isinstance(constant, Literal)
        or not isinstance(constant.value, Decimal)
        or not is_large(number)
    ):
        return call
    function = call.function if places == (0, 1) else _TURNED.get(call.function, call.function)
    if constant.value % 1 and function not in _ROUNDED:
        return call
    rounded = _ROUNDED.get(function, floor)(constant.value)
    return Call(function, (number, Literal(rounded, INTEGER)), call.type)


#: The most digits of a decimal, and how many of them a DOUBLE always tells apart.
_MOST_DIGITS = 38
_DOUBLE_DIGITS = 15


def common_decimal(comparison: Call) -> SqlType | None:
    """The decimal type in which columns and constants are compared exactly, some of them decimals,
    if DOUBLEs are not exact; None otherwise.

    Sums of a unit's decimals, which have the most digits, are DOUBLEs.
    """
    digits = [_digits_of(argument) for argument in comparison.arguments]
    known = [digit for digit in digits if digit is not None]
    if len(known) < len(digits) or all(
        argument.type.kind == "integer" for argument in comparison.arguments
    ):
        return None
    before, after = (max(digit_counts) for digit_counts in zip(*known, strict=True))
    if max(map(sum, known)) <= _DOUBLE_DIGITS or before + after > _MOST_DIGITS:
        return None
    return SqlType("decimal", before + after, after)


def _digits_of(expression: Expression) -> tuple[int, int] | None:
    """How many digits a column or a constant has before and after its point;
    None if that is not known.
    """
    match expression:
        case Literal(value=bool()):
            return None
        case Literal(value=int() | Decimal() as value):
            number = Decimal(value).as_tuple()
            assert isinstance(number.exponent, int)
            return max(len(number.digits) + number.exponent, 1), max(-number.exponent, 0)
        case ColumnRef(type=SqlType(kind="integer")):
            return len(str(MOST)), 0
        case ColumnRef(type=SqlType(kind="decimal", precision=int(precision), scale=scale)) if (
            precision < _MOST_DIGITS
        ):
            return precision - (scale or 0), scale or 0
        case _:
            return None


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The whole numbers that arithmetic, or a choice, is made of."""
    match expression:
        case Case():
            return results(expression)
        case Call(function=function, arguments=arguments):
            return arguments[:1] if function in _DIGITS else arguments
        case _:
            return ()


def results(case: Case) -> tuple[Expression, ...]:
    """The values of all branches of a CASE."""
    values = tuple(value for _, value in case.branches)
    return values if case.default is None else (*values, case.default)


def result_reach(expression: Call | Case, *inner: Interval) -> Interval:
    """The interval of the value if the operands lie in these intervals."""
    function = "case" if isinstance(expression, Case) else expression.function
    match function:
        case "+" | "-" | "*":
            return FUNCTIONS[function].interval(*inner)
        case "negate":
            return -inner[0]
        case "abs":
            return abs_interval(inner[0])
        case "%":
            size = inner[1].magnitude or Fraction(0)
            return _in_bigint(inner[0].union(ZERO).within(-size, size))
        case "//":
            return _in_bigint(_quotient(*inner))
        case "round decimal" | "trunc decimal":
            digits = expression.arguments[2]  # type: ignore[union-attr]
            assert isinstance(digits, Literal) and isinstance(digits.value, int)
            rule = round_interval if function == "round decimal" else trunc_interval
            return rule(inner[0], span(digits.value, digits.value))
        case _:
            return union(*inner)


def _in_bigint(interval: Interval) -> Interval:
    return interval.within(BIGINT.low, BIGINT.high)


def _quotient(dividend: Interval, divisor: Interval) -> Interval:
    """x // y is no larger than x, and as many times smaller as a constant y says."""
    least = (
        abs(divisor.low)
        if divisor.low is not None and divisor.low == divisor.high and divisor.low
        else 1
    )
    size = Fraction((dividend.magnitude or 0) // least)
    low = (
        -size
        if dividend.low is None or dividend.low < 0 or (divisor.low or -1) < 0
        else Fraction(0)
    )
    return Interval(low, size)


def leaf_reach(expression: Expression) -> Interval:
    """The interval of a whole number that is no arithmetic of others, by its type and function alone."""
    match expression:
        case Literal(value=int(value)):
            return span(value, value)
        case Literal():
            return ZERO
        case Cast(argument=argument) if argument.type.kind == "boolean":
            return UNIT_INTERVAL
        case Cast(argument=argument) if argument.type.kind == "integer":
            return _in_bigint(_argument_reach(argument))
        case Call(function=function, arguments=arguments) if FUNCTIONS[function].whole:
            return _in_bigint(FUNCTIONS[function].interval(*map(_argument_reach, arguments)))
        case _:
            return BIGINT


def is_own_integer(expression: Expression) -> bool:
    """Whether a whole number that is no arithmetic is one in the engine, and no DOUBLE."""
    match expression:
        case ColumnRef() | Subquery() | Cast() | Literal():
            return True
        case Call(function=function):
            return FUNCTIONS[function].whole
        case Case():
            return False


def _sizes(expression: Expression) -> tuple[Interval, Fraction]:
    """The interval of a number, and the size of the largest that it is computed of;
    0 for what is a DOUBLE already.
    """
    if isinstance(expression, Call | Case) and is_arithmetic(expression):
        inner = [_sizes(operand) for operand in operands(expression)]
        reach = result_reach(expression, *(interval for interval, _ in inner))
        return reach, max(reach.magnitude or Fraction(0), *(size for _, size in inner))
    known = expression.type.kind == "integer" and is_own_integer(expression)
    reach = leaf_reach(expression) if known else ZERO
    return reach, reach.magnitude or Fraction(0)


def _argument_reach(argument: Expression) -> Interval:
    match argument.type.kind:
        case "integer":
            return _sizes(argument)[0] if is_own_integer(argument) or is_large(argument) else BIGINT
        case "text":
            return _TEXTS
        case "date" | "timestamp":
            return _MOMENTS
        case "boolean":
            return UNIT_INTERVAL
        case _:
            return Interval(None, None)
