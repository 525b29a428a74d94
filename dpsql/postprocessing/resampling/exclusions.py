"""Whether a query computes with released columns whose noise is not drawn again: truth values, maps, lists, modes.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.sources.ctes import alias_columns


def computes_with(query: exp.Query, undrawn: Mapping[str, Collection[str]]) -> bool:
    """Whether one of these columns of released tables is more than shown, or sorted by; where names hide it, it may be.

    >>> import sqlglot
    >>> text = "SELECT {} FROM (SELECT core0.a0 AS h, core0.a1 AS n FROM released.core0 AS core0) AS t"
    >>> queries = [sqlglot.parse_one(text.format(items)) for items in ("h, SUM(n) OVER ()", "SUM(h[1] / n)")]
    >>> [computes_with(query, {"core0": ["a0"]}) for query in queries]
    [False, True]
    """
    if not any(undrawn.values()):
        return False
    names = _names(query, undrawn)
    if any(alias_columns(node) for node in query.find_all(exp.Subquery)) and names:
        return True
    return any(not _is_shown(each) for each in query.find_all(exp.Column) if _is_one(each, undrawn, names))


def _names(query: exp.Query, undrawn: Mapping[str, Collection[str]]) -> set[str]:
    """The names under which subqueries give such a column on."""
    names, before = set[str](), -1
    while before < len(names):
        before = len(names)
        for select in query.find_all(exp.Select):
            for item in select.expressions:
                if isinstance(item.unalias(), exp.Column) and _is_one(item.unalias(), undrawn, names):
                    names.add(fold(item.alias_or_name))
    return names


def _is_one(column: exp.Expr, undrawn: Mapping[str, Collection[str]], names: Collection[str]) -> bool:
    own = undrawn.get(fold(column.text("table")))
    return fold(column.name) in (names if own is None else own)


def _is_shown(column: exp.Column) -> bool:
    """Whether the column is one of its SELECT's as it is, or its rows are sorted by it."""
    item = column.parent if isinstance(column.parent, exp.Alias) else column
    if isinstance(item.parent, exp.Ordered):
        order = item.parent.parent
        return order is not None and isinstance(order.parent, exp.Select) and order.parent.args.get("limit") is None
    return isinstance(item.parent, exp.Select) and item.arg_key == "expressions"
