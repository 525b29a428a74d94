"""Conditions: BETWEEN, IN and IS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.query.call import call
from dpsql.query.expression import BOOLEAN, Call, Expression, Literal
from dpsql.query.refusal import only, refuse

if TYPE_CHECKING:
    from dpsql.query.scalar import Reader


def between(reader: Reader, node: exp.Expr) -> Expression:
    """BETWEEN is two comparisons."""
    only(node, "this", "low", "high")
    value = reader.read(node.this)
    low = call(">=", [value, reader.read(node.args["low"])], node)
    high = call("<=", [value, reader.read(node.args["high"])], node)
    return Call("and", (low, high), BOOLEAN)


def in_list(reader: Reader, node: exp.Expr) -> Expression:
    """IN with a list."""
    if node.args.get("query") is not None:
        refuse(
            "E_SUBQ",
            "IN with a subquery is not answered in the ON of an outer join; put it in WHERE or in a subquery",
            node,
        )
    only(node, "this", "expressions")
    options = [reader.read(option) for option in node.expressions]
    if not options or not all(isinstance(option, Literal) for option in options):
        refuse("E_TYPE", "IN takes a list of constants", node)
    return call("in", [reader.read(node.this), *options], node)


def is_(reader: Reader, node: exp.Expr) -> Expression:
    """IS NULL, IS TRUE and their like."""
    only(node, "this", "expression")
    value = reader.read(node.this)
    if isinstance(node.expression, exp.Null):
        return Call("is null", (value,), BOOLEAN)
    return call("is not distinct from", [value, reader.read(node.expression)], node)
