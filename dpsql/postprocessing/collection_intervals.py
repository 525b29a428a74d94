"""Intervals of debiased numbers.

They tell how far the clients' own randomness, and the noise of released counts, move the numbers.
Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot, isfinite

from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import CellInterval, CollectionEnds, OutputColumn
from dpsql.sql.binder.collected.debias import HIGH, LOW


def without_collection_ends(
    columns: tuple[OutputColumn, ...],
) -> tuple[tuple[OutputColumn, ...], tuple[OutputColumn, ...], tuple[CollectionEnds, ...]]:
    """The columns of a result, the interval ends that follow them, and the columns of these."""
    low = {
        int(column.name.removeprefix(LOW)): at
        for at, column in enumerate(columns)
        if column.name.startswith(LOW)
    }
    high = {
        int(column.name.removeprefix(HIGH)): at
        for at, column in enumerate(columns)
        if column.name.startswith(HIGH)
    }
    if not low:
        return columns, (), ()
    width = min(low.values())
    end_columns = tuple(replace(column, type="VARCHAR") for column in columns[width:])
    collection_ends = tuple(CollectionEnds(index, at, high[index]) for index, at in low.items())
    return columns[:width], end_columns, collection_ends


def with_debiased_intervals(
    plan: Plan, rows: Sequence[Sequence[object]], intervals: list[tuple[CellInterval | None, ...]]
) -> list[tuple[CellInterval | None, ...]]:
    """The intervals of a result with those of its debiased columns.

    Other columns of a result with debiased numbers have none: noise alone does not tell how far off
    these are. Where nothing was released, the collection's randomness is all that there is.
    Elsewhere that and the noise are independent, so that the distances to each end add up in
    squares; a cell whose noise has no interval has none.
    """
    if plan.collection is None:
        return intervals
    result: list[list[CellInterval | None]] = [[None] * len(interval) for interval in intervals]
    for number, row in enumerate(rows):
        for ends in plan.collection:
            value = row[ends.column]
            low = row[ends.low]
            high = row[ends.high]
            collection_interval = (
                (low, high) if isinstance(low, float) and isinstance(high, float) else None
            )
            noise = intervals[number][ends.column]
            result[number][ends.column] = (
                collection_interval
                if not plan.cores or collection_interval is None
                else _together(value, collection_interval, noise)
            )
    return [tuple(row_intervals) for row_intervals in result]


def _together(
    value: object, collection_interval: tuple[float, float], noise: CellInterval | None
) -> CellInterval | None:
    match value, noise:
        case (int() | float(), (int() | float() as low, int() | float() as high)) if all(
            map(isfinite, collection_interval)
        ):
            middle = float(value)
            return middle - hypot(middle - collection_interval[0], middle - low), middle + hypot(
                collection_interval[1] - middle, high - middle
            )
        case _, None:
            return None
        case _:
            return collection_interval
