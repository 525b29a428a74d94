"""The owner's database with one unit left out, on which emitted SQL runs unchanged.

The data are never written.

The unit of a row is found by following the schema's references. Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb

from dpsql.engines.duckdb.attached_source import encipher, put_derived, run_core
from dpsql.engines.duckdb.emitted_sql_check import require_planned
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.in_memory import CAREFUL, close_instance, open_instance
from dpsql.engines.duckdb.reading import core_sql, derived_table
from dpsql.engines.duckdb.tables.views import attach
from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import CoreRows
from dpsql.engines.files.private_folders import remove_folder, spill_folder
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.planning.plan import CorePlan
from dpsql.schema import Schema
from dpsql.sql.binder.sources.derived_tables import DerivedQuery


def without_lost(schema: Schema, table: str) -> str:
    """The SQL of a table without the rows of units in ``audit.main.lost``; other rows stay."""
    if schema.tables[table].public:
        return f'SELECT * FROM data.main."{table}"'
    owner = schema.row_owner(table)
    if not owner.steps:
        subquery = f'SELECT 1 FROM audit.main.lost AS lost WHERE lost.unit = t0."{owner.column}"'
    else:
        first = owner.steps[0]
        subquery = (
            f'SELECT 1 FROM data.main."{first.parent}" AS t1{_joined(schema, table, 2)} JOIN audit.main.lost AS lost '
            f'ON lost.unit = t{len(owner.steps)}."{owner.column}" '
            f'WHERE t1."{first.parent_column}" = t0."{first.column}"'
        )
    return f'SELECT t0.* FROM data.main."{table}" AS t0 WHERE NOT EXISTS ({subquery})'


def owned(schema: Schema, table: str) -> tuple[str, str]:
    """The SQL of a private table joined to its unit, and the column of the unit."""
    owner = schema.row_owner(table)
    return (
        f'data.main."{table}" AS t0{_joined(schema, table, 1)}',
        f't{len(owner.steps)}."{owner.column}"',
    )


def rows_per_unit_sql(schema: Schema) -> str:
    """The SQL for the rows of each unit in each private table: ``tab``, ``unit``, ``n``."""
    parts = []
    for table, declared in schema.tables.items():
        if not declared.public:
            rows, unit = owned(schema, table)
            parts.append(
                f"SELECT '{table}' AS tab, {unit} AS unit, count(*) AS n FROM {rows} "
                f"WHERE {unit} IS NOT NULL GROUP BY 2"
            )
    return " UNION ALL ".join(parts)


def extreme_units(schema: Schema) -> list[str]:
    """For each ordered column, queries for the units with its greatest and its least value."""
    queries = []
    for table, declared in schema.tables.items():
        if declared.public:
            continue
        rows, unit = owned(schema, table)
        for column, other in declared.columns.items():
            if not (other.type.is_numeric or other.type.is_temporal):
                continue
            queries += [
                f'SELECT {side}({unit}, t0."{column}") AS unit FROM {rows} WHERE {unit} IS NOT NULL'
                for side in ("arg_max", "arg_min")
            ]
    return queries


def _joined(schema: Schema, table: str, first: int) -> str:
    """The joins towards the unit, from the step that leads to ``t{first}`` on."""
    steps = list(enumerate(schema.row_owner(table).steps, 1))[first - 1 :]
    return "".join(
        f' JOIN data.main."{step.parent}" AS t{index} ON t{index - 1}."{step.column}" = t{index}."{step.parent_column}"'
        for index, step in steps
    )


_CONFIG = {
    **CAREFUL,
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "python_enable_replacements": "false",
    "max_expression_depth": "1000",
}


class NeighbourDatabases:
    """A DuckDB of the audit: ``data`` is the owner's database, ``source`` its views without a unit.

    ``data`` is read-only.

    The SQL of a plan names ``source``, as in the engine, so it runs here unchanged. Units have
    numbers; their values stay in the in-memory database ``audit``.
    """

    def __init__(self, schema: Schema) -> None:
        self._folder = spill_folder(data_source_of(schema).limits)
        self._schema = schema
        self._connection = open_instance(_CONFIG | {"temp_directory": self._folder or ""})
        try:
            encipher(self._connection)
            self._attach()
        except duckdb.Error:
            self.close()
            raise OperationalError(
                "the data of this schema cannot be opened; see that `source` is right"
            ) from None

    def _attach(self) -> None:
        run = self._connection.execute
        attach(self._connection, data_source_of(self._schema), "data")
        for name in ("source", "derived", "audit"):
            run(f"ATTACH ':memory:' AS {name}")
        run(f"CREATE TABLE audit.main.sizes AS {rows_per_unit_sql(self._schema)}")
        run(
            "CREATE TABLE audit.main.chosen AS SELECT 0 AS number, unit FROM audit.main.sizes LIMIT 0"
        )
        run("CREATE TABLE audit.main.lost AS SELECT unit FROM audit.main.sizes LIMIT 0")
        for name in self._schema.tables:
            run(f'CREATE VIEW source.main."{name}" AS {without_lost(self._schema, name)}')
        if run(
            "SELECT 1 FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            run("SET error_on_division_by_zero = false")

    def choose(self, most: int, seed: int) -> list[int]:
        """Choose units to leave out; the result has their numbers.

        They are those with most rows in each table, those with rows in one table alone, those with
        the least and greatest values of columns, and random ones, ``most`` in all. Those with most
        rows are always chosen, even if they are more than ``most``.
        """
        run = self._connection.execute
        run("DELETE FROM audit.main.chosen")
        private = [name for name, table in self._schema.tables.items() if not table.public]
        units = "SELECT unit FROM audit.main.sizes"
        queries = [
            f"{units} WHERE tab = '{name}' ORDER BY n DESC, hash(unit) LIMIT 1" for name in private
        ]
        heaviest = len(queries)
        queries += [
            f"{units} GROUP BY unit HAVING count(*) = 1 AND min(tab) = '{name}' ORDER BY hash(unit) LIMIT 1"
            for name in private
        ]
        queries += extreme_units(self._schema)
        queries.append(f"{units} GROUP BY unit ORDER BY hash(unit, {seed}) LIMIT {most}")
        for index, query in enumerate(queries):
            first = index * 10**6
            run(
                f"INSERT INTO audit.main.chosen SELECT {first} + row_number() OVER (), unit FROM ({query}) AS q "
                "WHERE unit IS NOT NULL"
            )
        rows = run("SELECT min(number) FROM audit.main.chosen GROUP BY unit ORDER BY 1").fetchall()
        numbers = [number for (number,) in rows]
        always = sum(number < heaviest * 10**6 for number in numbers)
        return numbers[: max(most, always)]

    @contextmanager
    def without(self, number: int) -> Iterator[None]:
        """Leave out one of the chosen units inside the block."""
        self._connection.execute(
            "INSERT INTO audit.main.lost SELECT unit FROM audit.main.chosen WHERE number = ?",
            [number],
        )
        try:
            yield
        finally:
            self._connection.execute("DELETE FROM audit.main.lost")

    def rows(self, core: CorePlan) -> CoreRows | None:
        """The exact rows of a core by the SQL of its plan; None if the engine fails."""
        try:
            return run_core(self._connection, core_sql(core))
        except duckdb.InterruptException:
            raise
        except duckdb.Error:
            return None

    def is_planned(self, core: CorePlan) -> bool:
        """Whether the engine's parser sees in the SQL only what was planned."""
        try:
            require_planned(self._connection.cursor(), core.sql, core.tables, core.derived)
        except ExecutionFailed:
            return False
        return True

    def put(self, table: DerivedQuery, rows: DerivedRows) -> None:
        """Set the rows of a derived table, which all neighbours read."""
        put_derived(self._connection, derived_table(table), rows)

    def public_rows(self, table: str) -> Sequence[tuple[object, ...]]:
        """The rows of a public table, for the sandbox."""
        columns = ", ".join(f'"{column}"' for column in self._schema.tables[table].columns)
        return (
            self._connection.cursor()
            .execute(f'SELECT {columns} FROM source.main."{table}"')
            .fetchall()
        )

    def public_count(self, sql: str, tables: frozenset[str]) -> int:
        """The number that a query of dpsql's own over public tables gives."""
        (number,) = self.public_row(sql, tables)
        return int(number)  # type: ignore[call-overload,no-any-return]

    def public_row(self, sql: str, tables: frozenset[str]) -> Sequence[object]:
        """The one row that a query of dpsql's own over public tables gives."""
        (row,) = self._looked_up(sql, tables)
        return row

    def public_column(self, sql: str, tables: frozenset[str]) -> list[object]:
        """The values of the one column that a query of dpsql's own over public tables gives."""
        return [value for (value,) in self._looked_up(sql, tables)]

    def _looked_up(self, sql: str, tables: frozenset[str]) -> list[tuple[object, ...]]:
        if not all(self._schema.tables[table].public for table in tables):
            raise ExecutionFailed
        require_planned(self._connection.cursor(), sql, tables)
        return self._connection.cursor().execute(sql).fetchall()

    def is_unique(self, table: str, column: str) -> bool:
        """Whether a column holds no value twice."""
        row = self._connection.execute(
            f'SELECT count("{column}") = count(DISTINCT "{column}") FROM data.main."{table}"'
        ).fetchone()
        return row is not None and row[0] is True

    def interrupt(self) -> None:
        """Interrupt the running query; any thread may call it."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the data and remove spilled files."""
        close_instance(self._connection)
        remove_folder(self._folder)
