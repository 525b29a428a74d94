"""ExactRows → Released: noise on every cell, thresholds on undeclared keys, an interval beside every value.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsql.cells import aggregate_type
from dpsql.engines.exact import CoreRows, ExactRows
from dpsql.estimate import Interval, interval, simulated, value
from dpsql.plan import CorePlan
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.query.relation import Core

#: The values that a BIGINT holds; released numbers beyond are kept at its ends, after the noise.
INT64 = 2**63
#: The digits that a DECIMAL(38, s) holds.
DIGITS = 10**38 - 1
_EXACT = Context(prec=40)


@dataclass(frozen=True)
class ReleasedTable:
    """One core's released rows: keys, aggregates with their intervals, and the noisy cells behind them."""

    plan: CorePlan
    keys: tuple[tuple[object, ...], ...]
    aggregates: tuple[tuple[object, ...], ...]
    intervals: tuple[tuple[Interval | None, ...], ...]
    cells: tuple[tuple[Fraction, ...], ...]

    @property
    def shape(self) -> Core:
        """The core whose columns the table has."""
        return self.plan.core

    @property
    def totals(self) -> tuple[tuple[int, ...], ...]:
        """For each row, which keys it is a total over: a core has no totals, and no columns that would say so."""
        return ((),) * len(self.keys)

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """What each aggregate of a row would be on ``count`` fresh draws of its noise around the released cells."""
        noises = [cell.mechanism for cell in self.plan.cells]
        if self.plan.selection is not None:
            noises.append(self.plan.selection.noise)
        cells = [
            float(noisy) + noise.sample(count).astype(np.float64) * float(step)
            for noisy, noise, step in zip(self.cells[row], noises, self.plan.steps, strict=True)
        ]
        halves = self.plan.half_widths(confidence)
        return [simulated(estimate, cells, halves) for estimate in self.plan.estimates]


@dataclass(frozen=True)
class Released:
    """The released tables of a plan, in the order of its cores: public from here on."""

    tables: tuple[ReleasedTable, ...]

    def __add__(self, later: Released) -> Released:
        return Released(self.tables + later.tables)


#: What a statement without private aggregates releases.
NOTHING = Released(())


def release(
    exact: ExactRows, cores: Sequence[CorePlan], confidence: float, *, _entropy: Entropy = OPERATING_SYSTEM
) -> Released:
    """Add noise to every cell of the cores and withhold the keys that do not reach their threshold.

    Rows come in the order of their keys, so that the engine's order is not released.
    """
    pairs = zip(cores, exact.reveal(), strict=True)
    return Released(tuple(_release_core(core, rows, confidence, _entropy) for core, rows in pairs))


def _release_core(plan: CorePlan, rows: CoreRows, confidence: float, entropy: Entropy) -> ReleasedTable:
    width, cells = len(plan.core.keys), len(plan.cells)
    rows = sorted(rows, key=lambda row: [rank(each) for each in row[:width]])
    noisy: list[Sequence[int | None]] = [
        cell.mechanism.perturb([_integer(row[width + place]) for row in rows], _entropy=entropy)
        for place, cell in enumerate(plan.cells)
    ]
    if plan.selection is not None:
        noisy.append(plan.selection.select([_integer(row[width + cells]) for row in rows], _entropy=entropy))
    steps, halves = plan.steps, plan.half_widths(confidence)
    types = [aggregate_type(aggregate) for aggregate in plan.core.aggregates]
    keys, aggregates, intervals, shown = [], [], [], []
    for place, row in enumerate(rows):
        counts = [column[place] for column in noisy]
        if any(count is None for count in counts):
            continue
        known = [count * step for count, step in zip(counts, steps, strict=True) if count is not None]
        measured = list(zip(known, halves, strict=True))
        values = [value(estimate, measured) for estimate in plan.estimates]
        keys.append(tuple(row[:width]))
        aggregates.append(tuple(as_type(each, sql_type) for each, sql_type in zip(values, types, strict=True)))
        intervals.append(tuple(interval(estimate, measured) for estimate in plan.estimates))
        shown.append(tuple(known))
    return ReleasedTable(plan, tuple(keys), tuple(aggregates), tuple(intervals), tuple(shown))


def _integer(cell: object) -> int:
    assert isinstance(cell, int)
    return cell


def rank(key: Any) -> tuple[int, Any]:
    """NaN after all numbers, NULL after all values: a total order, whatever order the rows came in."""
    if key is None:
        return 2, 0
    return (1, 0) if key != key else (0, key)


def as_type(number: Fraction | None, sql_type: str) -> bool | int | float | Decimal | None:
    """A released number in its column's type, NULL as it is; rounding comes after the noise and costs nothing."""
    if number is None:
        return None
    if sql_type == "BOOLEAN":
        return number == 1
    if sql_type == "BIGINT":
        return max(-INT64, min(INT64 - 1, round(number)))
    if sql_type == "DOUBLE":
        return float(number)
    scale = int(sql_type.rstrip(")").split(",")[1])
    return Decimal(max(-DIGITS, min(DIGITS, round(number * 10**scale)))).scaleb(-scale, _EXACT)
