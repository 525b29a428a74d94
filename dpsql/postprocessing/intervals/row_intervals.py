"""Intervals of what is computed of the aggregates of one released row (``docs/proofs/ends.md``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from dpsql.errors import ShellFailed, ShellStopped
from dpsql.planning.estimators.estimate import Interval
from dpsql.planning.estimators.linear_forms import EVERYTHING, FROM_ZERO, Form, cut, ratio
from dpsql.postprocessing.intervals.arithmetic import (
    INSIDE,
    Arithmetic,
    Linear,
    Quotient,
    aggregates_read,
    arithmetic,
    divided_by,
    sum_interval,
)
from dpsql.postprocessing.intervals.ranges import ends_of, over_box, row_from_zero, spreads
from dpsql.postprocessing.resampling.resampled_tables import (
    AT_A_TIME,
    Rows,
    as_number,
    drawn_places,
    drawn_types,
    drawn_values,
)
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.sql.ir.aggregate import Measure

#: The interval of an expression, by its number, on a row of its table.
Found: TypeAlias = dict[tuple[int, int], Interval]

#: Of how many aggregates, MIN or MAX among them, all that their intervals let be is looked at.
MOST_CORNERS = 4
#: The draws behind an interval, the fewest of them, and how many drawn rows there may be in all.
DRAWS, FEWEST, MOST_DRAWN = 1_000, 200, 5_000_000
#: The most released rows whose noise is drawn again.
MOST_ROWS = MOST_DRAWN // FEWEST


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
            if len(places) == 1 or (len(places) <= MOST_CORNERS and not ends_of(table.shape).keys().isdisjoint(places)):
                ranged[number] = sql
                found |= {(number, row): each for row, each in over_box(sandbox, table, sql, places, rows).items()}
            else:
                drawn[number] = sql
        else:
            ends = _around(sandbox, known, inner)
            found |= {(number, row): interval for row, interval in ends.items()}
    draws = min(DRAWS, MOST_DRAWN // max(len(rows), 1))
    at_a_time = max(AT_A_TIME // max(draws, 1), 1)
    for start in range(0, len(rows) if drawn and draws >= FEWEST else 0, at_a_time):
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
        elif ends is not None and table.shape.aggregates[place].function.measure is Measure.QUANTILES:
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
