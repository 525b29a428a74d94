"""A table of the schema as rows with their unit, and the parents that the statement joins itself.

Proved in ``docs/proofs/stability.md`` and ``docs/proofs/subquery.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dpsql.schema import ITS_UNIT, UNIT, Schema
from dpsql.sql.analysis.stability import conditions_of, sources
from dpsql.sql.ir.expression import Call, ColumnRef, Expression
from dpsql.sql.ir.relation import ContributionLimits, Filter, Hop, Join, Path, Relation, Scan


@dataclass(frozen=True)
class BoundRelation:
    """A relation that stands in FROM, and what its columns mean."""

    relation: Relation
    columns: dict[str, Expression]


def scan(schema: Schema, name: str, alias: Callable[[], str]) -> BoundRelation:
    """The rows of a base table, joined with the parents that lead to its unit."""
    table = schema.tables[name]
    name_in_query = alias()
    owner = None if table.public else schema.row_owner(name)

    def column(relation: str, of: str, column_name: str) -> ColumnRef:
        declared = schema.tables[of].columns[column_name]
        domain = declared.values
        if domain is None and declared.type.kind == "boolean":
            domain = (False, True)
        return ColumnRef(
            relation,
            column_name,
            type=declared.type,
            nullable=declared.may_be_null,
            bounds=declared.bounds,
            domain=domain if domain is None or not declared.nullable else (*domain, None),
            identifies=schema.identifies(of, column_name),
            public=table.public,
            differences=schema.tables[of].differences_to(column_name),
            automatic=declared.automatic,
            null_group=declared.null_group,
        )

    def unit(relation: str, of: str, column_name: str) -> ColumnRef:
        if column_name == ITS_UNIT:
            return ColumnRef(relation, ITS_UNIT, schema.unit_type, identifies=UNIT)
        return column(relation, of, column_name)

    columns: dict[str, Expression] = {
        other: column(name_in_query, name, other) for other in table.columns
    }
    if owner is None:
        return BoundRelation(Scan(name_in_query, name), columns)
    hops = []
    last_alias = name_in_query
    last_table = name
    for step in owner.steps:
        child = column(last_alias, last_table, step.column)
        last_alias = alias()
        last_table = step.parent
        hops.append(
            Hop(last_alias, step.parent, child, column(last_alias, step.parent, step.parent_column))
        )
    averaged = table.averaged_rows_per_group
    limits = ContributionLimits(
        table.max_rows_per_unit,
        table.max_groups_per_unit,
        table.rows_per_group,
        averaged if averaged != table.rows_per_group else None,
    )
    path = Path(
        tuple(hops), unit(last_alias, last_table, owner.column), schema.unique_columns(name)
    )
    return BoundRelation(
        Scan(name_in_query, name, path.hops, path.unit, limits=limits, path=path), columns
    )


def without_known_parents(relation: Relation, outside: frozenset[str]) -> Relation:
    """Drop a subquery table's added parents if its reference equals a key of the outer row.

    That row exists, so its parent exists, and it is the same parent.
    """
    known = {
        child_key
        for condition in conditions_of(relation)
        if isinstance(condition, Call) and condition.function == "="
        for child_key, other in (condition.arguments, condition.arguments[::-1])
        if isinstance(child_key, ColumnRef)
        and isinstance(other, ColumnRef)
        and other.relation in outside
        and child_key.identifies is not None
        and child_key.identifies == other.identifies
        and child_key.type == other.type
    }

    def shorten(subtree: Relation) -> Relation:
        match subtree:
            case Filter(child=child):
                return replace(subtree, child=shorten(child))
            case Join(left=left, right=right):
                return replace(
                    subtree,
                    left=shorten(left),
                    right=shorten(right) if subtree.kind == "inner" else right,
                )
            case Scan(hops=hops) if hops and hops[0].child in known:
                return replace(subtree, hops=(), unit=hops[0].child)
            case _:
                return subtree

    return shorten(relation)


def along_foreign_keys(relation: Relation, conditions: list[Expression]) -> Relation:
    """Drop a table's added parents that the statement joins itself; count no row twice.

    ``lineitem JOIN orders ON l_orderkey = o_orderkey`` needs no second copy of ``orders``, and has
    as many rows as ``lineitem``: a parent's key is unique (the engine checks it when it opens the
    data).
    """
    pairs: list[tuple[ColumnRef, ColumnRef]] = []
    for condition in conditions:
        match condition:
            case Call(function="=", arguments=(ColumnRef() as left, ColumnRef() as right)) if (
                left.type == right.type
            ):
                pairs += [(left, right), (right, left)]
    scans = {source.alias: source for source in sources(relation) if isinstance(source, Scan)}

    def parent_of(child: Scan) -> Scan | None:
        for parent in scans.values():
            if child.hops and parent.table == child.hops[0].table and parent.alias != child.alias:
                key = replace(child.hops[0].parent, relation=parent.alias)
                if (child.hops[0].child, key) in pairs:
                    return parent
        return None

    def owner_of(scan: Scan) -> ColumnRef | None:
        """The unit's column after every parent that the statement joins itself is dropped."""
        parent = parent_of(scan)
        return scan.unit if parent is None else owner_of(parent)

    def is_parent(scan: Scan) -> bool:
        return any(
            right.relation == scan.alias != first.relation
            and right.identifies == f"{scan.table}.{right.name}"
            and first.identifies == right.identifies
            for first, right in pairs
        )

    def shorten(subtree: Relation) -> Relation:
        match subtree:
            case Join(left=left, right=right):
                return replace(
                    subtree,
                    left=shorten(left),
                    right=shorten(right) if subtree.kind == "inner" else right,
                )
            case Scan():
                parent = parent_of(subtree)
                subtree = replace(subtree, multiplies=not is_parent(subtree))
                return (
                    subtree if parent is None else replace(subtree, hops=(), unit=owner_of(subtree))
                )
            case _:
                return subtree

    return shorten(relation)
