"""Answers of the catalogue: columns with the OIDs of their PostgreSQL types,
and rows of plain values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.server.catalogue.rewrite import RewrittenQuery
from dpsql.server.catalogue.store.catalogue_types import OIDS, duckdb_type, type_oid
from dpsql.server.protocol.postgres_types import by_name


@dataclass(frozen=True)
class CatalogueColumn:
    """A column of an answer: its name and the OID of its PostgreSQL type."""

    name: str
    oid: int


@dataclass(frozen=True)
class CatalogueAnswer:
    """The columns and rows of an answer.

    Values are bool, int, float, str, list or None as their type has them; ``int2vector`` and
    ``oidvector`` are lists, and objects such as ``regclass`` are `ObjectName`.
    """

    columns: tuple[CatalogueColumn, ...]
    rows: tuple[tuple[Any, ...], ...]


class ObjectName(str):
    """The name of an object of the catalogue, which is sent as text;
    as a number it is its ``oid``, sent in binary.
    """

    oid: int

    def __new__(cls, name: str, oid: int) -> ObjectName:
        object_name = super().__new__(cls, name)
        object_name.oid = oid
        return object_name

    def __index__(self) -> int:
        return self.oid


def columns_of(
    rewritten: RewrittenQuery, stored: Sequence[tuple[str, str]]
) -> Iterator[CatalogueColumn]:
    """The columns of an answer, with the types of the statement where they fit the values that
    DuckDB holds.
    """
    for index, (name, stored_type) in enumerate(stored):
        kind = (
            rewritten.outputs[index] if rewritten.outputs is not None else rewritten.named.get(name)
        )
        yield CatalogueColumn(name, column_oid(kind, stored_type))


def column_oid(kind: str | None, stored_type: str) -> int:
    """The OID of a column's type, from the inferred type and the DuckDB type of its values.

    >>> column_oid("name", "VARCHAR"), column_oid("name", "BIGINT"), column_oid(None, "VARCHAR[]")
    (19, 20, 1009)
    """
    plain = stored_type.strip('"')
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
