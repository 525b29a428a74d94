"""What is not in the allow-list, and what is said of it."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.query.refusal import refuse


def refuse_unlisted(node: exp.Expr) -> NoReturn:
    """Say why the node is not answered inside an aggregate."""
    match node:
        case exp.Subquery() | exp.Exists() | exp.Select() | exp.SetOperation():
            refuse("E_SUBQ", "a subquery is not answered here; in an aggregate, WHERE or GROUP BY it is", node)
        case exp.Window():
            refuse("E_WINDOW", "a window function may not look at private rows; use it over released groups", node)
        case exp.AggFunc():
            refuse("E_NESTED", "an aggregate may not stand here", node)
        case exp.Star() | exp.Columns():
            refuse("E_RAW", "* stands for columns only in COUNT(*)", node)
        case exp.Anonymous() | exp.Func():
            name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
            refuse("E_FUNC", f"{name.upper()} is not in the list of functions", node)
        case _:
            refuse("E_FUNC", f"{node.key.upper()} is not answered here", node)
