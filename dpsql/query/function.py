"""What the allow-list says of a function, and how total forms and types are built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from dpsql.query.expression import DOUBLE, INTEGER, TIMESTAMP
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
    return exp.Cast(this=exp.Literal.number(repr(value)), to=exp.DataType(this=exp.DType.DOUBLE))


def always(sql_type: SqlType) -> Callable[..., SqlType]:
    """A result type that does not depend on the arguments."""
    return lambda *_: sql_type


def sum_type(left: SqlType, right: SqlType) -> SqlType:
    """Integers stay integers, decimals keep the longer scale, everything else is a double."""
    if left.kind == right.kind == "integer":
        return INTEGER
    if "double" in (left.kind, right.kind):
        return DOUBLE
    return SqlType("decimal", 38, max(left.scale or 0, right.scale or 0))


def product_type(left: SqlType, right: SqlType) -> SqlType:
    """Integers stay integers, decimals add their scales as far as `MAX_SCALE`, everything else is a double."""
    if left.kind == right.kind == "integer":
        return INTEGER
    scale = (left.scale or 0) + (right.scale or 0)
    if "double" in (left.kind, right.kind) or scale > MAX_SCALE:
        return DOUBLE
    return SqlType("decimal", 38, scale)


def same(first: SqlType, *_: SqlType) -> SqlType:
    """The type of the first argument."""
    return first


def whole(argument: SqlType, *rest: SqlType) -> SqlType:
    """A whole number of the argument's kind; with a number of digits, a double."""
    return DOUBLE if argument.kind == "double" or rest else INTEGER


def common_type(first: SqlType, *others: SqlType) -> SqlType:
    """The type that values of all the given types share; numbers and temporal types widen."""
    result = first
    for other in others:
        if result.is_numeric and other.is_numeric:
            result = sum_type(result, other)
        elif result.is_temporal and other.is_temporal:
            result = result if result == other else TIMESTAMP
    return result


def binary(kind: type[exp.Binary]) -> Callable[..., Node]:
    """The total form of an operator that cannot fail on what it is given."""
    return lambda left, right: kind(this=exp.Paren(this=left), expression=exp.Paren(this=right))


def not_zero(node: Node) -> Node:
    """The divisor, NULL where it is zero."""
    return exp.Nullif(this=node, expression=number(0.0))


def call(name: str) -> Callable[..., Node]:
    """The total form of a function that the engine has under this name and that cannot fail."""
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def guarded(condition: type[exp.Binary], bound: float, name: str) -> Callable[..., Node]:
    """NULL outside the function's domain, and TRY inside, on every version of the engine."""

    def build(argument: Node) -> Node:
        inside = condition(this=exp.Paren(this=argument), expression=number(bound))
        return exp.Case(ifs=[exp.If(this=inside, true=attempt(call(name)(argument.copy())))])

    return build
