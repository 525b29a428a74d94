"""How rows are written: a table for people; CSV, JSON and Parquet for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpsql.dbapi import Cursor, Row
    from dpsql.estimate import Interval

STYLES = ("table", "csv", "json", "parquet")


def write(cursor: Cursor, style: str, intervals: bool, file: Path | None) -> None:
    """All rows of the cursor, to the file or to standard output."""
    if style == "table":
        text = table(cursor, intervals)
    else:
        names, types, rows = _flat(cursor, intervals)
        match style:
            case "csv":
                text = _csv(names, rows)
            case "json":
                text = _json(names, rows)
            case _:
                assert file is not None
                return _parquet(names, types, rows, file)
    if file is None:
        click.echo(text, nl=False)
    else:
        file.write_text(text, encoding="utf-8", newline="")


def table(cursor: Cursor, intervals: bool) -> str:
    """The rows as an aligned table, each estimate rounded to what its noise leaves of it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for name, code, *_ in cursor.description or ():
        drawn.add_column(Text(plain(name)), justify="left" if code in ("VARCHAR", "BOOLEAN") else "right", no_wrap=True)
    for row, bars in zip(cursor.fetchall(), cursor.intervals, strict=True):
        drawn.add_row(*(Text(cell(value, bar, intervals)) for value, bar in zip(row, bars, strict=True)))
    console = Console(file=io.StringIO(), width=10_000, color_system=None)
    console.print(drawn)
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def cell(value: object, interval: Interval | None, with_bar: bool) -> str:
    """A value for a person to read, rounded to two digits of its error where that is known.

    >>> cell(29.7621, (29.5621, 29.9621), True), cell(9345, (9325.9, 9365.1), True), cell(0.21, (-0.1, 0.3), True)
    ('29.76 ± 0.20', '9,345 ± 20', '0.21 (−0.10 to 0.30)')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return plain(str(value)).lower() if isinstance(value, bool) else plain(str(value))
    if interval is None or not math.isfinite(value):
        return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if with_bar else str(value)
    low, high = interval
    half = (high - low) / 2
    places = _places(half, value)
    if not with_bar:
        return _rounded(value, places)
    off_centre = abs((high + low) / 2 - float(value))
    if off_centre <= 0.1 * half + (0.5 if isinstance(value, int) else 0.0):
        return f"{_rounded(value, places)} ± {_rounded(half, places)}"
    return f"{_rounded(value, places)} ({_rounded(low, places)} to {_rounded(high, places)})"


def plain(text: str) -> str:
    """The text with a question mark for each control character, which a terminal would obey.

    >>> plain("a\\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def bar(share: Fraction, width: int = 30) -> str:
    """What is left, drawn: never full where some is spent, and never empty where some is left.

    >>> bar(Fraction(99, 100), 8), bar(Fraction(1, 100), 8)
    ('███████░', '█░░░░░░░')
    """
    full = min(max(round(share * width), 1 if share else 0), width if share == 1 else width - 1)
    return "█" * full + "░" * (width - full)


def _places(half: float, value: int | float | Decimal) -> int:
    """The decimal places that show two digits of the half-width; none of a whole number."""
    if isinstance(value, int) or not half > 0 or not math.isfinite(half):
        return 0 if isinstance(value, int) else 6
    return min(max(1 - math.floor(math.log10(half)), 0), 12)


def _rounded(number: int | float | Decimal, places: int) -> str:
    return f"{number:,.{places}f}".replace("-", "−")


def _flat(cursor: Cursor, intervals: bool) -> tuple[list[str], list[str], list[Row]]:
    """Names, types and rows, with a column ``_low`` and ``_high`` beside each estimate if intervals are wanted."""
    described, bars = cursor.description or [], cursor.intervals
    barred = [intervals and any(row[place] is not None for row in bars) for place in range(len(described))]
    names: list[str] = []
    types: list[str] = []
    for (name, code, *_), bar in zip(described, barred, strict=True):
        for each, kind in [(name, code), *([(f"{name}_low", "DOUBLE"), (f"{name}_high", "DOUBLE")] if bar else [])]:
            names.append(_unused(each, names))
            types.append(kind)
    rows = [tuple(_spread(row, ends, barred)) for row, ends in zip(cursor.fetchall(), bars, strict=True)]
    return names, types, rows


def _spread(row: Row, ends: Sequence[Interval | None], barred: Sequence[bool]) -> Iterator[object]:
    for value, interval, bar in zip(row, ends, barred, strict=True):
        yield value
        if bar:
            yield from (None, None) if interval is None else interval


def _unused(name: str, taken: Sequence[str]) -> str:
    number, found = 1, name
    while found.lower() in (each.lower() for each in taken):
        found, number = f"{name}_{number}", number + 1
    return found


def _csv(names: Sequence[str], rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([names, *rows])
    return text.getvalue()


def _json(names: Sequence[str], rows: Sequence[Row]) -> str:
    records = (json.dumps(dict(zip(names, map(_jsonable, row), strict=True)), ensure_ascii=False) for row in rows)
    return "[" + ",".join(f"\n  {record}" for record in records) + "\n]\n"


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


def _parquet(names: Sequence[str], types: Sequence[str], rows: Sequence[Row], file: Path) -> None:
    import duckdb

    columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(names, types, strict=True))
    target = str(file).replace("'", "''")
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE rows ({columns})")
            if rows:
                parts = ", ".join(f"unnest(?::{kind}[])" for kind in types)
                connection.execute(f"INSERT INTO rows SELECT {parts}", [list(each) for each in zip(*rows, strict=True)])
            connection.execute(f"COPY rows TO '{target}' (FORMAT parquet)")
    except duckdb.Error:
        raise click.ClickException(f"{file}: the rows cannot be written there as Parquet; try CSV") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
