"""How far an expression goes where the intervals of its aggregates let these go (``docs/proofs/ends.md``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpsql.errors import ShellFailed, ShellStopped
from dpsql.planning.estimators.estimate import Interval
from dpsql.postprocessing.intervals.datetimes import is_date
from dpsql.postprocessing.resampling.columns import AT_A_TIME, Rows, drawn_types, drawn_values
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.ir.relation import Core

#: In how many parts an interval is cut, at whose ends an expression is looked at; fewer where there are many rows.
PARTS, FEWEST_PARTS, MOST_POINTS = 200, 20, 1_000_000


def ends_of(shape: Core | Cube) -> dict[int, bool]:
    """The places of MIN and MAX among the aggregates, each with whether it is MAX."""
    asked = [(place, each.ranks) for place, each in enumerate(shape.aggregates)]
    return {place: ranks.fractions[0] == 1 for place, ranks in asked if ranks is not None and ranks.edge}


def over_box(
    sandbox: Sandbox, table: Rows, sql: str, places: Sequence[int], rows: Sequence[int]
) -> dict[int, Interval]:
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
