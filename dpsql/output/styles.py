"""Writes rows in each style: tables, records and Markdown for people; CSV,
JSON and Parquet for programs.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Final

import click

from dpsql.dbapi.display import cell, plain, visible
from dpsql.errors import DataError
from dpsql.output.chart import chart
from dpsql.output.output_rows import OutputRows

#: What cli_helpers calls each style.
_LAYOUTS: Final = {"table": "simple", "vertical": "vertical", "markdown": "pipe"}


def layout(rows: OutputRows, style: str, intervals: bool, null: str = "NULL") -> str:
    """The rows as ``table``, ``vertical`` or ``markdown``,
    with each estimate rounded by its error.
    """
    from cli_helpers.tabular_output import TabularOutputFormatter

    markdown = style == "markdown"
    cells = [
        tuple(
            _word(cell(value, bar, intervals, null), markdown)
            for value, bar in zip(row, bars, strict=True)
        )
        for row, bars in zip(rows.rows, rows.intervals, strict=True)
    ]
    names = [_word(plain(name), markdown) for name in rows.names]
    aligned = ["left" if leftward else "right" for leftward in rows.leftward]
    lines = TabularOutputFormatter().format_output(
        iter(cells), names, format_name=_LAYOUTS[style], disable_numparse=True, colalign=aligned
    )
    return "".join(f"{line.rstrip()}\n" for other in lines for line in other.splitlines())


def _word(text: str, markdown: bool) -> str:
    return text.replace("|", "\\|") if markdown else text


def separated(rows: OutputRows, delimiter: str) -> str:
    """The rows as CSV, or with another delimiter, below a header; NULL is empty,
    and lists are JSON.

    >>> separated(OutputRows.exact(["a", "b"], [(True, [1, None])]), ";")
    'a;b\\ntrue;[1, null]\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([rows.names, *(map(_written, row) for row in rows.rows)])
    return text.getvalue()


def _written(value: object) -> object:
    return (
        json.dumps(_jsonable(value), ensure_ascii=False)
        if isinstance(value, bool | list | tuple | dict)
        else value
    )


def json_array(rows: OutputRows) -> str:
    """The rows as one JSON array of objects."""
    return "[" + ",".join(f"\n  {record}" for record in _objects(rows)) + "\n]\n"


def json_lines(rows: OutputRows) -> str:
    """The rows as JSON Lines."""
    return "".join(f"{record}\n" for record in _objects(rows))


def _objects(rows: OutputRows) -> Iterator[str]:
    for row in rows.rows:
        yield json.dumps(
            dict(zip(rows.names, map(_jsonable, row), strict=True)), ensure_ascii=False
        )


def _jsonable(value: object) -> object:
    match value:
        case float() if not math.isfinite(value):
            return None
        case Decimal():
            return float(value)
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_jsonable(item) for item in value]
        case dict():
            return {str(key): _jsonable(item) for key, item in value.items()}
        case _:
            return str(value)


#: Types that DuckDB writes to Parquet as doubles, and those that keep their digits.
_IN_PARQUET: Final = {"HUGEINT": "DECIMAL(38,0)"}


def write_parquet(rows: OutputRows, file: Path) -> None:
    """Write the rows as a Parquet file with the SQL types of their columns."""
    import duckdb

    types = [_IN_PARQUET.get(kind, kind) for kind in rows.types]
    columns = ", ".join(
        f"{_quoted(name)} {kind}" for name, kind in zip(rows.names, types, strict=True)
    )
    target = str(file).replace("'", "''")
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE rows ({columns})")
            if rows.rows:
                parts = ", ".join(f"unnest(?::{kind}[])" for kind in types)
                values = [list(column) for column in zip(*rows.rows, strict=True)]
                connection.execute(f"INSERT INTO rows SELECT {parts}", values)
            connection.execute(f"COPY rows TO '{target}' (FORMAT parquet)")
    except duckdb.Error:
        raise DataError(f"{file}: the rows cannot be written there as Parquet; try CSV") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


STYLES: Final = ("table", "vertical", "csv", "tsv", "json", "jsonl", "markdown", "parquet", "chart")


def as_text(
    rows: OutputRows, style: str, intervals: bool, null: str = "NULL", width: int = 100
) -> str:
    """The rows in any style but Parquet; ``null`` and ``width`` apply to styles for people."""
    records = (rows.with_ends() if intervals else rows).apart()
    match style:
        case "csv":
            return separated(records, ",")
        case "tsv":
            return separated(records, "\t")
        case "json":
            return json_array(records)
        case "jsonl":
            return json_lines(records)
        case "chart":
            return chart(rows, width)
        case _:
            return layout(rows, style, intervals, null)


@contextmanager
def reserved(file: Path | None) -> Iterator[None]:
    """Make sure that the file can be written, before its content is paid for;
    raises OSError if it cannot.

    If the block fails before anything is written, an old file is unchanged,
    and a new one is removed.
    """
    if file is None:
        yield
        return
    target = file.resolve()  # a link stays where it is
    is_new = not target.exists()
    file.open("ab").close()
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what is told is the trouble, not what became of the file
            if is_new and target.stat().st_size == 0:
                target.unlink()
        raise


def os_error_text(error: OSError) -> str:
    """The message of an operating-system error, with the name of the file."""
    where = f"{error.filename}: " if isinstance(error.filename, str | Path) else ""
    return where + (error.strerror or "a file cannot be used")


def write(rows: OutputRows, style: str, intervals: bool, file: Path | None) -> None:
    """Write the rows to the file, or to standard output."""
    if style == "parquet":
        assert file is not None
        write_parquet((rows.with_ends() if intervals else rows).apart(), file)
    elif file is None:
        text = as_text(rows, style, intervals)
        click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)
    else:
        file.write_text(as_text(rows, style, intervals), encoding="utf-8", newline="")
