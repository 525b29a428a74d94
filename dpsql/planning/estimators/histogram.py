"""Histograms: their mechanisms, and the frequencies and chosen quantiles that are read off them.

Proved in ``docs/proofs/frequencies.md`` and ``docs/proofs/quantiles.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from dpsql.planning.calibration import (
    FINEST,
    merged_bins,
    peeling,
    ranking,
    scan,
    tree,
    with_fallback,
)
from dpsql.planning.estimators.quantiles import (
    NoisyDistribution,
    QuantileCurve,
    QuantileCurves,
    QuantileEstimate,
)
from dpsql.privacy.measure import NeighbourRelation
from dpsql.privacy.mechanism import Laplace
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import ChosenQuantile, QuantileChoices, RankTarget
from dpsql.privacy.mechanism.quantile_fallback import ChosenPlaces, QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import CountedQuantiles
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import NoisyTree, TreeMechanism
from dpsql.privacy.partition_selection import unreached_noise
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.quantisation import Bins
from dpsql.sql.ir.core import Frequencies, JoinedText, Ranks
from dpsql.sql.ir.expression import TEXT, Scalar

#: A map as DuckDB's client takes it.
ValueMap: TypeAlias = dict[str, list[object]]


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """A map from each value to its noisy count."""

    histogram: int
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class TopValues:
    """The value with the largest noisy count, or a list of the ``most`` that have the largest."""

    histogram: int
    values: tuple[Scalar, ...]
    most: int | None


@dataclass(frozen=True, slots=True)
class ClippingBound:
    """The size at the place that a scan has chosen."""

    histogram: int
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class PresentValues:
    """The values whose noisy counts are clearly above 0, as one text."""

    histogram: int
    values: tuple[Scalar, ...]
    joined: JoinedText


FrequencyEstimate: TypeAlias = ValueCounts | TopValues | ClippingBound | PresentValues
#: How often at most a list of present values has one that no row has.
ABSENT_SHOWN = Fraction(1, 20)


def released_value(
    frequent: ValueCounts | TopValues | PresentValues, counts: Sequence[Fraction], least: Fraction
) -> object:
    """The released reading of noisy counts, one for each value.

    A value is present from the count ``least`` on.
    """
    if isinstance(frequent, ValueCounts):
        return counted(frequent.values, counts)
    if isinstance(frequent, PresentValues):
        return joined(frequent, [index for index, count in enumerate(counts) if count >= least])
    order = sorted(range(len(counts)), key=lambda index: -counts[index])
    values = [frequent.values[index] for index in order]
    return values[0] if frequent.most is None else values[: frequent.most]


def joined(frequent: PresentValues, present: Sequence[int]) -> str | None:
    """The present values in their order, joined.

    None if there is none, as SQL has it for no rows.
    """
    values: list[Any] = [frequent.values[index] for index in present]
    texts = [
        str(TEXT.facts.constant(TEXT, value))
        for value in sorted(values, reverse=frequent.joined.descending)
    ]
    return frequent.joined.separator.join(texts) if texts else None


def least_present(histogram: MeasuredHistogram, values: int) -> Fraction:
    """The least noisy count of a present value.

    Noise alone seldom reaches it for any of so many values.
    """
    assert isinstance(histogram.mechanism, TreeMechanism)
    return (
        unreached_noise(histogram.mechanism.node, values, ABSENT_SHOWN)
        * histogram.contribution.step
    )


def picked(frequent: TopValues | ClippingBound, places: Sequence[int]) -> object:
    """The value that was chosen first, or the list of those that were chosen."""
    values = [frequent.values[index] for index in places]
    return (
        values[0]
        if isinstance(frequent, ClippingBound) or frequent.most is None
        else values[: frequent.most]
    )


def counted(values: Sequence[Scalar], counts: Sequence[Fraction]) -> ValueMap:
    """Every value with its count, rounded to whole rows."""
    return {"key": list(values), "value": [round(count) for count in counts]}


#: A quantile alone with this part of the rows on either side is chosen, whatever their number.
ENOUGH_BESIDE = Fraction(1, 4)
#: Up to so many quantiles are chosen by recursion: four levels.
MOST_CHOSEN = 15
#: Up to so many of the most frequent values are chosen one by one;
#: more are read off noisy counts #: of all.
MOST_FREQUENT: dict[Norm, int] = {"l1": 1, "l2": 2}

#: Noisy counts, chosen quantiles, chosen values or a chosen size; a closed union.
HistogramMechanism: TypeAlias = (
    TreeMechanism | QuantileChoices | QuantilesWithFallback | TopKPeeling | ClippingBoundSearch
)


@dataclass(frozen=True)
class MeasuredHistogram:
    """One list of counts for each group.

    It has the bounds of a unit's contribution to it, and the mechanism that reads it.
    """

    contribution: Contribution
    mechanism: HistogramMechanism


def measured_histogram(
    contribution: Contribution,
    asked: Sequence[QuantileEstimate | FrequencyEstimate],
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
) -> MeasuredHistogram:
    """The histogram with the mechanism that answers all that is asked of it most exactly.

    All mechanisms are compared at the same price. If quantiles are chosen, bins are as fine as
    whole numbers, days and seconds ask for; else as fine as is of use at the price.
    """
    targets = _targets(asked)
    most = _most(contribution, asked)
    mechanism: HistogramMechanism
    if contribution.bins is not None and not (targets and contribution.bins.are_whole_steps):
        merged = merged_bins(contribution, norm, neighbours, epsilon, share=share)
        contribution = replace(contribution, bins=contribution.bins.merged(merged))
    if any(isinstance(item, ClippingBound) for item in asked):
        mechanism = scan(contribution, norm, neighbours, epsilon, share=share)
    elif len(targets) == 1 and min(targets[0].part, 1 - targets[0].part) >= ENOUGH_BESIDE:
        mechanism = ranking(contribution, norm, neighbours, epsilon, share=share, target=targets[0])
    elif 0 < len(targets) <= MOST_CHOSEN and len({item.part for item in targets}) == len(targets):
        mechanism = with_fallback(
            contribution, norm, neighbours, epsilon, share=share, targets=targets
        )
    elif most is not None and most <= MOST_FREQUENT[norm]:
        mechanism = peeling(contribution, norm, neighbours, epsilon, share=share, most=most)
    else:
        mechanism = tree(contribution, norm, neighbours, epsilon, share=share)
    return MeasuredHistogram(contribution, mechanism)


def target(fraction: Fraction, ranks: Ranks) -> RankTarget | None:
    """The rank at which a quantile lies.

    None if it is an end of the data, which has no rank to aim at.
    """
    share = (1 - fraction if ranks.descending else fraction).limit_denominator(FINEST)
    if ranks.edge or not 0 < share < 1:
        return None
    if ranks.continuous and share == Fraction(1, 2):
        return RankTarget(share, "either")
    return RankTarget(share, "upper" if ranks.descending else "lower")


def _targets(asked: Sequence[QuantileEstimate | FrequencyEstimate]) -> list[RankTarget]:
    """The ranks that are asked for, each once; none where one of them has to be counted."""
    targets: dict[RankTarget, None] = {}
    for estimate in asked:
        if not isinstance(estimate, QuantileEstimate):
            return []
        for fraction in estimate.ranks.fractions:
            rank = target(fraction, estimate.ranks)
            if rank is None:
                return []
            targets[rank] = None
    return list(targets)


def _most(
    contribution: Contribution, asked: Sequence[QuantileEstimate | FrequencyEstimate]
) -> int | None:
    """How many of the most frequent values are asked for; None where their counts are, too."""
    if not isinstance(contribution.cell, Frequencies):
        return None
    numbers = [
        estimate.most or 1 if isinstance(estimate, TopValues) else None for estimate in asked
    ]
    known = [number for number in numbers if number is not None]
    return min(max(known), len(contribution.cell.values)) if len(known) == len(numbers) else None


#: The law of which a quantile is drawn again; its scale does not matter,
#: as its interval is #: stretched to the ends.
DRAWN = Laplace(1, Fraction(1000))


def quantiles_of(
    released: ChosenPlaces | CountedQuantiles | NoisyTree,
    bins: Bins,
    step: Fraction,
    confidence: float,
) -> NoisyDistribution | ChosenQuantiles:
    """The quantiles that can be read off what a group's histogram released."""
    match released:
        case NoisyTree():
            return NoisyDistribution(released, bins.merged(released.tree.merged), step, confidence)
        case CountedQuantiles(places=places, cells=cells, counted=counted):
            axis = Bins("number", 0, len(cells) - 2, 1, count=len(cells) - 1, size=Fraction(1))
            ranked = NoisyDistribution(counted, axis, step, confidence)
            shows_rows = counted.shows_rows(confidence)
            chosen = {
                target: ChosenQuantile(index, _ends(ranked, target, cells), shows_rows)
                for target, index in places.items()
            }
            return ChosenQuantiles(chosen, bins, confidence)
        case _:
            return ChosenQuantiles(released, bins, confidence)


def _ends(ranked: NoisyDistribution, target: RankTarget, cells: Sequence[int]) -> tuple[int, int]:
    """The first and the last bin of the cells in which a rank may lie."""
    low, high = ranked.interval(target.part, Ranks((target.part,)))
    return cells[int(low)], cells[int(high) + 1] - 1


class ChosenQuantiles:
    """One group's quantiles; a greater rank has no smaller value."""

    def __init__(
        self, chosen: Mapping[RankTarget, ChosenQuantile], bins: Bins, confidence: float
    ) -> None:
        self._bins = bins
        self._confidence = confidence
        order = sorted(chosen, key=lambda rank: rank.part)
        places = sorted(chosen[rank].place for rank in order)
        self._places = dict(zip(order, places, strict=True))
        self._ends = {rank: quantile.ends for rank, quantile in chosen.items()}
        #: Whether noisy counts say that the group has rows.
        self.shows_rows = any(quantile.shows_rows for quantile in chosen.values())

    @property
    def axis(self) -> str:
        """What a point of the distribution counts: numbers, days or seconds."""
        return self._bins.axis

    def values(self, ranks: Ranks) -> tuple[Fraction, ...]:
        """The value at each rank, within the bounds; for a bin of several values its middle."""
        return tuple(self._value(fraction, ranks) for fraction in ranks.fractions)

    def curves(self, ranks: Ranks) -> QuantileCurves:
        """Each of the values with the ends of its interval.

        It is drawn so that its ends are as likely to be passed as those of its interval are.
        """
        return tuple(self._curve(fraction, ranks) for fraction in ranks.fractions)

    def _curve(self, fraction: Fraction, ranks: Ranks) -> QuantileCurve:
        rank = _target(fraction, ranks)
        (first, last) = self._ends[rank]
        bin_place = self._places[rank]
        low = min(first, bin_place)
        high = max(last, bin_place)
        points = (
            float(self._end(low, 0)),
            float(self._value(fraction, ranks)),
            float(self._end(high, 1)),
        )
        return QuantileCurve(DRAWN, 1 / max(DRAWN.half_width(self._confidence), 1), 1.0, points)

    def _value(self, fraction: Fraction, ranks: Ranks) -> Fraction:
        bin_place = self._places[_target(fraction, ranks)]
        return (
            self._bins.value(bin_place)
            if self._bins.are_values
            else self._bins.position(bin_place, Fraction(1, 2))
        )

    def _end(self, bin_place: int, end: int) -> Fraction:
        return (
            self._bins.value(bin_place)
            if self._bins.are_values
            else self._bins.position(bin_place, Fraction(end))
        )


def _target(fraction: Fraction, ranks: Ranks) -> RankTarget:
    result = target(fraction, ranks)
    assert result is not None
    return result
