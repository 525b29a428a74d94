"""ExactRows → Released: noise on every cell, thresholds on undeclared keys, an interval beside every value.

Proved in ``docs/proofs/domain.md`` and ``docs/proofs/river.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.cells import aggregate_type
from dpsql.chosen import ChosenQuantiles
from dpsql.engines.exact import CoreRows, ExactRows
from dpsql.estimate import Alone, Average, Interval, Mean, Noisy, Shifted, average, interval, linear, simulated, value
from dpsql.forms import Form, Law
from dpsql.frequency import Clip, Counted, Most, picked, read
from dpsql.histogram import MeasuredHistogram
from dpsql.plan import CorePlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.mechanism.peeling import Peeling
from dpsql.privacy.mechanism.ranking import Ranking
from dpsql.privacy.mechanism.scan import Scan
from dpsql.privacy.mechanism.tree import Tree
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.quantile import Curve, Distribution, Ranked
from dpsql.query.bins import SECONDS
from dpsql.query.relation import Core, Frequencies, Ranks


@dataclass(frozen=True)
class Picked:
    """The places of the most frequent public values, the most frequent first."""

    places: tuple[int, ...]


#: A histogram as it is released: noisy counts, through a tree or of each public value, or what was chosen of it.
Grown: TypeAlias = Distribution | tuple[Fraction, ...] | ChosenQuantiles | Picked

#: The values that a BIGINT holds; released numbers beyond are kept at its ends, after the noise.
INT64 = 2**63
#: The digits that a DECIMAL(38, s) holds.
DIGITS = 10**38 - 1
_EXACT = Context(prec=40)


@dataclass(frozen=True)
class ReleasedTable:
    """One core's released rows: keys, aggregates with their intervals, and the noisy cells and curves behind them."""

    plan: CorePlan
    keys: tuple[tuple[object, ...], ...]
    aggregates: tuple[tuple[object, ...], ...]
    intervals: tuple[tuple[Interval | None, ...], ...]
    cells: tuple[tuple[Fraction, ...], ...]
    curves: tuple[tuple[Curve | None, ...], ...]

    @property
    def shape(self) -> Core:
        """The core whose columns the table has."""
        return self.plan.core

    @property
    def totals(self) -> tuple[tuple[int, ...], ...]:
        """For each row, which keys it is a total over: a core has no totals, and no columns that would say so."""
        return ((),) * len(self.keys)

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
    rows = sorted(rows, key=lambda row: [rank(each) for each in row[:width]])
    noisy: list[Sequence[int | None]] = [
        cell.mechanism.perturb([_integer(row[width + place]) for row in rows], _entropy=entropy)
        for place, cell in enumerate(plan.cells)
    ]
    if plan.selection is not None:
        noisy.append(plan.selection.select([_integer(row[width + cells]) for row in rows], _entropy=entropy))
    steps, halves, wholes = plan.steps, plan.half_widths(confidence), plan.additive_half_widths(confidence)
    law, kept, first = plan.law(confidence), [], width + len(noisy)
    for place, row in enumerate(rows):
        counts = [column[place] for column in noisy]
        if any(count is None for count in counts):
            continue
        known = tuple(count * step for count, step in zip(counts, steps, strict=True) if count is not None)
        grown = tuple(
            _grown(histogram, row[first + number], confidence, entropy)
            for number, histogram in enumerate(plan.histograms)
        )
        measured = list(zip(known, halves, strict=True))
        read = [
            _read(plan, number, measured, grown, wholes[number], law, confidence)
            for number in range(len(plan.estimates))
        ]
        kept.append((tuple(row[:width]), *(zip(*read, strict=True) if read else ((), (), ())), known))
    if not kept:
        return ReleasedTable(plan, (), (), (), (), ())
    keys, aggregates, intervals, curves, shown = (tuple(column) for column in zip(*kept, strict=True))
    return ReleasedTable(plan, keys, aggregates, intervals, shown, curves)


def _grown(histogram: MeasuredHistogram, lists: object, confidence: float, entropy: Entropy) -> Grown:
    """What the histogram's mechanism releases of exact bins and their counts; None is a group without any."""
    contribution = histogram.contribution
    assert lists is None or isinstance(lists, list)
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
    plan: CorePlan,
    place: int,
    measured: Sequence[Noisy],
    grown: Sequence[Grown],
    half: float | None,
    law: Law,
    confidence: float,
) -> tuple[object, Interval | None, Curve | None]:
    """An aggregate's released value in the type of its column, its interval, and a quantile's curve."""
    estimate, sql_type = plan.estimates[place], aggregate_type(plan.core.aggregates[place])
    match estimate:
        case Ranked(histogram=number, ranks=ranks):
            distribution = grown[number]
            assert isinstance(distribution, Distribution | ChosenQuantiles)
            return _read_ranks(ranks, distribution, sql_type)
        case Counted() | Most() | Clip():
            counts = grown[estimate.histogram]
            if isinstance(counts, Picked):
                assert isinstance(estimate, Most | Clip)
                return picked(estimate, counts.places), None, None
            assert isinstance(counts, tuple) and not isinstance(estimate, Clip)
            return read(estimate, counts), None, None
        case _:
            if plan.selection is not None and plan.shows_its_group(place):
                shown = measured[-1][0]
                low, high = plan.selection.interval(int(shown), confidence)
                return as_type(shown, sql_type), (float(low), float(high)), None
            return as_type(value(estimate, measured), sql_type), interval(estimate, measured, half, law), None


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


def _integer(cell: object) -> int:
    assert isinstance(cell, int)
    return cell


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
