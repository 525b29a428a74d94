"""Groups of rows of several units: each unit is held to the rows of so many groups before rows are
grouped.

Proved in ``docs/proofs/groups.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpsql.schema import UNIT
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import HASH_KEY, Dialect
from dpsql.sql.ir.relation import Groups

#: The place of a row's group among those of its unit: no column of a subquery has this name.
_PLACE = "its place"


def groups_select(
    dialect: Dialect,
    groups: Groups,
    rows: exp.Expr,
    has_unit: exp.Expr,
    keys: Sequence[exp.Expr],
    aggregates: Sequence[exp.Expr],
) -> exp.Select:
    """One row per group of keys, of the rows that units have in the groups they keep.

    ``rows`` are those of the child under its alias, and ``has_unit`` is true of those that have a
    unit. ``keys`` and ``aggregates`` are the SQL of those of the groups.
    """
    alias = groups.child.alias
    first = node.compare(exp.LTE, node.column(alias, _PLACE), node.integer(groups.touched))
    named = zip([*groups.keys, *groups.aggregates], [*keys, *aggregates], strict=True)
    outputs = [node.aliased(output, name) for (name, _), output in named]
    places: list[exp.Expr] = [node.integer(index + 1) for index in range(len(keys))]
    ranked = _with_places(dialect, groups, rows, has_unit, keys=[key.copy() for key in keys])
    return node.select(outputs, node.subquery(ranked, alias), where=first, group=places)


def _with_places(
    dialect: Dialect, groups: Groups, rows: exp.Expr, has_unit: exp.Expr, keys: Sequence[exp.Expr]
) -> exp.Select:
    """The rows, each with the place of its group among those of its unit in an order by keyed
    hash.
    """
    alias = groups.child.alias
    unit = node.column(alias, UNIT)
    hashed = dialect.hashed(HASH_KEY, [unit.copy(), *(key.copy() for key in keys)])
    order = [exp.Ordered(this=key, nulls_first=True) for key in (hashed, *keys)]
    rank = exp.Window(
        this=exp.Anonymous(this="DENSE_RANK"),
        partition_by=[unit],
        order=exp.Order(expressions=order),
    )
    columns: list[exp.Expr] = [
        node.column(alias, f"c{number}") for number in range(len(groups.child.branches[0].columns))
    ]
    return node.select([*columns, node.aliased(rank, _PLACE)], rows, where=has_unit)
