"""How large emitted SQL may become.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.errors import StatementError

#: DuckDB plans an expression, or a statement, of so many nodes in seconds.
MOST_NODES: Final = 50_000
#: Where a tree keeps its size, so that what is built around it need not count it again.
_KEPT: Final = "nodes"


def limited(tree: exp.Expr) -> exp.Expr:
    """The tree, which knows its size from now on;
    StatementError (E_LIMITS) where that is beyond `MOST_NODES`.
    """
    tree.meta[_KEPT] = nodes = _nodes(tree)
    require(nodes)
    return tree


def require(nodes: int) -> None:
    """StatementError (E_LIMITS) where so many are more than an engine plans in seconds."""
    if nodes > MOST_NODES:
        raise StatementError(
            "E_LIMITS",
            f"it becomes more than {MOST_NODES:,} parts of engine SQL; nest fewer "
            "functions, ask for fewer columns, or use shorter texts",
        )


def _nodes(tree: exp.Expr) -> int:
    """The number of nodes, in which what stands in NULLIF counts twice:
    the engine makes a CASE of it that repeats it.

    >>> _nodes(exp.column("a")), _nodes(exp.Nullif(this=exp.column("a"), expression=exp.column("b")))
    (1, 4)
    """
    total = 0
    pending = [(tree, 1)]
    while pending:
        expression, times = pending.pop()
        if expression._meta is not None and _KEPT in expression._meta:
            total += expression._meta[_KEPT] * times
            continue
        total += times
        if isinstance(expression, exp.Column):
            continue
        for name, value in expression.args.items():
            twice = 2 * times if name == "this" and isinstance(expression, exp.Nullif) else times
            pending += [
                (child, twice)
                for child in (value if isinstance(value, list) else [value])
                if isinstance(child, exp.Expr)
            ]
    return total
