"""Whether an answer without noise, or with next to none, is DuckDB's own answer."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp, parse_one

from dpsql.planning.estimators.histogram import MeasuredHistogram
from dpsql.planning.plan import Plan

Row = tuple[Any, ...]

#: Relative; sums of rounded values are right to the rounding of each row.
RELATIVE = 1e-5
#: How many steps of a cell a sum may be away: each row is rounded to the nearest step.
STEPS = 200
#: How many half-widths of 95 % a noisy cell may be away: nearly ten standard deviations.
HALF_WIDTHS = 5


def disagreement(
    plan: Plan,
    text: str,
    ours: Sequence[Row],
    names: Sequence[str],
    theirs: Sequence[Row],
    listed: bool = False,
    noisy: bool = False,
) -> str | None:
    """In one line, how the rows differ from those that DuckDB has for the text;
    None where they are the same.

    Where keys are ``listed`` there are rows that DuckDB has not, of keys without rows, known by a
    count of 0 or a NULL. Where the answer is ``noisy``, numbers are as near as noise leaves them.
    """
    own_names = [column.name for column in plan.columns]
    for own, their in zip(own_names, names, strict=True):
        if their.isidentifier() and own not in (their, _name(their)):
            return f"the column {their} is called {own}"
    slack = max((STEPS * float(step) for core in plan.cores for step in core.steps), default=0.0)
    noise = (
        [HALF_WIDTHS * float(half) for core in plan.cores for half in core.half_widths(0.95)]
        if noisy
        else []
    )
    slack = max(
        [
            slack,
            *noise,
            *(_bin(histogram, noisy) for core in plan.cores for histogram in core.histograms),
        ]
    )
    left = _by_exact_part(ours)
    for row in theirs:
        candidates = left[_exact_part(row)]
        found = next(
            (place for place, mine in enumerate(candidates) if is_close(mine, row, slack)), None
        )
        if found is None:
            return (
                f"DuckDB has {row}; near it: {candidates[:2] or list(ours)[:2]} of {len(ours)} rows"
            )
        candidates.pop(found)
    more = [mine for rows in left.values() for mine in rows]
    for row in more:
        empty = any(
            value is None or (_is_number(value) and abs(value) <= max([1e-9, *noise]))
            for value in row
        )
        if not listed or not empty:
            return f"DuckDB has not {row}"
    if listed and not more:
        return "every listed key has rows, so that it shows none without"
    if len(ours) == len(theirs):
        return _disorder(text, own_names, ours, theirs, slack)
    return None


def _bin(histogram: MeasuredHistogram, noisy: bool) -> float:
    """How far a quantile may be away: two bins, where a bin is more than one value or noise chooses
    among the values in the middle."""
    bins = histogram.contribution.bins
    return (
        0.0
        if bins is None or (bins.are_values and not noisy)
        else float(2 * bins.width * bins.size)
    )


def _disorder(
    text: str, names: Sequence[str], ours: Sequence[Row], theirs: Sequence[Row], slack: float
) -> str | None:
    """Where the columns that ORDER BY names run in another order than DuckDB's."""
    order = parse_one(text, dialect="duckdb").args.get("order")
    for item in () if order is None else order.expressions:
        key = item.this
        if isinstance(key, exp.Literal):
            place = int(key.this) - 1
        elif isinstance(key, exp.Column) and not key.table and key.name in names:
            place = names.index(key.name)
        else:
            return None
        for mine, their in zip(ours, theirs, strict=True):
            if not is_close((mine[place],), (their[place],), slack):
                return f"in the order by {names[place]}, {mine[place]} stands where DuckDB has {their[place]}"
    return None


def is_close(ours: Row, theirs: Row, slack: float) -> bool:
    """Whether two rows say the same, rounding aside."""
    return len(ours) == len(theirs) and all(
        _is_close(mine, their, slack) for mine, their in zip(ours, theirs, strict=True)
    )


def _is_close(mine: Any, their: Any, slack: float) -> bool:
    if _is_number(mine) and _is_number(their):
        if not math.isfinite(mine) or not math.isfinite(their):
            return mine == their or (mine != mine and their != their)
        return abs(float(mine) - float(their)) <= RELATIVE * abs(float(their)) + slack
    if isinstance(mine, list | tuple) and isinstance(their, list | tuple):
        return is_close(tuple(mine), tuple(their), slack)
    if isinstance(mine, dict) and isinstance(their, dict):
        return mine.keys() == their.keys() and all(
            _is_close(mine[key], their[key], slack) for key in mine
        )
    return bool(_plain(mine) == _plain(their))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """A date and the midnight that begins it are one."""
    return datetime(value.year, value.month, value.day) if type(value) is date else value


def _exact_part(row: Row) -> Row:
    """The parts of a row that no rounding touches."""
    return tuple(_plain(value) if isinstance(value, str | date | bool) else None for value in row)


def _by_exact_part(rows: Sequence[Row]) -> dict[Row, list[Row]]:
    found: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        found[_exact_part(row)].append(row)
    return found


def _name(their: str) -> str:
    """What PostgreSQL calls a column that DuckDB calls so, where nobody quoted its name."""
    listed = re.fullmatch(r"col(\d+)", their)
    return f"column{int(listed[1]) + 1}" if listed else their.lower()
