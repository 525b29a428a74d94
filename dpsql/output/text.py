"""Rows for people: an aligned table, one record under the other, Markdown."""

from __future__ import annotations

from typing import Final

from dpsql.output.figure import cell, plain
from dpsql.output.rows import Rows

#: What cli_helpers calls each style.
_LAYOUTS: Final = {"table": "simple", "vertical": "vertical", "markdown": "pipe"}


def layout(rows: Rows, style: str, intervals: bool, null: str = "NULL") -> str:
    """The rows as ``table``, ``vertical`` or ``markdown``, each estimate rounded to what its noise leaves of it."""
    from cli_helpers.tabular_output import TabularOutputFormatter

    markdown = style == "markdown"
    cells = [
        tuple(_word(cell(value, bar, intervals, null), markdown) for value, bar in zip(row, bars, strict=True))
        for row, bars in zip(rows.rows, rows.intervals, strict=True)
    ]
    names = [_word(plain(name), markdown) for name in rows.names]
    aligned = ["left" if leftward else "right" for leftward in rows.leftward]
    lines = TabularOutputFormatter().format_output(
        iter(cells), names, format_name=_LAYOUTS[style], disable_numparse=True, colalign=aligned
    )
    return "".join(f"{line.rstrip()}\n" for part in lines for line in part.splitlines())


def _word(text: str, markdown: bool) -> str:
    return text.replace("|", "\\|") if markdown else text
