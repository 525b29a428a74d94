"""What a catalogue answers, and a real PostgreSQL."""

from __future__ import annotations

from typing import Any, TypeAlias

import psycopg

from dpsql.server.catalogue import Catalogue
from dpsql.server.protocol.postgres_types import by_oid

#: Each output with its type, and the rows.
Answered: TypeAlias = tuple[str, list[tuple[Any, ...]]]


def values_of(catalogue: Catalogue, text: str, values: list[Any] | None = None) -> list[Any]:
    """The first column of the answer."""
    return [row[0] for row in catalogue.run(text, values or []).rows]


def answered(catalogue: Catalogue, text: str) -> Answered:
    """What the catalogue answers."""
    answer = catalogue.run(text)
    return ", ".join(f"{each.name} {_named(each.oid)}" for each in answer.columns), [
        tuple(row) for row in answer.rows
    ]


def really_answered(connection: psycopg.Connection, text: str) -> Answered:
    """What PostgreSQL answers."""
    cursor = connection.execute(text.encode())
    assert cursor.description is not None
    return ", ".join(
        f"{each.name} {_named(each.type_code)}" for each in cursor.description
    ), cursor.fetchall()


def _named(oid: int) -> str:
    kind = by_oid(oid)
    return str(oid) if kind is None else kind.name
