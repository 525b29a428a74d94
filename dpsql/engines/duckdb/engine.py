"""DuckDB as the engine: it runs what was charged and nothing else, in this process or in one of its own.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/stability.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from dpsql.engines.duckdb.dry_run import DryRun
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.table_locations import csv_of, file_kind, places_of, source_kind, unit_column_of
from dpsql.engines.duckdb.tables.row_units import unit_type
from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.engines.files.private_folders import most_spilled
from dpsql.engines.files.table_files import files_of
from dpsql.engines.source import (
    CoreSql,
    Data,
    DataCursor,
    DataSource,
    DerivedTable,
    HeldData,
    NotOpened,
    ResourceLimits,
    SourceKind,
    StoredColumn,
    StoredTable,
    UnfitColumn,
    ValueRows,
)
from dpsql.errors import Error, ExecutionFailed, InternalError, OperationalError, SchemaError
from dpsql.errors.deadline import is_over, taken
from dpsql.errors.owners_log import record, swallowed
from dpsql.planning.plan import CorePlan, Plan, Stage
from dpsql.privacy.accountant import Charge
from dpsql.schema import ITS_UNIT, Schema, Table
from dpsql.schema.validation import apart_in
from dpsql.sql.binder.sources.derived_tables import DerivedQuery
from dpsql.sql.emit import Dialect
from dpsql.sql.emit.duckdb import DUCKDB


class DuckDBEngine:
    """The owner's data in a database file, or in files of rows; ``opens`` opens them, in this process or another."""

    dialect: Final[Dialect] = DUCKDB

    def __init__(self, schema: Schema, opens: Callable[[DataSource], Data] = LocalData) -> None:
        self._schema = schema
        self._data = opened(opens, data_source_of(schema))
        self._dry = DryRun(tables_of(schema))

    def dry_run(self, plan: Plan) -> None:
        """What parsing, checking, binding and planning say of the plan's SQL on empty tables; the data are not near."""
        self._dry.require((list(map(derived_table, stage.derived)), core_sqls(stage)) for stage in plan.stages)

    def hold(self, opening: Callable[[], None] = lambda: None) -> DuckDBVersion:
        """The version of the data as they are now, opened where it was not: ``opening`` is called before that."""
        return DuckDBVersion(self, self._data.hold(opening))

    def run(self, charge: Charge[Plan], held: DuckDBVersion | None = None) -> DuckDBReading:
        """The reading of a plan that was paid for, of the version that is held, or of one that it holds itself."""
        plan, seconds = charge.redeem(), float(self._schema.engine.seconds)
        if held is not None:
            return DuckDBReading(plan, held.data, seconds)
        own = self._data.hold()
        return DuckDBReading(plan, own, seconds, own)

    def version(self) -> str | None:
        """That of the files as they are now, which the next statement reads."""
        return self._data.version

    def public_rows(self, table: str, opening: Callable[[], None] = lambda: None) -> ValueRows:
        """The rows of a table that the schema declares public, in the order of its columns."""
        if not self._schema.tables[table].public:
            raise ExecutionFailed
        with self._data.hold(opening) as held, swallowed("reading a public table"):
            return held.public_rows(table)
        raise ExecutionFailed

    def public_count(self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None) -> int:
        """The number that the SQL gives, which may read these tables; they are public, so no charge is needed."""
        (number,) = self.public_row(sql, tables, opening)
        return int(number)  # type: ignore[call-overload,no-any-return]

    def public_row(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> Sequence[object]:
        """The one row that the SQL gives, which may read these tables; they are public, so no charge is needed."""
        rows = self._looked_up(sql, tables, opening)
        if len(rows) != 1:
            raise ExecutionFailed
        return rows[0]

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        """The values of the one column that the SQL gives, which may read these tables; they are public."""
        return [value for (value,) in self._looked_up(sql, tables, opening)]

    def _looked_up(self, sql: str, tables: frozenset[str], opening: Callable[[], None]) -> ValueRows:
        if not all(self._schema.tables[table].public for table in tables):
            raise ExecutionFailed
        with self._data.hold(opening) as held, swallowed("looking at public tables"):
            cursor = held.cursor()
            watchdog = threading.Timer(float(self._schema.engine.seconds), cursor.stop)
            watchdog.daemon = True
            watchdog.start()
            try:
                return cursor.rows([], [CoreSql(sql, tables, frozenset())])[0]
            finally:
                cursor.close([], watchdog.cancel)
        raise ExecutionFailed

    def close(self) -> None:
        """Give the data back, and the empty tables."""
        self._data.close()
        self._dry.close()


class DuckDBVersion:
    """One version of the data, for all that is charged together; it stays open until this is left."""

    def __init__(self, engine: DuckDBEngine, data: HeldData) -> None:
        self._engine, self.data = engine, data

    @property
    def version(self) -> str | None:
        return self.data.version

    def run(self, charge: Charge[Plan]) -> DuckDBReading:
        """The reading of a plan that was paid for, of this version."""
        return self._engine.run(charge, self)

    def __enter__(self) -> DuckDBVersion:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.data.__exit__(kind, error, trace)


class DuckDBReading:
    """A charged plan while it is run; the database ``derived`` is one reading's at a time, and empty after it.

    A failure is an ExecutionFailed, always with the same words, whatever the engine said. ``seconds`` is the most that
    a stage may take; ``own`` is what this holds itself.
    """

    def __init__(self, plan: Plan, data: HeldData, seconds: float, own: HeldData | None = None) -> None:
        self._stages, self._seconds, self._own = list(plan.stages), seconds, own
        self._derived = [table.name for table in plan.derived]
        self._cursor: DataCursor = data.cursor()
        self._deriving = data.deriving if self._derived else None
        self._watchdog: threading.Timer | None = None

    def __enter__(self) -> DuckDBReading:
        last = time.monotonic() + self._seconds
        if self._deriving is not None and not taken(self._deriving, lambda: is_over() or time.monotonic() > last):
            self._deriving = None
            self._let_go()
            raise ExecutionFailed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):
            self._cursor.close(self._derived, self._let_go)

    def _let_go(self) -> None:
        """Nothing is read any more: others may derive tables, and the version may end."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._deriving is not None:
            self._deriving.release()
        if self._own is not None:
            self._own.__exit__(None, None, None)

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        """The exact rows of the cores of the next stage."""
        if not self._stages:
            raise InternalError("every stage of this charge was read; a second reading needs a charge of its own")
        stage = self._stages.pop(0)
        self._watchdog = watchdog = threading.Timer(self._seconds, self._cursor.stop)
        watchdog.daemon = True
        watchdog.start()
        rows: list[CoreRows] | None = None
        with swallowed("reading"):
            rows = self._rows(stage, derived)
        if rows is None:
            raise ExecutionFailed  # outside the handler, so that no chain of causes holds what the engine said
        watchdog.cancel()
        return ExactRows(rows)

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def _rows(self, stage: Stage, derived: Sequence[DerivedRows]) -> list[CoreRows]:
        tables = [derived_table(table) for table in stage.derived]
        pairs = list(zip(tables, derived, strict=True))
        return [list(rows) for rows in self._cursor.rows(pairs, core_sqls(stage))]


def core_sql(core: CorePlan) -> CoreSql:
    """What the engine is given of a core."""
    return CoreSql(core.sql, core.tables, core.derived, len(core.core.keys), len(core.histograms))


def core_sqls(stage: Stage) -> list[CoreSql]:
    """What the engine is given of the stage's cores."""
    return [core_sql(core) for core in stage.cores]


def tables_of(schema: Schema) -> dict[str, dict[str, str]]:
    """The columns of each declared table in the engine's types."""
    tables = {
        name: {column: DUCKDB.type_name(its.type) for column, its in table.columns.items()}
        for name, table in schema.tables.items()
    }
    units = unit_column_of(schema)
    for name in () if units is None else units.links:
        tables[name][ITS_UNIT] = unit_type(DUCKDB.type_name(schema.unit_type))
    return tables


def derived_table(table: DerivedQuery) -> DerivedTable:
    """The table as the engine makes it."""
    return DerivedTable(table.name, tuple(DUCKDB.type_name(sql_type) for sql_type in table.types))


def data_source_of(schema: Schema) -> DataSource:
    """What an engine is told of the schema's data."""
    path = schema.source_pattern.absolute()
    kind = source_kind(path)
    places = places_of(schema)
    tables = {name: _stored(table, places[name], kind) for name, table in schema.tables.items()}
    public = {name: tuple(table.columns) for name, table in schema.tables.items() if table.public}
    settings = schema.engine
    limits = ResourceLimits(settings.memory_bytes, settings.threads, most_spilled(settings.spill_bytes))
    written = [
        pair for name, table in tables.items() if table.kind == "parquet" for pair in _columns_to_verify(schema, name)
    ]
    apart = tuple(sorted(apart_in(schema.tables, schema.unit)))
    unique, units = tuple(sorted(schema.unique)), unit_column_of(schema)
    return DataSource(str(path), kind, tables, unique, public, limits, tuple(written), apart, units=units)


def _stored(table: Table, place: str, kind: SourceKind) -> StoredTable:
    columns = tuple(
        StoredColumn(name, its.column or (name,), DUCKDB.type_name(its.type), its.reading, its.nulls)
        for name, its in table.columns.items()
    )
    if kind != "files":
        return StoredTable(place, "database", columns)
    return StoredTable(place, file_kind(place), columns, csv_of(place, table))


def _columns_to_verify(schema: Schema, name: str) -> list[tuple[str, str]]:
    """The columns of a private table in which Parquet may hold what the engine cannot read, moments first: where its
    file sums up one that is none, no column of it is read."""
    table = schema.tables[name]
    columns = [(its.type.facts.doubtful_in_parquet, column) for column, its in table.columns.items()]
    doubtful = sorted((order, place) for place, (order, _) in enumerate(columns) if order is not None)
    places = [place for _, place in doubtful] or range(len(columns[:1]))
    return [] if table.public else [(name, columns[place][1]) for place in places]


def opened(opens: Callable[[DataSource], Data], source: DataSource) -> Data:
    """The source, opened; SchemaError where a column or a table of it is unfit, with what its owner can do.

    OperationalError where it cannot be opened; what the engine said of it reaches nobody.
    """
    failure: Error = OperationalError("the data of this schema cannot be opened; see that `source` is right")
    try:
        return opens(source)
    except UnfitColumn as error:
        failure = SchemaError(f"{_place_of(error, source)}: {error.said}")
    except NotOpened as error:
        record("opening the data", error)
    raise failure


def _place_of(error: UnfitColumn, source: DataSource) -> str:
    """Where in the data it is, in words."""
    where = f"table {error.table}, column {error.column}" if error.column else f"table {error.table}"
    if not error.line:
        return where
    files = files_of(Path(source.tables[error.table].place))
    name = files[error.file].name if error.file < len(files) else "a file"
    return f"{where}, {name}, line {error.line:,}"
