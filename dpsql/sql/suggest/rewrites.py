"""Statements that ask in other words what a refused one asks, each a change of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.binder.aggregates.aggregate import is_aggregate
from dpsql.sql.binder.aggregates.dp_clip import clipped_to_norms, is_clip, sizes_first
from dpsql.sql.binder.aggregates.frequencies import frequent_value
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.suggest.changes import marked, replaced
from dpsql.sql.suggest.names import closest_names

#: What makes another statement of one, in place; None where it has nothing to change.
Rewrite: TypeAlias = Callable[[exp.Expr, Schema], exp.Expr | None]


def quoted_texts(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace quoted names that no table has by texts, as in WHERE status = "done"."""
    known = {name for table in schema.tables.values() for name in table.columns}
    aliases = {
        fold(node.alias) for node in tree.find_all(exp.Alias, exp.Subquery, exp.CTE, exp.Table)
    }
    quoted = [
        node
        for node in tree.find_all(exp.Column)
        if isinstance(node.this, exp.Identifier)
        and node.this.quoted
        and not node.table
        and fold(node.name) not in known | aliases
        and isinstance(node.parent, exp.Predicate | exp.In)
    ]
    for node in quoted:
        replaced(node, exp.Literal.string(node.name))
    return tree if quoted else None


def counts_for_exists(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace EXISTS in a SELECT list without FROM by a count that is above 0."""
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is not None:
        return None
    exists_nodes = [node for node in tree.find_all(exp.Exists) if isinstance(node.this, exp.Select)]
    for node in exists_nodes:
        inner = node.this.copy()
        inner.set("expressions", [exp.Count(this=exp.Star())])
        for clause in ("limit", "order", "distinct"):
            inner.set(clause, None)
        counted = exp.GT(this=exp.Subquery(this=inner), expression=exp.Literal.number(0))
        node.replace(marked(counted, "whether a count is above 0 for EXISTS"))
    return tree if exists_nodes else None


def filters_for_pivot(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace a PIVOT of rows by one aggregate with FILTER for each value that it lists."""
    source = (
        tree.args["from_"].this
        if isinstance(tree, exp.Select) and tree.args.get("from_") is not None
        else None
    )
    pivots = [] if source is None else source.args.get("pivots") or []
    if source is None or len(pivots) != 1 or pivots[0].args.get("unpivot"):
        return None
    pivot = pivots[0]
    fields = pivot.args.get("fields") or []
    group = pivot.args.get("group")
    if len(fields) != 1 or not isinstance(fields[0], exp.In) or not fields[0].expressions:
        return None
    keys = list(group.expressions) if group is not None else _other_columns(source, pivot)
    items: list[exp.Expr] = [key.copy() for key in keys]
    for value in fields[0].expressions:
        for aggregate in pivot.expressions:
            equal = exp.EQ(this=_column(fields[0].this), expression=value.unalias().copy())
            filtered = exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=equal))
            name = (
                f"{value.alias_or_name}_{aggregate.alias}"
                if aggregate.alias
                else value.alias_or_name
            )
            items.append(exp.alias_(filtered, name, quoted=True))
    plain = source.copy()
    plain.set("pivots", None)
    select = exp.Select(expressions=items).from_(plain, copy=False)
    marked(select, "an aggregate with FILTER for each value of PIVOT")
    return select.group_by(*(key.copy() for key in keys), copy=False) if keys else select


def _other_columns(source: exp.Expr, pivot: exp.Pivot) -> list[exp.Expr]:
    """The columns of a subquery that the PIVOT does not name: it groups by them."""
    inner = source.this
    if not isinstance(inner, exp.Select):
        return []
    named = {fold(node.name) for node in pivot.find_all(exp.Column, exp.Identifier)}
    return [
        exp.column(name) for name in inner.named_selects if fold(name) not in named and name != "*"
    ]


def _column(node: exp.Expr) -> exp.Expr:
    return exp.column(node.copy()) if isinstance(node, exp.Identifier) else node.copy()


def joined_on_the_unit(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Join private tables that hold the unit on it, in addition to the statement's conditions."""
    changed = False
    for select in tree.find_all(exp.Select):
        source = select.args.get("from_")
        first = None if source is None else _unit_column(source.this, schema)
        for join in select.args.get("joins") or []:
            unit = _unit_column(join.this, schema)
            if (
                unit is not None
                and first is not None
                and not _is_tied(join, unit)
                and not _differ(select, unit, first)
            ):
                tie = exp.EQ(this=unit.copy(), expression=first.copy())
                _add(select, join, marked(tie, f"{STATEMENT.write(tie)} added"))
                changed = True
            first = first or unit
    return tree if changed else None


def _is_tied(join: exp.Join, unit: exp.Column) -> bool:
    on = join.args.get("on")
    return on is not None and any(
        unit in (equality.this, equality.expression) for equality in on.find_all(exp.EQ)
    )


def _differ(select: exp.Select, unit: exp.Column, first: exp.Column) -> bool:
    """Whether a condition asks for two different units in a row."""
    orders = select.find_all(exp.NEQ, exp.LT, exp.GT)
    return any({unit, first} == {order.this, order.expression} for order in orders)


def _add(select: exp.Select, join: exp.Join, tie: exp.Expr) -> None:
    if join.args.get("on") is not None:
        join.set("on", exp.and_(tie, join.args["on"].copy()))
    elif join.args.get("using") or join.method:
        select.where(tie, copy=False)
    else:
        join.set("kind", None)
        join.set("on", tie)


def _unit_column(node: exp.Expr, schema: Schema) -> exp.Column | None:
    """The column of a table of FROM that holds the unit, by the schema's foreign keys."""
    table = (
        schema.table(node.name)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
        else None
    )
    if table is None or table.public:
        return None
    if fold(node.name) == schema.unit_table:
        return exp.column(schema.unit_column, table=node.alias_or_name)
    unit_columns = [
        column for column, parent in table.references.items() if parent == schema.privacy.unit
    ]
    return exp.column(unit_columns[0], table=node.alias_or_name) if unit_columns else None


def _clipped_to_norms(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Clip units to a norm if there are no bounds for a size of rows."""
    clipped = clipped_to_norms(tree, schema)
    return None if clipped is None else marked(clipped, "each person clipped, not each row")


def _without_norms(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Leave out DP_CLIP around an aggregate, which takes bounds and limits instead."""
    clips = [
        node
        for node in tree.find_all(exp.Anonymous)
        if is_clip(node) and len(node.expressions) == 1
    ]
    around = [node for node in clips if is_aggregate(node.expressions[0])]
    for node in around:
        node.replace(node.expressions[0].copy())
    return marked(tree, "without DP_CLIP") if around else None


def _sizes_before(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Find the sizes of DP_CLIP before what they clip is added up."""
    rewritten = sizes_first(tree, schema)
    return None if rewritten is None else marked(rewritten, "the sizes found first")


def _grouped_for_frequencies(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace HISTOGRAM(x) by x and COUNT(*), grouped by x."""
    if not isinstance(tree, exp.Select):
        return None
    items: list[exp.Expr] = []
    grouped_values: list[exp.Expr] = []
    for item in tree.expressions:
        value = frequent_value(item.unalias()) if _has_one_argument(item.unalias()) else None
        items += [item] if value is None else [value.copy(), exp.Count(this=exp.Star())]
        grouped_values += [] if value is None or value in grouped_values else [value]
    if not grouped_values:
        return None
    tree.set("expressions", items)
    counted = ", ".join(STATEMENT.write(value) for value in grouped_values)
    marked(items[-1], f"a row for each {counted} with its COUNT(*)")
    return tree.group_by(*grouped_values, copy=False)


def _has_one_argument(call: exp.Expr) -> bool:
    """Whether a call has only one argument and perhaps a FILTER: no DISTINCT, bins or order."""
    call = call.this if isinstance(call, exp.Filter) else call
    if isinstance(call, exp.WithinGroup):
        return isinstance(call.expression, exp.Order) and len(call.expression.expressions) == 1
    arguments = (
        call.expressions
        if isinstance(call, exp.Anonymous)
        else [argument for argument in call.args.values() if argument]
    )
    return len(arguments) == 1 and not isinstance(arguments[0], exp.Distinct | exp.Order | list)


def _keys_for_star(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace * next to aggregates by the keys of GROUP BY."""
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        return None
    stars = [item for item in tree.expressions if isinstance(item, exp.Star)]
    keys = tree.args["group"].expressions
    if not stars or not keys:
        return None
    items = [key.copy() for item in tree.expressions for key in (keys if item in stars else [item])]
    tree.set("expressions", items)
    return marked(tree, "the keys for *")


#: Changes of a whole statement in which its question stays.
IN_OTHER_WORDS: tuple[Rewrite, ...] = (
    _clipped_to_norms,
    _without_norms,
    _sizes_before,
    quoted_texts,
    closest_names,
    counts_for_exists,
    filters_for_pivot,
    joined_on_the_unit,
    _grouped_for_frequencies,
    _keys_for_star,
)
