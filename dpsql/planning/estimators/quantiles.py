"""Quantiles read off a noisy tree of counts: their values and their intervals.

Everything here is computed from released numbers and from the plan. Proved in
``docs/proofs/quantiles.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, floor, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.mechanism.tree import NoisyTree, edges
from dpsql.sql.analysis.quantisation import SECONDS, Bins
from dpsql.sql.ir.core import Ranks

#: A count of fewer rows is no evidence of any, however small the noise is.
LEAST_EVIDENCE = 0.25


@dataclass(frozen=True, slots=True)
class RankNoise:
    """How noise moves the ranks of the edges between a node's children.

    It is measured in variances of a node's noise.
    """

    children: int
    fraction: float
    #: The variances of the node's own edges, and their covariance;
    #: None where its children are the #: topmost.
    above: tuple[float, float, float] | None = None

    def covariance(self, first: int, second: int) -> float:
        """The covariance of two edges; the first is not after the second.

        >>> RankNoise(4, 0.5).covariance(1, 1), RankNoise(4, 1.0).covariance(1, 1)
        (1.0, 3.0)
        >>> RankNoise(2, 0.5, (1, 1, 0.5)).covariance(1, 1)
        1.25
        """
        if self.above is None:
            low = 1 - self.fraction
            high = self.fraction
            between = second - first
            return low * low * first - low * high * between + high * high * (self.children - second)
        begin, end, both = self.above
        one = first / self.children
        two = second / self.children
        boundary = (
            (1 - one) * (1 - two) * begin
            + one * two * end
            + ((1 - one) * two + one * (1 - two)) * both
        )
        return boundary + first * (1 - two)

    def deviations(self) -> list[float]:
        """Those of all edges, from the first to the last."""
        return [sqrt(self.covariance(index, index)) for index in range(self.children + 1)]

    def below(self, child: int) -> tuple[float, float, float]:
        """What the edges between the child's own children know of it."""
        variance, following = (self.covariance(edge, edge) for edge in (child, child + 1))
        return variance, following, self.covariance(child, child + 1)


#: The place among a node's children to go on with, given their cumulative counts from the start of
#: the node on, how noise moves the ranks of these edges, and the level.
Choose: TypeAlias = Callable[[list[float], RankNoise, int], int]


@dataclass(frozen=True, slots=True)
class QuantileEstimate:
    """Quantiles: the values at some ranks of a histogram."""

    histogram: int
    ranks: Ranks


@dataclass(frozen=True, slots=True)
class CumulativeBin:
    """A bin, and the cumulative counts at its ends."""

    place: int
    before: float
    after: float


@dataclass(frozen=True)
class QuantileCurve:
    """A quantile, and the ends of its interval, which lie ``reach`` rows from it in rank.

    The noise of its rank is ``scale`` times that of a node.
    """

    node: Mechanism
    scale: float
    reach: float
    points: tuple[float, float, float]

    def draws(self, count: int) -> NDArray[np.float64]:
        """The quantile on fresh draws of the noise of its rank."""
        half = self.node.sample((count + 1) // 2).astype(np.float64) * self.scale
        noise: NDArray[np.float64] = np.concatenate([half, -half])[:count]
        return np.interp(noise, [-self.reach, 0.0, self.reach], self.points)


#: The curves of an aggregate: one of a quantile, one for each element of a list of quantiles.
QuantileCurves: TypeAlias = tuple[QuantileCurve, ...]


class NoisyDistribution:
    """One group's noisy distribution, in rows: ranks go in, values come out.

    It does not outlive the release.
    """

    def __init__(self, noisy: NoisyTree, bins: Bins, step: Fraction, confidence: float) -> None:
        self._noisy = noisy
        self._bins = bins
        self._confidence = confidence
        self._step = float(step)
        self._counted = self._children(1, 0)[-1]
        self._total = max(self._counted, 0.0)
        self.shows_rows = noisy.shows_rows(confidence)

    @property
    def axis(self) -> str:
        """What a point of the distribution counts: numbers, days or seconds."""
        return self._bins.axis

    def values(self, ranks: Ranks) -> tuple[Fraction, ...]:
        """The value at each rank, always within the bounds."""
        return tuple(self._value(fraction, ranks) for fraction in ranks.fractions)

    def interval(self, fraction: Fraction, ranks: Ranks) -> tuple[Fraction, Fraction]:
        """The interval of the quantile of the clipped rows, with at least the plan's confidence.

        Rows beyond the last detectable one are unknown, so that of MIN and MAX goes on to the
        declared bound.
        """
        fraction = 1 - fraction if ranks.descending else fraction
        target, half = float(fraction) * self._counted, self._half(ranks.edge)

        def below(sums: list[float], moved: RankNoise, _: int) -> int:
            sure = [
                sum_ - target + half * most + 1
                for sum_, most in zip(sums, moved.deviations(), strict=True)
            ]
            return _first(sure[1:], lambda bound: bound >= 0)

        def above(sums: list[float], moved: RankNoise, _: int) -> int:
            sure = [
                sum_ - target - half * most - 1
                for sum_, most in zip(sums, moved.deviations(), strict=True)
            ]
            return _last(sure[:-1], lambda bound: bound <= 0)

        low = self._descend(below, fraction)
        high = self._descend(above, fraction)
        if ranks.edge:
            low = CumulativeBin(0, 0.0, 0.0) if fraction == 0 else low
            high = CumulativeBin(self._bins.count - 1, 0.0, 0.0) if fraction == 1 else high
        return self._end(low, 0), self._end(high, 1)

    def curves(self, ranks: Ranks) -> QuantileCurves:
        """Each of the values, and what it would be at other ranks nearby."""
        return tuple(self._curve(fraction, ranks) for fraction in ranks.fractions)

    def _curve(self, fraction: Fraction, ranks: Ranks) -> QuantileCurve:
        tree = self._noisy.tree
        low, high = self.interval(fraction, ranks)
        value = self._value(fraction, ranks)
        points = (float(min(low, value)), float(value), float(max(high, value)))
        spread = tree.spread(float(fraction))
        return QuantileCurve(
            tree.node, spread * self._step, spread * self._half(ranks.edge) + 1, points
        )

    def _half(self, edge: bool) -> float:
        """The half-width of a node at the confidence that each level gets, in rows.

        The interval of MIN or MAX ends at a bound on one side, so that only the other can miss.
        """
        return self._noisy.tree.node_half_width(self._confidence, one_sided=edge) * self._step

    def _value(self, fraction: Fraction, ranks: Ranks) -> Fraction:
        if ranks.edge:
            leaves = sorted(
                (self._descend(self._least), self._descend(self._greatest)),
                key=lambda leaf: leaf.place,
            )
            return self._end(leaves[0], 0) if fraction == 0 else self._end(leaves[1], 1)
        total = Fraction(self._total)
        if not ranks.continuous:
            rank = floor((1 - fraction) * total) if ranks.descending else ceil(fraction * total) - 1
            return self._at(min(max(Fraction(rank), Fraction(0)), max(total - 1, Fraction(0))))
        place_of = (1 - fraction if ranks.descending else fraction) * max(total - 1, Fraction(0))
        low = self._at(Fraction(floor(place_of)))
        high = self._at(Fraction(ceil(place_of)))
        return low + (high - low) * (place_of - floor(place_of))

    def _at(self, rank: Fraction) -> Fraction:
        """The value that so many rows stand before."""
        number_before = float(rank)
        leaf = self._descend(
            lambda sums, *_: _first(sums[1:], lambda sum_: sum_ > number_before), smooth=True
        )
        if self._bins.are_values:
            return self._bins.value(leaf.place)
        inside = leaf.after - leaf.before
        fraction = (
            min(max((number_before + 0.5 - leaf.before) / inside, 0.0), 1.0) if inside > 0 else 0.5
        )
        return self._bins.position(leaf.place, Fraction(fraction))

    def _end(self, leaf: CumulativeBin, end: int) -> Fraction:
        bins = self._bins
        return (
            bins.value(leaf.place) if bins.are_values else bins.position(leaf.place, Fraction(end))
        )

    def _descend(
        self, choose: Choose, fraction: Fraction = Fraction(0), smooth: bool = False
    ) -> CumulativeBin:
        """The leaf that is reached by choosing a child on each level.

        ``smooth`` counts never fall.
        """
        tree = self._noisy.tree
        start = 0
        before = 0.0
        after = self._total
        above = None
        for level in range(1, tree.levels + 1):
            sums = [before + sum_ for sum_ in self._children(level, start, after - before)]
            sums = _monotone(sums) if smooth else sums
            moved = RankNoise(len(sums) - 1, float(fraction), above)
            child = choose(sums, moved, level)
            start = edges(tree, level, start)[child]
            before = sums[child]
            after = sums[child + 1]
            above = moved.below(child)
        return CumulativeBin(start, before, after)

    def _children(self, level: int, start: int, total: float | None = None) -> list[float]:
        """The cumulative counts of a node's children.

        They add up to the node's own count if that is given.
        """
        counts = [count * self._step for count in self._noisy.children(level, start)]
        missing = 0.0 if total is None or level == 1 else (total - sum(counts)) / len(counts)
        return list(accumulate((count + missing for count in counts), initial=0.0))

    def _least(self, sums: list[float], _: RankNoise, level: int) -> int:
        """The first child that surely has rows, or by whose end there surely are some."""
        return self._first_evident([after - before for before, after in pairwise(sums)], level)

    def _greatest(self, sums: list[float], _: RankNoise, level: int) -> int:
        """The last child that surely has rows, or from whose start on there surely are some."""
        counts = [after - before for before, after in pairwise(sums)]
        return len(counts) - 1 - self._first_evident(counts[::-1], level)

    def _first_evident(self, counts: list[float], level: int) -> int:
        """The first child whose own count, or the sum up to it, is more than noise explains.

        The last child if there is none.
        """
        one = self._noisy.tree.explained_by_noise() * self._step
        sums = accumulate(counts)
        most = [
            max(one * sum_deviation, LEAST_EVIDENCE)
            for sum_deviation in _sum_deviations(len(counts), level)
        ]
        evident = [
            count > max(one, LEAST_EVIDENCE) or total > explained
            for count, total, explained in zip(counts, sums, most, strict=True)
        ]
        return evident.index(True) if True in evident else len(counts) - 1


def _sum_deviations(children: int, level: int) -> list[float]:
    """At most the deviations of the sums of the first 1, 2, … children of a node.

    They are in deviations of one node's noise. The children of the topmost level are independent.
    Others add up to the count of their parent, whose noise is no more than that of a node.

    >>> _sum_deviations(4, 1), [round(each**2, 4) for each in _sum_deviations(4, 2)]
    ([1.0, 1.4142135623730951, 1.7320508075688772, 2.0], [0.8125, 1.25, 1.3125, 1.0])
    """
    numbers = range(1, children + 1)
    if level == 1:
        return [sqrt(number) for number in numbers]
    parts = [number / children for number in numbers]
    return [
        sqrt(number * (1 - fraction) + fraction * fraction)
        for number, fraction in zip(numbers, parts, strict=True)
    ]


def _monotone(sums: list[float]) -> list[float]:
    """The sums as a line that never falls and stays between its ends.

    It is the middle of the least such line above and the greatest below.
    """
    rising = list(accumulate(sums, max))
    falling = list(accumulate(reversed(sums), min))[::-1]
    low = sums[0]
    high = max(sums[-1], sums[0])
    return [min(max((up + down) / 2, low), high) for up, down in zip(rising, falling, strict=True)]


def _first(numbers: list[float], holds: Callable[[float], bool]) -> int:
    """The first index at which it holds; the last index if it never does."""
    return next((index for index, number in enumerate(numbers) if holds(number)), len(numbers) - 1)


def _last(numbers: list[float], holds: Callable[[float], bool]) -> int:
    """The last index at which it holds; the first if it never does."""
    return next((index for index in reversed(range(len(numbers))) if holds(numbers[index])), 0)


#: 1970-01-01 in days of the axis, which are those of `date.fromordinal`.
_EPOCH = date(1970, 1, 1).toordinal()
#: The steps of dates and timestamps in seconds.
_STEPS = {"DATE": SECONDS, "TIMESTAMP": 1}


def is_date(sql_type: str) -> bool:
    """Whether values of the type are dates or timestamps."""
    return sql_type in _STEPS


def dates(seconds: NDArray[np.float64], sql_type: str) -> list[date]:
    """The nearest values of a column of the type.

    >>> import numpy as np
    >>> dates(np.array([719163 * 86400.0]), "DATE"), dates(np.array([719163 * 86400.0]), "TIMESTAMP")
    ([datetime.date(1970, 1, 1)], [datetime.datetime(1970, 1, 1, 0, 0)])
    """
    steps = (
        np.round(seconds / _STEPS[sql_type]).astype(np.int64) - _EPOCH * SECONDS // _STEPS[sql_type]
    )
    values: list[date] = steps.astype(
        "datetime64[D]" if sql_type == "DATE" else "datetime64[s]"
    ).tolist()
    return values


def date_ends(curve: QuantileCurve, sql_type: str) -> tuple[date, date]:
    """The interval of a quantile of dates or timestamps: the whole steps of the type around it."""
    low, _, high = curve.points
    step = _STEPS[sql_type]
    first, last = dates(
        np.array([floor(low / step) * step, ceil(high / step) * step], np.float64), sql_type
    )
    return first, last
