"""The unit of each private row as a column,
where rows without a unit have one of their own (``orphans = "each"``).

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import duckdb

from dpsql.engines.duckdb.tables.texts import identifier, quoted
from dpsql.engines.source import StoredTable
from dpsql.engines.unit_column import UnitColumn

#: The schema in which the tables lie as they are read,
#: where statements read views that add the #: unit.
BARE: Final = "bare"


def unit_type(value: str) -> str:
    """The type of the column: a unit's value,
    or else the row that is a unit and its number among equal rows.
    """
    return f'STRUCT("value" {value}, "row" VARCHAR[], "copy" BIGINT)'


def add_units(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, StoredTable],
    units: UnitColumn,
    name: str,
) -> None:
    """Make a view of each private table of the database with the unit of its rows beside its
    columns, parents first.
    """
    for table in units.parents_first:
        columns = [column.name for column in tables[table].columns]
        rows = rows_with_units(units, table, columns, name)
        connection.execute(f"CREATE VIEW {name}.main.{identifier(table)} AS {rows}")


def rows_with_units(units: UnitColumn, table: str, columns: Sequence[str], name: str) -> str:
    """The SQL of a table's rows with their units.

    The unit of a row is that of its parent. A reference that no parent has is a unit by itself, of
    all rows that have it; a row that has no reference is a unit, which a copy of it is not.
    """
    link = units.links[table]
    unit_column = f"t.{identifier(link.column)}"
    bare = f"{name}.{BARE}.{identifier(table)} AS t"
    listed = ", ".join(f"t.{identifier(column)}" for column in columns)
    unit = identifier(units.name)
    sql_type = unit_type(units.type)
    if link.parent is None:
        known = f"row({unit_column}, NULL, NULL)::{sql_type}"
        joined = ""
    else:
        parent, key = link.parent
        where = quoted(f"{parent}.{key}")
        missing = (
            f"row(NULL, [{quoted('key')}, {where}, CAST({unit_column} AS VARCHAR)], 0)::{sql_type}"
        )
        known = f"coalesce(p.{unit}, {missing})"
        joined = f" LEFT JOIN {name}.main.{identifier(parent)} AS p ON {unit_column} = p.{identifier(key)}"
    texts = ", ".join(f"CAST(t.{identifier(column)} AS VARCHAR)" for column in columns)
    copy = f"row_number() OVER (PARTITION BY {texts})"
    alone = f"row(NULL, [{quoted('row')}, {quoted(table)}, {texts}], {copy})::{sql_type}"
    # the engine cannot tell by its statistics which blocks have no such row
    without = f"CASE WHEN {unit_column} IS NULL THEN true ELSE {unit_column} <> {unit_column} END"
    return (
        f"SELECT {listed}, {known} AS {unit} FROM {bare}{joined} WHERE {unit_column} IS NOT NULL "
        f"UNION ALL SELECT {listed}, {alone} AS {unit} FROM {bare} WHERE {without}"
    )
