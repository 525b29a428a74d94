"""Tables that are copied into the engine when a version of the data is opened:
those of CSV files and of SQLite.

What stands there are texts, which may be no values of the declared types. That is looked for before
anything is asked, so that no statement fails for it. Proved in ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import csv
import gzip
import re
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import duckdb

from dpsql.engines.duckdb.tables.texts import folded, identifier, quoted, value_of_text, without_nan
from dpsql.engines.source import (
    LONGEST_LINE,
    CsvText,
    DataSource,
    LongLine,
    NotAlike,
    NotApart,
    NotCsv,
    NotOfType,
    NotOpened,
    StoredColumn,
    StoredTable,
    TableFile,
)

#: So many rows of SQLite become DuckDB's at a time.
_ROWS: Final = 10_000
#: What DuckDB says of a line that is longer than it was told to read,
#: and of the file in which it #: stands.
_LONG: Final = re.compile(
    r"CSV Error on Line: (\d+)\n.*\nMaximum line size of .*\n +file = (\S+)\n", re.DOTALL
)


def copy_csv(
    connection: duckdb.DuckDBPyConnection, source: DataSource, table: str, target: str
) -> None:
    """Make the table at the place of all rows of its files;
    UnfitColumn where they are not as the schema says.
    """
    stored = source.tables[table]
    try:
        parts = [_part(table, stored, file) for file in stored.files or ()]
        _copy(connection, source, table, target, rows=" UNION ALL ".join(parts))
    except (
        duckdb.InvalidInputException,
        duckdb.ConversionException,
        csv.Error,
        EOFError,
        zlib.error,
    ) as error:
        places = [file.place for file in stored.files or ()]
        if (long := _LONG.search(str(error))) is not None and long[2] in places:
            raise LongLine(table, "", places.index(long[2]), int(long[1])) from None
        raise NotCsv(table, "") from None


def csv_names(table: str, packed: bool, csv_text: CsvText) -> list[str]:
    """The names in the first line of a CSV file, numbered ones if it has none;
    csv.Error if there is no line.
    """
    encoding = {"utf-8": "utf-8-sig", "latin-1": "latin-1", "utf-16": "utf-16"}[csv_text.encoding]
    with gzip.open(table) if packed else open(table, "rb") as opened:  # noqa: PTH123 (a descriptor's own name)
        lines = TextIOWrapper(opened, encoding=encoding, errors="replace", newline="")
        for _ in range(csv_text.skip):
            lines.readline()
        first = next(
            csv.reader(lines, delimiter=csv_text.delimiter, quotechar=csv_text.quote, strict=True),
            None,
        )
    if not first or any("\N{REPLACEMENT CHARACTER}" in name for name in first):
        raise csv.Error("no line that can be read")
    return [
        name if name and csv_text.header else f"column{number}" for number, name in enumerate(first)
    ]


def csv_rows(file: TableFile, names: Sequence[str], csv_text: CsvText) -> str:
    """The rows of a CSV file as a relation of texts, none of them NULL;
    nothing about how it is written is guessed.
    """
    texts = [quoted(f"c{number}") for number in range(len(names))]
    columns = ", ".join(f"{text}: 'VARCHAR'" for text in texts)
    quote = quoted(csv_text.quote)
    return (
        f"read_csv({quoted(file.place)}, auto_detect = false, skip = {csv_text.skip}, "
        f"header = {str(csv_text.header).lower()}, "
        f"delim = {quoted(csv_text.delimiter)}, quote = {quote}, escape = {quote}, strict_mode = true, "
        f"null_padding = false, ignore_errors = false, encoding = {quoted(csv_text.encoding)}, "
        f"compression = '{'gzip' if file.packed else 'none'}', max_line_size = {LONGEST_LINE}, "
        f"force_not_null = [{', '.join(texts)}], "
        f"hive_partitioning = false, columns = {{{columns}}})"
    )


def copy_sqlite(
    connection: duckdb.DuckDBPyConnection, source: DataSource, table: str, target: str
) -> None:
    """Make the table at the place of all rows of a table of SQLite;
    UnfitColumn if a value is none of its type.
    """
    stored = source.tables[table]
    texts = ", ".join(f"t{number} VARCHAR" for number in range(len(stored.columns)))
    connection.execute(f"CREATE TEMP TABLE texts ({texts})")
    for rows in _sqlite_rows(source.path, table, stored):
        values = [list(column) for column in zip(*rows, strict=True)]
        parts = ", ".join("unnest(?::VARCHAR[])" for _ in values)
        connection.execute(f"INSERT INTO texts SELECT {parts}", values)
    _copy(connection, source, table, target, rows="SELECT * FROM texts")
    connection.execute("DROP TABLE texts")


def open_sqlite(path: str) -> sqlite3.Connection:
    """An SQLite file that nobody writes to now; NotOpened if there is a journal,
    in which some of it may be.
    """
    file = Path(path)
    if any(_has_bytes(file.with_name(file.name + ending)) for ending in ("-wal", "-journal")):
        raise NotOpened
    return sqlite3.connect(
        f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
    )


def _has_bytes(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _sqlite_rows(
    path: str, table: str, stored: StoredTable
) -> Iterator[list[tuple[str | None, ...]]]:
    columns = ", ".join(identifier(column.path[0]) for column in stored.columns) or "1"
    try:
        with closing(open_sqlite(path)) as connection:
            cursor = connection.execute(f"SELECT {columns} FROM {identifier(stored.place)}")
            while rows := cursor.fetchmany(_ROWS):
                yield [tuple(map(_text, row)) for row in rows]
    except UnicodeError:
        raise NotOfType(table, "") from None
    except sqlite3.Error:
        raise NotOpened from None


def _text(value: object) -> str | None:
    """The text that writes a value of SQLite; bytes are no value of any type."""
    if isinstance(value, bytes):
        return "\0"
    return value if value is None or isinstance(value, str) else repr(value)


def _part(table: str, stored: StoredTable, file: TableFile) -> str:
    """The texts of one CSV file in the order of the table's columns."""
    names = csv_names(file.place, file.packed, stored.csv)
    places = {folded(name): f"c{number}" for number, name in reversed(list(enumerate(names)))}
    partition = {
        folded(name): "NULL" if text is None else quoted(text) for name, text in file.partition
    }
    texts = []
    for number, column in enumerate(stored.columns):
        name = folded(column.path[0])
        if name in partition:
            text = _not_null(partition[name], column.nulls or ())
        elif name in places:
            text = _not_null(places[name], column.nulls or stored.csv.nulls)
        else:
            raise NotAlike(table, column.name)
        texts.append(f"{text} AS t{number}")
    return f"SELECT {', '.join(texts) or '1'} FROM {csv_rows(file, names, stored.csv)}"


def _not_null(text: str, nulls: Sequence[str]) -> str:
    """The SQL of a text; NULL if it is one of those that stand for no value."""
    return (
        f"CASE WHEN {text} NOT IN ({', '.join(map(quoted, nulls))}) THEN {text} END"
        if nulls
        else text
    )


def _copy(
    connection: duckdb.DuckDBPyConnection, source: DataSource, table: str, target: str, rows: str
) -> None:
    """Copy the texts ``t0``, ``t1`` … as values of the columns' types, once all of them are."""
    stored = source.tables[table]
    columns = [
        (column, *_text_and_value(number, column, stored))
        for number, column in enumerate(stored.columns)
    ]
    if columns:
        apart = {column for name, column in source.apart if name == table}
        checks = [_check(text, value, column.name in apart) for column, text, value in columns]
        counts = connection.execute(f"SELECT {', '.join(checks)} FROM ({rows}) AS texts").fetchone()
        for (column, *_), state in zip(columns, counts or (), strict=True):
            if state:
                raise (NotOfType if state == 1 else NotApart)(table, column.name)
    outputs = [
        f"{without_nan(value, column.type)} AS {identifier(column.name)}"
        for column, _, value in columns
    ]
    values = ", ".join(outputs)
    connection.execute(
        f"CREATE TABLE {target} AS SELECT {values or '1 AS one'} FROM ({rows}) AS texts"
    )


def _text_and_value(number: int, column: StoredColumn, stored: StoredTable) -> tuple[str, str]:
    return f"t{number}", value_of_text(f"t{number}", column.type, stored.csv)


def _check(text: str, value: str, apart: bool) -> str:
    """0 where each text is a value; 1 where one is none;
    2 where two are one value and must not be.
    """
    several = f"WHEN count(DISTINCT {text}) <> count(DISTINCT {value}) THEN 2 " if apart else ""
    # a NUL, which no CSV line has, stands for bytes, which are no text either
    wrong = f"count({text}) <> count({value}) OR count(*) FILTER (contains({text}, chr(0))) > 0"
    return f"CASE WHEN {wrong} THEN 1 {several}ELSE 0 END"
