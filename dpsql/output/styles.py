"""The styles that rows can be written in."""

from __future__ import annotations

import sys
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


def reserve(file: Path | None) -> None:
    """See that the file can be written, before anything is paid for what shall stand in it; OSError where it cannot."""
    if file is not None:
        file.open("ab").close()


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
