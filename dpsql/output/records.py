"""Rows for programs: every digit, and each interval as two columns."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from dpsql.errors import DataError
from dpsql.output.rows import Rows


def separated(rows: Rows, delimiter: str) -> str:
    """The rows as CSV, or with another delimiter, under a line of names; NULL is empty, and lists are JSON.

    >>> separated(Rows.exact(["a", "b"], [(True, [1, None])]), ";")
    'a;b\\ntrue;[1, null]\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([rows.names, *(map(_written, row) for row in rows.rows)])
    return text.getvalue()


def _written(value: object) -> object:
    return json.dumps(_jsonable(value), ensure_ascii=False) if isinstance(value, bool | list | tuple | dict) else value


def json_array(rows: Rows) -> str:
    """The rows as one JSON array of objects."""
    return "[" + ",".join(f"\n  {record}" for record in _objects(rows)) + "\n]\n"


def json_lines(rows: Rows) -> str:
    """The rows as JSON, one object a line."""
    return "".join(f"{record}\n" for record in _objects(rows))


def _objects(rows: Rows) -> Iterator[str]:
    for row in rows.rows:
        yield json.dumps(dict(zip(rows.names, map(_jsonable, row), strict=True)), ensure_ascii=False)


def _jsonable(value: object) -> object:
    match value:
        case float() if not math.isfinite(value):
            return None
        case Decimal():
            return float(value)
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_jsonable(each) for each in value]
        case dict():
            return {str(key): _jsonable(each) for key, each in value.items()}
        case _:
            return str(value)


def write_parquet(rows: Rows, file: Path) -> None:
    """The rows as a Parquet file, with the SQL types of their columns."""
    import duckdb

    columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(rows.names, rows.types, strict=True))
    target = str(file).replace("'", "''")
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE rows ({columns})")
            if rows.rows:
                parts = ", ".join(f"unnest(?::{kind}[])" for kind in rows.types)
                values = [list(each) for each in zip(*rows.rows, strict=True)]
                connection.execute(f"INSERT INTO rows SELECT {parts}", values)
            connection.execute(f"COPY rows TO '{target}' (FORMAT parquet)")
    except duckdb.Error:
        raise DataError(f"{file}: the rows cannot be written there as Parquet; try CSV") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
