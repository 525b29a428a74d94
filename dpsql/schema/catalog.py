"""An engine's catalogue of a database: public tables are completed from it, declared ones compared.

It has names, types and keys, never anything that rows say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from dpsql.schema.column import Column
from dpsql.schema.names import checked_name, fold, plain_name
from dpsql.schema.table import Table
from dpsql.schema.types import SqlType, Stored


@dataclass(frozen=True)
class CatalogColumn:
    """One column as the engine declares it; ``type`` is the engine's text, empty if it knows none.

    ``fields`` are those of a STRUCT and of the STRUCTs in it, each with its whole path; ``nulls``
    are texts of a CSV file that stand for no value.
    """

    name: str
    type: str
    nullable: bool
    computed: bool = False
    fields: tuple[CatalogColumn, ...] = ()
    path: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()


@dataclass(frozen=True)
class CatalogTable:
    """One table, view, or the files of one table.

    ``references`` maps a column to the table and column that it refers to; ``collated`` says that
    some column compares unequal texts as equal. ``typed`` says whether the source knows the types
    of its values: CSV and SQLite do not. ``place`` is the path of the files, and ``csv`` how CSV
    files among them are written, if that is not as usual.
    """

    name: str
    kind: Literal["table", "view", "parquet"]
    columns: tuple[CatalogColumn, ...]
    key: tuple[str, ...] = ()
    references: Mapping[str, tuple[str, str]] | None = None
    collated: bool = False
    typed: bool = True
    place: str | None = None
    csv: Mapping[str, object] | None = None

    def column(self, path: tuple[str, ...]) -> CatalogColumn | None:
        """The column of that name, or the field of a STRUCT at that path; None if there is none."""
        folded = tuple(map(fold, path))
        for column in self.columns:
            if folded == (fold(column.name),):
                return column
            for field in column.fields:
                if folded == tuple(map(fold, field.path)):
                    return field
        return None


@dataclass(frozen=True)
class Catalog:
    """The tables of one source in the order of its catalogue, and the macros that users added.

    ``others`` are names of tables that were not looked into;
    ``source_files`` says that the tables are files.
    """

    source: str
    tables: tuple[CatalogTable, ...]
    macros: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    source_files: bool = False

    @property
    def is_elsewhere(self) -> bool:
        """Whether the source is an address rather than a path."""
        return "://" in self.source

    def beside(self, file: Path | None) -> Catalog:
        """The catalogue with the source's path as a schema in that file writes it."""
        if file is None or self.is_elsewhere or Path(self.source).is_absolute():
            return self
        source = os.path.relpath(self.source, file.parent)
        return replace(self, source=source)


def complete_tables(tables: Mapping[str, Table], catalog: Catalog) -> dict[str, Table]:
    """The tables, with the reading of their columns and the undeclared columns of public tables."""
    real_tables = {fold(table.name): table for table in catalog.tables}
    return {
        name: table.model_copy(update={"columns": _columns(table, real_tables[its_name])})
        if (its_name := _name_there(name, table)) in real_tables
        else table
        for name, table in tables.items()
    }


def _name_there(name: str, table: Table) -> str:
    """What the source calls a declared table."""
    return fold(table.table or name)


def _path_there(name: str, column: Column) -> tuple[str, ...]:
    """What the source calls a declared column."""
    return column.column or (name,)


def _columns(table: Table, real: CatalogTable) -> dict[str, Column]:
    if table.public and not table.columns and not table.patterns:
        return _readable_columns(real)
    declared = {**table.columns, **_matched(table, real)}
    return {
        name: _with_reading(column, real.column(_path_there(name, column)))
        for name, column in declared.items()
    }


def _matched(table: Table, real: CatalogTable) -> dict[str, Column]:
    """The source's columns that no name declares and a pattern does; the first pattern counts."""
    taken = {tuple(map(fold, _path_there(name, column))) for name, column in table.columns.items()}
    result: dict[str, Column] = {}
    for column in real.columns:
        name = plain_name(column.name, {*table.columns, *result})
        pattern = next(
            (candidate for candidate in table.patterns if fnmatchcase(name, candidate)), None
        )
        if pattern is not None and (fold(column.name),) not in taken and not column.computed:
            renamed = None if fold(column.name) == name else (column.name,)
            result[name] = table.patterns[pattern].model_copy(update={"column": renamed})
    return result


def _unmatched(table: Table, real: CatalogTable) -> list[str]:
    """The patterns that no column of the source has a name for."""
    names = [plain_name(column.name) for column in real.columns]
    return [
        pattern
        for pattern in table.patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]


def _with_reading(column: Column, stored: CatalogColumn | None) -> Column:
    with suppress(ValueError):
        if stored is not None and stored.type:
            return column.as_stored(_stored_as(column.type, stored.type).reading)
    return column


def _stored_as(declared: SqlType, text: str) -> Stored:
    """How a column of this declared type is read from a stored type.

    Raises ValueError if it is not read.
    """
    stored = Stored.parse(text)
    if declared.kind == "integer" and stored.type.kind == "double":
        return Stored(declared, "its whole number")
    return stored


def find_differences(tables: Mapping[str, Table], catalog: Catalog) -> Iterator[str]:
    """Every way in which the declared tables are not those of the catalogue, each with its mend."""
    for macro in catalog.macros:
        yield f"the source defines the macro {macro}, which could stand in for a function; DROP MACRO {macro}"
    seen: dict[str, CatalogTable] = {}
    declared = {_name_there(name, table): name for name, table in tables.items()}
    for real in catalog.tables:
        name = fold(real.name)
        if name in seen and name in declared:
            yield f"table {declared[name]}: the source has it twice ({seen[name].name}, {real.name}); rename one"
        seen[name] = real
    for name, table in tables.items():
        source_name = _name_there(name, table)
        if source_name not in seen:
            near = ", ".join(sorted({*seen, *map(fold, catalog.others)})) or "none"
            mend = (
                f"rename or remove [tables.{name}]"
                if source_name == name
                else "mend it, or remove it"
            )
            yield f"table {name}: the source has no such table (it has: {near}); {mend}"
        elif seen[source_name].kind == "view":
            yield (
                f"table {name}: is a view, and a view hides whose rows it reads; store it with the unit's column: "
                f"CREATE TABLE … AS FROM {seen[source_name].name}, and declare that"
            )
        elif seen[source_name].collated:
            yield f"table {name}: a collation makes unequal texts equal, so units could merge; store it without COLLATE"
        elif table.csv is not None and not _is_csv(seen[source_name], catalog):
            yield f"table {name}: is no CSV; remove csv = {{ … }}"
        elif (nulls := _columns_with_nulls(table)) and not _is_csv(seen[source_name], catalog):
            yield f"table {name}, column {nulls[0]}: is in no CSV; remove nulls = […]"
        else:
            yield from _column_differences(name, table, seen[source_name])


def _is_csv(real: CatalogTable, catalog: Catalog) -> bool:
    return catalog.source_files and not real.typed


def _columns_with_nulls(table: Table) -> list[str]:
    """The columns and patterns that say which texts stand for no value."""
    return [
        name
        for name, column in {**table.columns, **table.patterns}.items()
        if column.nulls is not None
    ]


def _column_differences(name: str, table: Table, real: CatalogTable) -> Iterator[str]:
    if table.public and not table.columns:
        yield (
            f"table {name}: is public, and its source knows no types; declare its columns, as "
            "`dpsql schema init` drafts them"
        )
    names = {fold(column.name) for column in real.columns}
    for pattern in _unmatched(table, real):
        near = ", ".join(sorted(names))
        yield f"table {name}, pattern {pattern}: the source has no such column (it has: {near}); mend or remove it"
    if len(names) < len(real.columns):
        yield f"table {name}: the source has two columns of one name; rename one"
    for column_name, column in table.columns.items():
        where = f"table {name}, column {column_name}:"
        real_column = real.column(_path_there(column_name, column))
        if real_column is None:
            near = ", ".join(sorted(names))
            mend = "rename or remove it" if column.column is None else "mend `column`, or remove it"
            yield f"{where} the source has no such column (it has: {near}); {mend}"
        elif real_column.computed:
            yield f"{where} is computed by the engine when it is read, which may fail; store it as a plain column"
        elif real.typed and real_column.type:
            yield from _type_difference(where, column.type, real_column)


def _type_difference(where: str, declared: SqlType, real_column: CatalogColumn) -> Iterator[str]:
    try:
        real = _stored_as(declared, real_column.type).type
    except ValueError as error:
        yield f"{where} in the source its {error}"
        return
    if real != declared:
        yield f'{where} is declared {declared}, but the source has {real_column.type}; write type = "{real}"'


def _readable_columns(real: CatalogTable) -> dict[str, Column]:
    columns = {}
    for column in real.columns:
        try:
            name = checked_name(fold(column.name), "column")
            stored = Stored.parse(column.type)
        except ValueError:
            continue  # a public column that dpsql cannot name or read does not exist for it
        if not column.computed and column.type and real.typed:
            column_model = (
                Column(type=stored.type, nullable=True)
                if column.nullable
                else Column(type=stored.type)
            )
            columns[name] = column_model.as_stored(stored.reading)
    return columns
