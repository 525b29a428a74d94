"""SQL that finds the unit of each row by following the schema's references, and that leaves a unit's rows out.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from dpsql.schema import Schema


def without_lost(schema: Schema, table: str) -> str:
    """A table without the rows of the units in ``audit.main.lost``; rows of nobody, and public tables, stay whole."""
    if schema.tables[table].public:
        return f'SELECT * FROM data.main."{table}"'
    owner = schema.owner(table)
    if not owner.steps:
        there = f'SELECT 1 FROM audit.main.lost AS lost WHERE lost.unit = t0."{owner.column}"'
    else:
        first = owner.steps[0]
        there = (
            f'SELECT 1 FROM data.main."{first.parent}" AS t1{_joined(schema, table, 2)} JOIN audit.main.lost AS lost '
            f'ON lost.unit = t{len(owner.steps)}."{owner.column}" '
            f'WHERE t1."{first.parent_column}" = t0."{first.column}"'
        )
    return f'SELECT t0.* FROM data.main."{table}" AS t0 WHERE NOT EXISTS ({there})'


def owned(schema: Schema, table: str) -> tuple[str, str]:
    """The rows of a private table with the tables between them and their unit, and the column that holds the unit."""
    owner = schema.owner(table)
    return f'data.main."{table}" AS t0{_joined(schema, table, 1)}', f't{len(owner.steps)}."{owner.column}"'


def sizes(schema: Schema) -> str:
    """How many rows each unit has in each private table: ``tab``, ``unit``, ``n``."""
    parts = []
    for table, declared in schema.tables.items():
        if not declared.public:
            rows, unit = owned(schema, table)
            parts.append(f"SELECT '{table}' AS tab, {unit} AS unit, count(*) AS n FROM {rows} "
                         f"WHERE {unit} IS NOT NULL GROUP BY 2")  # fmt: skip
    return " UNION ALL ".join(parts)


def extreme_units(schema: Schema) -> list[str]:
    """For each column with an order, one query for the unit of its greatest value and one for that of its least."""
    queries = []
    for table, declared in schema.tables.items():
        if declared.public:
            continue
        rows, unit = owned(schema, table)
        for column, its in declared.columns.items():
            if not (its.type.is_numeric or its.type.is_temporal):
                continue
            queries += [
                f'SELECT {side}({unit}, t0."{column}") AS unit FROM {rows} WHERE {unit} IS NOT NULL'
                for side in ("arg_max", "arg_min")
            ]
    return queries


def _joined(schema: Schema, table: str, first: int) -> str:
    """The joins towards the unit, from the step that leads to ``t{first}`` on."""
    steps = list(enumerate(schema.owner(table).steps, 1))[first - 1 :]
    return "".join(
        f' JOIN data.main."{step.parent}" AS t{place} ON t{place - 1}."{step.column}" = t{place}."{step.parent_column}"'
        for place, step in steps
    )
