"""Generated private databases: a schema, tables whose rows are SQL literals, and their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Any

import duckdb

from dpsql.schema import Schema
from dpsql.schema.load import validated
from dpsql.shell import Shell

NULL = "NULL"


@dataclass(frozen=True)
class Kind:
    """A kind of column: its engine types, what the schema declares of it, and tame and nasty values of it."""

    engine: tuple[str, ...]
    declared: dict[str, Any]
    tame: tuple[str, ...]
    nasty: tuple[str, ...]

    @property
    def family(self) -> str:
        return str(self.declared["type"]).partition("(")[0]

    @property
    def bounded(self) -> bool:
        return "bounds" in self.declared


def _doubles(*numbers: str) -> tuple[str, ...]:
    return tuple(f"'{number}'::DOUBLE" for number in numbers)


_FLOATS = _doubles("nan", "inf", "-inf", "-0.0", "1e308", "-1e308", "5e-324", "1e-320", "9007199254740993",
                   "1.0000000000000002", "0.1", "4.9999999999999999e-1")  # fmt: skip
_DATES = tuple(f"'{day}'::DATE" for day in ("infinity", "-infinity", "4714-01-01 (BC)", "5881580-07-10", "0001-01-01",
                                            "2019-12-31", "2021-01-01", "9999-12-31"))  # fmt: skip
_MOMENTS = tuple(f"'{moment}'::TIMESTAMP" for moment in (
    "infinity", "-infinity", "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806", "1969-12-31 23:59:59.999999",
    "2021-01-01 00:00:00"))  # fmt: skip
_TEXTS = ("''", "'a'", "'A '", "'Ä'", "'e' || chr(769)", "chr(233)", "chr(128512)", "'x%_\\'", "'1e400'", "'ss'")

KINDS: dict[str, Kind] = {
    "small": Kind(("INTEGER", "SMALLINT", "TINYINT", "BIGINT"), {"type": "integer", "bounds": [0, 5]},
                  ("0", "1", "2", "3", "5"), ("-1", "6", "127", "-128")),
    "wide": Kind(("INTEGER", "BIGINT"), {"type": "integer", "bounds": [-1000, 100_000]},
                 ("0", "7", "-1000", "100000", "52000"), ("2147483647", "-2147483648", "-1001", "100001")),
    "vast": Kind(("BIGINT",), {"type": "integer", "bounds": [-(2**44), 2**44]}, ("0", "5", "17592186044416"),
                 ("9223372036854775807", "-9223372036854775808", "9007199254740993", "-17592186044417")),
    "above": Kind(("INTEGER",), {"type": "integer", "bounds": [1000, 1010]}, ("1000", "1004", "1010"), ("0", "5000")),
    "loose": Kind(("BIGINT", "INTEGER"), {"type": "integer"}, ("0", "1", "2"), ("2147483647", "-2147483648")),
    "price": Kind(("DECIMAL(12,2)",), {"type": "decimal(12,2)", "bounds": [0, 500]}, ("0.00", "19.99", "500.00", "7.5"),
                  ("500.01", "-0.01", "9999999999.99", "-9999999999.99")),
    "ledger": Kind(("DECIMAL(38,6)",), {"type": "decimal(38,6)", "bounds": [Decimal("-1000.5"), Decimal("1000.5")]},
                   ("0.000001", "-1000.5", "12.25"), ("99999999999999999999999999999999.999999", "-1000.500001")),
    "share": Kind(("DOUBLE", "FLOAT"), {"type": "double", "bounds": [0, 1]}, ("0.25::DOUBLE", "1::DOUBLE", "0::DOUBLE"),
                  (*_FLOATS[:4], "'1e38'::FLOAT", "'-1e-40'::FLOAT")),
    "signed": Kind(("DOUBLE",), {"type": "double", "bounds": [-5, 3]}, ("-5::DOUBLE", "3::DOUBLE", "0.1::DOUBLE"),
                   _FLOATS),
    "great": Kind(("DOUBLE",), {"type": "double", "bounds": [Decimal("-1e90"), Decimal("1e90")]},
                  ("1e90::DOUBLE", "-1e90::DOUBLE", "1::DOUBLE"), _FLOATS),
    "tiny": Kind(("DOUBLE",), {"type": "double", "bounds": [0, Decimal("1e-290")]}, ("1e-291::DOUBLE", "0::DOUBLE"),
                 _FLOATS),
    "real": Kind(("DOUBLE",), {"type": "double"}, ("1::DOUBLE", "2.5::DOUBLE"), _FLOATS),
    "grade": Kind(("VARCHAR",), {"type": "text", "values": ["A", "B", "C"]}, ("'A'", "'B'", "'C'"), _TEXTS),
    "word": Kind(("VARCHAR",), {"type": "text"}, ("'x'", "'y'", "'A'"), ("'X'", *_TEXTS)),
    "flag": Kind(("BOOLEAN",), {"type": "boolean"}, ("true", "false"), ()),
    "day": Kind(("DATE",), {"type": "date", "bounds": [date(2020, 1, 1), date(2020, 12, 31)]},
                ("DATE '2020-01-01'", "DATE '2020-02-29'", "DATE '2020-12-31'"), _DATES),
    "birth": Kind(("DATE",), {"type": "date"}, ("DATE '1990-05-05'", "DATE '2020-02-29'"), _DATES),
    "moment": Kind(("TIMESTAMP",), {"type": "timestamp", "bounds": [datetime(2020, 1, 1), datetime(2020, 12, 31)]},
                   ("TIMESTAMP '2020-03-01 12:30:45'", "TIMESTAMP '2020-12-30 23:59:59'"), _MOMENTS),
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column: its name, its engine type, its kind (None for keys), whether it is declared nullable."""

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
        """The unit of a row, found by following references in Python; None for a row of nobody."""
        if table.parent is None:
            unit = row[table.place(table.of_role("unit") or "")]
            return None if unit == NULL else unit
        assert table.link is not None
        parent_name, parent_column = table.parent
        link = row[table.place(table.link)]
        if link == NULL:
            return None
        parent = self.table(parent_name)
        if parent is self.home and parent_column == parent.of_role("unit"):
            return link
        above = [each for each in parent.rows if each[parent.place(parent_column)] == link]
        return self.owner(parent, above[0]) if above else None

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
        tables = tuple(replace(table, rows=tuple(row for row in table.rows if keep(table, row)))
                       for table in self.tables)  # fmt: skip
        return World(self.seed, tables, self.privacy)

    def shuffled(self, seed: int) -> World:
        """The same rows in another physical order."""
        random = Random(seed)
        tables = tuple(replace(table, rows=tuple(random.sample(table.rows, len(table.rows)))) for table in self.tables)
        return World(self.seed, tables, self.privacy)

    def script(self, catalog: str = "source.main.") -> str:
        """The database as SQL."""
        lines = []
        for table in self.tables:
            columns = ", ".join(f'"{column.name}" {column.engine}' for column in table.columns)
            lines.append(f'CREATE TABLE {catalog}"{table.name}" ({columns});')
            if table.rows:
                values = ", ".join(f"({', '.join(row)})" for row in table.rows)
                lines.append(f'INSERT INTO {catalog}"{table.name}" VALUES {values};')
        return "\n".join(lines)

    def public_rows(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a public table."""
        with self.connect() as connection:
            return connection.execute(f'FROM source.main."{name}"').fetchall()

    @cached_property
    def shell(self) -> Shell:
        """A sandbox with the public tables of the world."""
        return Shell(self.schema, self.public_rows)

    def connect(self, threads: int = 1) -> duckdb.DuckDBPyConnection:
        """The database as plain DuckDB holds it, under the catalogue name that emitted SQL reads."""
        connection = duckdb.connect(":memory:", config={"threads": threads})
        connection.execute("ATTACH ':memory:' AS source; ATTACH ':memory:' AS derived")
        if connection.execute("FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'").fetchone():
            connection.execute("SET error_on_division_by_zero = false")
        connection.execute(self.script())
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
    if table.parent is not None:
        whole["references"] = {table.link: ".".join(table.parent)}
    return whole


class Builder:
    """Builds one world from a seed.

    ``nasty`` is how often a value is outside what the owner declares; a ``tame`` world keeps every declaration: each
    row has an owner, and no limit binds.
    """

    def __init__(self, seed: int, tame: bool = False) -> None:
        self._seed, self._tame, self._nasty = seed, tame, 0.0 if tame else 0.3
        self._random = Random(seed)

    def world(self) -> World:
        random = self._random
        unit_engine = random.choice(["INTEGER", "BIGINT", "VARCHAR"])
        units = [self._unit(number, unit_engine) for number in range(1, random.choice([1, 3, 5, 6, 7, 8, 12]) + 1)]
        unit_name = random.choice(["id", "pid", "who"])
        home = self._table("people", [Column(unit_name, unit_engine, None, role="unit")], None, None)
        tables = [replace(home, rows=self._home_rows(home, units))]
        visits = self._table(
            "visits",
            [Column("id", "INTEGER", None, role="key"), Column("pid", unit_engine, None, role="parent")],
            ("people", unit_name),
            "pid",
        )
        tables.append(replace(visits, rows=self._rows(visits, [*units, *self._strangers(unit_engine)])))
        if random.random() < 0.6:
            items = self._table("items", [Column("visit", "INTEGER", None, role="parent")], ("visits", "id"), "visit")
            keys = [row[0] for row in tables[1].rows] or ["1"]
            tables.append(
                replace(items, rows=self._rows(items, keys if self._tame else [*keys, NULL, "99999"], many=12))
            )
        if random.random() < 0.5:
            notes = self._table(
                "notes", [Column("pid", unit_engine, None, role="parent")], ("people", unit_name), "pid"
            )
            tables.append(replace(notes, rows=self._rows(notes, [*units, *self._strangers(unit_engine)], many=10)))
        tables.append(self._public())
        return World(self._seed, tuple(tables), self._privacy())

    def _privacy(self) -> tuple[tuple[str, Any], ...]:
        random = self._random
        pure = random.random() < 0.4
        settings = {"epsilon": 1000, "delta": 0 if pure else Decimal("1e-6"), "query_epsilon": 1}
        if random.random() < 0.25:
            settings["neighbours"] = "replace"
        if not pure and random.random() < 0.4:
            settings["mechanism"] = "laplace"
        return tuple(settings.items())

    def _unit(self, number: int, engine: str) -> str:
        return f"'{'Pp'[number % 2]}{(number + 1) // 2}'" if engine == "VARCHAR" else str(number)

    def _strangers(self, engine: str) -> list[str]:
        """Owners that the unit's table does not have, and no owner at all."""
        return [] if self._tame else [NULL, "''" if engine == "VARCHAR" else "2147483647"]

    def _table(self, name: str, first: list[Column], parent: tuple[str, str] | None, link: str | None) -> Table:
        random = self._random
        kinds = random.sample(list(KINDS), random.randint(4, 6))
        if not any(KINDS[kind].bounded for kind in kinds):
            kinds.append("share")
        plain = [Column(kind, random.choice(KINDS[kind].engine), kind, random.random() < 0.5) for kind in kinds]
        code = [Column("code", "VARCHAR", "word", True)]
        return Table(name, (*first, *plain, *code), (), parent, link, limits=self._limits())

    def _limits(self) -> tuple[tuple[str, int], ...]:
        random = self._random
        if self._tame:
            return (("max_rows_per_unit", 1000),)
        found: dict[str, int] = {}
        shape = random.randrange(4)
        if shape < 3:
            found["max_rows_per_unit"] = random.choice([1, 2, 3, 10])
        if shape > 0:
            found["max_groups_per_unit"] = random.choice([1, 2, 3])
        if shape > 1:
            found["max_rows_per_group"] = random.choice([1, 2, 4])
        return tuple(found.items())

    def _value(self, column: Column) -> str:
        random = self._random
        if column.kind is None:
            return NULL
        kind = KINDS[column.kind]
        wild = random.random() < self._nasty
        if wild and random.random() < 0.3:
            return NULL
        fitting = [value for value in kind.nasty if _fits(value, column.engine)]
        if column.nullable and random.random() < 0.1:
            return NULL
        return random.choice(fitting if wild and fitting else kind.tame)

    def _home_rows(self, table: Table, units: list[str]) -> tuple[tuple[str, ...], ...]:
        rows = [self._row(table, unit) for unit in units if self._tame or self._random.random() < 0.9]
        if not self._tame and self._random.random() < 0.3:
            rows.append(self._row(table, NULL))
        return tuple(rows)

    def _row(self, table: Table, link: str, key: str | None = None) -> tuple[str, ...]:
        values = []
        for column in table.columns:
            if column.role == "key":
                values.append(key or NULL)
            elif column.role in ("unit", "parent"):
                values.append(link)
            else:
                values.append(self._value(column))
        return tuple(values)

    def _rows(self, table: Table, links: list[str], many: int = 30) -> tuple[tuple[str, ...], ...]:
        """A few rows for most links, many for the first, and two links with the same rows."""
        random = self._random
        rows: list[tuple[str, ...]] = []
        for place, link in enumerate(links):
            count = random.randint(many // 2, many) if place == 0 else random.choice([0, 1, 1, 2, 4])
            rows += [self._row(table, link, str(len(rows) + each + 1)) for each in range(count)]
        if len(links) > 2 and not self._tame:
            place, twin = table.place(table.link or ""), links[1]
            for row in [row for row in rows if row[place] == twin]:
                copy = list(row)
                copy[place] = links[2]
                if table.of_role("key"):
                    copy[table.place("id")] = str(len(rows) + 1)
                rows.append(tuple(copy))
        random.shuffle(rows)
        return tuple(rows)

    def _public(self) -> Table:
        columns = (
            Column("code", "VARCHAR", "word"),
            Column("region", "VARCHAR", "word", True),
            Column("weight", "DOUBLE", "signed", True),
            Column("level", "INTEGER", "loose"),
        )
        rows = [("'x'", "'north'", "0.5", "1"), ("'y'", "'south'", "2.0", "2"), ("'A'", "NULL", "NULL", "3"),
                ("'x'", "'west'", "-0.0", "1")]  # fmt: skip
        return Table("places", columns, tuple(rows[: self._random.choice([3, 4])]), public=True)


def _fits(value: str, engine: str) -> bool:
    """Whether the literal can be stored in a column of that engine type."""
    sizes = {"TINYINT": 2**7, "SMALLINT": 2**15, "INTEGER": 2**31, "BIGINT": 2**63}
    if engine in sizes:
        return -sizes[engine] <= int(value) < sizes[engine]
    return not (engine == "FLOAT" and "308" in value)


def world(seed: int, tame: bool = False) -> World:
    """The world of that seed; a tame one keeps all that its owner declares."""
    return Builder(seed, tame).world()
