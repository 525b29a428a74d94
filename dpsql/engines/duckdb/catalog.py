"""The catalogue of a DuckDB file or of a folder of Parquet: names, types and keys, read without reading a row.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from dpsql.engines.duckdb.catalog_facts import file_facts, held_facts, parquet_facts
from dpsql.engines.files.held_files import HeldFiles
from dpsql.engines.source import NotOpened, ValueRows
from dpsql.errors import SchemaError
from dpsql.schema.catalog import Catalog, CatalogColumn, CatalogTable

#: Facts of a DuckDB file (True) or of a Parquet file (False) at a path; NotOpened where it is none.
CatalogReader: TypeAlias = Callable[[str, bool], Sequence[ValueRows]]


#: Whether the catalogue that is read by these is one that the schema was completed with.
CatalogCheck: TypeAlias = Callable[[CatalogReader], bool]


def facts(path: str, is_database: bool, held: HeldFiles | None = None) -> Sequence[ValueRows]:
    """The facts, read in this process; of the file that is held from then on, where ``held`` is given."""
    if held is not None:
        return held_facts(path, is_database, held)
    return file_facts(path) if is_database else parquet_facts(path)


def read_catalog(source: str | Path, read: CatalogReader = facts) -> Catalog:
    """The catalogue of a source; SchemaError where it is neither a DuckDB file nor a folder of Parquet files."""
    path = Path(source)
    if path.is_dir():
        return _parquet(source, path, read)
    if not path.is_file():
        raise SchemaError(f"{source}: there is no such file or folder; name a .duckdb file or a folder of Parquet")
    return _duckdb_file(source, path, read)


def _duckdb_file(source: str | Path, path: Path, read: CatalogReader) -> Catalog:
    try:
        columns, tables, views, constraints, macros = read(str(path), True)
    except NotOpened:
        if path.suffix.lower() in (".parquet", ".csv"):
            raise SchemaError(f"{source}: is one file of a table; name the folder of such Parquet files") from None
        raise SchemaError(
            f"{source}: cannot be opened as a DuckDB database; check that it is one, that this version of DuckDB "
            "reads it, and that no other process holds it open for writing"
        ) from None
    found = []
    for name, sql in [*tables, *((view, None) for (view,) in views)]:
        defaults = [column for table, column, *_, defaulted in columns if table == name and defaulted]
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", sql or "").upper()
        computed = _computed_columns(bare, defaults)
        found.append(
            CatalogTable(
                name,
                "view" if sql is None else "table",
                tuple(
                    CatalogColumn(column, sql_type, nullable, column in computed)
                    for table, column, sql_type, nullable, _ in columns
                    if table == name
                ),
                _key(name, constraints),
                {
                    own[0]: (parent, theirs[0])
                    for table, kind, own, parent, theirs in constraints
                    if table == name and kind == "FOREIGN KEY" and len(own) == 1
                },
                collated=bool(re.search(r"\bCOLLATE\b", bare)),
            )
        )
    return Catalog(str(source), tuple(found), tuple(name for (name,) in macros))


def _key(name: str, constraints: ValueRows) -> tuple[str, ...]:
    for wanted in ("PRIMARY KEY", "UNIQUE"):
        for table, kind, columns, _, _ in constraints:
            if table == name and kind == wanted:
                return tuple(columns)
    return ()


def _computed_columns(bare: str, defaults: list[str]) -> set[str]:
    """Which of a table's columns with an expression are generated from it rather than only filled in by it.

    The catalogue tells the two apart in the table's definition alone (``bare``: upper case, no quoted text), where they
    stand in the order of the columns.
    Where that order cannot be read, all of them count as generated, which refuses too many rather than too few.
    """
    marks = re.findall(r"GENERATED ALWAYS AS|\bDEFAULT\s*\(", bare)
    if len(marks) != len(defaults):
        return set(defaults) if "GENERATED" in bare else set()
    return {column for column, mark in zip(defaults, marks, strict=True) if mark.startswith("GENERATED")}


def _parquet(source: str | Path, folder: Path, read: CatalogReader) -> Catalog:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        written = next(iter(sorted(folder.glob("*.csv"))), None)
        mend = "" if written is None else (
            f"; DuckDB writes one of a CSV: COPY (FROM '{written.name}') TO '{written.stem}.parquet'"
        )  # fmt: skip
        raise SchemaError(f"{source}: the folder holds no .parquet file; each table is one file <table>.parquet{mend}")
    if re.search(r"[*?\[\]{}]", str(folder.resolve())):
        raise SchemaError(
            f"{source}: the folder's name has one of * ? [ ] {{ }}, which stand for many files; rename it"
        )
    return Catalog(str(source), tuple(_parquet_table(file, read) for file in files))


def _parquet_table(file: Path, read: CatalogReader) -> CatalogTable:
    try:
        (found,) = read(str(file), False)
    except NotOpened:
        raise SchemaError(f"{file}: cannot be read as Parquet; write it again or remove it") from None
    return CatalogTable(file.stem, "parquet", tuple(CatalogColumn(name, sql_type, True) for name, sql_type in found))
