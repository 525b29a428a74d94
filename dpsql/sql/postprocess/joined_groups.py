"""Which joins may read groups of a released table that are not shown: those to which 0 is added.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.postprocess.group_rows import GroupRows, own_aggregates


def is_added(select: exp.Select, join: exp.Join, rows: GroupRows) -> bool:
    """Whether a LEFT JOIN adds the rows to others by their keys; no partner counts as 0."""
    if (
        str(join.args.get("side")).upper() != "LEFT"
        or join.args.get("method")
        or str(join.kind).upper() == "ASOF"
    ):
        return False
    using = {fold(column_name.name) for column_name in join.args.get("using") or ()}
    condition = join.args.get("on")
    if not using <= rows.keys.keys() or not rows.is_public(condition):
        return False
    matched = {rows.keys[name] for name in using}
    for conjunct in _conjuncts(condition):
        equal = conjunct.unnest()
        sides = [equal.this, equal.expression] if isinstance(equal, exp.EQ) else []
        own_columns = [side for side in sides if isinstance(side, exp.Column) and rows.has(side)]
        if len(own_columns) == 1:
            matched.add(rows.keys[fold(own_columns[0].name)])
    single = set(range(rows.count)) <= matched
    summed = is_grouped(select) and all(
        isinstance(aggregate, exp.Sum)
        and rows.is_zero(aggregate.this)
        and rows.keeps_by_keys(aggregate)
        for aggregate in own_aggregates(select)
    )
    if not single and not summed:
        return False
    within = condition or join
    for column in select.find_all(exp.Column):
        inside = (
            column.find_ancestor(exp.Query) is select
            and column is not within
            and not _is_in(column, within)
        )
        merged = not column.table and fold(column.name) in using
        if inside and rows.has(column) and not merged and not _counts_as_zero(column, rows, summed):
            return False
    return not any(_is_bare_star(item, rows) for item in select.expressions)


def _conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    if condition is None:
        return []
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _is_bare_star(item: exp.Expr, rows: GroupRows) -> bool:
    return isinstance(item, exp.Star) or (
        item.is_star and fold(getattr(item, "table", "")) == rows.name
    )


def _is_in(node: exp.Expr, within: exp.Expr) -> bool:
    ancestor: exp.Expr | None = node
    while ancestor is not None and ancestor is not within:
        ancestor = ancestor.parent
    return ancestor is within


def joins_by_keys(select: exp.Select, rows: GroupRows) -> bool:
    """Whether a SELECT with aggregates joins the rows to others by their keys alone."""
    joins = select.args.get("joins") or []
    if not is_grouped(select) or any(
        join.args.get("side") or join.args.get("method") for join in joins
    ):
        return False
    names = {
        fold(column_name.name) for join in joins for column_name in join.args.get("using") or ()
    }
    return names <= rows.keys.keys() and all(rows.is_public(join.args.get("on")) for join in joins)


def _counts_as_zero(column: exp.Column, rows: GroupRows, summed: bool) -> bool:
    """Whether a joined column is read as COALESCE(column, 0), or in a sum, which skips NULL."""
    node: exp.Expr = column
    while node.parent is not None and not isinstance(node, exp.Select):
        node = node.parent
        if isinstance(node, exp.Coalesce):
            return rows.is_zero(node) and any(
                isinstance(expression, exp.Literal) for expression in node.expressions
            )
        if isinstance(node, exp.Sum) and summed:
            return rows.is_zero(node.this) and rows.keeps_by_keys(node)
    return False
