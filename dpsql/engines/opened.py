"""The owner's data in DuckDB, opened read-only and locked down; nothing runs in it but what was planned.

Proved in ``docs/proofs/river.md`` and ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engines.cross_check import require_planned
from dpsql.engines.reading import attach, quoted
from dpsql.engines.source import CoreSql, DerivedTable, Limits, NotOpened, NotReadable, NotUnique, Rows, Source
from dpsql.engines.version import files_version, with_journal
from dpsql.optimizer import CAREFUL

_CONFIG: dict[str, Any] = {
    **CAREFUL,
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "max_expression_depth": "1000",
}


class OpenedSource:
    """A source under the name ``source``, and a database ``derived`` in memory beside it.

    ``connect`` gives a DuckDB in memory with the settings that it is told. Raises NotOpened, NotUnique where a key on
    the way to the unit stands twice, or NotReadable where a value cannot be read.
    """

    def __init__(self, source: Source, connect: Callable[[Mapping[str, Any]], duckdb.DuckDBPyConnection]) -> None:
        self._source = source
        path = Path(source.path)
        self._opened = files_version(with_journal(path))
        self.connection: duckdb.DuckDBPyConnection | None = None
        with suppress(duckdb.Error):
            self.connection = connect(_CONFIG | _limits(source.limits))
            self._attach(path)
            self.connection.execute("ATTACH ':memory:' AS derived")
            self._require_readable()
            self._require_unique_parents()
            self._lock_down()
            return
        raise NotOpened

    def _attach(self, path: Path) -> None:
        files = self._source.files
        attach(self._connected.execute, self._source, "source")
        if files is not None:
            self._connected.execute(f"SET allowed_paths = [{', '.join(map(quoted, files.values()))}]")
        elif files_version(with_journal(path)) != self._opened:
            self._opened = None

    def _require_unique_parents(self) -> None:
        """A key on the way to the unit must be unique, or a row would have two units (`docs/proofs/stability.md`)."""
        for parent, column in self._source.unique:
            row = self._connected.execute(
                f'SELECT count("{column}") = count(DISTINCT "{column}") FROM source.main."{parent}"'
            ).fetchone()
            if row is None or row[0] is not True:
                raise NotUnique(parent, column)

    def _require_readable(self) -> None:
        """Other writers of Parquet check neither texts nor moments, and what the engine cannot read would fail each
        statement that reads it."""
        for table, column in self._source.written:
            try:
                self._connected.execute(f'SELECT bit_xor(hash("{column}")) FROM source.main."{table}"').fetchall()
            except (duckdb.InvalidInputException, duckdb.ConversionException):
                raise NotReadable(table, column) from None

    def _lock_down(self) -> None:
        self._connected.execute("SET enable_external_access = false")
        if _has_setting(self._connected, "error_on_division_by_zero"):
            self._connected.execute("SET error_on_division_by_zero = false")
        self._connected.execute("SET lock_configuration = true")

    @property
    def _connected(self) -> duckdb.DuckDBPyConnection:
        assert self.connection is not None
        return self.connection

    @property
    def version(self) -> str | None:
        """That of the file that was opened, or of the Parquet files as they are now: statements open them again."""
        files = self._source.files
        return self._opened if files is None else files_version([Path(file) for file in files.values()])

    def cursor(self) -> OpenedCursor:
        return OpenedCursor(self._connected.cursor())

    def public_rows(self, table: str) -> Rows:
        """The rows of a table that was declared public, in the order of its columns."""
        columns = ", ".join(f'"{column}"' for column in self._source.public[table])
        return self._connected.cursor().execute(f'SELECT {columns} FROM source.main."{table}"').fetchall()


class OpenedCursor:
    """Where one charged plan is run; another thread may interrupt it."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def rows(self, derived: Sequence[tuple[DerivedTable, Rows]], cores: Sequence[CoreSql]) -> list[Rows]:
        """The rows of each core, once the derived tables are there."""
        for table, rows in derived:
            put_derived(self._cursor, table, rows)
        return [self._core(core) for core in cores]

    def _core(self, core: CoreSql) -> Rows:
        require_planned(self._cursor, core.sql, core.tables, core.derived)
        return self._cursor.execute(core.sql).fetchall()

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def close(self, derived: Sequence[str]) -> None:
        """Let go of the cursor and of the derived tables of its plan."""
        with suppress(Exception):
            for name in derived:
                self._cursor.execute(f'DROP TABLE IF EXISTS derived.main."{name}"')
        self._cursor.close()


def put_derived(cursor: duckdb.DuckDBPyConnection, table: DerivedTable, rows: Rows) -> None:
    """The rows as a table of the database ``derived``, in the types that the plan has for it."""
    columns = ", ".join(f"c{place} {sql_type}" for place, sql_type in enumerate(table.types))
    cursor.execute(f'CREATE OR REPLACE TABLE derived.main."{table.name}" ({columns})')
    if rows:
        parts = ", ".join(f"unnest(?::{sql_type}[])" for sql_type in table.types)
        values = [list(column) for column in zip(*rows, strict=True)]
        cursor.execute(f'INSERT INTO derived.main."{table.name}" SELECT {parts}', values)


def _limits(limits: Limits) -> dict[str, Any]:
    """DuckDB's settings for them; where it may not spill it has no folder to spill to."""
    found: dict[str, Any] = {"temp_directory": limits.folder or ""}
    if limits.folder is not None:
        found["max_temp_directory_size"] = _bytes(limits.spill)
    if limits.memory is not None:
        found["memory_limit"] = _bytes(limits.memory)
    if limits.threads is not None:
        found["threads"] = limits.threads
    return found


def _bytes(number: int) -> str:
    return f"{number} bytes"


def _has_setting(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM duckdb_settings() WHERE name = ?", [name]).fetchone() is not None
