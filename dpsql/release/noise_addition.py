"""ExactRows → Released: noise on every cell, thresholds on undeclared keys, and intervals.

Every value gets an interval. Proved in ``docs/proofs/domain.md``, ``docs/proofs/presence.md`` and
``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import nan
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar, assert_never

from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.planning.cell_choice import aggregate_type
from dpsql.planning.estimators.columnar_rows import (
    ColumnarRows,
    IntervalColumn,
    StepColumn,
    as_type,
)
from dpsql.planning.estimators.histogram import (
    ChosenQuantiles,
    ClippingBound,
    FrequencyEstimate,
    MeasuredHistogram,
    PresentValues,
    TopValues,
    ValueCounts,
    least_present,
    picked,
    quantiles_of,
    released_value,
)
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.quantiles import (
    NoisyDistribution,
    QuantileCurve,
    QuantileCurves,
    QuantileEstimate,
)
from dpsql.planning.estimators.vectorised_estimates import read_column
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.release.counted_rows import rows_are_counted
from dpsql.release.released_tables import HiddenGroups, Released, ReleasedTable
from dpsql.release.shown_groups import core_evidence
from dpsql.sql.analysis.quantisation import SECONDS
from dpsql.sql.ir.core import Frequencies, Ranks

T = TypeVar("T")
#: What makes of exact rows something that may be shown.
Release: TypeAlias = Callable[[ExactRows], T]


@dataclass(frozen=True)
class ChosenValues:
    """The places of the most frequent public values, the most frequent first."""

    places: tuple[int, ...]


#: A histogram as it is released: noisy counts, through a tree or of each public value,
#: or what was #: chosen of it.
ReleasedHistogram: TypeAlias = (
    NoisyDistribution | tuple[Fraction, ...] | ChosenQuantiles | ChosenValues
)

#: Hidden groups are kept with the others where these are so many at most.
MOST_HIDDEN = 10_000

#: A column of values, of their intervals, and of the curves of quantiles.
ReleasedColumn: TypeAlias = tuple[
    Sequence[object], Sequence[ConfidenceInterval | None], Sequence[QuantileCurves | None]
]


def release(
    exact: ExactRows,
    cores: Sequence[CorePlan],
    confidence: float,
    *,
    _entropy: Entropy = OPERATING_SYSTEM,
) -> Released:
    """Add noise to every cell of the cores and withhold the keys that do not reach their threshold.

    Rows come in the order of their keys, so that the engine's order is not released.
    """
    pairs = zip(cores, exact.reveal(), strict=True)
    return Released(tuple(_release_core(core, rows, confidence, _entropy) for core, rows in pairs))


def _release_core(
    plan: CorePlan, rows: CoreRows, confidence: float, entropy: Entropy
) -> ReleasedTable:
    width = len(plan.core.keys)
    cells = len(plan.cells)
    rows = in_order(rows, width)
    noisy = [
        cell.mechanism.perturb(_integers(rows, width + index), _entropy=entropy)
        for index, cell in enumerate(plan.cells)
    ]
    if plan.selection is not None:
        units = plan.selection.select(_integers(rows, width + cells), _entropy=entropy)
        selected = [index for index, count in enumerate(units) if count is not None]
        rows = [rows[row] for row in selected]
        noisy = [[counts[row] for row in selected] for counts in noisy]
        noisy.append([count for count in units if count is not None])
    hidden = None
    ends = dict[int, int]()
    if plan.presence is not None and plan.presence.released:
        candidates = [tuple(row[:width]) for row in rows]
        places, lower = core_evidence(plan, candidates, noisy[plan.presence.cell], confidence)
        if not plan.histograms and len(rows) <= MOST_HIDDEN:
            hidden_rows = sorted(set(range(len(rows))).difference(places))
            counts = tuple([column[row] for row in hidden_rows] for column in noisy)
            hidden = HiddenGroups([candidates[row] for row in hidden_rows], counts)
        rows = [rows[index] for index in places]
        noisy = [[counts[index] for index in places] for counts in noisy]
        ends = {row: lower[index] for row, index in enumerate(places) if index in lower}
    grown = [
        _grown_row(plan, row[width + len(noisy) :], confidence, entropy)
        for row in rows
        if plan.histograms
    ]
    measured = tuple(
        StepColumn(counts, step) for counts, step in zip(noisy, plan.steps, strict=True)
    )
    results = [
        read_aggregate(plan, index, measured, grown, confidence=confidence)
        for index in range(len(plan.estimates))
    ]
    keys = tuple(_in_one_spelling([row[index] for row in rows]) for index in range(width))
    table = ReleasedTable(
        plan,
        ColumnarRows(keys, len(rows)),
        ColumnarRows(tuple(values for values, _, _ in results), len(rows)),
        ColumnarRows(tuple(intervals for _, intervals, _ in results), len(rows)),
        cells=ColumnarRows(measured, len(rows)),
        curves=ColumnarRows(tuple(curves for _, _, curves in results), len(rows)),
        hidden=hidden,
    )
    return table.with_lower_ends(ends, confidence)


def _in_one_spelling(keys: list[object]) -> list[object]:
    """The keys of one column, with every NaN the same.

    Else the bits of NaN are those of whichever row an engine met first.
    """
    return [nan if key != key else key for key in keys]


def in_order(rows: CoreRows, width: int) -> CoreRows:
    """The rows by their keys, in whatever order they came.

    NaN is after all numbers, NULL after all values.
    """
    plain = width > 0 and all(_compares_alike(row[index] for row in rows) for index in range(width))
    return sorted(
        rows,
        key=itemgetter(slice(width)) if plain else lambda row: tuple(map(sort_key, row[:width])),
    )


def _compares_alike(values: Iterable[object]) -> bool:
    """Whether the values compare with each other as their `sort_key` does.

    They do if all are of one type that has no NaN.
    """
    types = set(map(type, values))
    return len(types) <= 1 and types <= {int, str, bool, date, datetime}


def _grown_row(
    plan: CorePlan, lists: Sequence[object], confidence: float, entropy: Entropy
) -> tuple[ReleasedHistogram, ...]:
    """What the mechanism of each histogram releases of one row."""
    pairs = zip(plan.histograms, lists, strict=True)
    return tuple(_grown(histogram, bins, confidence, entropy) for histogram, bins in pairs)


def _grown(
    histogram: MeasuredHistogram, lists: object, confidence: float, entropy: Entropy
) -> ReleasedHistogram:
    """The release of the histogram's mechanism for exact bins and their counts.

    None is a group without any.
    """
    contribution = histogram.contribution
    assert lists is None or isinstance(lists, tuple | list)
    places, counts = lists or ((), ())
    match histogram.mechanism:
        case TreeMechanism() as tree:
            noisy = tree.grow(places, counts, _entropy=entropy)
            if isinstance(contribution.cell, Frequencies):
                return tuple(count * contribution.step for count in noisy.children(1, 0))
            assert contribution.bins is not None
            bins = contribution.bins.merged(tree.merged)
            return NoisyDistribution(noisy, bins, contribution.step, confidence)
        case QuantileChoices() as ranking:
            assert contribution.bins is not None
            chosen = ranking.choose(places, counts, confidence, contribution.fine, _entropy=entropy)
            return ChosenQuantiles(chosen, contribution.bins, confidence)
        case QuantilesWithFallback() as either:
            assert contribution.bins is not None
            result = either.measure(places, counts, confidence, contribution.fine, _entropy=entropy)
            return quantiles_of(result, contribution.bins, contribution.step, confidence)
        case TopKPeeling() as peeling:
            return ChosenValues(peeling.choose(places, counts, _entropy=entropy))
        case ClippingBoundSearch() as scan:
            return ChosenValues((scan.choose(places, counts, _entropy=entropy),))
        case _:
            assert_never(histogram.mechanism)


def read_aggregate(
    plan: CorePlan,
    index: int,
    cells: Sequence[StepColumn],
    grown: Sequence[Sequence[ReleasedHistogram]],
    confidence: float,
) -> ReleasedColumn:
    """An aggregate's released values in its column's type, with intervals and quantile curves.

    ``grown`` are the histograms of each row.
    """
    estimate = plan.estimates[index]
    sql_type = aggregate_type(plan.core.aggregates[index])
    if isinstance(
        estimate, QuantileEstimate | ValueCounts | TopValues | ClippingBound | PresentValues
    ):
        least = Fraction(0)
        if isinstance(estimate, PresentValues):
            least = least_present(plan.histograms[estimate.histogram], len(estimate.values))
        results = [
            _read_histogram(estimate, row[estimate.histogram], sql_type, least) for row in grown
        ]
        if isinstance(estimate, QuantileEstimate):
            counted = rows_are_counted(
                plan, plan.core.aggregates[index], cells, len(grown), confidence=confidence
            )
            results = [
                quantile
                if counts or _shows_rows(row[estimate.histogram])
                else (None, None, quantile[2])
                for counts, row, quantile in zip(counted, grown, results, strict=True)
            ]
        return tuple(zip(*results, strict=True)) if results else ((), (), ())  # type: ignore[return-value]
    nothing: Sequence[None] = [None] * (len(cells[0]) if cells else 0)
    if plan.selection is not None and plan.shows_its_group(index):
        unit_counts = cells[-1]
        ends = [plan.selection.interval(count, confidence) for count in unit_counts.counts]
        between = IntervalColumn([float(low) for low, _ in ends], [float(high) for _, high in ends])
        return [as_type(row, sql_type) for row in unit_counts], between, nothing
    half = plan.additive_half_widths(confidence)[index]
    halves = plan.half_widths(confidence)
    return *read_column(
        estimate, cells, halves, half, law=plan.law(confidence), sql_type=sql_type
    ), nothing


def _shows_rows(grown: ReleasedHistogram) -> bool:
    assert isinstance(grown, NoisyDistribution | ChosenQuantiles)
    return grown.shows_rows


def _read_histogram(
    estimate: QuantileEstimate | FrequencyEstimate,
    grown: ReleasedHistogram,
    sql_type: str,
    least: Fraction,
) -> tuple[object, ConfidenceInterval | None, QuantileCurves | None]:
    """What is read off one row's histogram; ``least`` is the least count of a present value."""
    if isinstance(estimate, QuantileEstimate):
        assert isinstance(grown, NoisyDistribution | ChosenQuantiles)
        return _read_ranks(estimate.ranks, grown, sql_type)
    if isinstance(grown, ChosenValues):
        assert isinstance(estimate, TopValues | ClippingBound)
        return picked(estimate, grown.places), None, None
    assert isinstance(grown, tuple) and not isinstance(estimate, ClippingBound)
    return released_value(estimate, grown, least), None, None


def _read_ranks(
    ranks: Ranks, distribution: NoisyDistribution | ChosenQuantiles, sql_type: str
) -> tuple[object, ConfidenceInterval | None, QuantileCurves]:
    """Quantiles, the interval of a single number, and the curves; those of dates are in seconds."""
    axis = distribution.axis
    member = sql_type.removesuffix("[]")
    values = [ranked_as_type(quantile, member, axis) for quantile in distribution.values(ranks)]
    curves = distribution.curves(ranks)
    if axis == "day":
        curves = tuple(_in_seconds(curve) for curve in curves)
    if ranks.listed:
        return values, None, curves
    low, _, high = curves[0].points
    return values[0], (low, high) if axis == "number" else None, curves


def _in_seconds(curve: QuantileCurve) -> QuantileCurve:
    """A curve whose points are days."""
    low, middle, high = curve.points
    return replace(curve, points=(low * SECONDS, middle * SECONDS, high * SECONDS))


def _integers(rows: CoreRows, index: int) -> list[int]:
    cells = [row[index] for row in rows]
    assert all(isinstance(cell, int) for cell in cells)
    return cells  # type: ignore[return-value]


def sort_key(key: Any) -> tuple[int, Any]:
    """The place of a key in a total order: NaN after all numbers, NULL after all values.

    It does not depend on the order the rows came in.
    """
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
