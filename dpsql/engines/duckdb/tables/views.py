"""The owner's tables as views and copies over one read-only database.

Each column is as it is declared.

Proved in ``docs/proofs/stability.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import duckdb

from dpsql.engines.duckdb.tables.copies import copy_csv, copy_sqlite
from dpsql.engines.duckdb.tables.row_units import BARE, add_units
from dpsql.engines.duckdb.tables.texts import (
    WITH_NAN,
    folded,
    identifier,
    quoted,
    value_of_text,
    without_nan,
)
from dpsql.engines.files.held_files import located
from dpsql.engines.source import DataSource, StoredColumn, StoredTable, TableFile

#: The SQL of each reading that a column may have (`dpsql.schema.types.Reading`): a function of its
#: one value, which fails for none.
_SQL: Mapping[str, str] = {
    "its text": "CAST({0} AS VARCHAR)",
    "its moment in UTC": "make_timestamp(epoch_us({0}))",
    "its microsecond": "make_timestamp(epoch_us({0}))",
    "the nearest integer": "CASE WHEN {0} IS NOT NULL THEN "
    # they pass over NULL
    "CAST(LEAST(GREATEST({0}, -9223372036854775808), 9223372036854775807) AS BIGINT) END",
    "its whole number": "CASE WHEN {0} BETWEEN -9007199254740992 AND 9007199254740992 THEN CAST({0} AS BIGINT) END",
}


def attach(connection: duckdb.DuckDBPyConnection, source: DataSource, name: str) -> None:
    """Attach the source read-only as ``name``.

    Parquet files, and tables with columns that are stored otherwise than they are read, are views
    under that name; the DuckDB file that such views read is attached as ``stored``. What stands in CSV
    or in SQLite is copied into tables.
    """
    if source.kind == "database":
        if file_name(source) == "source":
            connection.execute(f"ATTACH {quoted(source.path)} AS {name} (READ_ONLY)")
            return
        connection.execute(f"ATTACH {quoted(source.path)} AS stored (READ_ONLY)")
    connection.execute(f"ATTACH ':memory:' AS {name}")
    if source.units is not None:
        connection.execute(f"CREATE SCHEMA {name}.{BARE}")
    if source.kind == "files" and any(table.files is None for table in source.tables.values()):
        source = located(source)
    for table, stored in source.tables.items():
        bare = source.units is not None and table in source.units.links
        qualified_name = f"{name}.{BARE if bare else 'main'}.{identifier(table)}"
        if source.kind == "sqlite":
            copy_sqlite(connection, source, table, qualified_name)
        elif stored.kind == "csv":
            copy_csv(connection, source, table, qualified_name)
        elif stored.kind == "database":
            rows = f"SELECT {_columns(stored.columns)} FROM stored.main.{identifier(stored.place)}"
            connection.execute(f"CREATE VIEW {qualified_name} AS {rows}")
        else:
            connection.execute(f"CREATE VIEW {qualified_name} AS {_parquet(stored)}")
    if source.units is not None:
        add_units(connection, source.tables, source.units, name)


def file_name(source: DataSource) -> str | None:
    """The name under which the engine holds the DuckDB file of a source;
    None if that is no DuckDB file.
    """
    if source.kind != "database":
        return None
    if source.units is not None:
        return "stored"
    return "source" if all(_is_as_declared(*item) for item in source.tables.items()) else "stored"


def _is_as_declared(name: str, table: StoredTable) -> bool:
    """Whether statements may read the table itself."""
    return table.place == name and all(
        column.path == (column.name,) and column.reading is None and column.type != WITH_NAN
        for column in table.columns
    )


def stored_value(column: StoredColumn) -> str:
    """The SQL of what the source has in the column, before it is read as what is declared."""
    value = identifier(column.path[0])
    for field in column.path[1:]:
        value = f"struct_extract({value}, {quoted(field)})"
    return value


def _columns(
    columns: Iterable[StoredColumn], partition: Mapping[str, str | None] | None = None
) -> str:
    """The columns of a view; those of ``partition`` are what the folders of the files say."""
    known = {folded(name): text for name, text in (partition or {}).items()}
    outputs = []
    for column in columns:
        if folded(column.path[0]) in known:
            text = known[folded(column.path[0])]
            value = value_of_text("NULL" if text is None else quoted(text), column.type)
        else:
            value = stored_value(column)
            value = value if column.reading is None else _SQL[column.reading].format(value)
        outputs.append(f"{without_nan(value, column.type)} AS {identifier(column.name)}")
    return ", ".join(outputs) or "1 AS one"


def _parquet(table: StoredTable) -> str:
    """All rows of the table's files, those whose folders say the same together."""
    parts: dict[tuple[tuple[str, str | None], ...], list[TableFile]] = {}
    for file in table.files or ():
        parts.setdefault(file.partition, []).append(file)
    return " UNION ALL ".join(
        f"SELECT {_columns(table.columns, dict(partition))} FROM {parquet_files(files)}"
        for partition, files in parts.items()
    )


def parquet_files(files: Iterable[TableFile]) -> str:
    """The files as one relation, without what the names of their folders say."""
    places = [quoted(file.place) for file in files]
    return f"read_parquet([{', '.join(places)}], hive_partitioning = false)"
