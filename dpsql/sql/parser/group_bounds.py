"""Bounds per group: each unit's part of each group is aggregated first, and clamped before it is added up.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.parser.googlesql import PER_GROUP, bounded


def with_groups_of_units(select: exp.Select, unit: exp.Column | None) -> exp.Select:
    """The SELECT over a subquery that has one row for each unit and group.

    ``SELECT k, SUM(x BETWEEN low AND high) FROM t GROUP BY k`` with bounds per group becomes
    ``SELECT g0, SUM(clamped v0) FROM (SELECT unit, k AS g0, SUM(x) AS v0 FROM t GROUP BY unit, k) GROUP BY g0``.
    """
    if unit is None:
        refuse("E_PARAM", "contribution_bounds_per_group needs the option privacy_unit_column", select)
    only(select, "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")
    keys = _keys(select)
    inner = exp.select(
        exp.alias_(unit.copy(), "u", quoted=True),
        *(exp.alias_(key.copy(), f"g{place}", quoted=True) for place, key in enumerate(keys)),
    )
    for part in ("from_", "joins", "where"):
        value = select.args.get(part)
        if value:
            inner.set(part, [each.copy() for each in value] if isinstance(value, list) else value.copy())
    inner.set("group", exp.Group(expressions=[unit.copy(), *(key.copy() for key in keys)]))
    values: list[exp.Expr] = []

    def outer(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.AggFunc):
            return _outer_aggregate(node, values, unit)
        return _column(f"g{keys.index(node)}") if node in keys else node

    items = [_named(item).transform(outer) for item in select.expressions]
    whole = exp.select(*items)
    for part in ("having", "order", "limit", "offset"):
        if select.args.get(part) is not None:
            whole.set(part, select.args[part].transform(outer))
    for place, value in enumerate(values):
        inner.append("expressions", exp.alias_(value, f"v{place}", quoted=True))
    if keys:
        whole.set("group", exp.Group(expressions=[_column(f"g{place}") for place in range(len(keys))]))
    alias = exp.TableAlias(this=exp.to_identifier("each", quoted=True))
    return whole.from_(exp.Subquery(this=inner, alias=alias), copy=False)


def clamped(value: exp.Expr, bounds: exp.Expr) -> exp.Expr:
    """The value kept between two constants; NULL stays NULL."""
    if not isinstance(bounds, exp.Tuple) or len(bounds.expressions) != 2:
        refuse("E_PARAM", "contribution bounds are (low, high)", bounds)
    low, high = bounds.expressions
    return (
        exp.Case()
        .when(exp.Paren(this=value.copy()) > high.copy(), high.copy(), copy=False)
        .when(exp.Paren(this=value.copy()) < low.copy(), low.copy(), copy=False)
        .else_(value.copy(), copy=False)
    )


def _outer_aggregate(node: exp.AggFunc, values: list[exp.Expr], unit: exp.Column) -> exp.Expr:
    """The aggregate over units; what it needs of each unit becomes one more value of the subquery."""
    mark = node.this
    if not isinstance(mark, exp.Anonymous) or mark.name != PER_GROUP:
        if isinstance(node, exp.Count) and isinstance(mark, exp.Distinct) and mark.expressions == [unit]:
            return exp.Count(this=exp.Distinct(expressions=[_column("u")]))
        refuse("E_AGG", "an aggregate without contribution_bounds_per_group stands beside one that has them; give it "
               "bounds, or ask for it in a statement of its own", node)  # fmt: skip
    argument, bounds = bounded(mark)
    if not isinstance(node, exp.Count | exp.Sum | exp.Avg):
        refuse("E_AGG", "contribution_bounds_per_group goes with COUNT, SUM and AVG", node)
    values.append(type(node)(this=argument.copy()))
    part = clamped(_column(f"v{len(values) - 1}"), bounds)
    return exp.Avg(this=part) if isinstance(node, exp.Avg) else exp.Sum(this=part)


def _keys(select: exp.Select) -> list[exp.Expr]:
    """The expressions of GROUP BY, ordinals and aliases replaced by what they stand for."""
    group = select.args.get("group")
    if group is None:
        return []
    only(group, "expressions", code="E_GROUPING")
    aliases = {fold(item.alias): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    keys: list[exp.Expr] = []
    for key in group.expressions:
        if isinstance(key, exp.Literal) and key.is_int and 1 <= int(key.name) <= len(select.expressions):
            key = select.expressions[int(key.name) - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            key = aliases.get(fold(key.name), key)
        keys.append(key)
    return keys


def _named(item: exp.Expr) -> exp.Expr:
    """The item under the name that it has without bounds."""
    if isinstance(item, exp.Alias):
        return item
    name = item.name if isinstance(item, exp.Column) else item.key
    return exp.alias_(item.copy(), name, quoted=True)


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier("each", quoted=True))
