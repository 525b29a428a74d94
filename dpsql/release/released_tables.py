"""The released tables of a statement: keys, values with intervals, and their noisy cells.

Proved in ``docs/proofs/presence.md`` and ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.columnar_rows import (
    ColumnarRows,
    IntervalColumn,
    StepColumn,
    column,
    columns,
    rows_at,
)
from dpsql.planning.estimators.estimate import (
    CentredSum,
    SingleCell,
    interval,
    linear,
    may_lack_rows,
    simulated,
)
from dpsql.planning.estimators.histogram import ClippingBound, PresentValues, TopValues, ValueCounts
from dpsql.planning.estimators.linear_forms import ConfidenceInterval, LinearForm
from dpsql.planning.estimators.quantiles import QuantileCurves, QuantileEstimate
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.release.shown_groups import core_evidence
from dpsql.sql.ir.core import Core

#: Which groups are shown is the same at each confidence.
_ANY_CONFIDENCE = 0.95
#: Intervals are doubles: one that is longer by less than this factor is not longer.
_ROUNDED = 1 + Fraction(1, 10**9)
_HISTOGRAMS = (ValueCounts, TopValues, ClippingBound, PresentValues, QuantileEstimate)


@dataclass(frozen=True)
class HiddenGroups:
    """The groups that are not shown for want of evidence: their keys and noisy counts.

    For each cell the counts are in steps. They were paid for with the others, and count in what is
    made of a table as a whole.
    """

    keys: Sequence[tuple[object, ...]]
    counts: tuple[Sequence[int], ...]


@dataclass(frozen=True)
class ReleasedTable:
    """One core's released rows: keys, aggregates with their intervals, noisy cells and curves.

    ``hidden`` are the groups that were left out of the rows, if they are kept. ``unshown`` are rows
    of groups that are not shown, if the table has them.
    """

    plan: CorePlan
    keys: Sequence[tuple[object, ...]]
    aggregates: Sequence[tuple[object, ...]]
    intervals: Sequence[tuple[ConfidenceInterval | None, ...]]
    cells: Sequence[tuple[Fraction, ...]]
    curves: Sequence[tuple[QuantileCurves | None, ...]]
    hidden: HiddenGroups | None = field(default=None, kw_only=True)
    unshown: frozenset[int] = field(default=frozenset(), kw_only=True)

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
    def marks(self) -> list[bool]:
        """For each row whether its group is shown."""
        return [row not in self.unshown for row in range(len(self.keys))]

    @property
    def totals(self) -> Sequence[tuple[int, ...]]:
        """For each row, which keys it is a total over.

        A core has no totals, and no columns that would say so.
        """
        return ColumnarRows((), len(self.keys))

    @property
    def absent(self) -> frozenset[int]:
        """The rows of groups that the plan's evidence takes for groups without rows."""
        presence = self.plan.presence
        if presence is None or presence.released:
            return frozenset()
        places, _ = core_evidence(self.plan, self.keys, self.counts(presence.cell), _ANY_CONFIDENCE)
        return frozenset(range(len(self.keys))).difference(places)

    def near(self, confidence: float) -> frozenset[int]:
        """The rows that are shown only because the count of the evidence is not much smaller."""
        presence = self.plan.presence
        if presence is None or presence.released:
            return frozenset()
        return frozenset(
            core_evidence(self.plan, self.keys, self.counts(presence.cell), confidence)[1]
        )

    def present(self, confidence: float, nulls: tuple[int, ...] | None = None) -> ReleasedTable:
        """The table without the rows of absent groups.

        The intervals of the others allow for the choice. If places of keys are given, only groups
        with NULL at one of these need evidence.
        """
        presence = self.plan.presence
        if presence is None or presence.released:
            return self
        places, ends = core_evidence(self.plan, self.keys, self.counts(presence.cell), confidence)
        without_null = self.without_null(nulls)
        places = tuple(sorted(without_null.union(places)))
        present = self if len(places) == len(self.keys) else self.at(places)
        chosen = {row: index for row, index in enumerate(places) if index not in without_null}
        return present.with_lower_ends(
            {row: ends[index] for row, index in chosen.items() if index in ends}, confidence
        )

    def without_null(self, nulls: tuple[int, ...] | None) -> frozenset[int]:
        """The rows without NULL at these places of keys, which need no evidence.

        None of them if no places are given.
        """
        if nulls is None:
            return frozenset()
        return frozenset(
            row for row, key in enumerate(self.keys) if all(key[null] is not None for null in nulls)
        )

    def counts(self, index: int) -> Sequence[int]:
        """A cell's noisy counts, in steps."""
        cells = column(self.cells, index)
        step = self.plan.steps[index]
        if isinstance(cells, StepColumn) and cells.step == step:
            return cells.counts
        return [int(cell / step) for cell in cells]

    def with_lower_ends(self, ends: Mapping[int, int], confidence: float) -> ReleasedTable:
        """The table with wider intervals for rows shown because their count is not smaller.

        It is the count of the evidence. An average is NULL if the longer interval of its count
        holds 0. ``ends`` are the lower ends of the intervals of these counts, in steps.
        """
        presence = self.plan.presence
        if presence is None or not ends:
            return self
        halves = list(self.plan.half_widths(confidence))
        law = self.plan.law(confidence)
        wide = [list(cells) for cells in columns(self.intervals, len(self.plan.estimates))]
        values = [list(cells) for cells in columns(self.aggregates, len(self.plan.estimates))]
        for row, end in ends.items():
            cells = self.cells[row]
            low = end * self.plan.steps[presence.cell]
            widened = [
                *halves[: presence.cell],
                cells[presence.cell] - low,
                *halves[presence.cell + 1 :],
            ]
            for index, estimate in enumerate(self.plan.estimates):
                known = wide[index][row]
                if known is None or isinstance(estimate, _HISTOGRAMS):
                    continue
                if estimate == SingleCell(presence.cell):
                    wide[index][row] = min(float(low), known[0]), known[1]
                    continue
                measured = list(zip(cells, widened, strict=True))
                other = interval(self.plan.arithmetic(index), measured, None, law)
                if may_lack_rows(self.plan.arithmetic(index), measured):
                    values[index][row] = wide[index][row] = None
                elif other is not None:
                    wide[index][row] = min(known[0], other[0]), max(known[1], other[1])
        return replace(
            self,
            aggregates=ColumnarRows(tuple(values), len(self.keys)),
            intervals=ColumnarRows(tuple(map(_as_column, wide)), len(self.keys)),
        )

    def at(self, places: Sequence[int]) -> ReleasedTable:
        """The table of these rows alone."""
        return ReleasedTable(
            self.plan,
            rows_at(self.keys, places),
            rows_at(self.aggregates, places),
            rows_at(self.intervals, places),
            cells=rows_at(self.cells, places),
            curves=rows_at(self.curves, places),
        )

    def read_by(self, core: CorePlan) -> ReleasedTable:
        """The table as the plan of an equal core reads it.

        That plan may show groups without rows or leave them out.
        """
        return replace(self, plan=core)

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """The values of each aggregate of a row on ``count`` fresh draws of its noise.

        The draws are around the released cells. The second half of the draws has the noise of the
        first with the other sign.
        """
        cells = [
            float(noisy) + antithetic_noise(noise, count) * float(step)
            for noisy, noise, step in zip(
                self.cells[row], self.plan.noises, self.plan.steps, strict=True
            )
        ]
        halves = self.plan.half_widths(confidence)

        def aggregate_draws(index: int, curves: QuantileCurves | None) -> NDArray[np.float64]:
            if self.plan.shows_its_group(index):
                return self._stretched(row, index, cells[-1], halves[-1])
            lower = self._lower_half(row, index, confidence)
            if lower is not None:
                return self._drawn_lower(row, cells, float(lower / halves[self._evidence]))
            if curves is None or len(curves) > 1:
                return self._drawn(index, cells, halves, count)
            return curves[0].draws(count)

        return [aggregate_draws(index, curves) for index, curves in enumerate(self.curves[row])]

    @property
    def _evidence(self) -> int:
        """The cell by which groups are shown; -1 if they do not need evidence."""
        return -1 if self.plan.presence is None else self.plan.presence.cell

    def _lower_half(self, row: int, index: int, confidence: float) -> Fraction | None:
        """How far its interval reaches below the count by which the row is shown.

        None for all other aggregates. See `with_lower_ends`.
        """
        known = self.intervals[row][index]
        if known is None or self.plan.estimates[index] != SingleCell(self._evidence):
            return None
        lower = self.cells[row][self._evidence] - Fraction(known[0])
        half = self.plan.half_widths(confidence)[self._evidence]
        return lower if lower > half * _ROUNDED > 0 else None

    def _drawn_lower(
        self, row: int, cells: Sequence[NDArray[np.float64]], factor: float
    ) -> NDArray[np.float64]:
        """Draws of the count by which the row is shown.

        Those below it are so many times as far from it.
        """
        middle = float(self.cells[row][self._evidence])
        away = cells[self._evidence] - middle
        return middle + np.where(away < 0, away * factor, away)

    def form(self, row: int, aggregate: int, confidence: float) -> LinearForm | None:
        """The aggregate as a linear form in the row's noisy cells; None if it is none."""
        estimate = self.plan.estimates[aggregate]
        if not isinstance(estimate, SingleCell | CentredSum) or self.plan.shows_its_group(
            aggregate
        ):
            return None
        halves = list(self.plan.half_widths(confidence))
        lower = self._lower_half(row, aggregate, confidence)
        if lower is not None:
            halves[self._evidence] = lower
        return linear(
            estimate, list(zip(self.cells[row], halves, strict=True)), self.plan.law(confidence)
        )

    def coarse_half_width(
        self, row: int, factors: Sequence[tuple[int, Fraction]], confidence: float
    ) -> float | None:
        """Half the width of the interval of a sum of aggregates.

        It is for noise of few steps, which does not follow its law.
        """
        if any(self._lower_half(row, index, confidence) is not None for index, _ in factors):
            return None
        return self.plan.coarse_half_width(factors, confidence)

    def _stretched(
        self, row: int, index: int, drawn: NDArray[np.float64], half: Fraction
    ) -> NDArray[np.float64]:
        """Draws of the count that let the row be shown.

        They pass its ends as often as noise passes its half-width.
        """
        ends = self.intervals[row][index]
        middle = float(self.cells[row][-1])
        reach = max(float(half), 1.0)
        assert ends is not None
        far = np.where(drawn < middle, middle - ends[0], ends[1] - middle)
        return middle + (drawn - middle) / reach * far

    def _drawn(
        self,
        index: int,
        cells: Sequence[NDArray[np.float64]],
        halves: Sequence[Fraction],
        count: int,
    ) -> NDArray[np.float64]:
        """An aggregate on drawn cells; what is no number is not drawn."""
        if isinstance(self.plan.estimates[index], _HISTOGRAMS):
            return np.full(count, np.nan)
        return simulated(self.plan.arithmetic(index), cells, halves)


def _as_column(intervals: list[ConfidenceInterval | None]) -> Sequence[ConfidenceInterval | None]:
    known = [ends for ends in intervals if ends is not None]
    if len(known) < len(intervals):
        return intervals
    return IntervalColumn([low for low, _ in known], [high for _, high in known])


@dataclass(frozen=True)
class Released:
    """The released tables of a plan, in the order of its cores: public from here on."""

    tables: tuple[ReleasedTable, ...]

    def __add__(self, later: Released) -> Released:
        return Released(self.tables + later.tables)


#: What a statement without private aggregates releases.
NOTHING = Released(())


def antithetic_noise(noise: Mechanism, count: int) -> NDArray[np.float64]:
    """Antithetic draws: the second half is the first with the other sign.

    So what is linear keeps its middle.
    """
    half = noise.sample((count + 1) // 2).astype(np.float64)
    return np.concatenate([half, -half])[:count]
