"""Private SELECTs that cost nothing.

They are probes, declared keys and ranges, and single rows that are read of a synthetic table. The
schema alone answers probes of clients, lists of declared keys, and declared ranges.

Proved in ``docs/proofs/execution.md`` and ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.schema import Bound, Schema, fold
from dpsql.sql.analysis.empty_relations import is_never_true
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.binding_state import Binding, FrontendOptions
from dpsql.sql.binder.column_names import output_name
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.group_by import is_plain_distinct
from dpsql.sql.binder.scope import Scope
from dpsql.sql.binder.sources.from_subqueries import select_item
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.emit import node
from dpsql.sql.emit.measurement.key_domain import domain_select
from dpsql.sql.emit.scalar import literal_node
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate_properties import ResultRule
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Literal, Scalar
from dpsql.sql.ir.refusal import only

#: Said of a list of keys.
NULL_LEFT_OUT = (
    "this list is free, and NULL is left out of it: whether rows have none of the values "
    "is shown beside a COUNT(*)"
)

#: Clauses of a probe, a SELECT that is answered by its columns alone.
_PROBE_CLAUSES = (
    "expressions",
    "from_",
    "joins",
    "where",
    "order",
    "limit",
    "offset",
    "distinct",
)


def is_probe(select: exp.Select | exp.SetOperation) -> bool:
    """Whether the query has no row whatever the data.

    It has LIMIT 0, or a WHERE before any group that is false as written.

    >>> from sqlglot import parse_one
    >>> ends = ("a FROM t LIMIT 0", "a FROM t WHERE 1 = 0", "COUNT(*) FROM t WHERE FALSE", "a FROM t LIMIT 1")
    >>> [is_probe(parse_one(f"SELECT {end}")) for end in ends]
    [True, True, False, False]
    """
    limit = select.args.get("limit")
    where = select.args.get("where")
    if (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and limit.expression.name == "0"
    ):
        return not limit.args.get("limit_options")
    if where is None or not isinstance(select, exp.Select) or is_grouped(select):
        return False
    return never_holds(where)


def is_raw_probe(select: exp.Select, frontend_options: FrontendOptions) -> bool:
    """Whether the front end answers the SELECT of single rows by its columns alone.

    Inside another query it is refused, as the answer would claim that there are no rows.

    >>> from sqlglot import parse_one
    >>> probe, part = parse_one("SELECT a FROM t LIMIT 1"), parse_one("SELECT EXISTS (SELECT 1 FROM t LIMIT 1)")
    >>> [is_raw_probe(each, FrontendOptions(raw_select="probe")) for each in (probe, part.find(exp.Exists).this)]
    [True, False]
    """
    if frontend_options.raw_select == "error" or is_plain_distinct(select):
        return False
    if select.find_ancestor(exp.Select, exp.SetOperation) is not None:
        return False
    limit = select.args.get("limit")
    few = (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and limit.expression.name == "1"
    )
    return few or frontend_options.raw_select == "empty"


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    node = node.unnest()
    return (
        [*_conjuncts(node.this), *_conjuncts(node.expression)]
        if isinstance(node, exp.And)
        else [node]
    )


def never_holds(clause: exp.Where | exp.Having | None) -> bool:
    """Whether the condition of a clause is false or unknown as written.

    It is if a part of its AND, made of constants alone, is false or unknown.

    >>> from sqlglot import parse_one
    >>> ends = ("WHERE a > 1 AND 1 = 0", "WHERE NULL", "WHERE 1 = 0 OR a > 1", "")
    >>> [never_holds(parse_one(f"SELECT a FROM t {end}").args.get("where")) for end in ends]
    [True, True, False, False]
    """
    return clause is not None and any(
        _is_never_true(conjunct) for conjunct in _conjuncts(clause.this)
    )


def _is_never_true(node: exp.Expr) -> bool:
    if node.find(exp.Column, exp.Query, exp.Placeholder, exp.AggFunc, exp.Anonymous) is not None:
        return False
    try:
        return is_never_true(Reader(Scope().resolve).condition(node))
    except DatabaseError:
        return False  # it is refused, or answered, where it is read


def no_rows(select: exp.Select, source_from: From, binding: Binding) -> exp.Select:
    """A SELECT of no rows whose columns have the names and the types of the probe's."""
    only(select, *_PROBE_CLAUSES, code="E_RAW")
    columns: list[exp.Expr] = []
    for index, item in enumerate(select.expressions):
        for name, expression in select_item(item, index, source_from):
            typed = SANDBOX.cast(exp.Null(), expression.type)
            brings_name = isinstance(item, exp.Alias | exp.Star | exp.Column)
            named = item.alias or (name if brings_name else output_name(item))
            columns.append(exp.alias_(typed, named, quoted=True))
    return exp.select(*columns).where(exp.Boolean(this=False), copy=False)


def released_of_no_rows(
    core: Core, sets: Sequence[Sequence[int]] | None, types: Sequence[tuple[str, str]]
) -> exp.Subquery:
    """The release of a core whose relation has no row: no groups, and one row for each grand total.

    ``sets`` are the places of the keys in each grouping set, if there are several.
    ``types`` are the columns of the core's released table.
    """
    names = dict(types)
    columns = [
        _typed(exp.null(), names[f"k{index}"], f"k{index}") for index, _ in enumerate(core.keys)
    ]
    if sets is not None:
        columns += [
            _typed(node.integer(1), "BIGINT", f"g{index}") for index, _ in enumerate(core.keys)
        ]
    for index, aggregate in enumerate(core.aggregates):
        counts = aggregate.function.result is ResultRule.WHOLE_NUMBER
        value = node.integer(0) if counts else exp.null()
        columns.append(_typed(value, names[f"a{index}"], f"a{index}"))
    row = exp.Select(expressions=columns or [_typed(exp.null(), "BIGINT", "row")])
    keys_of_sets = [range(len(core.keys))] if sets is None else sets
    totals = [row.copy() for keys in keys_of_sets if not keys]
    if not totals:
        return node.subquery(row.where(exp.false(), copy=False), "empty")
    rows: exp.Query = totals[0]
    for total in totals[1:]:
        rows = exp.Union(this=rows, expression=total, distinct=False)
    return node.subquery(rows, "empty")


def _typed(value: exp.Expr, sql_type: str, name: str) -> exp.Expr:
    cast = exp.Cast(this=value, to=SANDBOX.data_type(sql_type))
    return node.aliased(cast, name)


def listed_keys(core: Core, binding: Binding) -> exp.Subquery | None:
    """The keys of a core that releases nothing else, as the sandbox lists them.

    None where they are not all public, or where only those that have rows are wanted.
    """
    if core.domain is None or not core.keys:
        return None
    if binding.empty_groups != "show" and (
        binding.empty_groups == "hide" or not all(core.domain.declared)
    ):
        return None
    select = domain_select(SANDBOX, core)
    tables = list(select.find_all(exp.Table))
    if any((table.catalog, table.db) != SANDBOX.source for table in tables):
        return None
    for table in tables:
        binding.public.add(table.name)
        table.set("db", node.name("public"))
        table.set("catalog", None)
    if binding.empty_groups != "show":
        unlisted = [index for index, may_be_null in enumerate(core.domain.nulls) if may_be_null]
        known = node.conjoined([node.not_null(node.bare(f"k{index}")) for index in unlisted])
        columns = [node.bare(f"k{index}") for index, _ in enumerate(core.keys)]
        if known is not None:
            select = node.select(columns, node.subquery(select, "listed"), where=known)
            binding.notices.append(NULL_LEFT_OUT)
    order = [
        exp.Ordered(this=node.name(f"k{index}"), nulls_first=False)
        for index, _ in enumerate(core.keys)
    ]
    select.set("order", exp.Order(expressions=order))
    return node.subquery(select, "keys")


def declared_ends(select: exp.Select, source_from: From, binding: Binding) -> exp.Select | None:
    """MIN and MAX of whole columns as declared in the schema; None if anything else is asked."""
    plain = ("expressions", "from_", "limit")
    if (
        any(value for name, value in select.args.items() if name not in plain)
        or not select.expressions
    ):
        return None
    if not source_from.is_whole:
        return None
    ends = [
        declared_end
        for item in select.expressions
        if (declared_end := _end(item, source_from)) is not None
    ]
    if len(ends) < len(select.expressions):
        return None
    names = [item.alias or output_name(item) for item in select.expressions]
    items = [exp.alias_(end, name, quoted=True) for end, name in zip(ends, names, strict=True)]
    return exp.Select(expressions=items)


def _end(item: exp.Expr, source_from: From) -> exp.Expr | None:
    """A declared end of a column, in the column's type."""
    extreme = item.unalias()
    if (
        not isinstance(extreme, exp.Min | exp.Max)
        or not isinstance(extreme.this, exp.Column)
        or extreme.expressions
    ):
        return None
    column = source_from.scope.resolve(extreme.this)
    if not isinstance(column, ColumnRef) or column.public:
        return None
    lowest = isinstance(extreme, exp.Min)
    if column.bounds is not None:
        value = _scalar(column.bounds[0 if lowest else 1], column, lowest)
    else:
        listed = [domain_value for domain_value in column.domain or () if domain_value is not None]
        if not listed:
            return None
        value = (min if lowest else max)(listed)
    return SANDBOX.cast(literal_node(SANDBOX, Literal(value, column.type)), column.type)


def _scalar(bound: Bound, column: ColumnRef, lowest: bool) -> Scalar:
    """The bound as a value of the column's type, rounded towards the inside of the interval."""
    if not isinstance(bound, Fraction):
        return bound
    if column.type.step is None:
        return float(bound)
    scale = column.type.scale or 0
    steps = (ceil if lowest else floor)(bound * 10**scale)
    return Decimal(steps).scaleb(-scale) if scale else steps


def previewed(tree: exp.Expr, schema: Schema) -> tuple[exp.Expr, str | None]:
    """The statement over the newest synthetic table that has its columns, and that table's name.

    It is the statement itself, and None, if it asks for no single rows of one private table, or if
    no synthetic table of it has all columns that are named.
    """
    table = _single_rows_of(tree)
    name = "" if table is None else fold(table.name)
    if table is None or name not in schema.tables or schema.tables[name].public:
        return tree, None
    asked = {fold(column.name) for column in tree.find_all(exp.Column)}
    synopses = [
        name_of_table
        for name_of_table, schema_table in schema.tables.items()
        if schema_table.source == name and asked <= schema_table.columns.keys()
    ]
    if not synopses:
        return tree, None
    changed = tree.copy()
    scanned = changed.find(exp.Table)
    assert scanned is not None
    alias = scanned.args.get("alias") or exp.TableAlias(this=scanned.this.copy())
    scanned.replace(exp.Table(this=exp.to_identifier(synopses[-1], quoted=True), alias=alias))
    return changed, synopses[-1]


def _single_rows_of(tree: exp.Expr) -> exp.Table | None:
    """The one table whose single rows a SELECT asks for; None for any other statement."""
    if (
        not isinstance(tree, exp.Select)
        or is_grouped(tree)
        or is_probe(tree)
        or tree.args.get("with_")
    ):
        return None
    if len(list(tree.find_all(exp.Select))) > 1:
        return None
    tables = list(tree.find_all(exp.Table))
    source = tree.args.get("from_")
    if len(tables) != 1 or source is None or not isinstance(source.this, exp.Table):
        return None
    return tables[0]
