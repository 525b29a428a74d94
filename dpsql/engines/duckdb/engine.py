"""DuckDB as the engine: it runs what was charged and nothing else,
in this process or in one of its own.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/stability.md`` and
``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from dpsql.engines.data import Data, HeldData
from dpsql.engines.duckdb.dry_run import DryRun
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.reading import DuckDBReading, core_sqls, derived_table, started_watchdog
from dpsql.engines.duckdb.table_locations import (
    csv_of,
    file_kind,
    places_of,
    source_kind,
    unit_column_of,
)
from dpsql.engines.duckdb.tables.row_units import unit_type
from dpsql.engines.files.private_folders import most_spilled
from dpsql.engines.files.table_files import files_of
from dpsql.engines.source import (
    CoreSql,
    DataSource,
    EngineDied,
    NotOpened,
    ResourceLimits,
    SourceKind,
    StoredColumn,
    StoredTable,
    UnfitColumn,
    ValueRows,
)
from dpsql.errors import (
    Error,
    ExecutionFailed,
    OperationalError,
    SchemaError,
    incident_note,
    statement_incident,
)
from dpsql.errors.owners_log import record, swallowed
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Charge
from dpsql.schema import ITS_UNIT, Schema, Table
from dpsql.schema.validation import apart_in
from dpsql.sql.emit import Dialect
from dpsql.sql.emit.duckdb import DUCKDB


class DuckDBEngine:
    """The owner's data in a database file, or in files of rows; ``opens`` opens them,
    in this process or another.
    """

    dialect: Final[Dialect] = DUCKDB

    def __init__(self, schema: Schema, opens: Callable[[DataSource], Data] = LocalData) -> None:
        self._schema = schema
        self._data = opened(opens, data_source_of(schema))
        self._dry = DryRun(tables_of(schema))

    def dry_run(self, plan: Plan) -> None:
        """What parsing, checking, binding and planning say of the plan's SQL on empty tables;
        the data are not near.
        """
        self._dry.require(
            (list(map(derived_table, stage.derived)), core_sqls(stage)) for stage in plan.stages
        )

    def hold(self, opening: Callable[[], None] = lambda: None) -> DuckDBVersion:
        """The version of the data as they are now, opened if it was not:
        ``opening`` is called before that.
        """
        return DuckDBVersion(self, self._data.hold(opening))

    def run(self, charge: Charge[Plan], held: DuckDBVersion | None = None) -> DuckDBReading:
        """The reading of a plan that was paid for, of the version that is held,
        or of one that it holds itself.
        """
        plan = charge.redeem()
        seconds = float(self._schema.engine.seconds)
        if held is not None:
            return DuckDBReading(plan, held.data, seconds)
        version = self._data.hold()
        return DuckDBReading(plan, version, seconds, version)

    def version(self) -> str | None:
        """That of the files as they are now, which the next statement reads."""
        return self._data.version

    def public_rows(self, table: str, opening: Callable[[], None] = lambda: None) -> ValueRows:
        """The rows of a table that the schema declares public, in the order of its columns."""
        if not self._schema.tables[table].public:
            raise ExecutionFailed
        for hold in self._holds(opening):
            with hold, swallowed("reading a public table"):
                return hold.public_rows(table)
        raise ExecutionFailed

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        """The number that the SQL gives, which may read these tables; they are public,
        so no charge is needed.
        """
        (number,) = self.public_row(sql, tables, opening)
        return int(number)  # type: ignore[call-overload,no-any-return]

    def public_row(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> Sequence[object]:
        """The one row that the SQL gives, which may read these tables; they are public,
        so no charge is needed.
        """
        rows = self._looked_up(sql, tables, opening)
        if len(rows) != 1:
            raise ExecutionFailed
        return rows[0]

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        """The values of the one column that the SQL gives, which may read these tables;
        they are public.
        """
        return [value for (value,) in self._looked_up(sql, tables, opening)]

    def _looked_up(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None]
    ) -> ValueRows:
        if not all(self._schema.tables[table].public for table in tables):
            raise ExecutionFailed
        for hold in self._holds(opening):
            with hold, swallowed("looking at public tables"):
                cursor = hold.cursor()
                watchdog = started_watchdog(float(self._schema.engine.seconds), cursor)
                try:
                    return cursor.rows([], [CoreSql(sql, tables, frozenset())])[0]
                finally:
                    cursor.close([], watchdog.cancel)
        raise ExecutionFailed("public tables could not be read; nothing was charged")

    def _holds(self, opening: Callable[[], None]) -> Iterator[HeldData]:
        """The version of now, and once more if its engine has died meanwhile:
        what is public may be read again.
        """
        first = self._data.hold(opening)
        yield first
        if not first.alive:
            yield self._data.hold(opening)

    def close(self) -> None:
        """Give the data back, and the empty tables."""
        self._data.close()
        self._dry.close()


class DuckDBVersion:
    """One version of the data, for all that is charged together;
    it stays open until this is left.
    """

    def __init__(self, engine: DuckDBEngine, data: HeldData) -> None:
        self._engine = engine
        self.data = data

    @property
    def version(self) -> str | None:
        return self.data.version

    def run(self, charge: Charge[Plan]) -> DuckDBReading:
        """The reading of a plan that was paid for, of this version."""
        return self._engine.run(charge, self)

    def __enter__(self) -> DuckDBVersion:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.data.__exit__(kind, error, trace)


def tables_of(schema: Schema) -> dict[str, dict[str, str]]:
    """The columns of each declared table in the engine's types."""
    tables = {
        name: {column: DUCKDB.type_name(other.type) for column, other in table.columns.items()}
        for name, table in schema.tables.items()
    }
    units = unit_column_of(schema)
    for name in () if units is None else units.links:
        tables[name][ITS_UNIT] = unit_type(DUCKDB.type_name(schema.unit_type))
    return tables


def data_source_of(schema: Schema) -> DataSource:
    """What an engine is told of the schema's data."""
    path = schema.source_pattern.absolute()
    kind = source_kind(path)
    places = places_of(schema)
    tables = {name: _stored(table, places[name], kind) for name, table in schema.tables.items()}
    public = {name: tuple(table.columns) for name, table in schema.tables.items() if table.public}
    settings = schema.engine
    limits = ResourceLimits(
        settings.memory_bytes, settings.threads, most_spilled(settings.spill_bytes)
    )
    written = [
        pair
        for name, table in tables.items()
        if table.kind == "parquet"
        for pair in _columns_to_verify(schema, name)
    ]
    apart = tuple(sorted(apart_in(schema.tables, schema.unit)))
    unique = tuple(sorted(schema.unique))
    units = unit_column_of(schema)
    return DataSource(
        str(path),
        kind,
        tables=tables,
        unique=unique,
        public=public,
        limits=limits,
        written=tuple(written),
        apart=apart,
        units=units,
    )


def _stored(table: Table, path: str, kind: SourceKind) -> StoredTable:
    columns = tuple(
        StoredColumn(
            name,
            column.column or (name,),
            DUCKDB.type_name(column.type),
            column.reading,
            nulls=column.nulls,
        )
        for name, column in table.columns.items()
    )
    if kind != "files":
        return StoredTable(path, "database", columns)
    return StoredTable(path, file_kind(path), columns, csv_of(path, table))


def _columns_to_verify(schema: Schema, name: str) -> list[tuple[str, str]]:
    """The columns of a private table in which Parquet may hold what the engine cannot read, moments
    first: if its file sums up one that is none, no column of it is read."""
    table = schema.tables[name]
    columns = [
        (other.type.facts.doubtful_in_parquet, column) for column, other in table.columns.items()
    ]
    doubtful = sorted(
        (order, index) for index, (order, _) in enumerate(columns) if order is not None
    )
    places = [path for _, path in doubtful] or range(len(columns[:1]))
    return [] if table.public else [(name, columns[index][1]) for index in places]


def opened(opens: Callable[[DataSource], Data], source: DataSource) -> Data:
    """The source, opened; SchemaError if a column or a table of it is unfit,
    with what its owner can do.

    OperationalError if it cannot be opened; what the engine said of it reaches nobody.
    """
    try:
        return opens(source)
    except UnfitColumn as error:
        failure: Error = SchemaError(f"{_place_of(error, source)}: {error.said}")
    except (NotOpened, EngineDied) as error:
        failure = not_opened(error)
    raise failure


def not_opened(error: NotOpened | EngineDied) -> OperationalError:
    """The error for data that cannot be opened;
    what the engine said of it goes to the owner's log alone.
    """
    with statement_incident() as number:
        record("opening the data", error)
    failure = OperationalError(
        "the data of this schema cannot be opened; see that `source` is right; nothing was charged for it"
    )
    failure.add_note(incident_note(number))
    return failure


def _place_of(error: UnfitColumn, source: DataSource) -> str:
    """Where in the data it is, in words."""
    where = (
        f"table {error.table}, column {error.column}" if error.column else f"table {error.table}"
    )
    if not error.line:
        return where
    files = files_of(Path(source.tables[error.table].place))
    name = files[error.file].name if error.file < len(files) else "a file"
    return f"{where}, {name}, line {error.line:,}"
