"""A real PostgreSQL that has the tables of a schema file, and what the two answer compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from dpsql.schema import Schema
from dpsql.server.catalogue import Catalogue, ObjectName
from dpsql.server.catalogue.store.catalogue_types import column_type

STATEMENTS = Path(__file__).with_name("statements")
#: Columns whose values are the numbers of processes, which differ from server to server.
PROCESSES = frozenset(["pg_backend_pid", "pid"])
_SQL = {"int8": "bigint", "float8": "double precision", "bool": "boolean"}


@dataclass(frozen=True)
class Asked:
    """One captured statement with the values of its parameters;
    ``{oid:orders}`` stands for a table's number.
    """

    name: str
    text: str
    parameters: tuple[Any, ...]

    def on(self, oids: dict[str, int]) -> tuple[str, list[Any]]:
        """The statement and the values for a server in which the tables have these numbers."""

        def number(found: re.Match[str]) -> str:
            return str(oids[found[1]])

        def value(given: Any) -> Any:
            found = re.fullmatch(r"\{oid:(\w+)\}", given) if isinstance(given, str) else None
            return given if found is None else oids[found[1]]

        return re.sub(r"\{oid:(\w+)\}", number, self.text), [
            value(each) for each in self.parameters
        ]


@dataclass(frozen=True)
class Answer:
    """Names and types of the columns, and rows of which values are comparable texts."""

    columns: tuple[tuple[str, int], ...]
    rows: tuple[tuple[str, ...], ...]


def statements() -> Iterator[Asked]:
    """All captured statements."""
    for file in sorted(STATEMENTS.glob("*.sql")):
        for block in re.split(r"(?m)^-- statement ", file.read_text())[1:]:
            number, _, rest = block.partition("\n")
            values: list[Any] = []
            if rest.startswith("-- params: "):
                line, _, rest = rest.partition("\n")
                values = json.loads(line.removeprefix("-- params: "))
            yield Asked(
                f"{file.stem} {number.strip()}", rest.strip().removesuffix(";"), tuple(values)
            )


def create(connection: psycopg.Connection, schema: Schema) -> None:
    """Make the schema's tables, without rows."""
    for name, table in schema.tables.items():
        columns = [
            sql.SQL("{} {} {}").format(
                sql.Identifier(column),
                sql.SQL(_type(declared)),
                sql.SQL("" if declared.nullable else "NOT NULL"),
            )
            for column, declared in table.columns.items()
        ]
        if table.key is not None:
            columns.append(
                sql.SQL("PRIMARY KEY ({})").format(
                    sql.SQL(", ").join(map(sql.Identifier, table.key))
                )
            )
        connection.execute(
            sql.SQL("CREATE TABLE {} ({})").format(
                sql.Identifier(name), sql.SQL(", ").join(columns)
            )
        )
        for column, target in table.references.items():
            parent, _, parent_column = target.partition(".")
            connection.execute(
                sql.SQL("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} ({})").format(
                    *map(sql.Identifier, (name, column, parent, parent_column))
                )
            )
        _comment(connection, sql.SQL("TABLE {}").format(sql.Identifier(name)), table.comment)
        for column, declared in table.columns.items():
            _comment(
                connection,
                sql.SQL("COLUMN {}").format(sql.Identifier(name, column)),
                declared.comment,
            )
    _comment(connection, sql.SQL("DATABASE {}").format(sql.Identifier(schema.name)), schema.comment)


def _comment(connection: psycopg.Connection, what: sql.Composable, comment: str | None) -> None:
    if comment is not None:
        connection.execute(sql.SQL("COMMENT ON {} IS {}").format(what, sql.Literal(comment)))


def _type(declared: Any) -> str:
    kind, _ = column_type(declared.type)
    return (
        f"numeric({declared.type.precision},{declared.type.scale})"
        if kind == "numeric"
        else _SQL.get(kind, kind)
    )


def real_oids(connection: psycopg.Connection, schema: Schema) -> dict[str, int]:
    """The numbers of the tables in the real server."""
    return {name: _one(connection, "SELECT %s::regclass::oid", name) for name in schema.tables}


def _one(connection: psycopg.Connection, query: str, *values: object) -> int:
    row = connection.execute(query, values).fetchone()
    assert row is not None
    return int(row[0])


def ask_real(connection: psycopg.Connection, text: str, values: list[Any]) -> Answer:
    """What the real server answers; the error where it answers none."""
    with connection.transaction(), psycopg.RawCursor(connection) as cursor:
        cursor.execute(text, values)
        assert cursor.description is not None
        columns = tuple(
            (each.name, _type_in_15(each.name, each.type_code)) for each in cursor.description
        )
        return Answer(columns, _comparable(cursor.fetchall(), columns))


def _type_in_15(name: str, type_code: int) -> int:
    """The type that a column of PostgreSQL 18 had in 15."""
    return 23 if name in ("attndims", "attstattarget", "stxstattarget") else type_code


def ask_catalogue(catalogue: Catalogue, text: str, values: list[Any]) -> Answer:
    """What the catalogue answers."""
    answer = catalogue.run(text, values)
    columns = tuple((each.name, each.oid) for each in answer.columns)
    return Answer(columns, _comparable(answer.rows, columns))


def _comparable(rows: Any, columns: tuple[tuple[str, int], ...]) -> tuple[tuple[str, ...], ...]:
    """The rows with the numbers of objects blanked, in one order."""
    return tuple(sorted(tuple(map(_text, row, columns)) for row in rows))


def _text(value: Any, column: tuple[str, int]) -> str:
    name, oid = column
    if value is None:
        return "NULL"
    if name in PROCESSES:
        return type(value).__name__
    if oid in (26, 28, 30, 1028) or (type(value) is int and value > 999):
        return "#"
    if isinstance(value, ObjectName):
        return re.sub(r"\d{5,}", "#", str(value))
    if oid == 22 and isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, str):
        value = re.sub(r"\d{5,}", "#", value)
        value = (
            value.strip("{}").split(",")
            if value.startswith("{") and not value.startswith('{"')
            else value
        )
    if isinstance(value, dict):
        value = json.dumps(value)
    if isinstance(value, list | tuple):
        return "{" + ",".join("NULL" if each is None else str(each) for each in value) + "}"
    return str(value)
