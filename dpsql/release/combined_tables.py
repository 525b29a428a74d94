"""Released tables whose cells are linear combinations of cells that were released before.

Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.cell_choice import aggregate_type
from dpsql.planning.estimators.columnar_rows import ColumnarRows, as_type, columns
from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
    cell_weights,
    mean_interval,
    simulated,
    value,
)
from dpsql.planning.estimators.linear_forms import (
    GAUSSIAN,
    ConfidenceInterval,
    LinearForm,
    NoiseLaw,
    laplace,
)
from dpsql.planning.estimators.moment_intervals import moment_interval
from dpsql.planning.estimators.moments import MomentEstimate
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Laplace
from dpsql.release.linear_estimates import LinearEstimate, SharedNoise
from dpsql.release.released_tables import ReleasedTable
from dpsql.release.shown_groups import MOST_SLACK, ShownGroups, key_runs, shown_groups

#: How often each independent part of the noise is in a cell.
Weights = Mapping[int, Fraction]


@dataclass(frozen=True)
class CombinedTable(ReleasedTable):
    """A released table made of earlier ones: each cell of each row has noise of its own law.

    ``weights`` has, for each row, how the noise of each cell is made of the parts of ``noise``;
    ``evidence`` has for each row the count that tells whether the group has rows, with its weights.
    """

    noise: SharedNoise
    weights: Sequence[tuple[Weights, ...]]
    evidence: Sequence[tuple[Fraction, Weights]]

    def read_by(self, core: CorePlan) -> ReleasedTable:
        """The table itself: it was made for this core."""
        return self

    @property
    def absent(self) -> frozenset[int]:
        """The rows of groups that noise alone could show too often.

        Noise alone reaches their counts, and those of their blocks, too often.
        """
        if self.plan.presence is None or not self.evidence:
            return frozenset()
        return frozenset(range(len(self.keys))).difference(self._visible_groups(0.0).places)

    def near(self, confidence: float) -> frozenset[int]:
        """The rows that are shown only because the count of the evidence is not much smaller."""
        if self.plan.presence is None or not self.evidence:
            return frozenset()
        halves = [self.noise.half_width(weights, confidence) for _, weights in self.evidence]
        slacks = self._visible_groups(MOST_SLACK * max(halves)).slacks
        return frozenset(row for row, slack in slacks.items() if slack < MOST_SLACK * halves[row])

    def present(self, confidence: float, nulls: tuple[int, ...] | None = None) -> ReleasedTable:
        """The table without the rows of absent groups.

        The intervals of the others allow for the choice. If places of keys are given, only groups
        with NULL at one of these need evidence.
        """
        if self.plan.presence is None or not self.evidence:
            return self
        without_null = self.without_null(nulls)
        uncertain = self.near(confidence)
        places = sorted(without_null.union(self._visible_groups(0.0).places))
        table = self.at(places)
        cell = SingleCell(self.plan.presence.cell)
        near = [
            row
            for row, index in enumerate(places)
            if index in uncertain and index not in without_null
        ]
        if not near or cell not in self.plan.estimates:
            return table
        wide = [list(column) for column in columns(table.intervals, len(self.plan.estimates))]
        for index, estimate in enumerate(self.plan.estimates):
            for row in near if estimate == cell else ():
                known = wide[index][row]
                wide[index][row] = None if known is None else (min(known[0], 0.0), known[1])
        return replace(table, intervals=ColumnarRows(tuple(wide), len(table.keys)))

    def _visible_groups(self, within: float) -> ShownGroups:
        presence = self.plan.presence
        assert presence is not None

        def block_noise(places: Sequence[int], tail: float) -> tuple[float, float]:
            weights: dict[int, Fraction] = {}
            for index in places:
                for atom, weight in self.evidence[index][1].items():
                    weights[atom] = weights.get(atom, Fraction(0)) + weight
            return self.noise.half_width(weights, 1 - 2 * tail), self.noise.variance(weights)

        runs = key_runs(self.plan.core.keys if presence.blocks else (), self.keys)
        counts = [float(count) for count, _ in self.evidence]
        return shown_groups(
            runs, counts, block_noise, float(presence.chance), within=within, alike=False
        )

    def at(self, places: Sequence[int]) -> ReleasedTable:
        """The table of these rows alone."""
        rows = super().at(places)
        return CombinedTable(
            rows.plan,
            rows.keys,
            aggregates=rows.aggregates,
            intervals=rows.intervals,
            cells=rows.cells,
            curves=rows.curves,
            noise=self.noise,
            weights=[self.weights[index] for index in places],
            evidence=[self.evidence[index] for index in places] if self.evidence else (),
        )

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """The values of each aggregate of a row on fresh draws of the noise.

        Rows and tables share the draws of the noise that they have in common.
        """
        cells = [
            float(noisy)
            + sum(
                (
                    self.noise.draws(atom, count) * float(weight)
                    for atom, weight in cell_weight.items()
                ),
                np.zeros(count),
            )
            for noisy, cell_weight in zip(self.cells[row], self.weights[row], strict=True)
        ]
        halves = _halves(self.noise, self.weights[row], confidence)
        return [
            simulated(self.plan.arithmetic(index), cells, halves)
            for index in range(len(self.plan.estimates))
        ]

    def form(self, row: int, aggregate: int, confidence: float) -> LinearForm | None:
        """The aggregate as a linear form in the parts of the noise; None if it is none."""
        weights = cell_weights(self.plan.estimates[aggregate])
        return None if weights is None else self._form(row, weights, confidence)

    def coarse_half_width(
        self, row: int, factors: Sequence[tuple[int, Fraction]], confidence: float
    ) -> float | None:
        """Half the width of the interval of a sum of aggregates; None if one is no sum of cells."""
        summed: dict[int, Fraction] = {}
        for index, factor in factors:
            linear = cell_weights(self.plan.estimates[index])
            if linear is None:
                return None
            for cell, weight in linear.items():
                for atom, times in self.weights[row][cell].items():
                    summed[atom] = summed.get(atom, Fraction(0)) + factor * weight * times
        return self.noise.half_width(summed, confidence)

    def _form(self, row: int, weights: Mapping[int, Fraction], confidence: float) -> LinearForm:
        return _form(self.noise, self.cells[row], self.weights[row], weights, confidence=confidence)


def combined_table(
    plan: CorePlan,
    keys: Sequence[tuple[object, ...]],
    cells: Sequence[tuple[LinearEstimate, ...]],
    evidence: Sequence[LinearEstimate],
    noise: SharedNoise,
    weights: Sequence[tuple[Weights, ...]],
    evidence_weights: Sequence[Weights],
    confidence: float,
) -> CombinedTable:
    """The table of a core from the estimates of its cells and evidence, in row order."""
    numbers = [tuple(estimate.value for estimate in row) for row in cells]
    rows = range(len(keys))
    results = [
        [
            _aggregate_value(
                plan, index, noise, numbers[row], weights=weights[row], confidence=confidence
            )
            for row in rows
        ]
        for index in range(len(plan.estimates))
    ]
    return CombinedTable(
        plan,
        ColumnarRows(
            tuple([key[index] for key in keys] for index in range(len(plan.core.keys))), len(keys)
        ),
        aggregates=ColumnarRows(
            tuple([number for number, _ in column] for column in results), len(keys)
        ),
        intervals=ColumnarRows(
            tuple([ends for _, ends in column] for column in results), len(keys)
        ),
        cells=ColumnarRows(
            tuple([row[index] for row in numbers] for index in range(len(plan.cells))), len(keys)
        ),
        curves=ColumnarRows(tuple([None] * len(keys) for _ in plan.estimates), len(keys)),
        noise=noise,
        weights=weights,
        evidence=[
            (estimate.value, evidence_weight)
            for estimate, evidence_weight in zip(evidence, evidence_weights, strict=True)
        ],
    )


def _aggregate_value(
    plan: CorePlan,
    index: int,
    noise: SharedNoise,
    numbers: Sequence[Fraction],
    weights: Sequence[Weights],
    confidence: float,
) -> tuple[object, ConfidenceInterval | None]:
    """An aggregate's value in the type of its column, and its interval."""
    estimate = plan.arithmetic(index)
    sql_type = aggregate_type(plan.core.aggregates[index])
    cells = list(zip(numbers, _halves(noise, weights, confidence), strict=True))
    number = value(estimate, cells)
    if number is None:
        return None, None
    return as_type(number, sql_type), _interval(
        estimate, noise, numbers, weights, confidence=confidence
    )


def _interval(
    estimate: Estimate,
    noise: SharedNoise,
    numbers: Sequence[Fraction],
    weights: Sequence[Weights],
    confidence: float,
) -> ConfidenceInterval | None:
    match estimate:
        case SingleCell() | CentredSum():
            linear = cell_weights(estimate)
            assert linear is not None
            middle = float(sum(numbers[cell] * weight for cell, weight in linear.items()))
            half = noise.half_width(_added(weights, linear), confidence)
            return middle - half, middle + half
        case MeanEstimate(total=total, count=count):
            above = _form(noise, numbers, weights, {total: Fraction(1)}, confidence=confidence)
            below = _form(noise, numbers, weights, {count: Fraction(1)}, confidence=confidence)
            return mean_interval(estimate, above, below)
        case MomentEstimate():
            cells = list(zip(numbers, _halves(noise, weights, confidence), strict=True))
            return moment_interval(estimate, cells, _law(noise, weights, confidence))
        case PresenceEstimate():
            return None
        case _:
            assert_never(estimate)


def _form(
    noise: SharedNoise,
    numbers: Sequence[Fraction],
    weights: Sequence[Weights],
    factors: Mapping[int, Fraction],
    confidence: float,
) -> LinearForm:
    """A weighted sum of cells as a linear form.

    Each part of the noise moves it by the part's half-width.
    """
    middle = sum((numbers[cell] * weight for cell, weight in factors.items()), Fraction(0))
    moved = {
        atom: noise.half_width({atom: Fraction(1)}, confidence) * float(weight)
        for atom, weight in _added(weights, factors).items()
    }
    return LinearForm(float(middle), moved, _law(noise, weights, confidence))


def _added(weights: Sequence[Weights], factors: Mapping[int, Fraction]) -> dict[int, Fraction]:
    summed: dict[int, Fraction] = {}
    for cell, factor in factors.items():
        for atom, weight in weights[cell].items():
            summed[atom] = summed.get(atom, Fraction(0)) + factor * weight
    return summed


def _halves(noise: SharedNoise, weights: Sequence[Weights], confidence: float) -> list[Fraction]:
    return [Fraction(noise.half_width(weight, confidence)) for weight in weights]


def _law(noise: SharedNoise, weights: Sequence[Weights], confidence: float) -> NoiseLaw:
    """How the parts add up: sums of many noises, and Gaussian ones, as normal noises do."""
    used = [noise.atoms[atom] for weight in weights for atom in weight]
    alone = bool(used) and all(isinstance(atom.noise, Laplace) and atom.times == 1 for atom in used)
    return laplace(confidence) if alone else GAUSSIAN
