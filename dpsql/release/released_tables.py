"""The released tables of a statement: keys, values with their intervals, and the noisy cells behind them.

Proved in ``docs/proofs/presence.md`` and ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.columnar_rows import ColumnarRows, StepColumn, column, rows_at
from dpsql.planning.estimators.estimate import (
    CentredSum,
    SingleCell,
    linear,
    simulated,
)
from dpsql.planning.estimators.histogram import ClippingBound, PresentValues, TopValues, ValueCounts
from dpsql.planning.estimators.linear_forms import ConfidenceInterval, LinearForm
from dpsql.planning.estimators.quantiles import QuantileCurves, QuantileEstimate
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.sql.ir.core import Core


@dataclass(frozen=True)
class HiddenGroups:
    """The groups that are not shown for want of evidence: their keys and, for each cell, their noisy counts in steps.

    They were paid for with the others, and count in what is made of a table as a whole.
    """

    keys: Sequence[tuple[object, ...]]
    counts: tuple[Sequence[int], ...]


@dataclass(frozen=True)
class ReleasedTable:
    """One core's released rows: keys, aggregates with their intervals, and the noisy cells and curves behind them.

    ``hidden`` are the groups that were left out of the rows, where they are kept.
    """

    plan: CorePlan
    keys: Sequence[tuple[object, ...]]
    aggregates: Sequence[tuple[object, ...]]
    intervals: Sequence[tuple[ConfidenceInterval | None, ...]]
    cells: Sequence[tuple[Fraction, ...]]
    curves: Sequence[tuple[QuantileCurves | None, ...]]
    hidden: HiddenGroups | None = field(default=None, kw_only=True)

    @property
    def is_complete(self) -> bool:
        """Whether the noisy cells of all groups are here, with those of hidden ones."""
        presence = self.plan.presence
        return presence is None or not presence.released or self.hidden is not None

    @property
    def shape(self) -> Core:
        """The core whose columns the table has."""
        return self.plan.core

    @property
    def totals(self) -> Sequence[tuple[int, ...]]:
        """For each row, which keys it is a total over: a core has no totals, and no columns that would say so."""
        return ColumnarRows((), len(self.keys))

    @property
    def absent(self) -> frozenset[int]:
        """The rows of groups that the plan's evidence takes for groups without rows."""
        presence = self.plan.presence
        if presence is None or presence.released:
            return frozenset()
        cells = column(self.cells, presence.cell)
        step = self.plan.steps[presence.cell]
        counts = cells.counts if isinstance(cells, StepColumn) else [int(each / step) for each in cells]
        return presence.absent(counts, len(self.keys))

    def present(self) -> ReleasedTable:
        """The table without the rows of absent groups."""
        absent = self.absent
        if not absent:
            return self
        return self.at([place for place in range(len(self.keys)) if place not in absent])

    def at(self, places: Sequence[int]) -> ReleasedTable:
        """The table of these rows alone."""
        return ReleasedTable(self.plan, rows_at(self.keys, places), rows_at(self.aggregates, places),
                             rows_at(self.intervals, places), rows_at(self.cells, places),
                             rows_at(self.curves, places))  # fmt: skip

    def read_by(self, core: CorePlan) -> ReleasedTable:
        """The table as the plan of an equal core reads it, which may show groups without rows or leave them out."""
        return replace(self, plan=core)

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """What each aggregate of a row would be on ``count`` fresh draws of its noise around the released cells.

        The second half of the draws has the noise of the first with the other sign.
        """
        cells = [
            float(noisy) + antithetic_noise(noise, count) * float(step)
            for noisy, noise, step in zip(self.cells[row], self.plan.noises, self.plan.steps, strict=True)
        ]
        halves = self.plan.half_widths(confidence)
        return [
            self._stretched(row, place, cells[-1], halves[-1])
            if self.plan.shows_its_group(place)
            else self._drawn(place, cells, halves, count)
            if curves is None or len(curves) > 1
            else curves[0].draws(count)
            for place, curves in enumerate(self.curves[row])
        ]

    def form(self, row: int, aggregate: int, confidence: float) -> LinearForm | None:
        """The aggregate as a linear form in the row's noisy cells; None where it is none."""
        estimate = self.plan.estimates[aggregate]
        if not isinstance(estimate, SingleCell | CentredSum) or self.plan.shows_its_group(aggregate):
            return None
        cells = list(zip(self.cells[row], self.plan.half_widths(confidence), strict=True))
        return linear(estimate, cells, self.plan.law(confidence))

    def coarse_half_width(self, row: int, factors: Sequence[tuple[int, Fraction]], confidence: float) -> float | None:
        """Half the width of the interval of a sum of aggregates, where noise of few steps is not as its law says."""
        return self.plan.coarse_half_width(factors, confidence)

    def _stretched(self, row: int, place: int, drawn: NDArray[np.float64], half: Fraction) -> NDArray[np.float64]:
        """The number that let the row be shown: its ends are passed as often as noise passes its half-width."""
        ends, middle, reach = self.intervals[row][place], float(self.cells[row][-1]), max(float(half), 1.0)
        assert ends is not None
        far = np.where(drawn < middle, middle - ends[0], ends[1] - middle)
        return middle + (drawn - middle) / reach * far

    def _drawn(
        self, place: int, cells: Sequence[NDArray[np.float64]], halves: Sequence[Fraction], count: int
    ) -> NDArray[np.float64]:
        """An aggregate on drawn cells; what is no number is not drawn."""
        if isinstance(
            self.plan.estimates[place], ValueCounts | TopValues | ClippingBound | PresentValues | QuantileEstimate
        ):
            return np.full(count, np.nan)
        return simulated(self.plan.arithmetic(place), cells, halves)


@dataclass(frozen=True)
class Released:
    """The released tables of a plan, in the order of its cores: public from here on."""

    tables: tuple[ReleasedTable, ...]

    def __add__(self, later: Released) -> Released:
        return Released(self.tables + later.tables)


#: What a statement without private aggregates releases.
NOTHING = Released(())


def antithetic_noise(noise: Mechanism, count: int) -> NDArray[np.float64]:
    """Antithetic draws: the second half is the first with the other sign, so that what is linear keeps its middle."""
    half = noise.sample((count + 1) // 2).astype(np.float64)
    return np.concatenate([half, -half])[:count]
