"""How total forms are put together: operators, calls,
choices and quotients that give a value or NULL on every row.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from dpsql.sql.emit.node import number

Node: TypeAlias = exp.Expr
#: Builds a dialect's expression for a function from its emitted arguments,
#: numbers already as #: DOUBLE.
TotalForm: TypeAlias = Callable[..., Node]


def binary(kind: type[exp.Binary]) -> TotalForm:
    """The total form of an operator that cannot fail on what it is given."""
    return lambda left_side, right_side: kind(
        this=exp.Paren(this=left_side), expression=exp.Paren(this=right_side)
    )


def call(name: str) -> TotalForm:
    """The total form of a function that the engine has under this name and that cannot fail."""
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def case(condition: Node, value: Node) -> Node:
    """The value if the condition holds, else NULL."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


def compare(kind: type[exp.Binary], left_side: Node, right_side: Node) -> Node:
    """A comparison in which nothing binds closer than it should."""
    return kind(this=exp.Paren(this=left_side), expression=exp.Paren(this=right_side))


def both(left_side: Node, right_side: Node) -> Node:
    """The AND of two conditions."""
    return exp.And(this=exp.Paren(this=left_side), expression=exp.Paren(this=right_side))


def not_zero(node: Node) -> Node:
    """The divisor, NULL if it is zero."""
    return exp.Nullif(this=node, expression=number(0.0))


def divided(left_side: Node, right_side: Node) -> Node:
    """The quotient of two doubles, NULL if the divisor is zero."""
    return exp.Div(
        this=exp.Paren(this=left_side), expression=not_zero(right_side), typed=False, safe=False
    )


def remainder(left_side: Node, right_side: Node) -> Node:
    """The remainder of two doubles, NULL if the divisor is zero."""
    return exp.Mod(this=exp.Paren(this=left_side), expression=not_zero(right_side))


def is_null(value: Node) -> Node:
    """Whether the value is NULL."""
    return exp.Is(this=exp.Paren(this=value), expression=exp.null())


def is_in(value: Node, *options: Node) -> Node:
    """Whether the value equals one of the options."""
    return exp.In(this=exp.Paren(this=value), expressions=[*options])


def negation(value: Node) -> Node:
    """NOT of a condition."""
    return exp.Not(this=exp.Paren(this=value))


def opposite(value: Node) -> Node:
    """The number with the other sign."""
    return exp.Neg(this=exp.Paren(this=value))


def first_known(value: Node, *others: Node) -> Node:
    """The first value that is not NULL."""
    return exp.Coalesce(this=value, expressions=[*others])


def unless(value: Node, unwanted: Node) -> Node:
    """The value, NULL if it equals the other."""
    return exp.Nullif(this=value, expression=unwanted)
