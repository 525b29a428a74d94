"""Intervals of what is computed of the aggregates of one released row: in closed form, or by resampling that row.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from dpsql.errors import PostProcessingFailed, PostProcessingStopped
from dpsql.planning.estimators.estimate import sum_interval
from dpsql.planning.estimators.linear_forms import EVERYTHING, ConfidenceInterval, LinearForm, ratio
from dpsql.planning.estimators.quantiles import is_date
from dpsql.postprocessing.intervals.arithmetic import (
    INNER,
    Arithmetic,
    LinearSum,
    Quotient,
    aggregates_read,
    arithmetic,
    divisors,
    function_of_one,
)
from dpsql.postprocessing.intervals.dependence import ColumnScope, Dependence, Source, dependence_of
from dpsql.postprocessing.intervals.resampling import (
    FEWEST,
    SAMPLES,
    AnyReleasedTable,
    chosen_columns,
    column_values,
    has_noise,
    interval_of,
    percentiles,
    put_samples,
    tails,
)
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate_properties import Measure

#: The interval of an expression, by its number, on a row of its table.
CellIntervals: TypeAlias = dict[tuple[int, int], ConfidenceInterval]

#: How many sampled rows may be made in all, how many at a time, and the most released rows that are resampled.
MOST_MADE, AT_A_TIME = 5_000_000, 200_000
MOST_ROWS = MOST_MADE // FEWEST
#: In how many parts an interval is cut, at whose ends a function is looked at; fewer where there are many rows.
PARTS, FEWEST_PARTS, MOST_POINTS = 200, 20, 1_000_000
#: The most quantiles whose intervals are added: each may miss by itself.
MOST_QUANTILES = 2
_ROWS, _POINTS, _SAMPLES = "dpsql rows", "dpsql points", "dpsql row samples"


def computed_intervals(
    sandbox: Sandbox, table: AnyReleasedTable, wanted: Mapping[int, str], rows: Sequence[int], confidence: float
) -> CellIntervals:
    """The intervals of expressions over the columns of a released table, on these of its rows."""
    if not wanted or not rows:
        return {}
    sandbox.put(_ROWS, table, {}, ())
    found, resampled, divided = CellIntervals(), dict[int, str](), dict[int, str]()
    usable = {place for place in range(len(table.shape.aggregates)) if has_noise(table.shape, place)}
    wanted = {number: sql for number, sql in wanted.items() if aggregates_read(sql) <= usable}
    for number, sql in wanted.items():
        for known in (arithmetic(sql), function_of_one(sql)):
            inner = None if known is None else _inner(table, known.inner, rows, confidence)
            if known is not None and inner is not None:
                ends = _around(sandbox, table, known, inner, sql)
                found |= {(number, row): interval for row, interval in ends.items()}
                divided |= {} if known.monotone else {number: sql}
                break
        else:
            if is_smooth(sql, tuple(chosen_columns(table.shape))):
                resampled[number] = divided[number] = sql
    found |= _resampled(sandbox, table, resampled, rows, confidence)
    for number, sql in divided.items():
        below = dict(enumerate(divisors(sql)))
        for (_, row), (low, high) in computed_intervals(sandbox, table, below, rows, confidence).items():
            if low < 0 < high and (number, row) in found:
                found[number, row] = EVERYTHING
    return found


@lru_cache(maxsize=1024)
def is_smooth(sql: str, chosen: tuple[str, ...]) -> bool:
    """Whether resampling tells how far noise moves an expression over one released row: noise chooses nothing in it."""
    row = ColumnScope([Source("", place=0, chosen=chosen)])
    return dependence_of(SANDBOX.parse(sql), row, lambda query, scope: Dependence.CHOSEN) is Dependence.SMOOTH


def _inner(
    table: AnyReleasedTable, quotient: Quotient, rows: Sequence[int], confidence: float
) -> dict[int, ConfidenceInterval] | None:
    """The intervals of a quotient; None where there is no closed form."""
    above, below = quotient.above, quotient.below
    if below.is_constant:
        above = above.times(1 / below.constant)
        places = [place for place, _ in above.factors]
        quantiles = all(table.shape.aggregates[place].function.measure is Measure.QUANTILES for place in places)
        if len(places) == 1 or (quantiles and len(places) <= MOST_QUANTILES):
            ends = {row: _added(table, row, above) for row in rows}
            return {row: interval for row, interval in ends.items() if interval is not None}
        if quantiles:
            return None
        sums = {row: _sum_of_averages(table, row, above, confidence) for row in rows}
        if any(each is not None for each in sums.values()):
            return {row: interval for row, interval in sums.items() if interval is not None}
    found: dict[int, ConfidenceInterval] = {}
    for row in rows:
        over, under = _form(table, row, above, confidence), _form(table, row, below, confidence)
        if over is None or under is None:
            return None
        if below.is_constant:
            half = table.coarse_half_width(row, above.factors, confidence)
            found[row] = over.interval if half is None else (over.value - half, over.value + half)
        else:
            sign = -1.0 if under.value < 0 else 1.0
            found[row] = ratio(over * sign, under * sign, EVERYTHING)
    return found


def _added(table: AnyReleasedTable, row: int, total: LinearSum) -> ConfidenceInterval | None:
    """The ends of one aggregate's interval, or of several quantiles', each times its factor, added up."""
    low = high = float(total.constant)
    for place, factor in total.factors:
        curves, known = table.curves[row][place], table.intervals[row][place]
        if curves is not None and is_date(column_types(table.shape)[f"a{place}"]):
            known = (curves[0].points[0], curves[0].points[2]) if len(total.factors) == 1 else None
        if known is None:
            return None
        below, above = sorted(float(factor) * end for end in known)
        low, high = low + below, high + above
    return low, high


def _sum_of_averages(
    table: AnyReleasedTable, row: int, total: LinearSum, confidence: float
) -> ConfidenceInterval | None:
    averages = []
    for place, factor in total.factors:
        known = table.average(row, place, confidence)
        if known is None:
            return None
        averages.append((float(factor), known))
    return sum_interval(averages, float(total.constant)) if averages else None


def _form(table: AnyReleasedTable, row: int, total: LinearSum, confidence: float) -> LinearForm | None:
    whole = LinearForm(0.0)
    for number, (place, factor) in enumerate(total.factors):
        form = table.form(row, place, confidence)
        if form is None:
            return None
        whole = form * float(factor) if number == 0 else whole + form * float(factor)
    return whole.plus(float(total.constant))


def _around(
    sandbox: Sandbox, table: AnyReleasedTable, known: Arithmetic, inner: Mapping[int, ConfidenceInterval], sql: str
) -> dict[int, ConfidenceInterval]:
    """From the least to the greatest value of a function where its argument's interval goes.

    A function that nowhere falls or nowhere rises is looked at on the ends, another one on points of the interval too.
    """
    if known.around is None:
        return dict(inner)
    kind, rows, points = _kind(table, known), list[int](), list[object]()
    parts = np.arange(0) if known.monotone else np.arange(_parts(len(inner)) + 1) / _parts(len(inner))
    made = {} if known.monotone else {row: EVERYTHING for row, ends in inner.items() if not _is_finite(ends)}
    for row, (low, high) in inner.items():
        if row not in made:
            at = np.concatenate(
                [[low, high], [0.0] * (low < 0 < high), low + (high - low) * parts if len(parts) else []]
            )
            rows += [row] * len(at)
            points += column_values(at, None, kind)
    types = {"row": "BIGINT", INNER: kind}
    sandbox.create(_POINTS, types)
    sandbox.insert(_POINTS, [rows, points], types)
    value = f"TRY(TRY_CAST({known.around} AS DOUBLE))"
    value = f'coalesce({value}, "{INNER}")' if known.monotone else value
    number = f"FILTER (WHERE NOT isnan({value}))"
    source = f'(SELECT t.*, p."{INNER}" FROM released."{_ROWS}" AS t JOIN released."{_POINTS}" AS p USING ("row"))'
    found = _executed(
        sandbox, f'SELECT "row", min({value}) {number}, max({value}) {number} FROM {source} GROUP BY "row"'
    )
    released = {} if known.monotone else _released(sandbox, {0: sql})
    for row, low, high in found:
        if low is not None:
            own = released.get((0, row), low)
            made[row] = min(low, own), max(high, own)
    return made


def _kind(table: AnyReleasedTable, known: Arithmetic) -> str:
    """The type of what stands for the inner part: that of a date, where it is one, else a double."""
    factors = known.inner.above.factors
    kind = column_types(table.shape)[f"a{factors[0][0]}"] if len(factors) == 1 else ""
    return kind if is_date(kind) else "DOUBLE"


def _parts(rows: int) -> int:
    return max(min(PARTS, MOST_POINTS // max(rows, 1)), FEWEST_PARTS)


def _is_finite(ends: ConfidenceInterval) -> bool:
    return all(map(math.isfinite, ends))


def _released(sandbox: Sandbox, wanted: Mapping[int, str]) -> dict[tuple[int, int], float]:
    """The values of expressions on released rows, where they are numbers."""
    values = ", ".join(f"TRY(TRY_CAST({sql} AS DOUBLE))" for sql in wanted.values())
    found = _executed(sandbox, f'SELECT "row", {values} FROM released."{_ROWS}"')
    return {(number, row): value for row, *own in found for number, value in zip(wanted, own, strict=True)
            if value is not None and not math.isnan(value)}  # fmt: skip


def _resampled(
    sandbox: Sandbox, table: AnyReleasedTable, wanted: Mapping[int, str], rows: Sequence[int], confidence: float
) -> CellIntervals:
    """The intervals of expressions by resampling the rows that they are computed of."""
    samples = min(SAMPLES, MOST_MADE // len(rows))
    if not wanted or samples < FEWEST:
        return {}
    places = sorted(set().union(*map(aggregates_read, wanted.values())))
    listed = ", ".join(f'"a{place}"' for place in places)
    source = (f'(SELECT t.* EXCLUDE ({listed}), s.* EXCLUDE ("row") FROM released."{_ROWS}" AS t '
              f'JOIN released."{_SAMPLES}" AS s USING ("row"))')  # fmt: skip
    figures = ", ".join(each for sql in wanted.values() for each in percentiles(sql, *tails(confidence)))
    released, found = _released(sandbox, wanted), CellIntervals()
    at_a_time = max(AT_A_TIME // samples, 1)
    for start in range(0, len(rows), at_a_time):
        put_samples(sandbox, _SAMPLES, table, rows[start : start + at_a_time], places, samples, confidence)
        for row, *seen in _executed(sandbox, f'SELECT "row", {figures} FROM {source} GROUP BY "row"'):
            for at, number in enumerate(wanted):
                value = released.get((number, row))
                interval = interval_of(math.nan if value is None else value, *seen[3 * at : 3 * at + 3])
                if interval is not None:
                    found[number, row] = interval
    return found


def _executed(sandbox: Sandbox, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query; none where it fails on some sample or point."""
    try:
        return sandbox.execute(sql)
    except (PostProcessingFailed, PostProcessingStopped):
        return []
