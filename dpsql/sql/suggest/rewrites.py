"""Statements near a refused one that say the same in other words: what a hint tries before it counts rows.

An aggregate that is not answered becomes the nearest one that is."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.ir.aggregate import function_named
from dpsql.sql.postprocess.functions import ENDS


def quoted_texts(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace quoted names that no table has by texts: in WHERE status = "done" the text was meant."""
    known = {name for table in schema.tables.values() for name in table.columns}
    aliases = {fold(node.alias) for node in tree.find_all(exp.Alias, exp.Subquery, exp.CTE, exp.Table)}
    found = [
        node for node in tree.find_all(exp.Column)
        if isinstance(node.this, exp.Identifier) and node.this.quoted and not node.table
        and fold(node.name) not in known | aliases and isinstance(node.parent, exp.Predicate | exp.In)
    ]  # fmt: skip
    for node in found:
        node.replace(exp.Literal.string(node.name))
    return tree if found else None


def values_for_ends(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace the ends of intervals by the values themselves."""
    found = [node for node in tree.find_all(exp.Anonymous) if node.name.lower() in ENDS and node.expressions]
    for node in found:
        node.replace(node.expressions[0].copy())
    return tree if found else None


def counts_for_exists(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace EXISTS in a SELECT list without FROM by a count that is above 0."""
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is not None:
        return None
    found = [node for node in tree.find_all(exp.Exists) if isinstance(node.this, exp.Select)]
    for node in found:
        inner = node.this.copy()
        inner.set("expressions", [exp.Count(this=exp.Star())])
        for part in ("limit", "order", "distinct"):
            inner.set(part, None)
        node.replace(exp.GT(this=exp.Subquery(this=inner), expression=exp.Literal.number(0)))
    return tree if found else None


def filters_for_pivot(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace a PIVOT of rows by one aggregate with FILTER for each value that it lists."""
    source = tree.args["from_"].this if isinstance(tree, exp.Select) and tree.args.get("from_") is not None else None
    pivots = [] if source is None else source.args.get("pivots") or []
    if source is None or len(pivots) != 1 or pivots[0].args.get("unpivot"):
        return None
    pivot = pivots[0]
    fields, group = pivot.args.get("fields") or [], pivot.args.get("group")
    if len(fields) != 1 or not isinstance(fields[0], exp.In) or not fields[0].expressions:
        return None
    keys = list(group.expressions) if group is not None else _other_columns(source, pivot)
    items: list[exp.Expr] = [key.copy() for key in keys]
    for value in fields[0].expressions:
        for aggregate in pivot.expressions:
            equal = exp.EQ(this=_column(fields[0].this), expression=value.unalias().copy())
            filtered = exp.Filter(this=aggregate.unalias().copy(), expression=exp.Where(this=equal))
            name = f"{value.alias_or_name}_{aggregate.alias}" if aggregate.alias else value.alias_or_name
            items.append(exp.alias_(filtered, name, quoted=True))
    plain = source.copy()
    plain.set("pivots", None)
    select = exp.Select(expressions=items).from_(plain, copy=False)
    return select.group_by(*(key.copy() for key in keys), copy=False) if keys else select


def _other_columns(source: exp.Expr, pivot: exp.Pivot) -> list[exp.Expr]:
    """The columns of a subquery that the PIVOT does not name: it groups by them."""
    inner = source.this
    if not isinstance(inner, exp.Select):
        return []
    named = {fold(node.name) for node in pivot.find_all(exp.Column, exp.Identifier)}
    return [exp.column(name) for name in inner.named_selects if fold(name) not in named and name != "*"]


def _column(node: exp.Expr) -> exp.Expr:
    return exp.column(node.copy()) if isinstance(node, exp.Identifier) else node.copy()


def joined_on_the_unit(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Join private tables that hold the unit on it, in addition to the conditions of the statement."""
    changed = False
    for select in tree.find_all(exp.Select):
        source = select.args.get("from_")
        first = None if source is None else _unit_column(source.this, schema)
        for join in select.args.get("joins") or []:
            own = _unit_column(join.this, schema)
            if own is not None and first is not None and not _is_tied(join, own):
                _add(select, join, exp.EQ(this=own.copy(), expression=first.copy()))
                changed = True
            first = first or own
    return tree if changed else None


def _is_tied(join: exp.Join, own: exp.Column) -> bool:
    on = join.args.get("on")
    return on is not None and any(own in (each.this, each.expression) for each in on.find_all(exp.EQ))


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
    table = schema.table(node.name) if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) else None
    if table is None or table.public:
        return None
    if fold(node.name) == schema.unit_table:
        return exp.column(schema.unit_column, table=node.alias_or_name)
    held = [column for column, parent in table.references.items() if parent == schema.privacy.unit]
    return exp.column(held[0], table=node.alias_or_name) if held else None


#: What each kind of aggregate is most often wanted for: how far values spread, how they multiply, which there are.
_SPREAD = "kurtosis kurtosis_pop skewness mad".split()
_ERROR = ["sem"]
_MULTIPLIED = "product geomean geometric_mean".split()
_VALUES = (
    "entropy approx_count_distinct any_value arbitrary string_agg group_concat listagg array_agg list array_unique_agg "
    "first last bitstring_agg bit_and bit_or bit_xor bitwise_and_agg bitwise_or_agg bitwise_xor_agg arg_min arg_max "
    "argmin argmax min_by max_by arg_min_null arg_max_null"
).split()


def nearest_aggregate(node: exp.Expr) -> exp.Expr | None:
    """The nearest answered aggregate of the same argument; None where the aggregate has none or is answered itself."""
    if isinstance(node, exp.Anonymous):
        names, argument = {node.name.lower()}, next(iter(node.expressions), None)
    elif isinstance(node, exp.AggFunc | exp.List):
        names = {name.lower() for name in node.sql_names()}
        argument = node.this if isinstance(node.this, exp.Expr) else next(iter(node.expressions), None)
    else:
        return None
    if isinstance(argument, exp.Order):
        argument = argument.this
    known = [] if function_named(node) is not None else [build for family, build in _BUILDS if names & set(family)]
    if isinstance(argument, exp.Distinct) and not isinstance(node, exp.Count):
        argument = next(iter(argument.expressions), None)
        if argument is not None and not known:
            return _without_distinct(node, argument)
    return None if argument is None or not known else known[0](argument.copy())


def _without_distinct(node: exp.Expr, argument: exp.Expr) -> exp.Expr:
    plain = node.copy()
    if isinstance(node, exp.Anonymous):
        plain.set("expressions", [argument.copy()])
    else:
        plain.set("this", argument.copy())
    return plain


def _standard_error(argument: exp.Expr) -> exp.Expr:
    root = exp.Sqrt(this=exp.Count(this=argument.copy()))
    return exp.Div(this=exp.Stddev(this=argument), expression=root, typed=False, safe=False)


_BUILDS: tuple[tuple[list[str], Callable[[exp.Expr], exp.Expr]], ...] = (
    (_SPREAD, lambda argument: exp.Stddev(this=argument)),
    (_ERROR, _standard_error),
    (_MULTIPLIED, lambda argument: exp.Exp(this=exp.Avg(this=exp.Ln(this=argument)))),
    (_VALUES, lambda argument: exp.Count(this=exp.Distinct(expressions=[argument]))),
)


def nearest_aggregates(tree: exp.Expr) -> exp.Expr | None:
    """The statement with each such aggregate replaced; None where there is none."""
    changed = False
    for node in list(tree.find_all(exp.AggFunc, exp.List, exp.Anonymous)):
        if isinstance(node.parent, exp.Window | exp.WithinGroup):
            continue
        nearest = nearest_aggregate(node)
        if nearest is not None:
            wrapped = node.parent if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls) else node
            wrapped.replace(nearest)
            changed = True
    return tree if changed else None
