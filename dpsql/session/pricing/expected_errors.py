"""How exact the columns of a result will be: half of their intervals,
from the plan and from what was released.

What limits on the rows of a unit cost in error is said to the owner before they are chosen. Proved
in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite, prod, sqrt
from statistics import median
from typing import assert_never, cast

import numpy as np

from dpsql.planning.calibration import mechanism
from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
)
from dpsql.planning.estimators.histogram import (
    ClippingBound,
    FrequencyEstimate,
    PresentValues,
    TopValues,
    ValueCounts,
)
from dpsql.planning.estimators.least_squares import (
    DENSE,
    MeasuredLevel,
    cell_variance,
    spread_half_width,
    spreads,
)
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.moments import MomentEstimate
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing import Result
from dpsql.privacy.mechanism import Laplace
from dpsql.schema import Privacy
from dpsql.session.pricing.noise_choice import noise_of_full_budget
from dpsql.sql.analysis.contribution import Norm, counted_once
from dpsql.sql.analysis.grouping_levels import Cube, is_additive, noise_known
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import KeyDomain
from dpsql.sql.ir.expression import BOOLEAN, ColumnRef, Expression


def finest_half_width(plan: Plan, cube: Cube, aggregate: int) -> float | None:
    """Of a count or a sum that several levels measure,
    where all combinations of public keys are groups; else None.
    """
    if cube.finest is None or not is_additive(cube.aggregates[aggregate]):
        return None
    if {level.core for level in cube.levels} <= {cube.finest, None}:
        return None
    finest = plan.cores[cube.finest]
    estimate = finest.estimates[finest.core.aggregates.index(cube.aggregates[aggregate])]
    if not isinstance(estimate, SingleCell | CentredSum):
        return None
    halves = [_cell_half_width(plan, cube, finest, cell) for cell in _cells(estimate)]
    known = [half for half in halves if half is not None]
    return float(np.hypot.reduce(known)) if len(known) == len(halves) else None


def _cells(estimate: SingleCell | CentredSum) -> list[tuple[int, float]]:
    """The cells of an estimate with their weights."""
    match estimate:
        case SingleCell(cell=cell):
            return [(cell, 1.0)]
        case CentredSum(total=total, count=count, middle=middle):
            return [(total, 1.0), (count, abs(float(middle)))]


def _cell_half_width(
    plan: Plan, cube: Cube, finest: CorePlan, weighted: tuple[int, float]
) -> float | None:
    """Half the interval of one cell of a finest group,
    by the law of least squares over all levels that measured it.
    """
    cell, weight = weighted
    step = finest.steps[cell]
    measured = {
        level.keys: plan.cores[level.core]
        for level in cube.levels
        if level.core is not None
        and finest.cells[cell].contribution.cell
        in [measured_cell.contribution.cell for measured_cell in plan.cores[level.core].cells]
    }
    alone = float(finest.cells[cell].mechanism.half_width(plan.confidence) * step) * weight
    finest_keys = max(measured, key=len)
    if len(measured) == 1:
        return alone
    shape = key_sizes(finest.core.domain)
    if shape is None or prod(shape) > DENSE:
        return None
    places = np.indices(shape).reshape(len(shape), -1)
    levels = []
    for keys, core in measured.items():
        if keys == finest_keys:
            continue
        at = [cell_.contribution.cell for cell_ in core.cells].index(
            finest.cells[cell].contribution.cell
        )
        inside = [finest_keys.index(key) for key in keys]
        group = np.zeros(places.shape[1], np.int64)
        for index in inside:
            group = group * shape[index] + places[index]
        count = prod(shape[index] for index in inside)
        levels.append(MeasuredLevel(group, np.zeros(count), cell_variance(core, at, step)))
    spread = spreads(prod(shape), cell_variance(finest, cell, step), levels)([0])
    laplace = isinstance(finest.cells[cell].mechanism, Laplace)
    return spread_half_width(spread, laplace, plan.confidence) * float(step) * weight


def key_sizes(domain: KeyDomain | None) -> tuple[int, ...] | None:
    """How many values each key has, where their combinations are all that there are;
    None where that is not known.

    A column has those that are enumerated, a truth value two;
    one key that is computed otherwise has the rest.
    """
    if domain is None or domain.count is None:
        return None
    listed = {column.column: column.count for column in domain.enumerated}
    sizes = [_key_size(key, listed) for key in domain.keys]
    known = prod(size for size in sizes if size is not None)
    if sizes.count(None) == 1 and domain.count % known == 0:
        sizes[sizes.index(None)] = domain.count // known
    known_sizes = tuple(size for size in sizes if size is not None)
    return (
        known_sizes
        if len(known_sizes) == len(sizes) and prod(known_sizes) == domain.count
        else None
    )


def _key_size(key: Expression, listed: Mapping[ColumnRef, int]) -> int | None:
    if isinstance(key, ColumnRef):
        return listed.get(key)
    return 2 if key.type == BOOLEAN else None


@dataclass(frozen=True)
class ColumnError:
    """Half of a column's interval in a typical row,
    and the typical size of its values where something tells of it.
    """

    name: str
    half_width: float
    magnitude: float | None = None


def place_of(plan: Plan, column: OutputColumn) -> tuple[CorePlan, int] | None:
    """The core that an aggregate of the result is measured in, the finest of a cube,
    and its place there.
    """
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
        return column.exact or (plan.resampling is not None and number in plan.resampling.wanted)
    core, index = at
    shape = core.core if column.cube is None else plan.cubes[column.cube]
    if noise_known(shape) is KnownNoise.NOTHING:
        return False
    match core.estimates[index]:
        case QuantileEstimate(histogram=number, ranks=ranks):
            bins = core.histograms[number].contribution.bins
            return not ranks.listed and bins is not None and bins.axis == "number"
        case PresenceEstimate() | ValueCounts() | TopValues() | ClippingBound() | PresentValues():
            return False
        case SingleCell() | CentredSum() | MeanEstimate() | MomentEstimate():
            return True
        case _:
            assert_never(core.estimates[index])


def is_list(plan: Plan, number: int) -> bool:
    """Whether a column of the result is a list of quantiles,
    whose elements have intervals of their own.
    """
    at = place_of(plan, plan.columns[number])
    estimate = None if at is None else at[0].estimates[at[1]]
    return isinstance(estimate, QuantileEstimate) and estimate.ranks.listed


def expected(plan: Plan, rows: Fraction | None = None) -> tuple[ColumnError | None, ...]:
    """The half-width of each column if the plan alone tells it; exact for counts and sums.

    With ``rows`` also that of averages, for groups of so many rows whose average is near the middle
    of the bounds.
    """
    errors = []
    for column in plan.columns:
        at = place_of(plan, column)
        half = None if at is None else _half_width(*at, plan.confidence, rows)
        if half is not None and column.cube is not None and column.aggregate is not None:
            half = finest_half_width(plan, plan.cubes[column.cube], column.aggregate) or half
        errors.append(None if half is None else ColumnError(column.name, half))
    return tuple(errors)


def _half_width(
    core: CorePlan, index: int, confidence: float, rows: Fraction | None
) -> float | None:
    estimate: Estimate | QuantileEstimate | FrequencyEstimate = core.estimates[index]
    if not isinstance(estimate, MeanEstimate):
        return core.additive_half_widths(confidence)[index]
    if rows is None:
        return None
    halves = core.half_widths(confidence)
    reach = float(estimate.reach)
    certain = float(rows) ** 2 - float(halves[estimate.count]) ** 2
    return min(float(halves[estimate.total]) / sqrt(certain), reach) if certain > 0 else reach


def typical(result: Result) -> tuple[ColumnError | None, ...]:
    """For each column the middle half-width of its rows, and the middle size of its values."""
    errors = []
    for index, column in enumerate(result.columns):
        halves = []
        sizes = []
        for row, intervals in zip(result.rows, result.intervals, strict=True):
            ends = intervals[index]
            value = row[index]
            if ends is not None and isinstance(value, int | float | Decimal):
                low, high = cast(ConfidenceInterval, ends)
                halves.append((high - low) / 2)
                sizes.append(abs(float(value)))
        known = [half for half in halves if half == half]
        errors.append(
            ColumnError(column.name, median(known), _typical_size(sizes)) if known else None
        )
    return tuple(errors)


def _typical_size(sizes: Sequence[float]) -> float | None:
    size = median(sizes)
    return size if isfinite(size) and size > 0 else None


#: What a count and a sum of an average have of its price each.
AVERAGE_SHARE = Fraction(1, 2)


def count_error(privacy: Privacy, rows: int) -> float:
    """Half the interval of COUNT(*) at the price of a statement,
    where so many rows of a unit count.
    """
    return error_in_groups(privacy, rows, None, None)


def error_in_groups(
    privacy: Privacy,
    rows: int,
    groups: int | None,
    rows_per_group: int | None,
    share: Fraction = Fraction(1),
) -> float:
    """Half the interval of a count of rows by groups, at a share of the price of a statement.

    A unit has at most so many rows, touches at most so many groups,
    and has at most so many rows in one of them.
    """
    norm: Norm = "l2" if noise_of_full_budget(privacy) == "gaussian" else "l1"
    most = rows if norm == "l1" else rows**2
    if rows_per_group is not None:
        touched = min(rows, groups or rows)
        most = min(most, touched * (rows_per_group if norm == "l1" else rows_per_group**2))
    once = counted_once(norm)
    limited = replace(once, limit=once.limit * most, rows=rows)
    noise = mechanism(limited, norm, privacy.neighbours, privacy.query_epsilon, share=share)
    return float(noise.half_width(float(privacy.confidence)) * limited.step)
