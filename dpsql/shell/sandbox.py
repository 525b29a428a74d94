"""The sandbox: an in-memory DuckDB without files, extensions or network, and the tables that are put into it.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb

from dpsql.cells import aggregate_type
from dpsql.cubes import CubeTable
from dpsql.instance import close_instance, open_instance
from dpsql.query.cube import Cube
from dpsql.query.relation import Core
from dpsql.query.rewrite.scalar import engine_type
from dpsql.release import ReleasedTable
from dpsql.schema import Schema
from dpsql.shell.faults import failed, unfit
from dpsql.shell.sealed import SEALED, fetched

#: Seconds after which the shell is stopped.
TIME_LIMIT = 30.0

PublicRows = Callable[[str], Sequence[tuple[object, ...]]]


class Sandbox:
    """Public tables under the schema ``public``, released ones under ``released``; one statement uses it at a time."""

    def __init__(self, schema: Schema, public_rows: PublicRows) -> None:
        self._schema, self._public_rows = schema, public_rows
        self._declared: set[str] = set()
        self._filled: set[str] = set()
        self._columns: dict[str, dict[str, str]] = {}
        self._holding: set[str] = set()
        self.lock = threading.RLock()
        self._connection = open_instance(SEALED)
        self._connection.execute(
            "CREATE SCHEMA released; CREATE SCHEMA public; SET TimeZone = 'UTC'; SET lock_configuration = true"
        )

    def describe(self, sql: str) -> list[tuple[str, str]]:
        """The names and types of the columns of a query; StatementError where it does not fit its tables."""
        try:
            bound = self._connection.sql(sql)
        except duckdb.Error as error:
            raise unfit(error) from None
        return list(zip(bound.columns, map(str, bound.types), strict=True))

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query; trouble in it can only speak of what is public already.

        StatementError (E_LIMITS) where they are too many.
        """
        watchdog = threading.Timer(TIME_LIMIT, self._connection.interrupt)
        watchdog.daemon = True
        watchdog.start()
        try:
            return fetched(self._connection.execute(sql))
        except duckdb.Error as error:
            raise failed(error) from None
        finally:
            watchdog.cancel()

    def declare(self, name: str, types: Mapping[str, str]) -> None:
        """A released table of that name with these columns; its rows are not to be read."""
        if self._columns.get(name) != types:
            self.create(name, types)

    def create(self, name: str, types: Mapping[str, str]) -> None:
        """An empty released table of that name, in the place of one that is there."""
        columns = ", ".join(f'"{column}" {sql_type}' for column, sql_type in types.items())
        self._columns.pop(name, None)
        self._write(f'CREATE OR REPLACE TABLE released."{name}" ({columns})')
        self._columns[name] = dict(types)

    def insert(
        self, name: str, data: Sequence[Sequence[object]], types: Mapping[str, str], schema: str = "released"
    ) -> None:
        """Put columns of values into a table."""
        if data and data[0]:
            if schema == "released":
                self._holding.add(name)
            parts = ", ".join(f"unnest(?::{sql_type}[])" for sql_type in types.values())
            self._write(f'INSERT INTO {schema}."{name}" SELECT {parts}', [list(each) for each in data])

    def put(
        self, name: str, table: ReleasedTable | CubeTable, more: Mapping[str, str], values: Sequence[Sequence[object]]
    ) -> None:
        """The released rows of a core or a cube, with ``more`` columns beside them and their values."""
        types = {**column_types(table.shape), **more}
        self.create(name, types)
        self.insert(name, [*columns_of(table), *values], types)

    def declare_public(self, name: str) -> None:
        """The public table, without its rows until somebody asks for them."""
        if name not in self._declared:
            columns = ", ".join(f'"{each}" {sql_type}' for each, sql_type in self._public_types(name).items())
            self._write(f'CREATE TABLE public."{name}" ({columns})')
            self._declared.add(name)

    def public_columns(self, name: str) -> list[str]:
        """The names of the columns of a public table, in their order."""
        return list(self._schema.tables[name].columns)

    def fill_public(self, name: str) -> None:
        """The public table with its rows, which are read once."""
        if name not in self._filled:
            self.declare_public(name)
            rows = self._public_rows(name)
            self.insert(name, list(zip(*rows, strict=True)), self._public_types(name), "public")
            self._filled.add(name)

    def clear(self) -> None:
        """Empty every released table."""
        for name in sorted(self._holding):
            self.create(name, self._columns[name])
        self._holding.clear()

    def interrupt(self) -> None:
        """End the query that runs now, if one does."""
        self._connection.interrupt()

    def close(self) -> None:
        close_instance(self._connection)

    def _write(self, sql: str, values: Sequence[object] = ()) -> None:
        try:
            self._connection.execute(sql, values)
        except duckdb.Error as error:  # it was interrupted, or the memory has run out
            raise failed(error) from None

    def _public_types(self, name: str) -> dict[str, str]:
        return {each: engine_type(column.type) for each, column in self._schema.tables[name].columns.items()}


def column_types(shape: Core | Cube) -> dict[str, str]:
    """The columns of a released table: the number of the row, keys, which keys it is a total over, aggregates."""
    keys = {f"k{place}": engine_type(key.type) for place, key in enumerate(shape.keys)}
    totals = {f"g{place}": "BIGINT" for place, _ in enumerate(shape.keys) if isinstance(shape, Cube)}
    values = {f"a{place}": aggregate_type(each) for place, each in enumerate(shape.aggregates)}
    return {"row": "BIGINT", **keys, **totals, **values}


def columns_of(table: ReleasedTable | CubeTable) -> list[list[object]]:
    """The values of a released table, column by column."""
    rows = zip(table.keys, table.totals, table.aggregates, strict=True)
    whole = [(number, *keys, *totals, *values) for number, (keys, totals, values) in enumerate(rows)]
    return [list(column) for column in zip(*whole, strict=True)]
