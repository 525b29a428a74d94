"""The styles that rows can be written in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from dpsql.output.chart import chart
from dpsql.output.figure import visible
from dpsql.output.records import json_array, json_lines, separated, write_parquet
from dpsql.output.rows import Rows
from dpsql.output.text import layout

STYLES: Final = ("table", "vertical", "csv", "tsv", "json", "jsonl", "markdown", "parquet", "chart")


def as_text(rows: Rows, style: str, intervals: bool, null: str = "NULL", width: int = 100) -> str:
    """The rows in any style but Parquet; ``null`` and ``width`` matter where people read."""
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
    """Holds that the file can be written, before anything is paid for what shall stand in it; OSError where it cannot.

    Where nothing comes to stand in it, since there was trouble meanwhile, a file is as before, and a new one is gone.
    """
    if file is None:
        yield
        return
    target = file.resolve()  # a link stays where it is
    made = not target.exists()
    file.open("ab").close()
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what is told is the trouble, not what became of the file
            if made and target.stat().st_size == 0:
                target.unlink()
        raise


def said_trouble(error: OSError) -> str:
    """What the operating system says of a file, and of which."""
    where = f"{error.filename}: " if isinstance(error.filename, str | Path) else ""
    return where + (error.strerror or "a file cannot be used")


def write(rows: Rows, style: str, intervals: bool, file: Path | None) -> None:
    """The rows to the file, or to standard output."""
    if style == "parquet":
        assert file is not None
        write_parquet((rows.with_ends() if intervals else rows).apart(), file)
    elif file is None:
        text = as_text(rows, style, intervals)
        click.echo(visible(text) if sys.stdout.isatty() else text, nl=False)
    else:
        file.write_text(as_text(rows, style, intervals), encoding="utf-8", newline="")
