"""What lies at a source, and where in it each declared table is, and how its files are written.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from dpsql.engines.files.table_files import (
    files_of,
    folder_of,
    found_tables,
    is_glob,
    kind_of,
)
from dpsql.engines.source import CsvText, SourceKind
from dpsql.engines.unit_column import UnitColumn, UnitLink
from dpsql.schema import ITS_UNIT, Schema, Table, fold
from dpsql.sql.emit.duckdb import DUCKDB

_SQLITE = b"SQLite format 3\0"


def source_kind(path: Path) -> SourceKind:
    """What lies at a path: one database file, or files that each hold rows of one table."""
    if path.is_dir() or is_glob(path) or kind_of(path) is not None:
        return "files"
    with suppress(OSError), path.open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            return "sqlite"
    return "database"


def file_kind(path: str) -> Literal["parquet", "csv"]:
    """Whether the files of a table are Parquet or CSV."""
    files = files_of(Path(path))
    return "csv" if files and kind_of(files[0]) == "csv" else "parquet"


def csv_of(path: str, table: Table | None = None) -> CsvText:
    """How the files are written: as the schema says of the table,
    and else as the files' names and RFC 4180 do.
    """
    files = files_of(Path(path))
    usual = CsvText(delimiter="\t") if files and ".tsv" in files[0].name.lower() else CsvText()
    declared = (
        {} if table is None or table.csv is None else table.csv.model_dump(exclude_unset=True)
    )
    return replace(usual, **declared)


def places_of(schema: Schema) -> dict[str, str]:
    """Where each declared table is: its name in a database, or the file,
    folder or glob that holds its rows.
    """
    path = schema.source_pattern.absolute()
    if source_kind(path) != "files":
        return {name: table.table or name for name, table in schema.tables.items()}
    tables = found_tables(path) if path.exists() or is_glob(path) else []
    return {name: str(_path_of(schema, name, path, tables)) for name in schema.tables}


def _path_of(schema: Schema, name: str, source: Path, tables: Sequence[tuple[str, Path]]) -> Path:
    declared = schema.tables[name].table
    if declared is not None and (Path(declared).is_absolute() or ".." in Path(declared).parts):
        raise schema.error(
            [f"table {name}, table: `{declared}` must lie below the source; name it from there"]
        )
    if declared is not None:
        return next(
            (path for table, path in tables if declared in (table, path.name)),
            folder_of(source) / declared,
        )
    if len(schema.tables) == 1 == len(tables) and (not source.is_dir() or tables[0][1] == source):
        return tables[0][1]
    named = [path for table, path in tables if fold(table) == name]
    if len(named) > 1:
        several = ", ".join(path.name for path in named)
        raise schema.error(
            [
                f'table {name}: the source has it twice ({several}); say which: table = "{named[0].name}"'
            ]
        )
    return named[0] if named else source / f"{name}.parquet"


def unit_column_of(schema: Schema) -> UnitColumn | None:
    """The column beside each private table's own that holds the units of its rows;
    None if joins tell them.
    """
    if schema.privacy.orphans == "drop":
        return None
    owners = {name: schema.owner(name) for name, table in schema.tables.items() if not table.public}
    links = {
        name: UnitLink(step.column, (step.parent, step.parent_column))
        for name, owner in owners.items()
        for step in owner.steps[:1]
    }
    links |= {name: UnitLink(owner.column) for name, owner in owners.items() if not owner.steps}
    return UnitColumn(ITS_UNIT, DUCKDB.type_name(schema.unit_type), links)
