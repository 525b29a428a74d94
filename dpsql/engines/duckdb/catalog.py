"""The catalogue of a source: names, types and keys of its tables, read without reading a row.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from dpsql.engines.duckdb.catalog_facts import held_facts, source_facts
from dpsql.engines.duckdb.table_locations import csv_of, places_of, source_kind
from dpsql.engines.files.held_files import HeldFiles
from dpsql.engines.files.table_files import (
    GLOB,
    SUFFIXES,
    files_of,
    found_tables,
    is_glob,
    kind_of,
    partition_of,
)
from dpsql.engines.source import CsvText, NotOpened, ValueRows
from dpsql.errors import SchemaError
from dpsql.schema import Schema
from dpsql.schema.catalog import Catalog, CatalogColumn, CatalogTable
from dpsql.schema.names import fold

#: Reads the facts of a file of a kind at a path; of CSV also how it is written, of a database of
#: which tables, None for all. NotOpened where it is none.
CatalogReader: TypeAlias = Callable[
    [str, str, CsvText, Collection[str] | None], Sequence[ValueRows]
]


#: Whether the catalogue that is read by these is one that the schema was completed with.
CatalogCheck: TypeAlias = Callable[[CatalogReader], bool]


def facts(
    path: str,
    kind: str,
    csv: CsvText,
    tables: Collection[str] | None,
    held_files: HeldFiles | None = None,
) -> Sequence[ValueRows]:
    """The facts, read in this process; of the file that is held from then on,
    where ``held_files`` is given.
    """
    return (
        source_facts(path, kind, csv, tables)
        if held_files is None
        else held_facts(path, kind, csv, tables, held_files=held_files)
    )


def read_catalog(
    source: str | Path, read_facts: CatalogReader = facts, tables: Collection[str] | None = None
) -> Catalog:
    """The catalogue of all that lies at a source, or of these tables of a database,
    by their folded names.

    SchemaError if that is nothing which dpsql reads.
    """
    path = Path(source).expanduser()
    _require_source(str(source), path)
    match source_kind(path):
        case "database":
            return _duckdb_file(source, path, read_facts, tables)
        case "sqlite":
            return _sqlite_file(source, path, read_facts, tables)
        case _:
            drafted = [
                _drafted_table(name, source_path, read_facts)
                for name, source_path in found_tables(path)
            ]
            return Catalog(str(source), tuple(drafted), source_files=True)


def declared_catalog(schema: Schema, read_facts: CatalogReader = facts) -> Catalog:
    """The tables that a schema declares, as the catalogue of its source has them,
    and the names of all others.
    """
    path = schema.source_pattern
    _require_source(str(path), path)
    if source_kind(path) != "files":
        return read_catalog(
            path, read_facts, {fold(source_path) for source_path in places_of(schema).values()}
        )
    tables = []
    for name, source_path in places_of(schema).items():
        table = schema.tables[name]
        csv = csv_of(source_path, table)
        if Path(source_path).exists() or is_glob(Path(source_path)):
            tables.append(_file_table(table.table or name, Path(source_path), read_facts, csv))
    others = tuple(declared for declared, _ in found_tables(path))
    return Catalog(str(path), tuple(tables), others=others, source_files=True)


def _require_source(message: str, path: Path) -> None:
    """SchemaError with the true reason where the path leads to nothing that is a source."""
    if is_glob(path):
        if not files_of(path):
            raise SchemaError(f"{message}: no Parquet or CSV file has such a name")
        return
    if not path.exists():
        raise SchemaError(
            f"{message}: there is no such file or folder; name a DuckDB, SQLite, Parquet or CSV "
            "file, or a folder of files"
        )
    if GLOB.search(str(path.resolve())):
        raise SchemaError(
            f"{message}: the name has one of * ? [ ] {{ }}, which stand for many files; rename it"
        )
    if path.is_dir() and not files_of(path):
        inside = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
        more = ", …" if len(inside) > 5 else ""
        holds = f" (it holds {', '.join(inside[:5])}{more})" if inside else ""
        raise SchemaError(
            f"{message}: the folder holds no file that ends in {', '.join(SUFFIXES)}{holds}"
        )


def _duckdb_file(
    source: str | Path, path: Path, read_facts: CatalogReader, table_names: Collection[str] | None
) -> Catalog:
    try:
        facts = read_facts(str(path), "database", CsvText(), table_names)
    except NotOpened:
        raise SchemaError(f"{source}: {_why_not_a_database(path)}") from None
    tables, views, macros, others = (facts[index] for index in (1, 2, 4, 6))
    columns_of, constraints_of, fields_of = (_by_table(facts[index]) for index in (0, 3, 5))
    catalog_tables = []
    for name, sql in [*tables, *((view, None) for (view,) in views)]:
        columns = columns_of[name]
        constraints = constraints_of[name]
        fields = fields_of[name]
        defaults = [column for column, *_, defaulted in columns if defaulted]
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", sql or "").upper()
        computed = _computed_columns(bare, defaults)
        catalog_tables.append(
            CatalogTable(
                name,
                "view" if sql is None else "table",
                tuple(
                    CatalogColumn(
                        column,
                        sql_type,
                        nullable,
                        column in computed,
                        fields=_inside(fields, column),
                    )
                    for column, sql_type, nullable, _ in columns
                ),
                _key(constraints),
                references={
                    table_keys[0]: (parent, theirs[0])
                    for kind, table_keys, parent, theirs in constraints
                    if kind == "FOREIGN KEY" and len(table_keys) == 1
                },
                collated=bool(re.search(r"\bCOLLATE\b", bare)),
            )
        )
    return Catalog(
        str(source),
        tuple(catalog_tables),
        tuple(name for (name,) in macros),
        tuple(name for (name,) in others),
    )


def _by_table(rows: ValueRows) -> Mapping[str, list[tuple[Any, ...]]]:
    """The rows by the name of a table, which stands first in each; a table without any has none."""
    result = defaultdict[str, list[tuple[Any, ...]]](list)
    for name, *facts in rows:
        result[name].append(tuple(facts))
    return result


def _why_not_a_database(path: Path) -> str:
    """What is said of a file that DuckDB does not open."""
    try:
        with path.open("rb") as file:
            begin = file.read(12)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if begin[8:12] != b"DUCK":
        ends = ", ".join(SUFFIXES)
        return f"is neither a DuckDB nor an SQLite file; a file of rows ends in one of {ends}"
    return (
        "cannot be opened as a DuckDB database; check that this version of DuckDB reads it, and that no other process "
        "holds it open for writing"
    )


def _key(constraints: ValueRows) -> tuple[str, ...]:
    for constraint_type in ("PRIMARY KEY", "UNIQUE"):
        for kind, columns, _, _ in constraints:
            if kind == constraint_type:
                return tuple(columns)
    return ()


def _computed_columns(bare: str, defaults: list[str]) -> set[str]:
    """Which of a table's columns with an expression are generated from it rather than only filled
    in by it.

    The catalogue tells the two apart in the table's definition alone (``bare``: upper case, no
    quoted text), where they stand in the order of the columns. Where that order cannot be read, all
    of them count as generated, which refuses too many rather than too few.
    """
    marks = re.findall(r"GENERATED ALWAYS AS|\bDEFAULT\s*\(", bare)
    if len(marks) != len(defaults):
        return set(defaults) if "GENERATED" in bare else set()
    return {
        column for column, mark in zip(defaults, marks, strict=True) if mark.startswith("GENERATED")
    }


def _sqlite_file(
    source: str | Path, path: Path, read_facts: CatalogReader, table_names: Collection[str] | None
) -> Catalog:
    try:
        columns, tables, views, keys, parents, others = read_facts(
            str(path), "sqlite", CsvText(), table_names
        )
    except NotOpened:
        raise SchemaError(
            f"{source}: this SQLite file cannot be read, or a program writes to it (then a -wal or -journal lies "
            "beside it); close the program, or copy the file: sqlite3 FILE '.backup COPY'"
        ) from None
    columns_of = _by_table(columns)
    parents_of = _by_table(parents)
    key_of = {
        name: tuple(column for (column,) in table_keys)
        for name, table_keys in _by_table(keys).items()
    }
    catalog_tables = [
        CatalogTable(
            name,
            "table",
            tuple(CatalogColumn(*column) for column in columns_of[name]),
            key_of.get(name, ()),
            references=_sqlite_references(parents_of[name], key_of),
            typed=False,
        )
        for (name,) in tables
    ]
    seen = (*catalog_tables, *(CatalogTable(name, "view", ()) for (name,) in views))
    return Catalog(str(source), seen, others=tuple(name for (name,) in others))


def _sqlite_references(
    parents: ValueRows, key_of: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, str]]:
    """The foreign keys of one column;
    one without a column of the parent refers to its primary key.
    """
    width = Counter(number for *_, number in parents)
    return {
        column: (parent, theirs or key_of[parent][0])
        for column, parent, theirs, number in parents
        if width[number] == 1 and (theirs is not None or len(key_of.get(parent, ())) == 1)
    }


def _file_table(name: str, path: Path, read_facts: CatalogReader, csv: CsvText) -> CatalogTable:
    """A table of files as the first of them, and the names of their folders, tell it."""
    files = files_of(path)
    if not files:
        raise SchemaError(f"{path}: holds no Parquet or CSV file")
    kinds = {kind_of(file) for file in files}
    if len(kinds) > 1 or None in kinds:
        raise SchemaError(
            f"{path}: has files of several kinds; a table's are all Parquet or all CSV: name a glob"
        )
    kind = "csv" if kinds == {"csv"} else "parquet"
    try:
        file_facts, *more = read_facts(str(files[0]), kind, csv, None)
    except NotOpened:
        raise SchemaError(f"{files[0]}: {_why_no_rows(files[0], kind)}") from None
    partition = list(partition_of(path, files[0]))
    fields = more[0] if more else []
    columns = [
        CatalogColumn(column, sql_type, True, False, fields=_inside(fields, column))
        for column, sql_type in file_facts
        if column not in partition
    ]
    columns += [CatalogColumn(column, "", True) for column in partition]
    return CatalogTable(name, "parquet", tuple(columns), place=str(path), typed=kind == "parquet")


def _drafted_table(name: str, path: Path, read_facts: CatalogReader) -> CatalogTable:
    """A table of files where nobody has said how CSV is written: by letters of UTF-8,
    or else of Latin-1.
    """
    csv = csv_of(str(path))
    try:
        return _file_table(name, path, read_facts, csv)
    except SchemaError:
        with suppress(SchemaError):
            return _file_table(name, path, read_facts, replace(csv, encoding="latin-1"))
        raise


def _why_no_rows(file: Path, kind: str) -> str:
    try:
        with file.open("rb") as opened:
            size = len(opened.read(12))
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if kind == "csv":
        return (
            "is empty"
            if not size
            else "has no first line with the columns' names, as its encoding and marks say it"
        )
    return "is empty" if not size else "cannot be read as Parquet; write it again or remove it"


def _inside(fields: ValueRows, column: str) -> tuple[CatalogColumn, ...]:
    """The fields of a column, each by its whole path."""
    nested_fields = [(tuple(path), sql_type) for path, sql_type in fields if path[0] == column]
    return tuple(
        replace(CatalogColumn(path[-1], sql_type, True), path=path)
        for path, sql_type in nested_fields
    )


def partition_values(table: CatalogTable) -> Iterator[tuple[str, list[str]]]:
    """The columns that the names of folders hold, with all the texts that stand there."""
    path = Path(table.place or "")
    values: dict[str, list[str]] = {}
    for file in files_of(path):
        for name, text in partition_of(path, file).items():
            values.setdefault(name, []).extend([] if text is None else [text])
    yield from values.items()
