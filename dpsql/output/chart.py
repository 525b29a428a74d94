"""Draws a chart of rows for a terminal: one line a row, with error bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from dpsql.dbapi.display import cell, plain
from dpsql.errors import DataError
from dpsql.output.output_rows import OutputRows

#: A value is drawn as a bar from 0; where all lie close together far from 0,
#: as a point on a #: shorter scale.
_FAR_FROM_ZERO = 0.5
_LONGEST_LABEL = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Mark:
    """One row of a chart: its label and figure, its value, and the two ends of its error bar."""

    label: str
    figure: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Scale:
    """The scale of a chart, from values to columns of the terminal."""

    low: float
    high: float
    width: int

    def column(self, value: float) -> float:
        """The position of a value, from 0 to ``width``."""
        return (value - self.low) / (self.high - self.low) * self.width


def chart(rows: OutputRows, width: int, column: str | None = None) -> str:
    """A chart of one column (by default the first estimate,
    or else the last figure) within ``width`` characters.

    >>> n = OutputRows(("sex", "n"), ("VARCHAR", "BIGINT"), [("f", 30), ("m", 10)], [(None, (26, 34)), (None, None)])
    >>> print(chart(n, 40), end="")
    n
    f  █████████████████████├───┼──┤  30 ± 4
    m  ████████▏                          10
    """
    from wcwidth import wcswidth

    index = _chosen(rows, column)
    marks = [_mark(rows, number, index) for number in range(len(rows.rows))]
    drawn = [mark for mark in marks if math.isfinite(mark.value)]
    if not drawn:
        raise DataError("there is nothing to draw: no row has a value")
    labels = max(wcswidth(mark.label) for mark in marks)
    figures = max(len(mark.figure) for mark in marks)
    scale = _scale(drawn, max(width - labels - figures - 5, 10))
    lines = [plain(rows.names[index])]
    for mark in marks:
        body = _body(mark, scale) if math.isfinite(mark.value) else ""
        label = mark.label + " " * (labels - wcswidth(mark.label))
        lines.append(f"{label}  {body:<{scale.width + 1}}  {mark.figure:>{figures}}")
    if scale.low > 0 or scale.high < 0:
        ends = f"{scale.low:.4g}", f"{scale.high:.4g}"
        lines.append(" " * (labels + 2) + ends[0] + ends[1].rjust(scale.width + 1 - len(ends[0])))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _chosen(rows: OutputRows, column: str | None) -> int:
    """The index of the column to draw; raises DataError if there is none."""
    figures = [index for index in range(len(rows.names)) if _is_figure(rows, index)]
    if column is not None:
        matching = [figure for figure in figures if rows.names[figure].lower() == column.lower()]
        if not matching:
            known = ", ".join(rows.names[figure] for figure in figures) or "none"
            raise DataError(
                f"no column of figures is called {column!r}; those that can be drawn: {known}"
            )
        return matching[0]
    if not figures:
        raise DataError("there is nothing to draw: no column holds figures")
    estimates = [figure for figure in figures if rows.estimated[figure]]
    return estimates[0] if estimates else figures[-1]


def _is_figure(rows: OutputRows, index: int) -> bool:
    values = [row[index] for row in rows.rows if row[index] is not None]
    return bool(values) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in values
    )


def _mark(rows: OutputRows, number: int, index: int) -> Mark:
    row = rows.rows[number]
    bars = rows.intervals[number]
    estimated = rows.estimated
    words = [
        cell(value, None, False)
        for other, value in enumerate(row)
        if other != index and not estimated[other]
    ]
    label = " · ".join(words)
    label = label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
    value = row[index]
    figure = float(value) if isinstance(value, int | float | Decimal) else math.nan
    ends = [float(cast(float, end)) for end in bars[index] or (figure, figure)]
    low, high = ends if all(map(math.isfinite, ends)) else (figure, figure)
    return Mark(label, cell(value, bars[index], True), figure, low, high=high)


def _scale(marks: Sequence[Mark], width: int) -> Scale:
    low = min(min(mark.low, mark.value) for mark in marks)
    high = max(max(mark.high, mark.value) for mark in marks)
    far = (low > 0 and low > _FAR_FROM_ZERO * high) or (high < 0 and high < _FAR_FROM_ZERO * low)
    if far and high > low and len(marks) > 1:
        return Scale(low, high, width)
    low = min(low, 0.0)
    high = max(high, 0.0)
    return Scale(low, high if high > low else low + 1.0, width)


def _body(mark: Mark, scale: Scale) -> str:
    """A bar from 0 with the error bar over it; a point if 0 is not on the scale."""
    value, low, high = (scale.column(figure) for figure in (mark.value, mark.low, mark.high))
    cells = [" "] * (scale.width + 1)
    if scale.low <= 0 <= scale.high:
        zero = scale.column(0.0)
        start, end = sorted((zero, value))
        for index in range(round(start), int(end)):
            cells[index] = "█"
        if value > zero and high - low < 2:
            cells[int(end)] = _EIGHTHS[int(8 * (end - int(end)))]
    first = round(max(low, 0))
    last = round(min(high, scale.width))
    if last - first >= 2:
        cells[first : last + 1] = ["├", *"─" * (last - first - 1), "┤"]
        cells[min(max(round(value), first), last)] = "┼"
    elif not scale.low <= 0 <= scale.high:
        cells[round(value)] = "●"
    return "".join(cells)
