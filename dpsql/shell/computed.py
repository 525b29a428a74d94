"""Intervals of what is computed of the aggregates of one released row (``docs/proofs/ends.md``)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.cubes import CubeTable
from dpsql.errors import ShellFailed, ShellStopped
from dpsql.estimate import Interval
from dpsql.forms import EVERYTHING, FROM_ZERO, Form, cut, ratio
from dpsql.query.cube import Cube
from dpsql.query.relation import Core
from dpsql.release import ReleasedTable
from dpsql.shell.arithmetic import (
    INSIDE,
    Arithmetic,
    Linear,
    Quotient,
    aggregates_read,
    arithmetic,
    divided_by,
)
from dpsql.shell.averages import sum_interval
from dpsql.shell.dates import dates, is_date
from dpsql.shell.sandbox import Sandbox, column_types
from dpsql.shell.signs import row_from_zero, spreads

Rows: TypeAlias = ReleasedTable | CubeTable
#: The interval of an expression, by its number, on a row of its table.
Found: TypeAlias = dict[tuple[int, int], Interval]

#: Aggregates whose noise is not drawn again.
WITHOUT = frozenset({"every", "some", "histogram", "mode", "top k", "clip"})
#: Of how many aggregates, MIN or MAX among them, all that their intervals let be is looked at.
MOST_CORNERS = 4
#: In how many parts an interval is cut, at whose ends an expression is looked at; fewer where there are many rows.
PARTS, FEWEST_PARTS, MOST_POINTS = 200, 20, 1_000_000
#: The draws behind an interval, how many drawn rows are put into the sandbox at a time, and how many in all.
DRAWS, AT_A_TIME, MOST_DRAWN = 1_000, 200_000, 5_000_000


_NUMBERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT FLOAT DOUBLE DECIMAL UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT".split()
)


def as_number(value: object) -> float:
    """The value as a double; NaN where it is no number, or too large for one.

    >>> as_number(3), as_number("three"), as_number(10**400)
    (3.0, nan, nan)
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def is_number(sql_type: str) -> bool:
    """Whether values of the type may have intervals.

    >>> is_number("DECIMAL(38,2)"), is_number("BIGINT[]"), is_number("VARCHAR")
    (True, False, False)
    """
    return sql_type.partition("(")[0] in _NUMBERS and not sql_type.endswith("]")


def computed_intervals(
    sandbox: Sandbox, table: Rows, wanted: Mapping[int, str], rows: Sequence[int], confidence: float
) -> Found:
    """The intervals of expressions over the columns of a released table, on these of its rows."""
    spread = spreads(table.shape)
    positive = {number for number, sql in wanted.items() if row_from_zero(sql, spread)}
    found = _uncut(sandbox, table, wanted, rows, confidence)
    return {at: cut(interval, FROM_ZERO) if at[0] in positive else interval for at, interval in found.items()}


def _uncut(sandbox: Sandbox, table: Rows, wanted: Mapping[int, str], rows: Sequence[int], confidence: float) -> Found:
    """The same, even below 0 where the numbers cannot be."""
    found: Found = {}
    drawn, ranged = dict[int, str](), dict[int, str]()
    known_places = drawn_places(table.shape)
    wanted = {number: sql for number, sql in wanted.items() if aggregates_read(sql) <= known_places}
    for number, sql in wanted.items():
        known = arithmetic(sql)
        inner = None if known is None else _inner(table, known.inner, rows, confidence)
        if known is None or inner is None:
            places = sorted(aggregates_read(sql))
            if len(places) == 1 or (len(places) <= MOST_CORNERS and any(_is_end(table, place) for place in places)):
                ranged[number] = sql
                found |= {(number, row): each for row, each in _over(sandbox, table, sql, places, rows).items()}
            else:
                drawn[number] = sql
        else:
            ends = _around(sandbox, known, inner)
            found |= {(number, row): interval for row, interval in ends.items()}
    draws = min(DRAWS, MOST_DRAWN // max(len(rows), 1))
    at_a_time = max(AT_A_TIME // max(draws, 1), 1)
    for start in range(0, len(rows) if drawn and draws >= 200 else 0, at_a_time):
        read = sorted(set().union(*map(aggregates_read, drawn.values())))
        _put_draws(sandbox, table, rows[start : start + at_a_time], read, draws, confidence)
        found |= _middles(sandbox, drawn, confidence)
    for number, sql in {**drawn, **ranged}.items():
        found |= {(number, row): EVERYTHING for row in _open_rows(sandbox, table, sql, rows, confidence)}
    return found


def _inner(table: Rows, quotient: Quotient, rows: Sequence[int], confidence: float) -> dict[int, Interval] | None:
    """The intervals of a quotient; None where it is no quotient of linear forms in noisy cells."""
    if quotient.below.is_constant and len(quotient.above.factors) == 1:
        ((place, factor),), over = quotient.above.factors, quotient.below.constant
        return _scaled(table, place, factor / over, quotient.above.constant / over, rows)
    found: dict[int, Interval] = {}
    for row in rows:
        if quotient.below.is_constant:
            added = _added(table, row, quotient.above.times(1 / quotient.below.constant), confidence)
            if added is not None:
                found[row] = added
                continue
        above = _form(table, row, quotient.above, confidence)
        below = _form(table, row, quotient.below, confidence)
        if above is None or below is None:
            return None
        if quotient.below.is_constant:
            found[row] = (above * (1 / below.value)).interval
            half = table.coarse_half_width(quotient.above.factors, confidence)
            if half is not None:
                middle, half = above.value / below.value, half / abs(below.value)
                found[row] = middle - half, middle + half
        else:
            sign = -1.0 if below.value < 0 else 1.0
            found[row] = ratio(above * sign, below * sign, EVERYTHING)
    return found


def _scaled(table: Rows, place: int, factor: Fraction, constant: Fraction, rows: Sequence[int]) -> dict[int, Interval]:
    """The intervals of one aggregate, times a factor and plus a constant."""
    found: dict[int, Interval] = {}
    for row in rows:
        known = table.intervals[row][place]
        if known is not None:
            low, high = sorted(float(factor) * end + float(constant) if factor else float(constant) for end in known)
            found[row] = low, high
    return found


def _added(table: Rows, row: int, sum_of: Linear, confidence: float) -> Interval | None:
    """Where a sum of averages and quantiles lies, each times its factor; None where something else is among them."""
    averages, low, high = [], 0.0, 0.0
    for place, factor in sum_of.factors:
        average, ends = table.average(row, place, confidence), table.intervals[row][place]
        if average is not None:
            averages.append((float(factor), average))
        elif ends is not None and table.shape.aggregates[place].function == "quantiles":
            below, above = sorted(float(factor) * end for end in ends)
            low, high = low + below, high + above
        else:
            return None
    constant = float(sum_of.constant)
    known = sum_interval(averages, constant) if averages else (constant, constant)
    return known[0] + low, known[1] + high


def _open_rows(sandbox: Sandbox, table: Rows, sql: str, rows: Sequence[int], confidence: float) -> set[int]:
    """The rows on which something that the expression divides by may be 0."""
    divisors = dict(enumerate(divided_by(sql)))
    known = _uncut(sandbox, table, divisors, rows, confidence) if divisors else {}
    return {row for (_, row), (low, high) in known.items() if low < 0 < high}


def _form(table: Rows, row: int, sum_of: Linear, confidence: float) -> Form | None:
    whole: Form | None = None
    for place, factor in sum_of.factors:
        form = table.form(row, place, confidence)
        if form is None:
            return None
        whole = form * float(factor) if whole is None else whole + form * float(factor)
    return Form(float(sum_of.constant)) if whole is None else whole.plus(float(sum_of.constant))


def _around(sandbox: Sandbox, known: Arithmetic, inner: Mapping[int, Interval]) -> dict[int, Interval]:
    """What a function that nowhere falls, or nowhere rises, makes of intervals."""
    if known.around is None or not inner:
        return dict(inner)
    types = {"row": "BIGINT", "side": "BIGINT", INSIDE: "DOUBLE"}
    ends = [(row, side, interval[side]) for row, interval in inner.items() for side in (0, 1)]
    sandbox.create("drawn", types)
    sandbox.insert("drawn", list(zip(*ends, strict=True)), types)
    value = f"TRY(TRY_CAST({known.around} AS DOUBLE))"
    try:
        found = sandbox.execute(f'SELECT "row", "{INSIDE}", {value} FROM released."drawn" ORDER BY "row", "side"')
    except (ShellFailed, ShellStopped):
        return {}
    made: dict[int, Interval] = {}
    for (row, first, low), (_, second, high) in zip(found[::2], found[1::2], strict=True):
        low, high = (first if low is None else low), (second if high is None else high)
        made[row] = min(low, high), max(low, high)
    return made


def _is_end(table: Rows, place: int) -> bool:
    """Whether the aggregate is MIN or MAX, whose interval ends at a bound that no draw reaches."""
    ranks = table.shape.aggregates[place].ranks
    return ranks is not None and ranks.edge


def _over(sandbox: Sandbox, table: Rows, sql: str, places: Sequence[int], rows: Sequence[int]) -> dict[int, Interval]:
    """From the least to the greatest of what an expression is where the intervals of its aggregates go.

    It is looked at on points of the interval of one aggregate, and at the corners and at points of the box of several.
    """
    types, found = {**drawn_types(table, places), "draw": "BIGINT"}, dict[int, Interval]()
    points = max(min(PARTS, MOST_POINTS // max(len(rows), 1)), FEWEST_PARTS) * (1 if len(places) == 1 else 5)
    value = f"TRY(TRY_CAST({sql} AS DOUBLE))"
    least, most = (f"{side}({value}) FILTER (WHERE NOT isnan({value}))" for side in ("min", "max"))
    at_a_time = max(AT_A_TIME // points, 1)
    for start in range(0, len(rows), at_a_time):
        data: list[tuple[object, ...]] = []
        for row in rows[start : start + at_a_time]:
            ends = [known for place in places if (known := _ends(table, row, place)) is not None]
            if len(ends) < len(places):
                continue
            fixed = (row, *table.keys[row], *table.totals[row])
            inside = zip(_points(ends, points), places, strict=True)
            columns = [drawn_values(each, None, types[f"a{place}"]) for each, place in inside]
            released = tuple(table.aggregates[row][place] for place in places)
            ways = [released, *zip(*columns, strict=True)]
            data += [(*fixed, *values, number) for number, values in enumerate(ways)]
        sandbox.create("drawn", types)
        sandbox.insert("drawn", list(zip(*data, strict=True)), types)
        try:
            ranges = sandbox.execute(f'SELECT "row", {least}, {most} FROM released."drawn" GROUP BY "row"')
        except (ShellFailed, ShellStopped):
            return {}
        found |= {row: (low, high) for row, low, high in ranges if low is not None}
    return found


def _ends(table: Rows, row: int, place: int) -> Interval | None:
    """The finite ends of an aggregate's interval; of dates and timestamps in seconds."""
    curve, known = table.curves[row][place], table.intervals[row][place]
    if curve is not None and is_date(column_types(table.shape)[f"a{place}"]):
        known = curve.points[0], curve.points[2]
    return known if known is not None and all(map(math.isfinite, known)) else None


def _points(ends: Sequence[Interval], count: int) -> NDArray[np.float64]:
    """So many points between the ends of intervals and all of their corners, by interval; the same ones each time."""
    corners = np.array(list(product(*((low, high, 0.0) if low < 0 < high else (low, high) for low, high in ends))))
    low, high = np.array(ends, float).T
    if len(ends) == 1:
        parts = np.arange(count + 1)[:, None] / count
    else:
        parts = np.random.default_rng(0).random((count, len(ends)))
    points: NDArray[np.float64] = np.concatenate([corners, low + (high - low) * parts]).T
    return points


def _put_draws(
    sandbox: Sandbox, table: Rows, rows: Sequence[int], places: Sequence[int], draws: int, confidence: float
) -> None:
    """Rows of a released table with the aggregates of these places, and as these would be on fresh draws of their
    noise, as the table ``drawn``.
    """
    drawn = [table.draws(row, draws, confidence) for row in rows]
    times = range(draws + 1)
    fixed = zip(*((row, *table.keys[row], *table.totals[row]) for row in rows), strict=True)
    data: list[list[object]] = [[value for value in column for _ in times] for column in fixed]
    types = drawn_types(table, places)
    for place in places:
        values: list[object] = []
        for row, again in zip(rows, drawn, strict=True):
            released = table.aggregates[row][place]
            values += [released, *drawn_values(again[place], released, types[f"a{place}"])]
        data.append(values)
    data.append([draw for _ in rows for draw in times])
    types["draw"] = "BIGINT"
    sandbox.create("drawn", types)
    sandbox.insert("drawn", data, types)


def drawn_places(shape: Core | Cube) -> frozenset[int]:
    """The places of the aggregates that are drawn again: of numbers, dates and timestamps."""
    types = column_types(shape)
    return frozenset(
        place for place, aggregate in enumerate(shape.aggregates)
        if aggregate.function not in WITHOUT and (is_number(types[f"a{place}"]) or is_date(types[f"a{place}"]))
    )  # fmt: skip


def drawn_types(table: Rows, places: Collection[int]) -> dict[str, str]:
    """The columns of a released table with the aggregates of these places: numbers as doubles, dates as they are."""
    types = {name: kind for name, kind in column_types(table.shape).items()
             if not name.startswith("a") or int(name[1:]) in places}  # fmt: skip
    return {name: "DOUBLE" if name.startswith("a") and is_number(kind) else kind for name, kind in types.items()}


def drawn_values(drawn: NDArray[np.float64], released: object, sql_type: str) -> Sequence[object]:
    """An aggregate's values on draws in the type of its column; where none is drawn a number is NULL, a date stays."""
    if is_date(sql_type):
        known = dates(np.where(np.isnan(drawn), 0.0, drawn), sql_type)
        return [released if missing else each for missing, each in zip(np.isnan(drawn).tolist(), known, strict=True)]
    return [None if value != value else value for value in drawn.tolist()]


def _middles(sandbox: Sandbox, wanted: Mapping[int, str], confidence: float) -> Found:
    """For each expression and row, the interval in which the middle of its values on the draws lies."""
    tail = (1 - confidence) / 2
    parts = [each for sql in wanted.values() for each in (sql, *summary(sql, str(tail), str(1 - tail)))]
    parts = [f"first({each} ORDER BY draw)" if place % 4 == 0 else each for place, each in enumerate(parts)]
    try:
        found = sandbox.execute(f'SELECT "row", {", ".join(parts)} FROM released."drawn" GROUP BY "row"')
    except (ShellFailed, ShellStopped):
        return {}
    return {
        (number, row[0]): interval
        for row in found
        for place, number in enumerate(wanted)
        if (interval := told(*row[1 + 4 * place : 5 + 4 * place])) is not None
    }


def summary(sql: str, low: str, high: str, where: str = "TRUE") -> tuple[str, str, str]:
    """What is wanted of an expression's values on the draws, as SQL: their ends, and the mean of those that are finite.

    Where an end is infinite both are the farthest there are. What is not a number on a draw is left out, and so are
    draws that are not ``where``.
    """
    value = f"TRY_CAST({sql} AS DOUBLE)"
    number = f"FILTER (WHERE {where} AND NOT isnan({value}))"
    mean = f"avg({value}) FILTER (WHERE {where} AND isfinite({value}))"
    ends = [f"quantile_cont({value}, {part}) {number}" for part in (low, high)]
    no_end = " OR ".join(f"isinf({end})" for end in ends)
    whole = [f"{side}({value}) {number}" for side in ("min", "max")]
    low_end, high_end = (f"CASE WHEN {no_end} THEN {far} ELSE {end} END" for far, end in zip(whole, ends, strict=True))
    return low_end, high_end, mean


def told(value: object, low: float | None, high: float | None, mean: float | None) -> Interval | None:
    """The interval of a released value, of which draws tell how far noise moves it, to both sides and on the average.

    It holds where the middle of the draws lies, and where the truth lies if draws are from the value as the value is
    from the truth; twice as far as that where noise moves it one way.
    """
    if low is None or high is None:
        return None
    middle = as_number(value)
    if not all(map(math.isfinite, (low, middle, high))):
        return (low, high) if math.isnan(middle) else (min(low, middle), max(high, middle))
    moved = 0.0 if mean is None else 2 * (mean - middle)
    low, high = min(low, 2 * middle - high) - max(moved, 0.0), max(high, 2 * middle - low) + max(-moved, 0.0)
    return low, high
