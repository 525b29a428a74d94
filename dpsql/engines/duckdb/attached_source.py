"""The owner's data in DuckDB, attached read-only as ``source`` and locked down:
only what was planned runs in it.

Proved in ``docs/proofs/stability.md``, ``docs/proofs/execution.md`` and
``docs/proofs/versions.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Final

import duckdb

from dpsql.engines.duckdb.emitted_sql_check import require_planned
from dpsql.engines.duckdb.in_memory import CAREFUL
from dpsql.engines.duckdb.row_encoding import gathered
from dpsql.engines.duckdb.tables.checks import require_alike, require_codes
from dpsql.engines.duckdb.tables.texts import quoted
from dpsql.engines.duckdb.tables.views import attach
from dpsql.engines.files.held_files import DESCRIPTORS, FileState, HeldFiles, read_options
from dpsql.engines.files.parquet_integrity import is_whole
from dpsql.engines.source import (
    CoreSql,
    DataChanged,
    DataSource,
    DerivedTable,
    NotOpened,
    NotReadable,
    NotUnique,
    ResourceLimits,
    TableFile,
    ValueRows,
)

#: So many rows become Python's at a time: meanwhile no other thread of the process does anything.
ROWS_AT_ONCE: Final = 10_000

#: The settings of a DuckDB that runs, or only plans, emitted SQL.
CONFIG: dict[str, Any] = {
    **CAREFUL,
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "max_expression_depth": "1000",
}

#: Where each chunk of each column begins, its bytes and values, and the rows of its group,
#: as a #: footer says.
_CHUNKS: Final = """
    SELECT least(coalesce(nullif(dictionary_page_offset, 0), data_page_offset), data_page_offset),
        total_compressed_size, num_values, row_group_num_rows
    FROM parquet_metadata({})
"""


class OpenedSource:
    """One version of a source under the name ``source``,
    and a database ``derived`` in memory beside it.

    ``connect`` gives a DuckDB in memory with the settings that it is told; ``held`` has what is
    held of the source already. Raises NotOpened, or an UnfitColumn where statements could fail on
    the data or mean what they must not.
    """

    def __init__(
        self,
        source: DataSource,
        connect: Callable[[Mapping[str, Any]], duckdb.DuckDBPyConnection],
        held_files: HeldFiles | None = None,
    ) -> None:
        self.held = HeldFiles() if held_files is None else held_files
        self.connection: duckdb.DuckDBPyConnection | None = None
        self._reading = read_options(source)
        kind = ""
        try:
            self._source = self.held.source(source)
            self.connection = connect(CONFIG | _limits(source.limits))
            encipher(self.connection)
            if self._is_read_at_once and not self.held.settled(source):
                raise NotOpened
            self._attach()
            if not self.held.settled(source):
                raise NotOpened
            self.connection.execute("ATTACH ':memory:' AS derived")
            self._require_readable()
            self._require_whole()
            require_codes(self._connected, self._source)
            self._require_unique_parents()
            lock_down(self.connection)
            if self.held.unchanged():
                return
        except (duckdb.Error, OSError) as error:
            kind = type(error).__name__
        raise NotOpened(kind)

    @property
    def _is_read_at_once(self) -> bool:
        """Whether files are read while they are attached, to be copied or compared:
        a write must show from then on.
        """
        tables = self._source.tables.values()
        return self._source.kind == "sqlite" or any(
            table.kind == "csv" or len(table.files or ()) > 1 for table in tables
        )

    def _attach(self) -> None:
        files = [file for _, files in self._parquet for file in files]
        if self._source.kind == "files":
            # DuckDB asks where a descriptor's file is by now. Of a file that was replaced DuckDB
            # 2.0.1 takes what the kernel says, a path with a mark behind it; older versions take
            # the descriptor's own name.
            replaced = [f"{path} (deleted)" for path in self.held.paths]
            places = [*(file.place for file in files), *self.held.paths, *replaced]
            self._connected.execute(f"SET allowed_paths = [{', '.join(map(quoted, places))}]")
            if any(file.place.startswith(DESCRIPTORS) for file in files):
                self._connected.execute(f"SET allowed_directories = [{quoted(DESCRIPTORS)}]")
        require_alike(self._connected, self._source)
        attach(self._connected, self._source, "source")

    @property
    def _parquet(self) -> list[tuple[str, tuple[TableFile, ...]]]:
        """The tables that lie in Parquet, each with its files."""
        tables = self._source.tables.items()
        return [(name, table.files or ()) for name, table in tables if table.kind == "parquet"]

    def _require_whole(self) -> None:
        """A file that is not as its footer says would fail statements after their charge;
        no row has a say in that.
        """
        for path in (file.place for _, files in self._parquet for file in files):
            try:
                chunks = self._connected.execute(_CHUNKS.format(quoted(path))).fetchall()
            except (duckdb.InvalidInputException, duckdb.ConversionException):
                # the footer sums up a text or a moment that is none, of a column that nobody reads
                continue
            with open(path, "rb") as file:  # noqa: PTH123 (a descriptor's own name)
                if not is_whole(file, file.seek(0, os.SEEK_END), chunks):
                    raise NotOpened

    def _require_unique_parents(self) -> None:
        """A key on the way to the unit must be unique,
        or a row would have two units (`docs/proofs/stability.md`).
        """
        for parent, column in self._source.unique:
            row = self._connected.execute(
                f'SELECT count("{column}") = count(DISTINCT "{column}") FROM source.main."{parent}"'
            ).fetchone()
            if row is None or row[0] is not True:
                raise NotUnique(parent, column)

    def _require_readable(self) -> None:
        """Other writers of Parquet check neither texts nor moments, and what the engine cannot read
        would fail each statement that reads it."""
        for table, column in self._source.written:
            try:
                self._connected.execute(
                    f'SELECT bit_xor(hash("{column}")) FROM source.main."{table}"'
                ).fetchall()
            except (duckdb.InvalidInputException, duckdb.ConversionException):
                raise NotReadable(table, column) from None

    @property
    def _connected(self) -> duckdb.DuckDBPyConnection:
        assert self.connection is not None
        return self.connection

    @property
    def version(self) -> str:
        """The version of the data that is open."""
        return (self._source.content or self.held.version) + self._reading

    @property
    def states(self) -> tuple[FileState, ...]:
        """What the files were when they were held."""
        return self.held.states

    def cursor(self) -> OpenedCursor:
        return OpenedCursor(self._connected.cursor(), self.held)

    def public_rows(self, table: str) -> ValueRows:
        """The rows of a table that was declared public, in the order of its columns."""
        columns = ", ".join(f'"{column}"' for column in self._source.public[table])
        rows = (
            self._connected.cursor()
            .execute(f'SELECT {columns} FROM source.main."{table}"')
            .fetchall()
        )
        _require_unchanged(self.held)
        return rows


class OpenedCursor:
    """Where one charged plan is run; another thread may interrupt it."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, held_files: HeldFiles) -> None:
        self._cursor = cursor
        self._held = held_files

    def rows(
        self, derived: Sequence[tuple[DerivedTable, ValueRows]], cores: Sequence[CoreSql]
    ) -> list[ValueRows]:
        """The rows of each core, once the derived tables are there;
        Changed if the data were written meanwhile.
        """
        for table, rows in derived:
            put_derived(self._cursor, table, rows)
        result = [self._core(core) for core in cores]
        _require_unchanged(self._held)
        return result

    def _core(self, core: CoreSql) -> ValueRows:
        require_planned(self._cursor, core.sql, core.tables, core.derived)
        return run_core(self._cursor, core)

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def close(self, derived: Sequence[str]) -> None:
        """Let go of the cursor and of the derived tables of its plan."""
        with suppress(Exception):
            for name in derived:
                self._cursor.execute(f'DROP TABLE IF EXISTS derived.main."{name}"')
        self._cursor.close()


def run_core(cursor: duckdb.DuckDBPyConnection, core: CoreSql) -> list[tuple[Any, ...]]:
    """The rows of a core, read in parts; bins of histograms are gathered."""
    executed = cursor.execute(core.sql)
    rows = chain.from_iterable(iter(lambda: executed.fetchmany(ROWS_AT_ONCE), []))
    return gathered(rows, core.keys, core.histograms) if core.histograms else list(rows)


def _require_unchanged(held_files: HeldFiles) -> None:
    """All that was read since the files were held is of one version."""
    if not held_files.unchanged():
        raise DataChanged


def encipher(connection: duckdb.DuckDBPyConnection) -> None:
    """Have DuckDB encipher what it spills, by a key that it keeps in memory;
    a DuckDB that cannot is not used.

    DuckDB 2.0 knows the first setting, and does not list it.
    """
    connection.execute("SET force_mbedtls_unsafe = true; SET temp_file_encryption = true")


def lock_down(connection: duckdb.DuckDBPyConnection) -> None:
    """Take files, extensions and settings from a DuckDB,
    in which all is attached that it will read.
    """
    connection.execute("SET enable_external_access = false")
    if _has_setting(connection, "error_on_division_by_zero"):
        connection.execute("SET error_on_division_by_zero = false")
    connection.execute("SET lock_configuration = true")


def put_derived(cursor: duckdb.DuckDBPyConnection, table: DerivedTable, rows: ValueRows) -> None:
    """The rows as a table of the database ``derived``, in the types that the plan has for it;
    NaN is NULL.
    """
    columns = ", ".join(f"c{index} {sql_type}" for index, sql_type in enumerate(table.types))
    cursor.execute(f'CREATE OR REPLACE TABLE derived.main."{table.name}" ({columns})')
    if rows:
        parts = ", ".join(f"unnest(?::{sql_type}[])" for sql_type in table.types)
        values = [
            [None if value != value else value for value in column]
            for column in zip(*rows, strict=True)
        ]
        cursor.execute(f'INSERT INTO derived.main."{table.name}" SELECT {parts}', values)


def _limits(limits: ResourceLimits) -> dict[str, Any]:
    """DuckDB's settings for them; if it may not spill it has no folder to spill to."""
    result: dict[str, Any] = {"temp_directory": limits.folder or ""}
    if limits.folder is not None:
        result["max_temp_directory_size"] = _bytes(limits.spill)
    if limits.memory is not None:
        result["memory_limit"] = _bytes(limits.memory)
    if limits.threads is not None:
        result["threads"] = limits.threads
    return result


def _bytes(number: int) -> str:
    return f"{number} bytes"


def _has_setting(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    return (
        connection.execute("SELECT 1 FROM duckdb_settings() WHERE name = ?", [name]).fetchone()
        is not None
    )
