"""What an engine would say of a plan's SQL, asked before the charge: on empty tables,
so that nothing of it is data.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

import duckdb

from dpsql.engines.duckdb.attached_source import CONFIG, lock_down, put_derived
from dpsql.engines.duckdb.emitted_sql_check import SPARE, require_planned
from dpsql.engines.duckdb.in_memory import close_instance, open_instance
from dpsql.engines.source import CoreSql, DerivedTable
from dpsql.errors import ExecutionFailed, StatementError

#: How many statements it remembers to have passed.
MOST_REMEMBERED: Final = 4_096
#: What it may use: it holds no row and plans one statement at a time.
_SMALL: Final = {"memory_limit": "1GB", "threads": 1, "temp_directory": ""}
#: The engine's columns of each table, by name and type.
TableTypes = dict[str, dict[str, str]]


class DryRun:
    """Tables of the owner's names and types without a row,
    in a DuckDB with the engine's settings; opened when needed.

    Any thread may use it.
    """

    def __init__(self, tables: TableTypes) -> None:
        self._tables = tables
        self._lock = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._opener = 0
        self._passed = dict[bytes, None]()

    def require(self, stages: Iterable[tuple[Sequence[DerivedTable], Sequence[CoreSql]]]) -> None:
        """StatementError (E_LIMITS) if the engine would not parse, check,
        bind or plan some core of the stages.
        """
        derived: list[DerivedTable] = []
        for derived_tables, cores in stages:
            derived += derived_tables
            for core in cores:
                self._require(core, [table for table in derived if table.name in core.derived])

    def _require(self, core: CoreSql, derived: Sequence[DerivedTable]) -> None:
        known = _digest(core, derived)
        if known in self._passed:
            return
        with self._lock:
            passes = False
            with suppress(duckdb.Error, ExecutionFailed, RecursionError):
                self._plan(core, derived)
                passes = True
            if not passes:
                self._let_go()  # a fault of DuckDB may have ended it
                raise StatementError(
                    "E_LIMITS",
                    "the engine cannot plan what the statement becomes; nest fewer "
                    "functions and subqueries, or ask for fewer columns",
                )
            self._passed[known] = None
            while len(self._passed) > MOST_REMEMBERED:
                del self._passed[next(iter(self._passed))]

    def _plan(self, core: CoreSql, derived: Sequence[DerivedTable]) -> None:
        cursor = self._opened().cursor()
        try:
            for table in derived:
                put_derived(cursor, table, ())
            require_planned(cursor, core.sql, core.tables, core.derived, spare=SPARE)
            cursor.execute(f"EXPLAIN {core.sql}").fetchall()
        finally:
            cursor.close()

    def _opened(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB of this process; a fork opens one of its own."""
        if self._connection is None or self._opener != os.getpid():
            self._connection, self._opener = open_instance(CONFIG | _SMALL), os.getpid()
            for name in ("source", "derived"):
                self._connection.execute(f"ATTACH ':memory:' AS {name}")
            for name, columns in self._tables.items():
                written = ", ".join(
                    f'"{column}" {sql_type}' for column, sql_type in columns.items()
                )
                self._connection.execute(f'CREATE TABLE source.main."{name}" ({written})')
            lock_down(self._connection)
        return self._connection

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(duckdb.Error):
                close_instance(self._connection)
            self._connection = None

    def close(self) -> None:
        """Give the memory back; the database is opened again at the next request."""
        self._let_go()


def _digest(core: CoreSql, derived: Sequence[DerivedTable]) -> bytes:
    """A name of all that a dry run depends on."""
    return hashlib.sha256(
        repr((core.sql, sorted(core.tables), list(_derived_types(derived)))).encode()
    ).digest()


def _derived_types(derived: Sequence[DerivedTable]) -> Iterator[tuple[str, tuple[str, ...]]]:
    return ((table.name, table.types) for table in derived)
