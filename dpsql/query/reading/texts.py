"""Texts: CONCAT and TRIM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.query.call import call
from dpsql.query.expression import Call, Expression, Literal
from dpsql.query.listed import SPELLING
from dpsql.query.refusal import only
from dpsql.schema import SqlType

if TYPE_CHECKING:
    from dpsql.query.scalar import Reader


def concatenation(reader: Reader, node: exp.Expr) -> Expression:
    """CONCAT reads NULL as an empty string, which || does not."""
    only(node, "expressions", *SPELLING, code="E_FUNC")
    pieces: list[Expression] = [
        Call("coalesce", (reader.read(piece), Literal("", SqlType("text"))), SqlType("text"))
        for piece in node.expressions
    ]
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = call("||", [whole, piece], node)
    return whole


def trim(reader: Reader, node: exp.Expr) -> Expression:
    """TRIM, LTRIM and RTRIM."""
    only(node, "this", "position", code="E_FUNC")
    position = node.args.get("position")
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(position).upper(), "trim")
    return reader.call(name, (node.this,), node)
