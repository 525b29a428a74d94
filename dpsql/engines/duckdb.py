"""DuckDB as the engine: opened read-only and locked down, it runs what was charged and nothing else.

Proved in ``docs/proofs/river.md`` and ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from dpsql.engines.engine import Rowset
from dpsql.engines.exact import CoreRows, ExactRows
from dpsql.engines.version import files_version, with_journal
from dpsql.errors import ExecutionFailed, InternalError, OperationalError, SchemaError
from dpsql.instance import close_instance, open_instance
from dpsql.plan import CorePlan, Plan, Stage
from dpsql.privacy.accountant import Charge
from dpsql.query.derived import Derived
from dpsql.query.rewrite.scalar import engine_type
from dpsql.schema import Schema

#: Seconds after which a statement is stopped; its charge stays.
TIME_LIMIT = 600.0

_CONFIG: dict[str, Any] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "max_expression_depth": "1000",
}

#: Every function that emitted SQL may call, in the engine's own spelling; operators included.
_FUNCTIONS = frozenset(
    "!~~ % & * ** + - / // << >> | || ~ ~~ ~~* abs acos acosh age ascii asin asinh atan atan2 atanh bit_count cbrt "
    "ceil century chr coalesce contains cos cosh cot count count_star date_diff date_part date_sub date_trunc day "
    "dayname dayofweek dayofyear decade degrees epoch era even exp floor greatest hash hour ilike_escape isfinite "
    "isinf isnan isodow isoyear last_day least left length like_escape list list_value ln log10 log2 lower lpad "
    "ltrim make_date max microsecond millennium millisecond min minute month monthname nullif power quarter radians "
    "regexp_extract regexp_full_match regexp_matches regexp_replace replace reverse right round row_number rpad "
    "rtrim second sign sin sinh split_part sqrt starts_with strftime strlen strpos substring suffix sum tan tanh "
    "time_bucket to_days to_hours to_microseconds to_minutes to_months to_quarters to_seconds to_weeks to_years "
    "translate trim trunc try_strptime unicode upper week xor year yearweek".split()
)


#: Every kind of expression, and every other part of a query, that emitted SQL is made of, as the parser calls it.
_CLASSES = frozenset(
    "CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION OPERATOR STAR SUBQUERY TYPE WINDOW".split()
)
_PARTS = frozenset(
    "SELECT_NODE SET_OPERATION_NODE BASE_TABLE SUBQUERY JOIN EXPRESSION_LIST DISTINCT_MODIFIER ORDER_MODIFIER "
    "ORDER_DEFAULT DECIMAL_TYPE_INFO".split()
)


class DuckDBEngine:
    """The owner's data in a DuckDB file or a folder of Parquet, attached read-only under the name ``source``."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._deriving = threading.Lock()
        path = schema.source_path.resolve()
        self._folder = _parquet_files(schema, path) if path.is_dir() else None
        self._opened = files_version(with_journal(path))
        self._connection = open_instance(_CONFIG)
        try:
            if self._folder is not None:
                self._attach_folder(self._folder)
            else:
                self._connection.execute(f"ATTACH {_quoted(str(path))} AS source (READ_ONLY)")
                if files_version(with_journal(path)) != self._opened:
                    self._opened = None
            self._connection.execute("ATTACH ':memory:' AS derived")
            self._require_unique_parents()
            self._lock_down()
        except duckdb.Error:
            close_instance(self._connection)
            raise OperationalError("the data of this schema cannot be opened; see that `source` is right") from None

    def _attach_folder(self, files: Mapping[str, Path]) -> None:
        self._connection.execute("ATTACH ':memory:' AS source")
        for table, file in files.items():
            self._connection.execute(
                f'CREATE VIEW source.main."{table}" AS '
                f"SELECT * FROM read_parquet({_quoted(str(file))}, hive_partitioning = false)"
            )
        self._connection.execute(f"SET allowed_paths = [{', '.join(_quoted(str(file)) for file in files.values())}]")

    def _require_unique_parents(self) -> None:
        """A key on the way to the unit must be unique, or a row would have two units (`docs/proofs/stability.md`)."""
        for parent, column in sorted(self._parents()):
            row = self._connection.execute(
                f'SELECT count("{column}") = count(DISTINCT "{column}") FROM source.main."{parent}"'
            ).fetchone()
            if row is None or row[0] is not True:
                raise SchemaError(f"table {parent}, column {column}: is referenced on the way to the unit and is not "
                                  "unique in the data; mend the data or the reference")  # fmt: skip

    def _parents(self) -> set[tuple[str, str]]:
        private = (name for name, table in self._schema.tables.items() if not table.public)
        return {(step.parent, step.parent_column) for name in private for step in self._schema.owner(name).steps}

    def _lock_down(self) -> None:
        self._connection.execute("SET enable_external_access = false")
        if _has_setting(self._connection, "error_on_division_by_zero"):
            self._connection.execute("SET error_on_division_by_zero = false")
        self._connection.execute("SET lock_configuration = true")

    def run(self, charge: Charge[Plan]) -> DuckDBReading:
        """The reading of a plan that was paid for."""
        return DuckDBReading(charge.redeem(), self._connection.cursor(), self._deriving)

    def version(self) -> str | None:
        """That of the file that was opened, or of the Parquet files as they are now: statements open them again."""
        return self._opened if self._folder is None else files_version(list(self._folder.values()))

    def public_rows(self, table: str) -> list[tuple[object, ...]]:
        """The rows of a table that the schema declares public, in the order of its columns."""
        declared = self._schema.tables[table]
        if not declared.public:
            raise ExecutionFailed
        columns = ", ".join(f'"{column}"' for column in declared.columns)
        with suppress(duckdb.Error):
            return self._connection.cursor().execute(f'SELECT {columns} FROM source.main."{table}"').fetchall()
        raise ExecutionFailed

    def close(self) -> None:
        close_instance(self._connection)


class DuckDBReading:
    """A charged plan while it is run; the database ``derived`` is one reading's at a time, and empty after it.

    A failure is an ExecutionFailed, always with the same words, whatever the engine said.
    """

    def __init__(self, plan: Plan, cursor: duckdb.DuckDBPyConnection, deriving: threading.Lock) -> None:
        self._stages = list(plan.stages)
        self._derived = plan.derived
        self._cursor, self._deriving = cursor, deriving

    def __enter__(self) -> DuckDBReading:
        if self._derived:
            self._deriving.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):
            for table in self._derived:
                self._cursor.execute(f'DROP TABLE IF EXISTS derived.main."{table.name}"')
        self._cursor.close()
        if self._derived:
            self._deriving.release()

    def stage(self, derived: Sequence[Rowset]) -> ExactRows:
        """The exact rows of the cores of the next stage."""
        if not self._stages:
            raise InternalError("every stage of this charge was read; a second reading needs a charge of its own")
        stage = self._stages.pop(0)
        watchdog = threading.Timer(TIME_LIMIT, self._cursor.interrupt)
        watchdog.daemon = True
        watchdog.start()
        rows: list[CoreRows] | None = None
        with suppress(Exception):
            self._derive(stage, derived)
            rows = [self._rows(core) for core in stage.cores]
        watchdog.cancel()
        if rows is None:
            raise ExecutionFailed  # outside the handler, so that no chain of causes holds what the engine said
        return ExactRows(rows)

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def _derive(self, stage: Stage, derived: Sequence[Rowset]) -> None:
        for table, rows in zip(stage.derived, derived, strict=True):
            put_derived(self._cursor, table, rows)

    def _rows(self, core: CorePlan) -> CoreRows:
        require_planned(self._cursor, core.sql, core.tables, core.derived)
        return self._cursor.execute(core.sql).fetchall()


def _parquet_files(schema: Schema, folder: Path) -> dict[str, Path]:
    return {table: folder / f"{table}.parquet" for table in schema.tables}


def put_derived(cursor: duckdb.DuckDBPyConnection, table: Derived, rows: Rowset) -> None:
    """The rows as a table of the database ``derived``, in the types that the plan has for it."""
    types = [engine_type(sql_type) for sql_type in table.types]
    columns = ", ".join(f"c{place} {sql_type}" for place, sql_type in enumerate(types))
    cursor.execute(f'CREATE OR REPLACE TABLE derived.main."{table.name}" ({columns})')
    if rows:
        parts = ", ".join(f"unnest(?::{sql_type}[])" for sql_type in types)
        values = [list(column) for column in zip(*rows, strict=True)]
        cursor.execute(f'INSERT INTO derived.main."{table.name}" SELECT {parts}', values)


def require_planned(
    cursor: duckdb.DuckDBPyConnection, sql: str, planned: frozenset[str], derived: frozenset[str] = frozenset()
) -> None:
    """Ask the engine's own parser what the SQL touches; anything but the planned tables and known parts stops it."""
    if not sql.isascii() or not sql.isprintable():
        raise ExecutionFailed
    answer = cursor.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    parsed: dict[str, Any] = json.loads(answer[0]) if answer else {"error": True}
    if parsed.get("error") or len(parsed["statements"]) != 1:
        raise ExecutionFailed
    nodes = list(_nodes(parsed))
    tables = {
        (each.get("catalog_name", ""), each.get("schema_name", ""), each["table_name"])
        for each in nodes
        if each.get("type") == "BASE_TABLE"
    }
    own = {entry["key"] for each in nodes for entry in (each.get("cte_map") or {}).get("map", [])}
    read = {table for catalog, schema, table in tables if (catalog, schema) == ("source", "main")}
    made = {table for catalog, schema, table in tables if (catalog, schema) == ("derived", "main")}
    others = {
        table for catalog, schema, table in tables if (catalog, schema) not in (("source", "main"), ("derived", "main"))
    }
    functions = {each["function_name"].lower() for each in nodes if "function_name" in each}
    if read != planned or made != derived or not others <= own or not functions <= _FUNCTIONS:
        raise ExecutionFailed
    if not {each["class"] for each in nodes if "class" in each} <= _CLASSES:
        raise ExecutionFailed
    if not {each["type"] for each in nodes if "class" not in each and isinstance(each.get("type"), str)} <= _PARTS:
        raise ExecutionFailed
    if any(each.get("sample") is not None or _is_star_of_a_table(each) for each in nodes):
        raise ExecutionFailed


def _is_star_of_a_table(each: dict[str, Any]) -> bool:
    """Whether the node is a SELECT * of anything but constants."""
    starred = any(item.get("class") == "STAR" for item in each.get("select_list") or ())
    return starred and each["from_table"]["type"] != "EXPRESSION_LIST"


def _nodes(parsed: object) -> Iterator[dict[str, Any]]:
    """Every object in the parser's answer, at whatever depth."""
    pending = [parsed]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _has_setting(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM duckdb_settings() WHERE name = ?", [name]).fetchone() is not None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
