"""Shows values and answers to people: as texts with errors, as tables,
and as HTML with error bars in notebooks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, cast

from dpsql.planning.result_columns import result_type

if TYPE_CHECKING:
    from dpsql.planning.estimators.linear_forms import ConfidenceInterval
    from dpsql.planning.result_columns import CellInterval
    from dpsql.postprocessing import Result


def cell(value: object, interval: CellInterval | None, with_bar: bool, null: str = "NULL") -> str:
    """A value for a person to read, rounded to two digits of its error where that is known.

    >>> cell(29.7621, (29.5621, 29.9621), True), cell(9345, (9325.9, 9365.1), True), cell(0.21, (-0.1, 0.3), True)
    ('29.76 ± 0.20', '9,345 ± 20', '0.21 (−0.10 to 0.30)')

    What is exact is not rounded, and a year keeps its four digits.

    >>> cell(2014, None, True), cell(1234567.5, None, True), cell(True, None, True), cell(None, None, True)
    ('2014', '1234567.5', 'true', 'NULL')

    The interval of a date has its dates.

    >>> cell(date(2020, 5, 17), (date(2020, 5, 3), date(2020, 5, 30)), True)
    '2020-05-17 (2020-05-03 to 2020-05-30)'

    So has each element of a list.

    >>> cell([25.0, 31.5], ([24.5, 31.0], [25.5, 32.0]), True)
    '[25.00 ± 0.50, 31.50 ± 0.50]'
    """
    if value is None:
        return null
    if isinstance(value, list) and interval is not None:
        ends = zip(*interval, strict=True)
        return f"[{', '.join(cell(item, end, with_bar, null) for item, end in zip(value, ends, strict=True))}]"
    if isinstance(value, date) and interval is not None and with_bar:
        return f"{value} ({interval[0]} to {interval[1]})"
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return plain(str(value)).lower() if isinstance(value, bool) else plain(str(value))
    if interval is None or not math.isfinite(value):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    low, high = cast("ConfidenceInterval", interval)
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


def visible(text: str) -> str:
    """Lines of text with a question mark for each other character that a terminal would obey.

    >>> visible("a\\tb\\n\\x1b]0;c\\x07")
    'a\\tb\\n?]0;c?'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(letter if letter in "\n\t" or letter.isprintable() else "?" for letter in text)


def bar(share: Fraction, width: int = 30) -> str:
    """A bar of what is left, which is full only if nothing is spent,
    and empty only if nothing is left.

    >>> bar(Fraction(99, 100), 8), bar(Fraction(1, 100), 8)
    ('███████░', '█░░░░░░░')
    """
    full = min(max(round(share * width), 1 if share else 0), width if share == 1 else width - 1)
    return "█" * full + "░" * (width - full)


def _places(half: float, value: int | float | Decimal) -> int:
    """The decimal places that show two digits of the half-width; 0 for an integer."""
    if isinstance(value, int) or not half > 0 or not math.isfinite(half):
        return 0 if isinstance(value, int) else 6
    return min(max(1 - math.floor(math.log10(half)), 0), 12)


def _rounded(number: int | float | Decimal, places: int) -> str:
    written = f"{number:,}" if isinstance(number, int) else f"{number:,.{places}f}"
    return written.replace("-", "−")


#: Rows that are shown.
MOST_SHOWN = 100
#: The width and the height of an error bar in pixels.
_WIDTH = 120
_HEIGHT = 12
_CELL = "text-align:{side};white-space:nowrap;font-variant-numeric:tabular-nums"


def text_table(result: Result) -> str:
    """The rows as a table of text, each estimate rounded by its error, and the notices below."""
    from wcwidth import wcswidth

    if not result.columns:
        return "done"
    names = [plain(column.name) for column in result.columns]
    cells = [names, *_cells(result)]
    widths = [max(wcswidth(row[index]) for row in cells) for index in range(len(names))]
    lines = [
        "  ".join(
            _padded(text, widths[index] - wcswidth(text), _side(result.columns[index].type))
            for index, text in enumerate(row)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, *_below(result)])


def html_table(result: Result, took: str) -> str:
    """The rows as HTML: each estimate has its error in figures and as a bar on a scale that its
    column shares.

    Below stands what the answer ``took`` of the budget, and the notices.
    """
    if not result.columns:
        return "<p>done</p>"
    scales = [_scale(result, index) for index in range(len(result.columns))]
    head = "".join(
        f'<th style="text-align:{_side(column.type)}">{escape(plain(column.name))}</th>'
        + ("" if scale is None else "<th></th>")
        for column, scale in zip(result.columns, scales, strict=True)
    )
    body = []
    for row, bars, texts in zip(result.rows, result.intervals, _cells(result), strict=False):
        cells = []
        for index, (value, bar, text) in enumerate(zip(row, bars, texts, strict=True)):
            style = _CELL.format(side=_side(result.columns[index].type))
            scale = scales[index]
            cells.append(f'<td style="{style}">{escape(text)}</td>')
            cells.append("" if scale is None else f"<td>{_error_bar(value, bar, scale)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    below = "".join(
        f"<p><small>{escape(line)}</small></p>" for line in [*_below(result), *filter(None, [took])]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{below}"


def _cells(result: Result) -> list[list[str]]:
    """The values as text, without their errors if the ends of intervals are columns."""
    return [
        [cell(value, bar, not result.has_ends) for value, bar in zip(row, bars, strict=True)]
        for row, bars in zip(result.rows[:MOST_SHOWN], result.intervals[:MOST_SHOWN], strict=True)
    ]


def _below(result: Result) -> list[str]:
    more = len(result.rows) - MOST_SHOWN
    notices = [plain(notice) for notice in result.notices]
    if more <= 0:
        return notices
    return [f"… {more:,} more {'row' if more == 1 else 'rows'}", *notices]


def _side(kind: str) -> str:
    kind_facts = result_type(kind)
    return "left" if kind_facts is None else kind_facts.side


def _padded(text: str, blanks: int, side: str) -> str:
    return text + " " * blanks if side == "left" else " " * blanks + text


def _scale(result: Result, index: int) -> tuple[float, float] | None:
    """The range of a column's error bars; None if none can be drawn."""
    ends = [
        float(end)
        for row in result.intervals[:MOST_SHOWN]
        if (bar := row[index]) is not None
        for end in bar
        if isinstance(end, int | float) and math.isfinite(end)
    ]
    if not ends:
        return None
    low = min(ends)
    high = max(ends)
    low, high = (min(low, 0.0), max(high, 0.0)) if high - low > abs(low + high) / 4 else (low, high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _error_bar(value: object, bar: CellInterval | None, scale: tuple[float, float]) -> str:
    if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return ""
    middle = _x_position(float(value), scale)
    y = _HEIGHT / 2
    drawn = f'<circle cx="{middle:.1f}" cy="{y:g}" r="2.5" fill="currentColor"/>'
    ends: Sequence[object] = bar or ()
    if (
        len(
            numbers := [
                float(end) for end in ends if isinstance(end, int | float) and math.isfinite(end)
            ]
        )
        == 2
    ):
        low, high = (_x_position(end, scale) for end in numbers)
        drawn += (
            f'<path d="M{low:.1f} {y:g}H{high:.1f}M{low:.1f} 2V{_HEIGHT - 2}M{high:.1f} 2V{_HEIGHT - 2}"'
            ' stroke="currentColor" fill="none"/>'
        )
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img">{drawn}</svg>'


def _x_position(value: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return 3 + (_WIDTH - 6) * min(max((value - low) / (high - low), 0.0), 1.0)
