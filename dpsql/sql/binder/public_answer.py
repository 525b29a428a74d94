"""Private SELECTs that the schema alone answers: lists of declared keys, and declared ranges.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.schema import Bound
from dpsql.sql.binder.column_names import output_name
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.emit import node
from dpsql.sql.emit.key_domain import domain_select
from dpsql.sql.emit.relation import SOURCE
from dpsql.sql.emit.scalar import engine_type, literal_node
from dpsql.sql.ir.expression import Column, Literal, Scalar
from dpsql.sql.ir.relation import Core

if TYPE_CHECKING:
    from dpsql.sql.binder.bind import Binder


def listed_keys(core: Core, binder: Binder) -> exp.Subquery | None:
    """The keys of a core that releases nothing else, as the sandbox lists them.

    None where they are not all public, or where only those that have rows are wanted.
    """
    if core.domain is None or not core.keys:
        return None
    if binder.empty_groups != "show" and (binder.empty_groups == "hide" or not all(core.domain.declared)):
        return None
    select = domain_select(core)
    tables = list(select.find_all(exp.Table))
    if any((table.catalog, table.db) != SOURCE for table in tables):
        return None
    for table in tables:
        binder.public.add(table.name)
        table.set("db", node.name("public"))
        table.set("catalog", None)
    order = [exp.Ordered(this=node.name(f"k{place}"), nulls_first=False) for place, _ in enumerate(core.keys)]
    select.set("order", exp.Order(expressions=order))
    return node.subquery(select, "keys")


def declared_ends(select: exp.Select, source_from: From, binder: Binder) -> exp.Select | None:
    """MIN and MAX of whole columns as the schema declares their ends; None where anything else is asked."""
    plain = ("expressions", "from_", "limit")
    if any(value for name, value in select.args.items() if name not in plain) or not select.expressions:
        return None
    if not source_from.is_whole:
        return None
    ends = [each for item in select.expressions if (each := _end(item, source_from)) is not None]
    if len(ends) < len(select.expressions):
        return None
    names = [item.alias or output_name(item, binder.manner) for item in select.expressions]
    items = [exp.alias_(each, name, quoted=True) for each, name in zip(ends, names, strict=True)]
    return exp.Select(expressions=items)


def _end(item: exp.Expr, source_from: From) -> exp.Expr | None:
    """A declared end of a column, in the column's type."""
    extreme = item.unalias()
    if not isinstance(extreme, exp.Min | exp.Max) or not isinstance(extreme.this, exp.Column) or extreme.expressions:
        return None
    column = source_from.scope.resolve(extreme.this)
    if not isinstance(column, Column) or column.public:
        return None
    lowest = isinstance(extreme, exp.Min)
    if column.bounds is not None:
        value = _scalar(column.bounds[0 if lowest else 1], column, lowest)
    else:
        listed = [each for each in column.domain or () if each is not None]
        if not listed:
            return None
        value = (min if lowest else max)(listed)
    return node.cast(literal_node(Literal(value, column.type)), engine_type(column.type))


def _scalar(bound: Bound, column: Column, lowest: bool) -> Scalar:
    """The bound as a value of the column: the nearest inside, where the type is coarser than the bound."""
    if not isinstance(bound, Fraction):
        return bound
    if column.type.kind == "double":
        return float(bound)
    scale = column.type.scale or 0 if column.type.kind == "decimal" else 0
    steps = (ceil if lowest else floor)(bound * 10**scale)
    return Decimal(steps).scaleb(-scale) if scale else steps
