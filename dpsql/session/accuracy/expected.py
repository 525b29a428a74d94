"""How exact the columns of a result will be: half of their intervals, from the plan and from what was released.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite, sqrt
from statistics import median
from typing import cast

from dpsql.planning.estimators.estimate import Estimate, Interval, Mean, Seen
from dpsql.planning.estimators.frequencies import Clip, Counted, Frequent, Most
from dpsql.planning.estimators.quantiles import Ranked
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing import Result
from dpsql.session.accuracy.grouping_sets import finest_half_width


@dataclass(frozen=True)
class ColumnError:
    """Half of a column's interval in a typical row, and the typical size of its values where something tells of it."""

    name: str
    half_width: float
    magnitude: float | None = None


def place_of(plan: Plan, column: OutputColumn) -> tuple[CorePlan, int] | None:
    """The core that an aggregate of the result is measured in, the finest of a cube, and its place there."""
    if column.aggregate is None:
        return None
    if column.cube is None:
        return plan.cores[column.core], column.aggregate
    cube = plan.cubes[column.cube]
    cores = [level.core for level in cube.levels if level.core is not None]
    core = plan.cores[cores[0] if cube.finest is None else cube.finest]
    return core, core.core.aggregates.index(cube.aggregates[column.aggregate])


def has_interval(plan: Plan, number: int) -> bool:
    """Whether the cells of a column of the result get intervals of numbers that noise decides."""
    column = plan.columns[number]
    at = place_of(plan, column)
    if at is None:
        return column.drawn is not None or (plan.redrawn is not None and number in plan.redrawn.wanted)
    core, place = at
    match core.estimates[place]:
        case Ranked(histogram=number, ranks=ranks):
            bins = core.histograms[number].contribution.bins
            return not ranks.listed and bins is not None and bins.axis == "number"
        case Seen() | Counted() | Most() | Clip():
            return False
        case _:
            return True


def expected(plan: Plan, rows: Fraction | None = None) -> tuple[ColumnError | None, ...]:
    """For each column its half-width where the plan alone tells it: of counts and sums, exactly.

    With ``rows`` of averages too, of groups of so many rows whose average is near the middle of the bounds.
    """
    found = []
    for column in plan.columns:
        at = place_of(plan, column)
        half = None if at is None else _half_width(*at, plan.confidence, rows)
        if half is not None and column.cube is not None and column.aggregate is not None:
            half = finest_half_width(plan, plan.cubes[column.cube], column.aggregate) or half
        found.append(None if half is None else ColumnError(column.name, half))
    return tuple(found)


def _half_width(core: CorePlan, place: int, confidence: float, rows: Fraction | None) -> float | None:
    estimate: Estimate | Ranked | Frequent = core.estimates[place]
    if not isinstance(estimate, Mean):
        return core.additive_half_widths(confidence)[place]
    if rows is None:
        return None
    halves, reach = core.half_widths(confidence), float(estimate.reach)
    certain = float(rows) ** 2 - float(halves[estimate.count]) ** 2
    return min(float(halves[estimate.total]) / sqrt(certain), reach) if certain > 0 else reach


def typical(result: Result) -> tuple[ColumnError | None, ...]:
    """For each column the middle half-width of its rows, and the middle size of its values."""
    found = []
    for place, column in enumerate(result.columns):
        halves, sizes = [], []
        for row, intervals in zip(result.rows, result.intervals, strict=True):
            ends, value = intervals[place], row[place]
            if ends is not None and isinstance(value, int | float | Decimal):
                low, high = cast(Interval, ends)
                halves.append((high - low) / 2)
                sizes.append(abs(float(value)))
        known = [half for half in halves if half == half]
        found.append(ColumnError(column.name, median(known), _size(sizes)) if known else None)
    return tuple(found)


def _size(sizes: Sequence[float]) -> float | None:
    size = median(sizes)
    return size if isfinite(size) and size > 0 else None
