"""What an engine's catalogue says of a database: names, types and keys, never anything that its rows say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CatalogColumn:
    """One column as the engine declares it; ``type`` is the engine's own text."""

    name: str
    type: str
    nullable: bool
    computed: bool = False


@dataclass(frozen=True)
class CatalogTable:
    """One table, view or Parquet file.

    ``references`` maps a column to the table and column that it refers to; ``collated`` says that some column compares
    unequal texts as equal.
    """

    name: str
    kind: Literal["table", "view", "parquet"]
    columns: tuple[CatalogColumn, ...]
    key: tuple[str, ...] = ()
    references: Mapping[str, tuple[str, str]] | None = None
    collated: bool = False


@dataclass(frozen=True)
class Catalog:
    """The tables of one source in the order of its catalogue, and the macros that users added to it."""

    source: str
    tables: tuple[CatalogTable, ...]
    macros: tuple[str, ...] = ()
