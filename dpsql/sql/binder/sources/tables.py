"""One table of the schema → its rows, each with the unit that its references lead to.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsql.schema import Schema
from dpsql.sql.ir.expression import Column, Expression
from dpsql.sql.ir.relation import Hop, Limits, Path, Relation, Scan


@dataclass(frozen=True)
class Source:
    """A relation that stands in FROM, and what its columns mean."""

    relation: Relation
    columns: dict[str, Expression]


def scan(schema: Schema, name: str, alias: Callable[[], str]) -> Source:
    """The rows of a base table, joined with the parents that lead to its unit."""
    table = schema.tables[name]
    own = alias()
    owner = None if table.public else schema.owner(name)

    def column(relation: str, of: str, column_name: str) -> Column:
        declared = schema.tables[of].columns[column_name]
        domain = declared.values
        if domain is None and declared.type.kind == "boolean":
            domain = (False, True)
        return Column(
            relation,
            column_name,
            declared.type,
            declared.nullable,
            declared.bounds,
            domain if domain is None or not declared.nullable else (*domain, None),
            schema.identifies(of, column_name),
            table.public,
        )

    columns: dict[str, Expression] = {each: column(own, name, each) for each in table.columns}
    if owner is None:
        return Source(Scan(own, name), columns)
    hops, last_alias, last_table = [], own, name
    for step in owner.steps:
        child = column(last_alias, last_table, step.column)
        last_alias, last_table = alias(), step.parent
        hops.append(Hop(last_alias, step.parent, child, column(last_alias, step.parent, step.parent_column)))
    limits = Limits(table.max_rows_per_unit, table.max_groups_per_unit, table.max_rows_per_group)
    path = Path(tuple(hops), column(last_alias, last_table, owner.column), schema.unique_columns(name))
    return Source(Scan(own, name, path.hops, path.unit, limits, path=path), columns)
