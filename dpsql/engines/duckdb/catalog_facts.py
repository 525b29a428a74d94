"""The facts of a source's catalogue as the engine tells them: names, types and keys, read without reading a row.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpsql.engines.files.held_files import HeldFiles, with_journal
from dpsql.engines.source import NotOpened, ValueRows

_COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, column_default IS NOT NULL
    FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
    ORDER BY table_name, column_index
"""
_TABLES = """
    SELECT table_name, sql FROM duckdb_tables()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main' ORDER BY table_name
"""
_VIEWS = """
    SELECT view_name FROM duckdb_views()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main' ORDER BY view_name
"""
_CONSTRAINTS = """
    SELECT table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints() WHERE database_name = current_database() AND schema_name = 'main'
    ORDER BY table_name, constraint_index
"""
_MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal ORDER BY function_name"

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def file_facts(path: str) -> list[ValueRows]:
    """Columns, tables, views, constraints and macros of a DuckDB file; NotOpened where it is none."""
    try:
        with duckdb.connect(path, read_only=True, config=_CONFIG) as connection:
            return [connection.execute(each).fetchall() for each in (_COLUMNS, _TABLES, _VIEWS, _CONSTRAINTS, _MACROS)]
    except duckdb.Error:
        raise NotOpened from None


def held_facts(path: str, is_database: bool, held: HeldFiles) -> list[ValueRows]:
    """The facts of the file at the path, which is held from now on; NotOpened where it is none."""
    try:
        places = [held.place(str(file)) for file in (with_journal(Path(path).resolve()) if is_database else [path])]
    except OSError:
        raise NotOpened from None
    return file_facts(path) if is_database else parquet_facts(places[0])


def parquet_facts(path: str) -> list[ValueRows]:
    """Names and types of the columns of a Parquet file; NotOpened where it is none."""
    try:
        with duckdb.connect(":memory:", config=_CONFIG) as connection:
            found = connection.execute("FROM read_parquet(?, hive_partitioning = false) LIMIT 0", [path])
            return [[(name, str(sql_type)) for name, sql_type, *_ in found.description or ()]]
    except duckdb.Error:
        raise NotOpened from None
