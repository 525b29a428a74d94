"""The errors of an answer's columns as one line, for clients that do not show intervals.

These clients show notices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import CellInterval
from dpsql.postprocessing.answer import Result
from dpsql.postprocessing.possible_values import ranges
from dpsql.sql.ir.interval import Interval, as_number

#: The most columns whose errors are told.
MOST_COLUMNS: Final = 12
#: Of longer results so many rows at most are looked at, evenly spread.
MOST_ROWS: Final = 1_000
#: Errors of a column are told as one if the largest is at most so many times the smallest.
ALIKE: Final = 1.05
_DAY: Final = timedelta(days=1)


def errors_in_words(plan: Plan, result: Result) -> str:
    """How far the values of each column may be off.

    Empty if no column has intervals, or if their ends are columns.
    """
    errors = [] if result.has_ends else list(_errors(plan, result))
    if not errors:
        return ""
    more = len(errors) - MOST_COLUMNS
    listed_errors = (
        [*errors[:MOST_COLUMNS], f"and those of {more} more columns"] if more > 0 else errors
    )
    return f"error with {100 * plan.confidence:g} %: {', '.join(listed_errors)}"


def _errors(plan: Plan, result: Result) -> Iterator[str]:
    step = 1 + len(result.rows) // MOST_ROWS
    for index, (column, within) in enumerate(zip(result.columns, ranges(plan), strict=False)):
        cells = (
            (row[index], ends[index])
            for row, ends in zip(result.rows[::step], result.intervals[::step], strict=True)
        )
        known = [
            (value, ends)
            for value, ends in cells
            if ends is not None and isinstance(value, int | float | Decimal | date)
        ]
        if known:
            cut = [_cut_ends(ends, within) for _, ends in known]
            uncut = [cell for cell, ends in zip(known, cut, strict=True) if not ends]
            nothing = ", which says nothing" if all(ends == 2 for ends in cut) else ""
            yield f"{column.name} ± {_largest_errors(uncut or known)}{nothing}"


def _cut_ends(interval: CellInterval, within: Interval) -> int:
    """How many ends of an interval are those of what is possible."""
    low, high = (float(as_number(end)) if isinstance(end, date) else end for end in interval)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return 0
    least = -math.inf if within.low is None else float(within.low)
    most = math.inf if within.high is None else float(within.high)
    return (low <= least) + (high >= most)


def _largest_errors(cells: Sequence[tuple[int | float | Decimal | date, CellInterval]]) -> str:
    """The distance of the ends of the intervals from the values.

    It is one number for all, or from the least to the greatest.
    """
    unit = " days" if isinstance(cells[0][0], date) else ""
    errors = sorted(max(_distance(value, end) for end in ends) for value, ends in cells)
    least = errors[0]
    most = errors[-1]
    if most <= ALIKE * least:
        return f"{_rounded(most)}{unit}"
    return f"{_rounded(least)} to {_rounded(most)}{unit}"


def _distance(value: object, end: object) -> float:
    """The distance of two numbers, or of two dates or moments in days."""
    if isinstance(value, datetime) and isinstance(end, datetime):
        return abs((value - end) / _DAY)
    if isinstance(value, date) and isinstance(end, date):
        return float(abs(value.toordinal() - end.toordinal()))
    assert isinstance(value, int | float | Decimal) and isinstance(end, int | float)
    return abs(float(value) - end)


def _rounded(error: float) -> str:
    """The error with two digits.

    >>> _rounded(0.01234), _rounded(20.3), _rounded(12345.6), _rounded(float("inf"))
    ('0.012', '20', '12,346', '∞')
    """
    if math.isinf(error):
        return "∞"
    return f"{error:,.0f}" if error >= 10 else f"{error:.2g}"
