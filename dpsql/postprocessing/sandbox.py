"""The sandbox: an in-memory DuckDB without files, extensions or network, and its tables.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from dpsql.engines.duckdb.in_memory import CAREFUL, close_instance, open_instance
from dpsql.errors import StatementError
from dpsql.planning.cell_choice import aggregate_type
from dpsql.planning.estimators.columnar_rows import columns
from dpsql.postprocessing.sandbox_errors import failed, unfit
from dpsql.release.grouping_sets import CubeTable
from dpsql.release.released_tables import ReleasedTable
from dpsql.schema import Schema
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.core import Core
from dpsql.sql.postprocess.hidden_groups import PRESENT

SEALED: dict[str, Any] = {
    **CAREFUL,
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "enable_external_access": "false",
    "memory_limit": "1GB",
    "temp_directory": "",
    "threads": 1,
    "max_expression_depth": "250",
}
#: How many values one answer may have, and how many rows are read at a time.
MOST_VALUES = 5_000_000
AT_A_TIME = 10_000


def fetched(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """All rows of the query that the cursor runs; E_LIMITS where they are too many to be held."""
    width = len(cursor.description or ()) or 1
    rows: list[tuple[Any, ...]] = []
    while more := cursor.fetchmany(AT_A_TIME):
        rows += more
        if len(rows) * width > MOST_VALUES:
            raise StatementError(
                "E_LIMITS", f"the answer has more than {MOST_VALUES:,} values; add LIMIT"
            )
    return rows


#: Seconds after which post-processing is stopped.
TIME_LIMIT = 30.0

#: The types whose columns are put in as arrays, and the name that they have meanwhile.
_ARRAYS: Mapping[str, type[np.generic]] = {"BIGINT": np.int64, "DOUBLE": np.float64}
_ARRAY = "dpsql_arrays"

PublicRows = Callable[[str], Sequence[tuple[object, ...]]]


class Sandbox:
    """Public tables under the schema ``public``, released ones under ``released``.

    One statement uses it at a time.
    """

    def __init__(self, schema: Schema, public_rows: PublicRows) -> None:
        self._schema = schema
        self._public_rows = public_rows
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
        """The names and types of the columns of a query.

        Raises StatementError if the query does not fit its tables.
        """
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
        self,
        name: str,
        data: Sequence[Sequence[object]],
        types: Mapping[str, str],
        schema: str = "released",
    ) -> None:
        """Put columns of values into a table."""
        if not data or not len(data[0]):
            return
        if schema == "released":
            self._holding.add(name)
        pairs = enumerate(zip(data, types.values(), strict=True))
        arrays = {
            f"c{index}": array
            for index, column_and_type in pairs
            if (array := _as_array(*column_and_type)) is not None
        }
        places = {f"c{index}": index for index in range(len(data)) if f"c{index}" not in arrays}
        parts = ", ".join(
            f"unnest(?::{list(types.values())[index]}[]) AS {column}"
            for column, index in places.items()
        )
        sources = ([_ARRAY] if arrays else []) + ([f"(SELECT {parts})"] if parts else [])
        listed = ", ".join(f"c{index}" for index in range(len(data)))
        rows = f"SELECT {listed} FROM {' POSITIONAL JOIN '.join(sources)}"
        try:
            if arrays:
                self._connection.register(_ARRAY, arrays)
            self._write(
                f'INSERT INTO {schema}."{name}" {rows}',
                [list(data[index]) for index in places.values()],
            )
        finally:
            if arrays:
                self._connection.unregister(_ARRAY)

    def put(
        self,
        name: str,
        table: ReleasedTable | CubeTable,
        more: Mapping[str, str],
        values: Sequence[Sequence[object]],
    ) -> None:
        """Put the released rows of a core or a cube into the sandbox.

        ``more`` columns, with their values, follow their own.
        """
        types = {**column_types(table.shape), **more}
        self.create(name, types)
        self.insert(name, [*columns_of(table), *values], types)

    def declare_public(self, name: str) -> None:
        """The public table, without its rows until somebody asks for them."""
        if name not in self._schema.tables:
            raise StatementError("E_TABLE", f"the synthetic table `{name}` was dropped meanwhile")
        if name not in self._declared:
            columns = ", ".join(
                f'"{column}" {sql_type}' for column, sql_type in self._public_types(name).items()
            )
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
        return {
            column_name: SANDBOX.type_name(column.type)
            for column_name, column in self._schema.tables[name].columns.items()
        }


def column_types(shape: Core | Cube) -> dict[str, str]:
    """The columns of a released table: row number, keys, total marks, aggregates.

    The marks tell which keys a row is a total over. Also whether a group is shown, if the table may
    have groups that are not.
    """
    keys = {f"k{index}": SANDBOX.type_name(key.type) for index, key in enumerate(shape.keys)}
    totals = {
        f"g{index}": "BIGINT" for index, _ in enumerate(shape.keys) if isinstance(shape, Cube)
    }
    values = {
        f"a{index}": aggregate_type(aggregate) for index, aggregate in enumerate(shape.aggregates)
    }
    marks = (
        {PRESENT: "BOOLEAN"}
        if isinstance(shape, Core) and shape.domain is not None and shape.keys
        else {}
    )
    return {"row": "BIGINT", **keys, **totals, **values, **marks}


def columns_of(table: ReleasedTable | CubeTable) -> list[Sequence[object]]:
    """The values of a released table, column by column."""
    shape = table.shape
    rows = len(table.keys)
    totals = columns(table.totals, len(shape.keys) if isinstance(shape, Cube) else 0)
    parts = (
        columns(table.keys, len(shape.keys)),
        totals,
        columns(table.aggregates, len(shape.aggregates)),
    )
    marks = (
        [table.marks] if isinstance(table, ReleasedTable) and PRESENT in column_types(shape) else []
    )
    return [range(rows), *chain(*parts), *marks]


def _as_array(values: Sequence[object], sql_type: str) -> NDArray[Any] | None:
    """Integers and doubles without NULL as an array that DuckDB reads in one go.

    None for any other column.
    """
    kind = _ARRAYS.get(sql_type)
    if kind is None or not set(map(type, values)) <= {int if kind is np.int64 else float}:
        return None
    try:
        return np.fromiter(values, kind, len(values))
    except OverflowError:
        return None
