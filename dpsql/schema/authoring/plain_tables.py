"""The tables of a catalogue under plain names, and the columns that cannot be declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsql.schema.catalog import Catalog, CatalogColumn, CatalogTable
from dpsql.schema.names import fold, is_plain, plain_name
from dpsql.schema.types import Stored


@dataclass(frozen=True)
class PlainColumn:
    """A column or a field of a STRUCT, its plain name, and ``there``, the source's if it differs.

    ``nulls`` are texts of a CSV file that stand for no value.
    """

    name: str
    nullable: bool
    stored: Stored
    there: str | tuple[str, ...] | None
    nulls: tuple[str, ...] = ()


@dataclass(frozen=True)
class UndeclarableColumn:
    """What cannot be declared, and why."""

    there: str
    reason: str


@dataclass(frozen=True)
class PlainTable:
    """A table under its plain name; keys and references are written in plain names too."""

    name: str
    real: CatalogTable
    columns: tuple[PlainColumn, ...]
    left_out: tuple[UndeclarableColumn, ...]
    key: tuple[str, ...] = ()
    references: tuple[tuple[str, str, str], ...] = ()

    def column(self, name: str) -> PlainColumn | None:
        """The column of that plain name; None if there is none."""
        return next((column for column in self.columns if column.name == name), None)


def plain_tables(catalog: Catalog) -> list[PlainTable]:
    """The tables but views, in the order of the catalogue."""
    names: dict[str, str] = {}
    for real in catalog.tables:
        if real.kind != "view":
            names[fold(real.name)] = plain_name(real.name, names.values())
    columns = {
        fold(real.name): list(_columns(real)) for real in catalog.tables if real.kind != "view"
    }
    plain = {
        (
            table,
            fold(plain_column.there if isinstance(plain_column.there, str) else plain_column.name),
        ): plain_column.name
        for table, column in columns.items()
        for plain_column in column
        if isinstance(plain_column, PlainColumn) and not isinstance(plain_column.there, tuple)
    }
    return [
        _table(real, names, columns[fold(real.name)], plain)
        for real in catalog.tables
        if real.kind != "view"
    ]


def _table(
    real: CatalogTable,
    names: dict[str, str],
    columns: list[PlainColumn | UndeclarableColumn],
    plain: dict[tuple[str, str], str],
) -> PlainTable:
    source_name = fold(real.name)
    key = [plain.get((source_name, fold(column))) for column in real.key]
    references = [
        (
            plain.get((source_name, fold(column))),
            names.get(fold(parent)),
            plain.get((fold(parent), fold(parent_column))),
        )
        for column, (parent, parent_column) in (real.references or {}).items()
    ]
    return PlainTable(
        names[source_name],
        real,
        tuple(column for column in columns if isinstance(column, PlainColumn)),
        tuple(column for column in columns if isinstance(column, UndeclarableColumn)),
        key=tuple(key_column for key_column in key if key_column is not None)
        if None not in key
        else (),
        references=tuple(
            (column, parent, parent_column)
            for column, parent, parent_column in references
            if column and parent and parent_column
        ),
    )


def _columns(real: CatalogTable) -> Iterator[PlainColumn | UndeclarableColumn]:
    taken = [fold(column.name) for column in real.columns if is_plain(column.name)]
    for column in real.columns:
        inner = [field for field in column.fields if not _has_fields(field, column)]
        for field in inner or [column]:
            yield _column(field, taken)


def _has_fields(field: CatalogColumn, column: CatalogColumn) -> bool:
    return any(other.path[: len(field.path)] == field.path != other.path for other in column.fields)


def _column(column: CatalogColumn, taken: list[str]) -> PlainColumn | UndeclarableColumn:
    full_name = ".".join(column.path) or column.name
    if not full_name.isprintable():
        return UndeclarableColumn(full_name, "its name has a control character; rename it")
    if column.computed:
        return UndeclarableColumn(full_name, "computed when it is read; store it as a plain column")
    try:
        stored = Stored.parse(column.type)
    except ValueError as error:
        return UndeclarableColumn(full_name, str(error))
    if not column.path and is_plain(column.name):
        return PlainColumn(fold(column.name), column.nullable, stored, None, nulls=column.nulls)
    name = plain_name("_".join(column.path) or column.name, taken)
    taken.append(name)
    return PlainColumn(
        name, column.nullable, stored, column.path or column.name, nulls=column.nulls
    )
