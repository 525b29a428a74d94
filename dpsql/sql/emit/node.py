"""Short names for the sqlglot nodes that emitted SQL is made of.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlglot import exp


def name(text: str) -> exp.Identifier:
    """A quoted identifier."""
    return exp.Identifier(this=text, quoted=True)


def column(relation: str, text: str) -> exp.Column:
    """A column of a relation in scope, both quoted."""
    return exp.Column(this=name(text), table=name(relation))


def bare(text: str) -> exp.Column:
    """A column of the only relation in scope."""
    return exp.Column(this=name(text))


def integer(value: int) -> exp.Expr:
    """An integer literal."""
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def number(value: int | float) -> exp.Expr:
    """A DOUBLE literal; the cast keeps the engine from reading it as a DECIMAL."""
    size = exp.Cast(
        this=exp.Literal.number(repr(abs(value))), to=exp.DataType(this=exp.DType.DOUBLE)
    )
    return exp.Neg(this=size) if value < 0 else size


def function(
    text: Literal["ABS", "FLOOR", "MAX", "MIN", "SQRT"], *arguments: exp.Expr
) -> exp.Anonymous:
    """A call of a function that every engine has under this name."""
    return exp.Anonymous(this=text, expressions=list(arguments))


def paren(node: exp.Expr) -> exp.Paren:
    """The node between parentheses."""
    return exp.Paren(this=node)


#: What is written as a name, a number or a call, and so stands beside an operator as it is.
_CLOSED = (
    exp.Column,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Cast,
    exp.Case,
    exp.Anonymous,
    exp.Coalesce,
    exp.Count,
    exp.Sum,
    exp.Exists,
    exp.Subquery,
)


def operand(node: exp.Expr) -> exp.Expr:
    """The node, in parentheses unless no operator beside it can bind to a part of it."""
    return node if isinstance(node, _CLOSED) else paren(node)


def plus(first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """The sum of two numbers."""
    return exp.Add(this=operand(first), expression=operand(second))


def times(first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """The product of two numbers."""
    return exp.Mul(this=operand(first), expression=operand(second))


def compare(kind: type[exp.Binary], first: exp.Expr, second: exp.Expr) -> exp.Expr:
    """A comparison of that kind."""
    return kind(this=operand(first), expression=operand(second))


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Case:
    """CASE WHEN … THEN … END."""
    return exp.Case(
        ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=default
    )


def not_null(node: exp.Expr) -> exp.Expr:
    """NOT (… IS NULL)."""
    return exp.Not(this=paren(exp.Is(this=operand(node), expression=exp.null())))


#: So many parts stand side by side; more are put together two by two,
#: so that the tree is not as #: deep as they are many.
FEW = 16


def conjoined(conditions: list[exp.Expr]) -> exp.Expr | None:
    """The AND of the conditions; None if there is none."""
    if len(conditions) > FEW:
        return balanced(conditions, exp.And)
    conjunction: exp.Expr | None = None
    for condition in conditions:
        conjunction = (
            condition
            if conjunction is None
            else exp.And(this=paren(conjunction), expression=paren(condition))
        )
    return conjunction


def balanced(parts: Sequence[exp.Expr], kind: type[exp.Binary]) -> exp.Expr:
    """The parts in their order under an associative operator,
    in a tree as deep as the logarithm of their number.

    >>> balanced([exp.column(name) for name in "abcde"], exp.DPipe).sql()
    '((a || b) || (c || d)) || e'
    """
    remaining = list(parts)
    while len(remaining) > 1:
        pairs = zip(remaining[::2], remaining[1::2], strict=False)
        remaining = [
            kind(this=operand(one), expression=operand(two)) for one, two in pairs
        ] + remaining[len(remaining) // 2 * 2 :]
    return remaining[0]


def aliased(node: exp.Expr, text: str) -> exp.Alias:
    """An output column and its name."""
    return exp.Alias(this=node, alias=name(text))


def table(text: str, alias: str | None = None) -> exp.Table:
    """A CTE of the emitted statement."""
    return exp.Table(this=name(text), alias=exp.TableAlias(this=name(alias)) if alias else None)


def select(
    expressions: Sequence[exp.Expr],
    source: exp.Expr,
    joins: Sequence[exp.Join] | None = None,
    where: exp.Expr | None = None,
    group: Sequence[exp.Expr] | None = None,
    having: exp.Expr | None = None,
    distinct: bool = False,
) -> exp.Select:
    """A SELECT statement of the given parts."""
    return exp.Select(
        expressions=list(expressions),
        from_=exp.From(this=source),
        joins=list(joins) if joins else None,
        where=None if where is None else exp.Where(this=where),
        group=exp.Group(expressions=list(group)) if group else None,
        having=None if having is None else exp.Having(this=having),
        distinct=exp.Distinct() if distinct else None,
    )


def join(source: exp.Expr, on: exp.Expr | None = None, side: str | None = None) -> exp.Join:
    """JOIN … ON, LEFT JOIN … ON, or CROSS JOIN if there is no condition."""
    return exp.Join(this=source, on=on, side=side, kind="CROSS" if on is None else None)


def subquery(query: exp.Query, alias: str, columns: list[str] | None = None) -> exp.Subquery:
    """A query that stands in FROM."""
    return exp.Subquery(
        this=query, alias=exp.TableAlias(this=name(alias), columns=[name(c) for c in columns or ()])
    )


def or_zero(value: exp.Expr) -> exp.Expr:
    """The value, 0 if it is NULL."""
    return exp.Coalesce(this=value, expressions=[integer(0)])


def either(first: exp.Expr | None, second: exp.Expr) -> exp.Expr:
    """The OR of the two; the second alone if there is no first."""
    return second if first is None else exp.Or(this=first, expression=second)
