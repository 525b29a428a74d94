"""Intervals of arithmetic over debiased aggregates: of one with constants, and of a part of all rows.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.binder.aggregates.aggregate import is_aggregate
from dpsql.sql.binder.collected.estimates import Estimates

#: The ends of an interval, as SQL.
Ends = tuple[exp.Expr, exp.Expr]


def ends_of(node: exp.Expr, estimates: Estimates, z: float) -> Ends | None:
    """The ends of the interval of an aggregate, of it with constants, or of its quotient by COUNT(*); else None."""
    if is_aggregate(node):
        return estimates.ends(node, z)
    match node:
        case exp.Paren():
            return ends_of(node.this, estimates, z)
        case exp.Neg() | exp.Cast() | exp.Round() if _alone(node):
            return _around(node, node.this, ends_of(node.this, estimates, z))
        case exp.Div() if _is_count(node.expression):
            return _quotient(node.this, node.expression, estimates, z)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            for inner, other in ((node.this, node.expression), (node.expression, node.this)):
                if _is_constant(other) and not (isinstance(node, exp.Div) and inner is node.expression):
                    return _around(node, inner, ends_of(inner, estimates, z))
    return None


def _quotient(above: exp.Expr, below: exp.Expr, estimates: Estimates, z: float) -> Ends | None:
    """The ends of a part of all rows, perhaps times a constant."""
    if isinstance(above, exp.Paren):
        return _quotient(above.this, below, estimates, z)
    if isinstance(above, exp.Mul):
        for inner, other in ((above.this, above.expression), (above.expression, above.this)):
            if _is_constant(other):
                return _around(above, inner, _quotient(inner, below, estimates, z))
    count = below.find(exp.Count)
    return estimates.quotient_ends(above, count, z) if count is not None and is_aggregate(above) else None


def _around(node: exp.Expr, inner: exp.Expr, ends: Ends | None) -> Ends | None:
    """Both ends with what is around the inner part, which nowhere turns: the lesser one first."""
    if ends is None:
        return None
    one, other = (_with(node, inner, end) for end in ends)
    return (
        exp.Least(this=one, expressions=[other], ignore_nulls=True),
        exp.Greatest(this=one.copy(), expressions=[other.copy()], ignore_nulls=True),
    )


def _with(node: exp.Expr, inner: exp.Expr, end: exp.Expr) -> exp.Expr:
    """The node with the end in the place of its inner part."""
    made = type(node)(**{
        name: exp.paren(end.copy()) if value is inner else value.copy() if isinstance(value, exp.Expr) else value
        for name, value in node.args.items()
    })  # fmt: skip
    return exp.paren(made)


def _alone(node: exp.Expr) -> bool:
    """Whether all that a function reads beside its first argument are constants."""
    return all(_is_constant(part) for name, part in node.args.items() if name != "this" and isinstance(part, exp.Expr))


def _is_constant(node: exp.Expr) -> bool:
    return node.find(exp.Column, exp.Query, exp.AggFunc, exp.Window, exp.Placeholder) is None


def _is_count(node: exp.Expr) -> bool:
    """Whether the node is COUNT(*), perhaps as another type, or as NULL where it is 0."""
    while isinstance(node, exp.Paren | exp.Nullif | exp.Cast):
        node = node.this
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)
