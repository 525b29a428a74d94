"""ExactRows → Released: noise on every cell, thresholds on undeclared keys, an interval beside every value.

Proved in ``docs/proofs/domain.md``, ``docs/proofs/presence.md`` and ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from operator import itemgetter
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.engines.exact import CoreRows, ExactRows
from dpsql.planning.cells import aggregate_type
from dpsql.planning.estimators.columns import Between, ByColumn, Multiples, as_type, column, rows_at
from dpsql.planning.estimators.estimate import Alone, Average, Interval, Mean, Shifted, average, linear, simulated
from dpsql.planning.estimators.estimate_columns import read_column
from dpsql.planning.estimators.histogram import (
    ChosenQuantiles,
    Clip,
    Counted,
    Frequent,
    MeasuredHistogram,
    Most,
    picked,
    read,
)
from dpsql.planning.estimators.linear_forms import Form
from dpsql.planning.estimators.quantiles import Curve, Distribution, Ranked
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.mechanism.clipping_bound import Scan
from dpsql.privacy.mechanism.peeling import Peeling
from dpsql.privacy.mechanism.rank_choice import Ranking
from dpsql.privacy.mechanism.tree import Tree
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.sql.analysis.quantisation import SECONDS
from dpsql.sql.ir.cell import Frequencies
from dpsql.sql.ir.core import Core, Ranks


@dataclass(frozen=True)
class Picked:
    """The places of the most frequent public values, the most frequent first."""

    places: tuple[int, ...]


#: A histogram as it is released: noisy counts, through a tree or of each public value, or what was chosen of it.
Grown: TypeAlias = Distribution | tuple[Fraction, ...] | ChosenQuantiles | Picked

#: A column of values, of their intervals, and of the curves of quantiles.
Column: TypeAlias = tuple[Sequence[object], Sequence[Interval | None], Sequence[Curve | None]]


@dataclass(frozen=True)
class ReleasedTable:
    """One core's released rows: keys, aggregates with their intervals, and the noisy cells and curves behind them."""

    plan: CorePlan
    keys: Sequence[tuple[object, ...]]
    aggregates: Sequence[tuple[object, ...]]
    intervals: Sequence[tuple[Interval | None, ...]]
    cells: Sequence[tuple[Fraction, ...]]
    curves: Sequence[tuple[Curve | None, ...]]

    @property
    def shape(self) -> Core:
        """The core whose columns the table has."""
        return self.plan.core

    @property
    def totals(self) -> Sequence[tuple[int, ...]]:
        """For each row, which keys it is a total over: a core has no totals, and no columns that would say so."""
        return ByColumn((), len(self.keys))

    @property
    def absent(self) -> frozenset[int]:
        """The rows of groups that the plan's evidence takes for groups without rows."""
        presence = self.plan.presence
        if presence is None or presence.released:
            return frozenset()
        cells = column(self.cells, presence.cell)
        step = self.plan.steps[presence.cell]
        counts = cells.counts if isinstance(cells, Multiples) else [int(each / step) for each in cells]
        return presence.absent(counts, len(self.keys))

    def present(self) -> ReleasedTable:
        """The table without the rows of absent groups."""
        absent = self.absent
        if not absent:
            return self
        places = [place for place in range(len(self.keys)) if place not in absent]
        return ReleasedTable(self.plan, rows_at(self.keys, places), rows_at(self.aggregates, places),
                             rows_at(self.intervals, places), rows_at(self.cells, places),
                             rows_at(self.curves, places))  # fmt: skip

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """What each aggregate of a row would be on ``count`` fresh draws of its noise around the released cells.

        The second half of the draws has the noise of the first, turned round.
        """
        cells = [
            float(noisy) + turned(noise, count) * float(step)
            for noisy, noise, step in zip(self.cells[row], self.plan.noises, self.plan.steps, strict=True)
        ]
        halves = self.plan.half_widths(confidence)
        return [
            self._stretched(row, place, cells[-1], halves[-1])
            if self.plan.shows_its_group(place)
            else self._drawn(place, cells, halves, count)
            if curve is None
            else curve.draws(count)
            for place, curve in enumerate(self.curves[row])
        ]

    def form(self, row: int, aggregate: int, confidence: float) -> Form | None:
        """The aggregate as a linear form in the row's noisy cells; None where it is none."""
        estimate = self.plan.estimates[aggregate]
        if not isinstance(estimate, Alone | Shifted) or self.plan.shows_its_group(aggregate):
            return None
        cells = list(zip(self.cells[row], self.plan.half_widths(confidence), strict=True))
        return linear(estimate, cells, self.plan.law(confidence))

    def coarse_half_width(self, factors: Sequence[tuple[int, Fraction]], confidence: float) -> float | None:
        """Half the width of the interval of a sum of aggregates, where noise of few steps is not as its law says."""
        return self.plan.coarse_half_width(factors, confidence)

    def average(self, row: int, aggregate: int, confidence: float) -> Average | None:
        """The aggregate as a ratio of two forms in the row's noisy cells, where it is an average."""
        estimate = self.plan.estimates[aggregate]
        if not isinstance(estimate, Mean):
            return None
        cells = list(zip(self.cells[row], self.plan.half_widths(confidence), strict=True))
        return average(estimate, cells, self.plan.law(confidence))

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
        if isinstance(self.plan.estimates[place], Counted | Most | Clip | Ranked):
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
    rows = in_order(rows, width)
    noisy = [
        cell.mechanism.perturb(_integers(rows, width + place), _entropy=entropy)
        for place, cell in enumerate(plan.cells)
    ]
    if plan.selection is not None:
        units = plan.selection.select(_integers(rows, width + cells), _entropy=entropy)
        shown = [place for place, count in enumerate(units) if count is not None]
        rows = [rows[place] for place in shown]
        noisy = [[counts[place] for place in shown] for counts in noisy]
        noisy.append([count for count in units if count is not None])
    if plan.presence is not None and plan.presence.released:
        absent = plan.presence.absent(noisy[plan.presence.cell], len(rows))
        places = [place for place in range(len(rows)) if place not in absent]
        rows = [rows[place] for place in places]
        noisy = [[counts[place] for place in places] for counts in noisy]
    grown = [_grown_row(plan, row[width + len(noisy) :], confidence, entropy) for row in rows if plan.histograms]
    measured = tuple(Multiples(counts, step) for counts, step in zip(noisy, plan.steps, strict=True))
    read = [_read(plan, place, measured, grown, confidence) for place in range(len(plan.estimates))]
    keys = tuple([row[place] for row in rows] for place in range(width))
    return ReleasedTable(
        plan,
        ByColumn(keys, len(rows)),
        ByColumn(tuple(values for values, _, _ in read), len(rows)),
        ByColumn(tuple(intervals for _, intervals, _ in read), len(rows)),
        ByColumn(measured, len(rows)),
        ByColumn(tuple(curves for _, _, curves in read), len(rows)),
    )


def in_order(rows: CoreRows, width: int) -> CoreRows:
    """The rows by their keys, in whatever order they came: NaN after all numbers, NULL after all values."""
    plain = width > 0 and all(_compares_alike(row[place] for row in rows) for place in range(width))
    return sorted(rows, key=itemgetter(slice(width)) if plain else lambda row: tuple(map(rank, row[:width])))


def _compares_alike(values: Iterable[object]) -> bool:
    """Whether the values compare with each other as `rank` has them: all of one type, which has no NaN."""
    types = set(map(type, values))
    return len(types) <= 1 and types <= {int, str, bool, date, datetime}


def _grown_row(plan: CorePlan, lists: Sequence[object], confidence: float, entropy: Entropy) -> tuple[Grown, ...]:
    """What the mechanism of each histogram releases of one row."""
    pairs = zip(plan.histograms, lists, strict=True)
    return tuple(_grown(histogram, own, confidence, entropy) for histogram, own in pairs)


def _grown(histogram: MeasuredHistogram, lists: object, confidence: float, entropy: Entropy) -> Grown:
    """What the histogram's mechanism releases of exact bins and their counts; None is a group without any."""
    contribution = histogram.contribution
    assert lists is None or isinstance(lists, tuple | list)
    bins, counts = lists or ((), ())
    match histogram.mechanism:
        case Tree() as tree:
            noisy = tree.grow(bins, counts, _entropy=entropy)
            if isinstance(contribution.cell, Frequencies):
                return tuple(count * contribution.step for count in noisy.children(1, 0))
            assert contribution.bins is not None
            return Distribution(noisy, contribution.bins, contribution.step, confidence)
        case Ranking() as ranking:
            assert contribution.bins is not None
            chosen = ranking.choose(bins, counts, confidence, contribution.fine, _entropy=entropy)
            return ChosenQuantiles(chosen, contribution.bins, confidence)
        case Peeling() as peeling:
            return Picked(peeling.choose(bins, counts, _entropy=entropy))
        case Scan() as scan:
            return Picked((scan.choose(bins, counts, _entropy=entropy),))
        case _:
            assert_never(histogram.mechanism)


def _read(
    plan: CorePlan, place: int, cells: Sequence[Multiples], grown: Sequence[Sequence[Grown]], confidence: float
) -> Column:
    """An aggregate's released values in the type of its column, their intervals, and the curves of a quantile.

    ``grown`` are the histograms of each row.
    """
    estimate, sql_type = plan.estimates[place], aggregate_type(plan.core.aggregates[place])
    if isinstance(estimate, Ranked | Counted | Most | Clip):
        found = [_read_histogram(estimate, each[estimate.histogram], sql_type) for each in grown]
        return tuple(zip(*found, strict=True)) if found else ((), (), ())  # type: ignore[return-value]
    nothing: Sequence[None] = [None] * (len(cells[0]) if cells else 0)
    if plan.selection is not None and plan.shows_its_group(place):
        shown = cells[-1]
        ends = [plan.selection.interval(count, confidence) for count in shown.counts]
        between = Between([float(low) for low, _ in ends], [float(high) for _, high in ends])
        return [as_type(each, sql_type) for each in shown], between, nothing
    half, halves = plan.additive_half_widths(confidence)[place], plan.half_widths(confidence)
    return *read_column(estimate, cells, halves, half, plan.law(confidence), sql_type), nothing


def _read_histogram(
    estimate: Ranked | Frequent, grown: Grown, sql_type: str
) -> tuple[object, Interval | None, Curve | None]:
    """What is read off one row's histogram."""
    if isinstance(estimate, Ranked):
        assert isinstance(grown, Distribution | ChosenQuantiles)
        return _read_ranks(estimate.ranks, grown, sql_type)
    if isinstance(grown, Picked):
        assert isinstance(estimate, Most | Clip)
        return picked(estimate, grown.places), None, None
    assert isinstance(grown, tuple) and not isinstance(estimate, Clip)
    return read(estimate, grown), None, None


def _read_ranks(
    ranks: Ranks, distribution: Distribution | ChosenQuantiles, sql_type: str
) -> tuple[object, Interval | None, Curve | None]:
    axis, member = distribution.axis, sql_type.removesuffix("[]")
    values = [ranked_as_type(each, member, axis) for each in distribution.values(ranks)]
    curve = distribution.curve(ranks)
    if ranks.listed:
        return values, None, curve
    if curve is None or axis == "second":
        return values[0], None, curve
    low, middle, high = curve.points
    if axis == "day":
        return values[0], None, replace(curve, points=(low * SECONDS, middle * SECONDS, high * SECONDS))
    return values[0], (low, high), curve


def turned(noise: Mechanism, count: int) -> NDArray[np.float64]:
    """Draws of the noise, of which the second half is the first turned round: what is linear keeps its middle."""
    half = noise.sample((count + 1) // 2).astype(np.float64)
    return np.concatenate([half, -half])[:count]


def _integers(rows: CoreRows, place: int) -> list[int]:
    cells = [row[place] for row in rows]
    assert all(isinstance(cell, int) for cell in cells)
    return cells  # type: ignore[return-value]


def rank(key: Any) -> tuple[int, Any]:
    """NaN after all numbers, NULL after all values: a total order, whatever order the rows came in."""
    if key is None:
        return 2, 0
    return (1, 0) if key != key else (0, key)


def ranked_as_type(point: Fraction, sql_type: str, axis: str) -> object:
    """A point of a histogram's axis in its column's type."""
    if axis == "number":
        return as_type(point, sql_type)
    seconds = round(point * (SECONDS if axis == "day" else 1))
    days, rest = divmod(seconds, SECONDS)
    moment = datetime.fromordinal(days) + timedelta(seconds=rest)
    return moment.date() if sql_type == "DATE" else moment
