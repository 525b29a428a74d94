"""The catalogue of a DuckDB file or of a folder of Parquet: names, types and keys, read without reading a row."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from dpsql.errors import SchemaError
from dpsql.schema.catalog import Catalog, CatalogColumn, CatalogTable

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


def read_catalog(source: str | Path) -> Catalog:
    """The catalogue of a source; SchemaError where it is neither a DuckDB file nor a folder of Parquet files."""
    path = Path(source)
    if path.is_dir():
        return _parquet(source, path)
    if not path.is_file():
        raise SchemaError(f"{source}: there is no such file or folder; name a .duckdb file or a folder of Parquet")
    return _duckdb_file(source, path)


def _duckdb_file(source: str | Path, path: Path) -> Catalog:
    try:
        with duckdb.connect(str(path), read_only=True, config=_CONFIG) as connection:
            columns = connection.execute(_COLUMNS).fetchall()
            tables = connection.execute(_TABLES).fetchall()
            views = connection.execute(_VIEWS).fetchall()
            constraints = connection.execute(_CONSTRAINTS).fetchall()
            macros = connection.execute(_MACROS).fetchall()
    except duckdb.Error:
        raise SchemaError(
            f"{source}: cannot be opened as a DuckDB database; check that it is one, that this version of DuckDB "
            "reads it, and that no other process holds it open for writing"
        ) from None
    found = []
    for name, sql in [*tables, *((view, None) for (view,) in views)]:
        defaults = [column for table, column, *_, defaulted in columns if table == name and defaulted]
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", sql or "").upper()
        computed = _computed_columns(bare, defaults)
        found.append(
            CatalogTable(
                name,
                "view" if sql is None else "table",
                tuple(
                    CatalogColumn(column, sql_type, nullable, column in computed)
                    for table, column, sql_type, nullable, _ in columns
                    if table == name
                ),
                _key(name, constraints),
                {
                    own[0]: (parent, theirs[0])
                    for table, kind, own, parent, theirs in constraints
                    if table == name and kind == "FOREIGN KEY" and len(own) == 1
                },
                collated=bool(re.search(r"\bCOLLATE\b", bare)),
            )
        )
    return Catalog(str(source), tuple(found), tuple(name for (name,) in macros))


def _key(name: str, constraints: list[tuple[str, str, list[str], str, list[str]]]) -> tuple[str, ...]:
    for wanted in ("PRIMARY KEY", "UNIQUE"):
        for table, kind, columns, _, _ in constraints:
            if table == name and kind == wanted:
                return tuple(columns)
    return ()


def _computed_columns(bare: str, defaults: list[str]) -> set[str]:
    """Which of a table's columns with an expression are generated from it rather than only filled in by it.

    The catalogue tells the two apart in the table's definition alone (``bare``: upper case, no quoted text), where they
    stand in the order of the columns.
    Where that order cannot be read, all of them count as generated, which refuses too many rather than too few.
    """
    marks = re.findall(r"GENERATED ALWAYS AS|\bDEFAULT\s*\(", bare)
    if len(marks) != len(defaults):
        return set(defaults) if "GENERATED" in bare else set()
    return {column for column, mark in zip(defaults, marks, strict=True) if mark.startswith("GENERATED")}


def _parquet(source: str | Path, folder: Path) -> Catalog:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise SchemaError(f"{source}: the folder holds no .parquet file; each table is one file <table>.parquet")
    if re.search(r"[*?\[\]{}]", str(folder.resolve())):
        raise SchemaError(
            f"{source}: the folder's name has one of * ? [ ] {{ }}, which stand for many files; rename it"
        )
    with duckdb.connect(":memory:", config=_CONFIG) as connection:
        return Catalog(str(source), tuple(_parquet_table(connection, file) for file in files))


def _parquet_table(connection: duckdb.DuckDBPyConnection, file: Path) -> CatalogTable:
    try:
        relation = connection.execute("FROM read_parquet(?, hive_partitioning = false) LIMIT 0", [str(file)])
    except duckdb.Error:
        raise SchemaError(f"{file}: cannot be read as Parquet; write it again or remove it") from None
    columns = tuple(CatalogColumn(name, str(sql_type), True) for name, sql_type, *_ in relation.description or ())
    return CatalogTable(file.stem, "parquet", columns)
