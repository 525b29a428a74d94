"""Numbers: logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.query.expression import INTEGER, Expression, Literal
from dpsql.query.refusal import only, refuse

if TYPE_CHECKING:
    from dpsql.query.scalar import Reader


def log(reader: Reader, node: exp.Expr) -> Expression:
    """LOG, with a base or without."""
    only(node, "this", "expression", code="E_FUNC")
    if node.expression is None:
        return reader.call("log10", (node.this,), node)
    base = reader.read(node.this)
    name = {Literal(2, INTEGER): "log2", Literal(10, INTEGER): "log10"}.get(base) if isinstance(base, Literal) else None
    if name is None:
        refuse("E_FUNC", "LOG is answered for the bases 2 and 10; use LN(x) / LN(base)", node)
    return reader.call(name, (node.expression,), node)
