"""Which expressions may be NaN, as the engine computes them, and so are read as NULL.

No column and no constant is NaN: if a table or a released one is read, NaN is NULL. Arithmetic
of infinite numbers makes it, and a text may write it; arithmetic of NaN is NaN again. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import Call, Case, Cast, ColumnRef, Expression, Literal, Subquery
from dpsql.sql.ir.interval import EVERYTHING

#: Functions that are NaN if an argument is, so that what they are applied to may be NaN.
CARRIERS: Final = frozenset({"+", "-", "*", "/", "//", "%", "fdiv", "fmod", "negate", "abs"})


def may_be_nan(expression: Expression) -> bool:
    """Whether the value may be NaN before it is made NULL."""
    match expression:
        case Call(function=function, arguments=arguments, type=sql_type) if (
            sql_type.kind == "double"
        ):
            return _makes_nan(function, arguments) or (
                function in CARRIERS and any(map(may_be_nan, arguments))
            )
        case Cast(argument=argument, type=sql_type):
            return sql_type.kind == "double" and argument.type.kind == "text"
        case Call() | Case() | ColumnRef() | Literal() | Subquery():
            return False


def _makes_nan(function: str, arguments: tuple[Expression, ...]) -> bool:
    """Whether the function may be NaN of arguments that are not."""
    match function, arguments:
        case "+" | "-" | "/" | "//" | "fdiv", (first, second):
            return _may_be_infinite(first) and _may_be_infinite(second)
        case "*", (first, second):
            one = _may_be_infinite(first)
            other = _may_be_infinite(second)
            return (one and not _is_factor(second)) or (other and not _is_factor(first))
        case "%" | "fmod", (first, second):
            return _may_be_infinite(first) or _may_be_infinite(second)
        case "power", (base, exponent):
            positive = isinstance(base, Literal) and (literal.exact(base) or 0) > 0
            return not positive and exponent.type.kind != "integer"
        case _:
            return False


def _may_be_infinite(expression: Expression) -> bool:
    """Whether the value may be infinite; whole numbers and decimals never are."""
    if expression.type.kind != "double" or isinstance(expression, Literal):
        return False
    match expression:
        case Call(function=function, arguments=arguments) if function in CARRIERS:
            return any(map(_may_be_infinite, arguments))
        case Call(function=function, arguments=arguments):
            return not FUNCTIONS[function].interval(*(EVERYTHING for _ in arguments)).is_finite
        case _:
            return True


def _is_factor(expression: Expression) -> bool:
    """Whether the expression is a constant other than 0."""
    return isinstance(expression, Literal) and literal.exact(expression) not in (None, 0)
