"""WITH: the common table expressions that a query can see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.ir.refusal import only, refuse

#: The common table expressions in scope: a name, its query, the names that query itself could see, its columns.
Ctes: TypeAlias = "Mapping[str, Cte]"


@dataclass(frozen=True)
class Cte:
    """A common table expression; each use binds it anew, and equal cores are released once."""

    query: exp.Expr
    ctes: Ctes
    columns: tuple[str, ...]


def without_ctes(query: exp.Expr, ctes: Ctes) -> tuple[exp.Expr, Ctes]:
    """The query without its WITH, and the names it can see."""
    clause = query.args.get("with_")
    if clause is None:
        return query, ctes
    if clause.args.get("recursive") and any(_names_itself(cte) for cte in clause.expressions):
        refuse("E_RECURSIVE", "a recursive query is not answered", clause)
    visible = dict(ctes)
    for cte in clause.expressions:
        only(cte, "this", "alias", "materialized", code="E_STMT")
        visible[fold(cte.alias)] = Cte(cte.this, dict(visible), tuple(alias_columns(cte)))
    query = query.copy()
    query.set("with_", None)
    return query, visible


def _names_itself(cte: exp.CTE) -> bool:
    return any(fold(table.name) == fold(cte.alias) and not table.db for table in cte.this.find_all(exp.Table)) and (
        isinstance(cte.this, exp.SetOperation)
    )


def alias_columns(node: exp.Expr) -> tuple[str, ...]:
    """The new names of the first columns, as ``AS t(a, b)`` or ``WITH t(a, b)`` gives them."""
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return tuple(fold(column.name) for column in columns or ())
