"""The facts of a source's catalogue as the engine tells them: names, types and keys,
read without reading a row.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import csv
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb

from dpsql.engines.duckdb.tables.copies import csv_names, open_sqlite
from dpsql.engines.duckdb.tables.texts import folded
from dpsql.engines.files.held_files import HeldFiles
from dpsql.engines.files.table_files import with_journal
from dpsql.engines.source import RFC_4180, CsvText, NotOpened, ValueRows

#: The tables and views of a DuckDB file;
#: what follows is asked of some of them by their names, #: ``$names``.
_NAMES = """
    SELECT table_name FROM duckdb_tables()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
    UNION ALL SELECT view_name FROM duckdb_views()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
    ORDER BY 1
"""
_COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, column_default IS NOT NULL FROM duckdb_columns()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
    AND list_contains($names, table_name) ORDER BY table_name, column_index
"""
_TABLES = """
    SELECT table_name, sql FROM duckdb_tables()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
    AND list_contains($names, table_name) ORDER BY table_name
"""
_VIEWS = """
    SELECT view_name FROM duckdb_views()
    WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
    AND list_contains($names, view_name) ORDER BY view_name
"""
_CONSTRAINTS = """
    SELECT table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints() WHERE database_name = current_database() AND schema_name = 'main'
    AND list_contains($names, table_name) ORDER BY table_name, constraint_index
"""
_MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal ORDER BY function_name"

_SQLITE_TABLES = """
    SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name
"""
_SQLITE_COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)'
_SQLITE_REFERENCES = (
    'SELECT "from", "table", "to", id FROM pragma_foreign_key_list(?) ORDER BY id, seq'
)

CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def source_facts(
    path: str, kind: str, csv_text: CsvText = RFC_4180, tables: Collection[str] | None = None
) -> list[ValueRows]:
    """What the catalogue of a file of the kind says; NotOpened if it is none.

    Of a database the names of all tables are read, and the rest of those that ``tables`` has,
    folded; None stands for all of them.
    """
    match kind:
        case "database":
            return _database_facts(path, tables)
        case "sqlite":
            return _sqlite_facts(path, tables)
        case "parquet":
            return _parquet_facts(path)
        case "csv":
            return _csv_facts(path, csv_text, path.lower().endswith(".gz"))
        case _:
            raise NotOpened


def held_facts(
    path: str, kind: str, csv_text: CsvText, tables: Collection[str] | None, held_files: HeldFiles
) -> list[ValueRows]:
    """The facts of the file at the path, which is held from now on; NotOpened if it is none."""
    is_database = kind in ("database", "sqlite")
    try:
        places = [
            held_files.hold(str(file))
            for file in (with_journal(Path(path).resolve()) if is_database else [path])
        ]
    except OSError:
        raise NotOpened from None
    if kind == "csv":
        return _csv_facts(places[0], csv_text, path.lower().endswith(".gz"))
    return source_facts(path if is_database else places[0], kind, tables=tables)


def _database_facts(path: str, tables: Collection[str] | None) -> list[ValueRows]:
    """Columns, tables, views, constraints, macros,
    fields and the names of other tables of a DuckDB file.
    """
    try:
        with duckdb.connect(path, read_only=True, config=CONFIG) as connection:
            table_names, others = _parted(connection.execute(_NAMES).fetchall(), tables)
            named = (_COLUMNS, _TABLES, _VIEWS, _CONSTRAINTS)
            rows: list[ValueRows] = [
                connection.execute(sql, {"names": table_names}).fetchall() for sql in named
            ]
            rows.append(connection.execute(_MACROS).fetchall())
            structs = [row for row in rows[0] if str(row[2]).startswith("STRUCT(")]
            fields = [
                (table, *field)
                for table, column, text, *_ in structs
                for field in _fields((column,), connection.type(text))
            ]
            return [*rows, fields, others]
    except duckdb.Error:
        raise NotOpened from None


def _parted(names: ValueRows, tables: Collection[str] | None) -> tuple[list[str], ValueRows]:
    """The names of tables whose facts are wanted, and rows of all others."""
    table_names = [name for (name,) in names if tables is None or folded(name) in tables]
    return table_names, [] if tables is None else [
        (name,) for (name,) in names if folded(name) not in tables
    ]


def _parquet_facts(path: str) -> list[ValueRows]:
    """Names and types of the columns of a Parquet file,
    and of the fields of those that are STRUCTs.
    """
    try:
        with duckdb.connect(":memory:", config=CONFIG) as connection:
            cursor = connection.execute(
                "FROM read_parquet(?, hive_partitioning = false) LIMIT 0", [path]
            )
            columns = [(name, sql_type) for name, sql_type, *_ in cursor.description or ()]
            fields = [field for name, sql_type in columns for field in _fields((name,), sql_type)]
            return [[(name, str(sql_type)) for name, sql_type in columns], fields]
    except duckdb.Error:
        raise NotOpened from None


def _fields(path: tuple[str, ...], sql_type: Any) -> Iterator[tuple[list[str], str]]:
    """The path and the type of each field of a STRUCT, and of the STRUCTs in it."""
    if str(getattr(sql_type, "id", "")) == "struct":
        for name, inner in sql_type.children:
            yield [*path, name], str(inner)
            yield from _fields((*path, name), inner)


def _csv_facts(path: str, csv_text: CsvText, packed: bool) -> list[ValueRows]:
    """The names of the columns of a CSV file, from its first line;
    it says nothing of their types.
    """
    try:
        return [[(name, "") for name in csv_names(path, packed, csv_text)]]
    except (OSError, EOFError, zlib.error, csv.Error):
        raise NotOpened from None


def _sqlite_facts(path: str, table_names: Collection[str] | None) -> list[ValueRows]:
    """Columns, tables, views, keys, foreign keys and the names of other tables of an SQLite
    file.
    """
    try:
        with closing(open_sqlite(path)) as connection:
            listed = connection.execute(_SQLITE_TABLES).fetchall()
            kind_of = dict(listed)
            names, others = _parted([(name,) for name in kind_of], table_names)
            kinds = [(name, kind_of[name]) for name in names]
            tables = [(name,) for name, kind in kinds if kind == "table"]
            columns = []
            keys = []
            parents = []
            for (name,) in tables:
                described = connection.execute(
                    'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', [name]
                ).fetchall()
                columns += [
                    (name, column, its_type, not (notnull or pk))
                    for column, its_type, notnull, pk in described
                ]
                keys += [
                    (name, column)
                    for column, *_, pk in sorted(described, key=lambda row: row[3])
                    if pk
                ]
                parents += [
                    (name, *row)
                    for row in connection.execute(_SQLITE_REFERENCES, [name]).fetchall()
                ]
            views = [(name,) for name, kind in kinds if kind == "view"]
            return [columns, tables, views, keys, parents, others]
    except sqlite3.Error:
        raise NotOpened from None
