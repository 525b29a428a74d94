"""The shell: public SQL over released rows, in a sandbox that has never seen a private row.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from sqlglot import exp

from dpsql.cells import aggregate_type
from dpsql.errors import InternalError, OperationalError, StatementError
from dpsql.estimate import Interval
from dpsql.plan import CorePlan, OutputColumn, Plan
from dpsql.query.bind import Query
from dpsql.query.rewrite.scalar import engine_type
from dpsql.release import Released, ReleasedTable
from dpsql.schema import Schema

#: Seconds after which the shell is stopped.
TIME_LIMIT = 30.0
#: The draws behind a simulated interval, and the most rows that get one.
DRAWS, MOST_SIMULATED = 1_000, 200

_CONFIG: dict[str, Any] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "enable_external_access": "false",
    "memory_limit": "1GB",
    "threads": 1,
    "max_expression_depth": "250",
}

PublicRows = Callable[[str], Sequence[tuple[object, ...]]]


@dataclass(frozen=True)
class Result:
    """What the analyst gets: rows, the names and types of their columns, and an interval for each cell that has one."""

    columns: tuple[OutputColumn, ...]
    rows: list[tuple[object, ...]]
    intervals: list[tuple[Interval | None, ...]]


class Shell:
    """One analyst's sandbox: an in-memory DuckDB that holds public tables and released rows."""

    def __init__(self, schema: Schema, public_rows: PublicRows) -> None:
        self._schema, self._public_rows = schema, public_rows
        self._declared: set[str] = set()
        self._filled: set[str] = set()
        self._lock = threading.Lock()
        self._connection = duckdb.connect(":memory:", config=_CONFIG)
        self._connection.execute("CREATE SCHEMA released; CREATE SCHEMA public; SET lock_configuration = true")

    def describe(self, query: Query, cores: Sequence[CorePlan]) -> tuple[str, tuple[OutputColumn, ...]]:
        """The shell's SQL and its columns, found without any row: released tables are empty, public ones unread.

        Raises StatementError where the shell does not fit its tables.
        """
        with self._lock:
            for name in query.public:
                self._declare_public(name)
            for place, core in enumerate(cores):
                self._create(f"core{place}", _column_types(core))
            sql = query.shell.sql(dialect="duckdb", comments=False)
            try:
                described = self._connection.execute(f"DESCRIBE {sql}").fetchall()
            except duckdb.Error as error:
                raise StatementError("E_SHELL", _first_line(error)) from None
        traced = _trace(query.shell)
        columns = tuple(
            OutputColumn(name, sql_type, *traced[place] if traced is not None else (None, False))
            for place, (name, sql_type, *_) in enumerate(described)
        )
        if not _has_intervals(columns):
            return sql, columns
        with_row = query.shell.copy()
        assert isinstance(with_row, exp.Select)
        with_row.append("expressions", exp.column("row", table=_source(with_row), quoted=True))
        return with_row.sql(dialect="duckdb", comments=False), columns

    def run(self, plan: Plan, released: Released) -> Result:
        """The shell over the released rows; trouble in it can only speak of what is public already."""
        for name in plan.public:
            self._fill_public(name)
        with self._lock:
            for place, table in enumerate(released.tables):
                self._create(f"core{place}", _column_types(table.plan))
                self._insert(f"core{place}", _columns(table), _column_types(table.plan))
            rows = self._execute(plan.shell)
            width = len(plan.columns)
            if not _has_intervals(plan.columns):
                return Result(plan.columns, rows, [(None,) * width for _ in rows])
            places = [row[width] for row in rows]
            rows = [row[:width] for row in rows]
            (table,) = released.tables
            simulated = self._simulate(plan, table, places)
        intervals = [
            tuple(
                None
                if not isinstance(place, int)
                else table.intervals[place][column.aggregate]
                if column.aggregate is not None
                else simulated.get((place, number))
                for number, column in enumerate(plan.columns)
            )
            for place in places
        ]
        return Result(plan.columns, rows, intervals)

    def close(self) -> None:
        self._connection.close()

    def _simulate(self, plan: Plan, table: ReleasedTable, places: Sequence[object]) -> dict[tuple[int, int], Interval]:
        """Intervals of expressions over aggregates: the middle of what they give on fresh draws of the noise."""
        wanted = [number for number, column in enumerate(plan.columns) if column.simulated]
        rows = sorted({place for place in places if isinstance(place, int)})
        if not wanted or not rows or len(rows) > MOST_SIMULATED:
            return {}
        drawn = [table.draws(row, DRAWS) for row in rows]
        data: list[list[object]] = [[row for row in rows for _ in range(DRAWS)]]
        data += [
            [table.keys[row][key] for row in rows for _ in range(DRAWS)] for key in range(len(table.plan.core.keys))
        ]
        data += [
            [number for draws in drawn for number in draws[place].tolist()]
            for place in range(len(table.plan.core.aggregates))
        ]
        types = {name: ("DOUBLE" if name.startswith("a") else sql) for name, sql in _column_types(table.plan).items()}
        self._create("core0", types)
        self._insert("core0", data, types)
        tail = (1 - plan.confidence) / 2
        inner = f"SELECT * FROM ({plan.shell}) AS drawn({', '.join(f'c{n}' for n in range(len(plan.columns)))}, r)"
        parts = ", ".join(
            f"quantile_cont(TRY_CAST(c{n} AS DOUBLE), {tail}), quantile_cont(TRY_CAST(c{n} AS DOUBLE), {1 - tail})"
            for n in wanted
        )
        try:
            found = self._execute(f"SELECT r, {parts} FROM ({inner}) GROUP BY r")
        except OperationalError:
            return {}
        return {
            (row[0], number): (row[1 + 2 * place], row[2 + 2 * place])
            for row in found
            for place, number in enumerate(wanted)
            if row[1 + 2 * place] is not None
        }

    def _execute(self, sql: str) -> list[tuple[Any, ...]]:
        watchdog = threading.Timer(TIME_LIMIT, self._connection.interrupt)
        watchdog.daemon = True
        watchdog.start()
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise OperationalError(f"E_SHELL over the released rows: {_first_line(error)}") from None
        finally:
            watchdog.cancel()

    def _create(self, name: str, types: dict[str, str]) -> None:
        columns = ", ".join(f'"{column}" {sql_type}' for column, sql_type in types.items())
        self._connection.execute(f'CREATE OR REPLACE TABLE released."{name}" ({columns})')

    def _insert(
        self, name: str, data: Sequence[Sequence[object]], types: dict[str, str], schema: str = "released"
    ) -> None:
        if data and data[0]:
            parts = ", ".join(f"unnest(?::{sql_type}[])" for sql_type in types.values())
            self._connection.execute(f'INSERT INTO {schema}."{name}" SELECT {parts}', [list(each) for each in data])

    def _declare_public(self, name: str) -> None:
        if name not in self._declared:
            columns = ", ".join(f'"{each}" {sql_type}' for each, sql_type in self._public_types(name).items())
            self._connection.execute(f'CREATE TABLE public."{name}" ({columns})')
            self._declared.add(name)

    def _fill_public(self, name: str) -> None:
        with self._lock:
            if name not in self._filled:
                rows = self._public_rows(name)
                self._insert(name, list(zip(*rows, strict=True)), self._public_types(name), "public")
                self._filled.add(name)

    def _public_types(self, name: str) -> dict[str, str]:
        return {each: engine_type(column.type) for each, column in self._schema.tables[name].columns.items()}


def _column_types(core: CorePlan) -> dict[str, str]:
    keys = {f"k{place}": engine_type(key.type) for place, key in enumerate(core.core.keys)}
    values = {f"a{place}": aggregate_type(each) for place, each in enumerate(core.core.aggregates)}
    return {"row": "BIGINT", **keys, **values}


def _columns(table: ReleasedTable) -> list[list[object]]:
    numbers: list[object] = list(range(len(table.keys)))
    keys = [list(column) for column in zip(*table.keys, strict=True)]
    return [numbers, *keys, *(list(column) for column in zip(*table.aggregates, strict=True))]


def _has_intervals(columns: Sequence[OutputColumn]) -> bool:
    """Whether some column of the result gets intervals; then the shell tells each row's place in the released table."""
    return any(column.aggregate is not None or column.simulated for column in columns)


def _source(select: exp.Select) -> str:
    source = select.args["from_"].this
    return str(source.alias_or_name)


def _trace(shell: exp.Query) -> list[tuple[int | None, bool]] | None:
    """For each output column, the aggregate that it is and whether it is computed row by row from aggregates.

    None where the rows of the result are not rows of one released table.
    """
    if not isinstance(shell, exp.Select) or shell.args.get("joins") or shell.args.get("group"):
        return None
    source = shell.args.get("from_")
    if shell.args.get("distinct") or source is None or not isinstance(source.this, exp.Table):
        return None
    if source.this.db != "released":
        return None
    traced: list[tuple[int | None, bool]] = []
    for item in shell.expressions:
        inner = item.unalias()
        if isinstance(inner, exp.Column):
            name = inner.name
            traced.append((int(name[1:]) if name.startswith("a") else None, False))
        else:
            read = {column.name[0] for column in inner.find_all(exp.Column)}
            plain = inner.find(exp.Window, exp.Query, exp.AggFunc) is None
            traced.append((None, plain and "a" in read))
    return traced


def _first_line(error: duckdb.Error) -> str:
    """What went wrong in the sandbox, without the engine's picture of the statement."""
    lines = str(error).strip().splitlines()
    if not lines:
        raise InternalError("the sandbox failed without a word")
    return lines[0]


#: What a statement without private aggregates releases.
NOTHING = Released(())
