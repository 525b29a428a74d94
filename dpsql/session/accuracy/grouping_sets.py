"""How exact the finest groups of grouping sets will be, whose numbers all levels together tell.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from dpsql.planning.estimators.estimate import Alone, Shifted
from dpsql.planning.estimators.least_squares import Measured, spreads
from dpsql.planning.grouping_set_noise import DENSE, cell_variance, spread_half_width
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism import Laplace
from dpsql.sql.analysis.grouping_levels import Cube, is_additive
from dpsql.sql.ir.expression import BOOLEAN, Column, Expression
from dpsql.sql.ir.relation import KeyDomain


def finest_half_width(plan: Plan, cube: Cube, aggregate: int) -> float | None:
    """Of a count or a sum that several levels measure, where all combinations of public keys are groups; else None."""
    if cube.finest is None or not is_additive(cube.aggregates[aggregate]):
        return None
    if {level.core for level in cube.levels} <= {cube.finest, None}:
        return None
    finest = plan.cores[cube.finest]
    estimate = finest.estimates[finest.core.aggregates.index(cube.aggregates[aggregate])]
    if not isinstance(estimate, Alone | Shifted):
        return None
    halves = [_cell_half_width(plan, cube, finest, cell) for cell in _cells(estimate)]
    known = [half for half in halves if half is not None]
    return float(np.hypot.reduce(known)) if len(known) == len(halves) else None


def _cells(estimate: Alone | Shifted) -> list[tuple[int, float]]:
    """The cells of an estimate with their weights."""
    match estimate:
        case Alone(cell=cell):
            return [(cell, 1.0)]
        case Shifted(total=total, count=count, middle=middle):
            return [(total, 1.0), (count, abs(float(middle)))]


def _cell_half_width(plan: Plan, cube: Cube, finest: CorePlan, weighted: tuple[int, float]) -> float | None:
    """Half the interval of one cell of a finest group, by the law of least squares over all levels that measured it."""
    cell, weight = weighted
    step = finest.steps[cell]
    measured = {
        level.keys: plan.cores[level.core]
        for level in cube.levels
        if level.core is not None
        and finest.cells[cell].contribution.cell in [each.contribution.cell for each in plan.cores[level.core].cells]
    }
    alone = float(finest.cells[cell].mechanism.half_width(plan.confidence) * step) * weight
    whole = max(measured, key=len)
    if len(measured) == 1:
        return alone
    shape = key_sizes(finest.core.domain)
    if shape is None or prod(shape) > DENSE:
        return None
    places = np.indices(shape).reshape(len(shape), -1)
    levels = []
    for keys, core in measured.items():
        if keys == whole:
            continue
        at = [cell_.contribution.cell for cell_ in core.cells].index(finest.cells[cell].contribution.cell)
        inside = [whole.index(place) for place in keys]
        group = np.zeros(places.shape[1], np.int64)
        for place in inside:
            group = group * shape[place] + places[place]
        count = prod(shape[place] for place in inside)
        levels.append(Measured(group, np.zeros(count), cell_variance(core, at, step)))
    spread = spreads(prod(shape), cell_variance(finest, cell, step), levels)([0])
    laplace = isinstance(finest.cells[cell].mechanism, Laplace)
    return spread_half_width(spread, laplace, plan.confidence) * float(step) * weight


def key_sizes(domain: KeyDomain | None) -> tuple[int, ...] | None:
    """How many values each key has, where their combinations are all that there are; None where that is not known.

    A column has those that are enumerated, a truth value two; one key that is computed otherwise has the rest.
    """
    if domain is None or domain.count is None:
        return None
    listed = {each.column: each.count for each in domain.enumerated}
    sizes = [_size(key, listed) for key in domain.keys]
    known = prod(size for size in sizes if size is not None)
    if sizes.count(None) == 1 and domain.count % known == 0:
        sizes[sizes.index(None)] = domain.count // known
    found = tuple(size for size in sizes if size is not None)
    return found if len(found) == len(sizes) and prod(found) == domain.count else None


def _size(key: Expression, listed: Mapping[Column, int]) -> int | None:
    if isinstance(key, Column):
        return listed.get(key)
    return 2 if key.type == BOOLEAN else None
