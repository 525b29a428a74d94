"""What an engine's catalogue says of a database, public tables completed from it, and declared ones compared with it.

It has names, types and keys, never anything that rows say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from dpsql.schema.names import checked_name, fold
from dpsql.schema.table import Column, Table
from dpsql.schema.types import SqlType, Stored


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


def complete_tables(tables: Mapping[str, Table], catalog: Catalog) -> dict[str, Table]:
    """The tables, with how their columns are read, and with the columns of public tables that declare none."""
    found = {fold(table.name): table for table in catalog.tables}
    return {
        name: table.model_copy(update={"columns": _columns(table, found[name])}) if name in found else table
        for name, table in tables.items()
    }


def _columns(table: Table, real: CatalogTable) -> dict[str, Column]:
    if table.public and not table.columns:
        return _readable_columns(real)
    stored = {fold(column.name): column for column in real.columns}
    return {name: _read(column, stored[name]) if name in stored else column for name, column in table.columns.items()}


def _read(column: Column, stored: CatalogColumn) -> Column:
    with suppress(ValueError):
        return column.read_by(Stored.parse(stored.type).reading)
    return column


def find_differences(tables: Mapping[str, Table], catalog: Catalog) -> Iterator[str]:
    """Every way in which the declared tables are not those of the catalogue, each with its mend."""
    for macro in catalog.macros:
        yield f"the source defines the macro {macro}, which could stand in for a function; DROP MACRO {macro}"
    seen: dict[str, CatalogTable] = {}
    for real in catalog.tables:
        name = fold(real.name)
        if name in seen and name in tables:
            yield f"table {name}: the source has it twice ({seen[name].name}, {real.name}); rename one"
        seen[name] = real
    for name, table in tables.items():
        if name not in seen:
            near = ", ".join(sorted(seen)) or "none"
            yield f"table {name}: the source has no such table (it has: {near}); rename or remove [tables.{name}]"
        elif seen[name].kind == "view":
            yield f"table {name}: is a view, and a view hides what it reads; store it: CREATE TABLE … AS FROM {name}"
        elif seen[name].collated:
            yield f"table {name}: a collation makes unequal texts equal, so units could merge; store it without COLLATE"
        else:
            yield from _column_differences(name, table, seen[name])


def _column_differences(name: str, table: Table, real: CatalogTable) -> Iterator[str]:
    columns = {fold(column.name): column for column in real.columns}
    for column_name, column in table.columns.items():
        where = f"table {name}, column {column_name}:"
        found = columns.get(column_name)
        if found is None:
            near = ", ".join(sorted(columns))
            yield f"{where} the source has no such column (it has: {near}); rename or remove it"
        elif found.computed:
            yield f"{where} is computed by the engine when it is read, which may fail; store it as a plain column"
        else:
            yield from _type_difference(where, column.type, found)


def _type_difference(where: str, declared: SqlType, found: CatalogColumn) -> Iterator[str]:
    try:
        real = Stored.parse(found.type).type
    except ValueError as error:
        yield f"{where} in the source its {error}"
        return
    if real != declared:
        yield f'{where} is declared {declared}, but the source has {found.type}; write type = "{real}"'


def _readable_columns(real: CatalogTable) -> dict[str, Column]:
    columns = {}
    for column in real.columns:
        try:
            name, stored = checked_name(fold(column.name), "column"), Stored.parse(column.type)
        except ValueError:
            continue  # a public column that dpsql cannot name or read does not exist for it
        if not column.computed:
            columns[name] = Column(type=stored.type, nullable=column.nullable).read_by(stored.reading)
    return columns
