"""Private databases for tests: a schema, tables whose rows are SQL literals,
and their neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import duckdb
from kinds import KINDS

from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.in_memory import CAREFUL
from dpsql.engines.duckdb.tables.row_units import BARE, add_units
from dpsql.postprocessing import PostProcessor
from dpsql.schema import Schema
from dpsql.schema.load import validated
from dpsql.session.public_sizes import PublicSizes
from dpsql.sql.emit import Dialect
from dpsql.sql.emit.duckdb import DUCKDB

NULL = "NULL"


@dataclass(frozen=True)
class Column:
    """A column: its name, its engine type, its kind (None for keys),
    whether it is declared nullable.
    """

    name: str
    engine: str
    kind: str | None
    nullable: bool = False
    role: str = "plain"  # unit, key, parent (a reference to a private parent), plain


@dataclass(frozen=True)
class Table:
    """A table with its rows; ``parent`` names the table and the column that ``link`` refers to."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    parent: tuple[str, str] | None = None
    link: str | None = None
    public: bool = False
    limits: tuple[tuple[str, int], ...] = ()
    key: str | None = None

    def place(self, name: str) -> int:
        return [column.name for column in self.columns].index(name)

    def of_role(self, role: str) -> str | None:
        return next((column.name for column in self.columns if column.role == role), None)


@dataclass(frozen=True)
class World:
    """A private database and what its owner declares."""

    seed: int
    tables: tuple[Table, ...]
    privacy: tuple[tuple[str, Any], ...]

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    @property
    def home(self) -> Table:
        """The unit's own table."""
        return self.tables[0]

    @cached_property
    def schema(self) -> Schema:
        return validated(self.document, f"world {self.seed}")

    @property
    def document(self) -> dict[str, Any]:
        unit = self.home.of_role("unit")
        return {
            "name": "world",
            "source": "world.duckdb",
            "privacy": {"unit": f"{self.home.name}.{unit}", **dict(self.privacy)},
            "tables": {table.name: _declaration(table) for table in self.tables},
        }

    def owner(self, table: Table, row: tuple[str, ...]) -> str | None:
        """The unit of a row, found by following references in Python; None for a row of nobody.

        With ``orphans = "each"`` no row is nobody's.
        """
        if table.parent is None:
            unit = row[table.place(table.of_role("unit") or "")]
            return self._alone(table, row) if unit == NULL else unit
        assert table.link is not None
        parent_name, parent_column = table.parent
        link = row[table.place(table.link)]
        if link == NULL:
            return self._alone(table, row)
        parent = self.table(parent_name)
        if parent is self.home and parent_column == parent.of_role("unit"):
            return link
        above = [each for each in parent.rows if each[parent.place(parent_column)] == link]
        if above:
            return self.owner(parent, above[0])
        return f"key {parent_name}.{parent_column} {link}" if self.has_orphans else None

    def _alone(self, table: Table, row: tuple[str, ...]) -> str | None:
        """The unit of a row without a unit: itself, and no other row that holds the same."""
        if not self.has_orphans:
            return None
        place = next(place for place, each in enumerate(table.rows) if each is row)
        return f"row {table.name} {place}"

    @property
    def has_orphans(self) -> bool:
        """Whether rows without a unit are each a unit of their own."""
        return ("orphans", "each") in self.privacy

    def with_orphans(self) -> World:
        """This world where rows without a unit are each a unit of their own."""
        return World(self.seed, self.tables, (*self.privacy, ("orphans", "each")))

    def place_of(self, table: Table) -> str:
        """The name under which the rows of a table are stored;
        statements may read a view of them.
        """
        return f'source.{BARE if self.has_orphans and not table.public else "main"}."{table.name}"'

    @cached_property
    def units(self) -> list[str]:
        """Every unit that has a row anywhere."""
        private = [table for table in self.tables if not table.public]
        found = {self.owner(table, row) for table in private for row in table.rows}
        return sorted(unit for unit in found if unit is not None)

    def without(self, unit: str) -> World:
        """The neighbour that lacks all rows of one unit."""
        return self._kept(lambda table, row: table.public or self.owner(table, row) != unit)

    def without_row(self, name: str, place: int) -> World:
        rows = self.table(name).rows
        lost = rows[place]
        return self._kept(lambda table, row: table.name != name or row is not lost)

    def _kept(self, keep: Any) -> World:
        tables = tuple(
            replace(table, rows=tuple(row for row in table.rows if keep(table, row)))
            for table in self.tables
        )
        return World(self.seed, tables, self.privacy)

    def shuffled(self, seed: int) -> World:
        """The same rows in another physical order."""
        random = Random(seed)
        tables = tuple(
            replace(table, rows=tuple(random.sample(table.rows, len(table.rows))))
            for table in self.tables
        )
        return World(self.seed, tables, self.privacy)

    def script(self, catalog: str | None = None) -> str:
        """The database as SQL."""
        lines = []
        for table in self.tables:
            place = self.place_of(table) if catalog is None else f'{catalog}"{table.name}"'
            columns = ", ".join(f'"{column.name}" {column.engine}' for column in table.columns)
            lines.append(f"CREATE TABLE {place} ({columns});")
            if table.rows:
                values = ", ".join(f"({', '.join(row)})" for row in table.rows)
                lines.append(f"INSERT INTO {place} VALUES {values};")
        return "\n".join(lines)

    def public_rows(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a public table."""
        with self.connect() as connection:
            return connection.execute(f'FROM source.main."{name}"').fetchall()

    @cached_property
    def public_fanout(self) -> PublicSizes:
        """The sizes of the public tables, and the values of their columns."""
        return PublicSizes(_PublicTables(self))

    @cached_property
    def shell(self) -> PostProcessor:
        """A sandbox with the public tables of the world."""
        return PostProcessor(self.schema, self.public_rows)

    def connect(self, threads: int = 1) -> duckdb.DuckDBPyConnection:
        """The database as plain DuckDB holds it,
        under the catalogue name that emitted SQL reads.
        """
        connection = duckdb.connect(":memory:", config={"threads": threads, **CAREFUL})
        connection.execute("ATTACH ':memory:' AS source; ATTACH ':memory:' AS derived")
        if connection.execute(
            "FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            connection.execute("SET error_on_division_by_zero = false")
        connection.execute(f"CREATE SCHEMA source.{BARE}")
        connection.execute(self.script())
        source = data_source_of(self.schema)
        if source.units is not None:
            add_units(connection, source.tables, source.units, "source")
        return connection


def _declaration(table: Table) -> dict[str, Any]:
    columns = {}
    for column in table.columns:
        if column.kind is None:
            declared: dict[str, Any] = {"type": "text" if column.engine == "VARCHAR" else "integer"}
        else:
            declared = dict(KINDS[column.kind].declared)
        columns[column.name] = declared | ({"nullable": True} if column.nullable else {})
    whole: dict[str, Any] = {"columns": columns} | dict(table.limits)
    if table.public:
        whole["public"] = True
    if table.key is not None:
        whole["key"] = table.key
    if table.parent is not None:
        whole["references"] = {table.link: ".".join(table.parent)}
    return whole


@dataclass(frozen=True)
class _PublicTables:
    """What is counted and listed of the public tables of a world."""

    world: World
    dialect: Dialect = DUCKDB

    def version(self) -> str:
        """A world never changes."""
        return "world"

    def public_count(self, sql: str, tables: frozenset[str]) -> int:
        """The number that the SQL gives."""
        (number,) = self.public_column(sql, tables)
        assert isinstance(number, int)
        return number

    def public_column(self, sql: str, tables: frozenset[str]) -> list[object]:
        """The values of the one column that the SQL gives."""
        with self.world.connect() as connection:
            return [value for (value,) in connection.execute(sql).fetchall()]
