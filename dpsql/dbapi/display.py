"""Shows an answer to a person: as a table of text, and as HTML with error bars in notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING

from dpsql.dbapi.formatting import cell, plain
from dpsql.planning.result_columns import result_type

if TYPE_CHECKING:
    from dpsql.planning.result_columns import CellInterval
    from dpsql.postprocessing import Result

#: Rows that are shown.
MOST_SHOWN = 100
#: The width and the height of an error bar in pixels.
_WIDTH, _HEIGHT = 120, 12
_CELL = "text-align:{side};white-space:nowrap;font-variant-numeric:tabular-nums"


def text_table(result: Result) -> str:
    """The rows as a table of text, each estimate rounded by its error, and the notices below."""
    from wcwidth import wcswidth

    if not result.columns:
        return "done"
    names = [plain(column.name) for column in result.columns]
    cells = [names, *_cells(result)]
    widths = [max(wcswidth(row[place]) for row in cells) for place in range(len(names))]
    lines = [
        "  ".join(
            _padded(text, widths[place] - wcswidth(text), _side(result.columns[place].type))
            for place, text in enumerate(row)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, *_below(result)])


def html_table(result: Result, took: str) -> str:
    """The rows as HTML: each estimate has its error in figures and as a bar on a scale that its column shares.

    Below stands what the answer ``took`` of the budget, and the notices.
    """
    if not result.columns:
        return "<p>done</p>"
    scales = [_scale(result, place) for place in range(len(result.columns))]
    head = "".join(
        f'<th style="text-align:{_side(column.type)}">{escape(plain(column.name))}</th>'
        + ("" if scale is None else "<th></th>")
        for column, scale in zip(result.columns, scales, strict=True)
    )
    body = []
    for row, bars, texts in zip(result.rows, result.intervals, _cells(result), strict=False):
        cells = []
        for place, (value, bar, text) in enumerate(zip(row, bars, texts, strict=True)):
            style, scale = _CELL.format(side=_side(result.columns[place].type)), scales[place]
            cells.append(f'<td style="{style}">{escape(text)}</td>')
            cells.append("" if scale is None else f"<td>{_error_bar(value, bar, scale)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    below = "".join(f"<p><small>{escape(line)}</small></p>" for line in [*_below(result), *filter(None, [took])])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{below}"


def _cells(result: Result) -> list[list[str]]:
    """The values in words; where the ends of intervals are columns, the values stand without their error."""
    return [
        [cell(value, bar, not result.has_ends) for value, bar in zip(row, bars, strict=True)]
        for row, bars in zip(result.rows[:MOST_SHOWN], result.intervals[:MOST_SHOWN], strict=True)
    ]


def _below(result: Result) -> list[str]:
    more = len(result.rows) - MOST_SHOWN
    rest = [f"… {more:,} more {'row' if more == 1 else 'rows'}"] if more > 0 else []
    return [*rest, *map(plain, result.notices)]


def _side(kind: str) -> str:
    found = result_type(kind)
    return "left" if found is None else found.side


def _padded(text: str, blanks: int, side: str) -> str:
    return text + " " * blanks if side == "left" else " " * blanks + text


def _scale(result: Result, place: int) -> tuple[float, float] | None:
    """The range of a column's error bars; None where it has none that can be drawn."""
    ends = [
        float(end)
        for row in result.intervals[:MOST_SHOWN]
        if (bar := row[place]) is not None
        for end in bar
        if isinstance(end, int | float) and math.isfinite(end)
    ]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    low, high = (min(low, 0.0), max(high, 0.0)) if high - low > abs(low + high) / 4 else (low, high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _error_bar(value: object, bar: CellInterval | None, scale: tuple[float, float]) -> str:
    if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return ""
    middle, y = _place(float(value), scale), _HEIGHT / 2
    drawn = f'<circle cx="{middle:.1f}" cy="{y:g}" r="2.5" fill="currentColor"/>'
    ends: Sequence[object] = bar or ()
    if len(numbers := [float(end) for end in ends if isinstance(end, int | float) and math.isfinite(end)]) == 2:
        low, high = (_place(end, scale) for end in numbers)
        drawn += (
            f'<path d="M{low:.1f} {y:g}H{high:.1f}M{low:.1f} 2V{_HEIGHT - 2}M{high:.1f} 2V{_HEIGHT - 2}"'
            ' stroke="currentColor" fill="none"/>'
        )
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img">{drawn}</svg>'


def _place(value: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return 3 + (_WIDTH - 6) * min(max((value - low) / (high - low), 0.0), 1.0)
