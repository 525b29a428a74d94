"""The types of columns of CSV files and of SQLite, guessed for the draft of a schema file.

The owner is told that the guess reads the rows of CSV files; no value of them leaves this module.
What is guessed is written into the schema file and from then on declared: nothing is guessed when
the data are read.

Said of in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import duckdb

from dpsql.engines.duckdb.catalog import partition_values
from dpsql.engines.duckdb.catalog_facts import CONFIG
from dpsql.engines.duckdb.table_locations import csv_of
from dpsql.engines.files.table_files import files_of, kind_of
from dpsql.schema.catalog import Catalog, CatalogColumn, CatalogTable

#: Texts that programs write for no value. They may be words in a column of texts,
#: which has none #: but the empty one.
_NULLS: Final = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "NULL",
    "Null",
    "null",
    "(null)",
    "\\N",
    "None",
    "none",
    "NaN",
    "nan",
    "-",
    "--",
    ".",
    "?",
)
#: What SQLite calls a type that it has none of, in the order in which its own rules try them.
_SQLITE: Final = (
    ("bool", "BOOLEAN"),
    ("int", "BIGINT"),
    ("char", "VARCHAR"),
    ("clob", "VARCHAR"),
    ("text", "VARCHAR"),
    ("blob", "BLOB"),
    ("real", "DOUBLE"),
    ("floa", "DOUBLE"),
    ("doub", "DOUBLE"),
    ("datetime", "TIMESTAMP"),
    ("timestamp", "TIMESTAMP"),
    ("date", "DATE"),
    ("time", "TIME"),
)
_ISO: Final = {"%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"}


@dataclass(frozen=True)
class ColumnGuess:
    """The type of a column of CSV files,
    and whether it is that only if words such as N/A stand for no value.
    """

    type: str
    lacks_values: bool = False

    def wider(self, other: ColumnGuess) -> ColumnGuess:
        """The guess for a column that is this one in some files and the other one in others."""
        wider = _wider(self.type, other.type)
        return ColumnGuess(wider, wider != "VARCHAR" and (self.lacks_values or other.lacks_values))


def with_guesses(catalog: Catalog) -> Catalog:
    """The catalogue with the types that the source itself does not know."""
    return replace(catalog, tables=tuple(_with_guesses(table) for table in catalog.tables))


def _with_guesses(table: CatalogTable) -> CatalogTable:
    if table.place is None:
        return table if table.typed else _of_sqlite(table)
    partition = {name: _type_of_texts(texts) for name, texts in partition_values(table)}
    files = files_of(Path(table.place))
    csv: dict[str, object] = {}
    guessed: Mapping[str, ColumnGuess] = {}
    if kind_of(files[0]) == "csv":
        csv, guessed = _sniffed(table, files)
    known = [
        replace(column, type=partition.get(column.name, column.type)) for column in table.columns
    ]
    if guessed:
        known = [
            CatalogColumn(name, guess.type, True, nulls=_NULLS if guess.lacks_values else ())
            for name, guess in {
                **guessed,
                **{name: ColumnGuess(text) for name, text in partition.items()},
            }.items()
        ]
    return replace(table, columns=tuple(known), csv=csv)


def _of_sqlite(table: CatalogTable) -> CatalogTable:
    return replace(
        table,
        columns=tuple(replace(column, type=sqlite_type(column.type)) for column in table.columns),
    )


def sqlite_type(declared: str) -> str:
    """DuckDB's type for what SQLite's column was declared as.

    >>> sqlite_type("VARCHAR(20)"), sqlite_type("NUMERIC(9, 2)"), sqlite_type("datetime"), sqlite_type("")
    ('VARCHAR', 'DECIMAL(9,2)', 'TIMESTAMP', 'VARCHAR')
    """
    digits = re.search(
        r"(?:decimal|numeric)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", declared, re.IGNORECASE
    )
    if digits is not None:
        return f"DECIMAL({digits[1]},{digits[2] or 0})"
    if not declared:
        return "VARCHAR"
    return next(
        (value_types for word, value_types in _SQLITE if word in declared.lower()), "DOUBLE"
    )


def _type_of_texts(texts: Sequence[str]) -> str:
    """The narrowest type that fits all: for the names of folders."""
    if texts and all(re.fullmatch(r"[+-]?\d{1,18}", text) for text in texts):
        return "BIGINT"
    return (
        "DATE"
        if texts and all(re.fullmatch(r"\d{4}-\d\d-\d\d", text) for text in texts)
        else "VARCHAR"
    )


def _sniffed(
    table: CatalogTable, files: Sequence[Path]
) -> tuple[dict[str, object], dict[str, ColumnGuess]]:
    """How the files are written, if that is not as RFC 4180 has it,
    and the type of each column in all of them.
    """
    with duckdb.connect(":memory:", config=CONFIG) as connection:
        written, columns = _sniffed_file(connection, files[0], {})
        for file in files[1:]:
            _, more = _sniffed_file(connection, file, written)
            columns = {
                name: column.wider(more.get(name, column)) for name, column in columns.items()
            }
    usual = csv_of(str(files[0]))
    marks = {name: value for name, value in written.items() if value != getattr(usual, name)}
    return marks, columns


def _wider(one: str, other: str) -> str:
    if one == other:
        return one
    return "DOUBLE" if {one, other} == {"BIGINT", "DOUBLE"} else "VARCHAR"


def _sniffed_file(
    connection: duckdb.DuckDBPyConnection, file: Path, known: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, ColumnGuess]]:
    encodings = [str(known.get("encoding", "utf-8"))] + (["latin-1"] if not known else [])
    for encoding in encodings:
        with suppress(duckdb.Error):
            tried = [_sniff(connection, file, encoding, "")]
            if tried[0]["Delimiter"] == ";":
                tried.append(
                    _sniff(connection, file, encoding, ", delim = ';', decimal_separator = ','")
                )
            nulls = ", ".join(f"'{text}'" for text in _NULLS)
            pairs = [
                (
                    options,
                    _sniff(connection, file, encoding, f"{options['more']}, nullstr = [{nulls}]"),
                )
                for options in tried
            ]
            plain, best = max(pairs, key=lambda pair: sum(map(_is_typed, pair[1]["Columns"])))
            return _written(best, encoding), dict(_guesses(plain["Columns"], best["Columns"]))
    return dict(known), {}


def _guesses(
    plain: Sequence[Mapping[str, str]], best: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, ColumnGuess]]:
    """The guess for each column, which lacks values if it has another type than in ``plain``,
    and not that of texts.

    In ``plain`` the empty field alone stands for no value, in ``best`` the words of ``_NULLS`` do.
    """
    types = (
        [column["type"] for column in plain] if len(plain) == len(best) else ["VARCHAR"] * len(best)
    )
    for column, sql_type in zip(best, map(_plain, types), strict=True):
        lacks_values = _is_typed(column) and _plain(column["type"]) != sql_type
        yield (
            column["name"],
            ColumnGuess(_plain(column["type"]) if lacks_values else sql_type, lacks_values),
        )


def _is_typed(column: Mapping[str, str]) -> bool:
    return _plain(column["type"]) != "VARCHAR"


def _sniff(
    connection: duckdb.DuckDBPyConnection, file: Path, encoding: str, more: str
) -> dict[str, Any]:
    path = str(file).replace("'", "''")
    cursor = connection.execute(
        f"FROM sniff_csv('{path}', sample_size = -1, encoding = '{encoding}'{more})"
    )
    names = [name for name, *_ in cursor.description or ()]
    return {**dict(zip(names, cursor.fetchone() or (), strict=True)), "more": more}


def _written(sniffed: Mapping[str, Any], encoding: str) -> dict[str, object]:
    """The sniffer's answer in the words of a schema file."""
    more = str(sniffed["more"])
    return {
        "delimiter": sniffed["Delimiter"],
        "quote": '"' if sniffed["Quote"] == "(empty)" else sniffed["Quote"],
        "skip": int(sniffed["SkipRows"]),
        "header": bool(sniffed["HasHeader"]),
        "encoding": encoding,
        "decimal": "," if "decimal_separator" in more else ".",
        "date_format": None if sniffed["DateFormat"] in _ISO else sniffed["DateFormat"],
        "timestamp_format": None
        if sniffed["TimestampFormat"] in _ISO
        else sniffed["TimestampFormat"],
    }


def _plain(sniffed: str) -> str:
    return sniffed if sniffed in ("BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP") else "VARCHAR"
