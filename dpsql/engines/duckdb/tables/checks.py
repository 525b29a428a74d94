"""What is looked for in the owner's tables when a version is opened,
so that no statement fails on it or misreads it.

Proved in ``docs/proofs/stability.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import duckdb

from dpsql.engines.duckdb.tables.texts import folded, identifier, quoted
from dpsql.engines.duckdb.tables.views import parquet_files, stored_value
from dpsql.engines.source import DataSource, NotAlike, NotWhole, StoredTable, TableFile

#: A file for each way in which the columns of the files are stored, by what their footers say.
_ONE_OF_EACH_FORM: Final = """
    SELECT min(file_name) FROM (
        SELECT file_name, string_agg(concat_ws('|', name, type, type_length, num_children, converted_type, scale,
            precision, logical_type), ';') AS form FROM parquet_schema({}) GROUP BY file_name
    ) GROUP BY form ORDER BY 1
"""


def require_alike(connection: duckdb.DuckDBPyConnection, source: DataSource) -> None:
    """NotAlike if the files of a table differ in a declared column.

    The engine takes the first for what all are, and would fail on another in the midst.
    """
    for name, table in source.tables.items():
        if table.kind == "parquet" and len(table.files or ()) > 1:
            _require_columns_alike(connection, name, table, table.files or ())


def _require_columns_alike(
    connection: duckdb.DuckDBPyConnection, name: str, table: StoredTable, files: Sequence[TableFile]
) -> None:
    places = ", ".join(quoted(file.place) for file in files)
    first = None
    for (path,) in connection.execute(_ONE_OF_EACH_FORM.format(f"[{places}]")).fetchall():
        relation = parquet_files([TableFile(path, packed=False)])
        described = connection.execute(f"SELECT * FROM {relation} LIMIT 0").description or ()
        types = {folded(column): str(sql_type) for column, sql_type, *_ in described}
        first = first or types
        for column in table.columns:
            if types.get(folded(column.path[0])) != first.get(folded(column.path[0])):
                raise NotAlike(name, column.name)


def require_codes(connection: duckdb.DuckDBPyConnection, source: DataSource) -> None:
    """NotWhole where codes that are stored as DOUBLE are not whole,
    so that two of them could become one.
    """
    for name, table in source.tables.items():
        for column in table.columns:
            if column.reading != "its whole number":
                continue
            value = stored_value(column)
            in_file = table.kind == "database"
            stored = (
                f"stored.main.{identifier(table.place)}"
                if in_file
                else parquet_files(table.files or ())
            )
            row = connection.execute(
                f"SELECT count(*) FROM {stored} WHERE {value} IS NOT NULL AND NOT isnan({value}) "
                f"AND NOT (abs({value}) <= 9007199254740992 AND trunc({value}) = {value})"
            ).fetchone()
            if row != (0,):
                raise NotWhole(name, column.name)
