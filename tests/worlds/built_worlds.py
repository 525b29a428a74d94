"""Worlds made from a seed: a few units, some with many rows, twins, rows of nobody,
and values outside their bounds.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

from kinds import KINDS
from worlds import NULL, Column, Table, World


class Builder:
    """Builds one world from a seed.

    ``nasty`` is how often a value is outside what the owner declares; a ``tame`` world keeps every
    declaration: each row has an owner, and no limit binds.
    """

    def __init__(self, seed: int, tame: bool = False) -> None:
        self._seed, self._tame, self._nasty = seed, tame, 0.0 if tame else 0.3
        self._random = Random(seed)

    def world(self) -> World:
        random = self._random
        unit_engine = random.choice(["INTEGER", "BIGINT", "VARCHAR"])
        units = [
            self._unit(number, unit_engine)
            for number in range(1, random.choice([1, 3, 5, 6, 7, 8, 12]) + 1)
        ]
        unit_name = random.choice(["id", "pid", "who"])
        home = self._table(
            "people", [Column(unit_name, unit_engine, None, role="unit")], None, None
        )
        tables = [replace(home, rows=self._home_rows(home, units))]
        visits = self._table(
            "visits",
            [
                Column("id", "INTEGER", None, role="key"),
                Column("pid", unit_engine, None, role="parent"),
            ],
            ("people", unit_name),
            "pid",
        )
        tables.append(
            replace(visits, rows=self._rows(visits, [*units, *self._strangers(unit_engine)]))
        )
        if random.random() < 0.6:
            items = self._table(
                "items",
                [Column("visit", "INTEGER", None, role="parent")],
                ("visits", "id"),
                "visit",
            )
            keys = [row[0] for row in tables[1].rows] or ["1"]
            tables.append(
                replace(
                    items,
                    rows=self._rows(items, keys if self._tame else [*keys, NULL, "99999"], many=12),
                )
            )
        if random.random() < 0.5:
            notes = self._table(
                "notes",
                [Column("pid", unit_engine, None, role="parent")],
                ("people", unit_name),
                "pid",
            )
            tables.append(
                replace(
                    notes, rows=self._rows(notes, [*units, *self._strangers(unit_engine)], many=10)
                )
            )
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

    def _table(
        self, name: str, first: list[Column], parent: tuple[str, str] | None, link: str | None
    ) -> Table:
        random = self._random
        kinds = random.sample(list(KINDS), random.randint(4, 6))
        if not any(KINDS[kind].bounded for kind in kinds):
            kinds.append("share")
        plain = [
            Column(kind, random.choice(KINDS[kind].engine), kind, random.random() < 0.5)
            for kind in kinds
        ]
        code = [Column("code", "VARCHAR", "word", True)]
        return Table(name, (*first, *plain, *code), (), parent, link, limits=self._limits())

    def _limits(self) -> tuple[tuple[str, int], ...]:
        random = self._random
        if self._tame:
            return (("max_rows_per_unit", 1000),)
        found: dict[str, Any] = {}
        shape = random.randrange(4)
        if shape < 3:
            found["max_rows_per_unit"] = random.choice([1, 2, 3, 10])
        if shape > 0:
            found["max_groups_per_unit"] = random.choice([1, 2, 3])
        if shape > 1:
            most = random.choice([1, 2, 4])
            found["max_rows_per_group"] = {"avg": 1, "sum": 2} if most == 2 else most
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
        rows = [
            self._row(table, unit) for unit in units if self._tame or self._random.random() < 0.9
        ]
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
            count = (
                random.randint(many // 2, many) if place == 0 else random.choice([0, 1, 1, 2, 4])
            )
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
        rows = [
            ("'x'", "'north'", "0.5", "1"),
            ("'y'", "'south'", "2.0", "2"),
            ("'A'", "NULL", "NULL", "3"),
            ("'x'", "'west'", "-0.0", "1"),
        ]
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
