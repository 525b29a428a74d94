"""Formats single values, texts and shares for people."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from dpsql.planning.estimators.linear_forms import ConfidenceInterval
    from dpsql.planning.result_columns import CellInterval


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
        return f"[{', '.join(cell(each, own, with_bar, null) for each, own in zip(value, ends, strict=True))}]"
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
    """A bar of what is left, which is full only if nothing is spent, and empty only if nothing is left.

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
    return f"{number:,.{places}f}".replace("-", "−")
