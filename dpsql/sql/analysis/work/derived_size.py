"""How many rows a derived table has at most, and which of its columns are a key, by its query.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from sqlglot import exp

from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.ir.core import Core, KeyDomain
from dpsql.sql.ir.relation import Constants, DerivedSize, Scan

#: Nothing is known of it.
UNKNOWN = DerivedSize(None)
#: What adds rows of totals to those of a GROUP BY.
_TOTALS = (exp.Rollup, exp.Cube, exp.GroupingSets)
#: One row.
ONE = DerivedSize(((1, ()),), frozenset())


def _rows(number: int, *tables: str) -> DerivedSize:
    return DerivedSize(((number, tables),))


def derived_size(tree: exp.Expr, shapes: Mapping[str, Core | Cube]) -> DerivedSize:
    """The size of a query over released tables, which have these shapes, and public ones.

    >>> from sqlglot import parse_one
    >>> derived_size(parse_one("SELECT * FROM public.days UNION ALL VALUES (1), (2)"), {}).products
    ((1, ('days',)), (2, ()))
    >>> derived_size(parse_one("SELECT MAX(x) FROM public.days"), {}).products
    ((1, ()),)
    """
    match tree:
        case exp.Subquery():
            return derived_size(tree.this, shapes)
        case exp.Values():
            return _rows(len(tree.expressions))
        case exp.SetOperation():
            first = derived_size(tree.left, shapes)
            second = derived_size(tree.right, shapes)
            if first.products is None or second.products is None:
                return UNKNOWN
            return DerivedSize(first.products + second.products)
        case exp.Select():
            return _of_select(tree, shapes)
        case _:
            return UNKNOWN


def _of_select(select: exp.Select, shapes: Mapping[str, Core | Cube]) -> DerivedSize:
    limit = select.args.get("limit")
    if (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and limit.expression.is_int
    ):
        return replace(_unlimited(select, shapes), products=((int(limit.expression.name), ()),))
    return _unlimited(select, shapes)


def _unlimited(select: exp.Select, shapes: Mapping[str, Core | Cube]) -> DerivedSize:
    first = select.args.get("from_")
    makes_rows = any(item.find(exp.Unnest, exp.Explode) is not None for item in select.expressions)
    if makes_rows or select.args.get("laterals"):
        return UNKNOWN
    grouped = any(_is_aggregated(item) for item in select.expressions)
    if first is None or (grouped and select.args.get("group") is None):
        return ONE
    sources = [first.this, *(join.this for join in select.args.get("joins") or ())]
    sizes = [_of_source(source, shapes) for source in sources]
    products: tuple[tuple[int, tuple[str, ...]], ...] = ((1, ()),)
    for size in sizes:
        if size.products is None or any(map(_keeps_both, select.args.get("joins") or ())):
            return UNKNOWN
        products = tuple(
            (one * other, tables + more)
            for one, tables in products
            for other, more in size.products
        )
    if len(sizes) > 1:
        return DerivedSize(products)
    return DerivedSize(
        products, None if grouped else _visible_key(select, sizes[0]), _columns(select, sources[0])
    )


def _columns(select: exp.Select, source: exp.Expr) -> tuple[tuple[str, str, str], ...]:
    """The columns c0, c1 … of the result with a public table's values, each from another row.

    >>> from sqlglot import parse_one
    >>> derived_size(parse_one("SELECT kind, MIN(day) FROM public.days GROUP BY kind"), {}).columns
    (('c0', 'days', 'kind'), ('c1', 'days', 'day'))
    """
    has_totals = (
        select.args.get("group") is not None and select.args["group"].find(*_TOTALS) is not None
    )
    if not (isinstance(source, exp.Table) and source.db == "public") or has_totals:
        return ()
    values = [
        item.this if isinstance(item, exp.Min | exp.Max) else item
        for item in (expression.unalias() for expression in select.expressions)
    ]
    return tuple(
        (f"c{index}", source.name, value.name)
        for index, value in enumerate(values)
        if isinstance(value, exp.Column) and not isinstance(value.this, exp.Star)
    )


def _of_source(source: exp.Expr, shapes: Mapping[str, Core | Cube]) -> DerivedSize:
    """The size of what stands in FROM; its key is told by the names that it has there."""
    match source:
        case exp.Table() if isinstance(source.this, exp.Identifier) and source.db == "released":
            shape = shapes[source.name]
            if isinstance(shape, Cube):
                return UNKNOWN
            key = frozenset(f"k{index}" for index in range(len(shape.keys)))
            return ONE if not key else replace(_of_domain(shape.domain), key=key)
        case exp.Table() if isinstance(source.this, exp.Identifier) and source.db == "public":
            return _rows(1, source.name)
        case exp.Subquery() if (
            isinstance(source.this, exp.Select) and not source.alias_column_names
        ):
            inner = derived_size(source.this, shapes)
            names = [expression.alias_or_name for expression in source.this.expressions]
            return replace(
                inner, key=None if inner.key is None else _named(inner.key, names), columns=()
            )
        case exp.Subquery() | exp.Values():
            return replace(derived_size(source, shapes), key=None, columns=())
        case _:
            return UNKNOWN


def _of_domain(domain: KeyDomain | None) -> DerivedSize:
    """The combinations of enumerated values and rows of public tables; unknown without a domain."""
    if domain is None:
        return UNKNOWN
    if domain.count is not None:
        return _rows(domain.count)
    rows = prod(enumeration.count for enumeration in domain.enumerated)
    tables = list[str]()
    for leaf in domain.tables:
        match leaf:
            case Scan(derived=False, table=table):
                tables.append(table)
            case Constants(rows=listed):
                rows *= len(listed)
            case _:
                return UNKNOWN
    return _rows(rows, *tables)


def _visible_key(select: exp.Select, source: DerivedSize) -> frozenset[str] | None:
    """The key of the only source as columns ``c0``, ``c1``, … of the result, if shown in full."""
    if source.key is None:
        return None
    result_columns = {
        item.unalias().name: f"c{index}"
        for index, item in enumerate(select.expressions)
        if isinstance(item.unalias(), exp.Column)
    }
    return (
        frozenset(result_columns[name] for name in source.key)
        if source.key <= result_columns.keys()
        else None
    )


def _named(key: frozenset[str], names: list[str]) -> frozenset[str] | None:
    """The columns of a key by the names that a subquery gives them."""
    return frozenset(names[int(column[1:])] for column in key)


def _is_aggregated(item: exp.Expr) -> bool:
    return any(not isinstance(call.parent, exp.Window) for call in item.find_all(exp.AggFunc))


def _keeps_both(join: exp.Join) -> bool:
    """Whether the join also keeps rows of both sides without a partner."""
    return str(join.side).upper() == "FULL"
