"""What the catalogue answers: columns with the numbers of their PostgreSQL types, and rows of plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.server.catalogue.rewrite import Rewritten
from dpsql.server.catalogue.store.types import OIDS, duckdb_type, type_oid
from dpsql.server.protocol.types import by_name


@dataclass(frozen=True)
class CatalogueColumn:
    """One column of an answer: its name and the number of its PostgreSQL type."""

    name: str
    oid: int


@dataclass(frozen=True)
class CatalogueAnswer:
    """The columns and rows of an answer.

    Values are bool, int, float, str, list or None as their type has them; ``int2vector`` and ``oidvector`` are lists,
    and objects such as ``regclass`` are `ObjectName`.
    """

    columns: tuple[CatalogueColumn, ...]
    rows: tuple[tuple[Any, ...], ...]


class ObjectName(str):
    """The name of an object of the catalogue, which is sent as text; as a number it is its ``oid``, sent in binary."""

    oid: int

    def __new__(cls, name: str, oid: int) -> ObjectName:
        made = super().__new__(cls, name)
        made.oid = oid
        return made

    def __index__(self) -> int:
        return self.oid


def columns_of(rewritten: Rewritten, held: Sequence[tuple[str, str]]) -> Iterator[CatalogueColumn]:
    """The columns of an answer: what the statement says of their types as far as it fits what DuckDB holds."""
    for place, (name, kept) in enumerate(held):
        kind = rewritten.outputs[place] if rewritten.outputs is not None else rewritten.named.get(name)
        yield CatalogueColumn(name, column_oid(kind, kept))


def column_oid(kind: str | None, held: str) -> int:
    """The number of a column's type, from what is known of it and the DuckDB type that its values have.

    >>> column_oid("name", "VARCHAR"), column_oid("name", "BIGINT"), column_oid(None, "VARCHAR[]")
    (19, 20, 1009)
    """
    plain = held.strip('"')
    if kind == "unknown" and plain in (
        "NULL",
        "INTEGER",
    ):  # NULL without a type is text for PostgreSQL, and for DuckDB 1.5 a number
        return OIDS["text"]
    if kind:
        narrower = plain in ("INTEGER", "BIGINT") and kind in ("int2", "int4", "oid")
        moment = plain == "TIMESTAMP" and kind == "timestamptz"
        if narrower or moment or plain in ("NULL", duckdb_type(kind)):
            return type_oid(kind)
    return by_name(plain).oid
