"""Bins chosen by their rank, one for each quantile of a group, with an interval around it.

Proof in `docs/proofs/quantiles.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, TypeAlias
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import Exponential
from dpsql.privacy.mechanism.rank_interval import RankInterval
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.privacy.rounding import confidence_tail
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: Utilities are kept within this of the best,
#: so that they are 64-bit integers however many rows #: there are.
MOST_DISTANCE = 2**61
#: Counts that add up to less are reckoned with in 64 bits.
MOST_COUNT = 2**45
#: Whole numbers of 64 bits, or of any size.
AnyCounts: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class RankTarget:
    """A rank, as a fraction of all rows.

    ``ties`` tells which of two values is meant if it lies exactly between them.
    """

    part: Fraction
    ties: OneOf["lower", "upper", "either"]

    @property
    def spread(self) -> int:
        """How far apart one row moves the utilities of two bins,
        in the steps that utilities count.
        """
        return 2 * max(self.part.numerator, self.part.denominator - self.part.numerator)

    def utilities(self, before: AnyCounts, through: AnyCounts, total: int) -> NDArray[np.int64]:
        """How far the rank is from candidates with so many rows before them,
        and through their end, of so many in all.

        They are counted in parts of a row, and negative.
        """
        denominator = self.part.denominator
        rank = self.part.numerator * total
        short = rank - through * denominator
        over = before * denominator - rank
        match self.ties:
            case "lower":
                over = over + 1
            case "upper":
                short = short + 1
            case "either":
                pass
        distances = np.minimum(np.maximum(np.maximum(short, over), 0), MOST_DISTANCE)
        utilities: NDArray[np.int64] = -distances.astype(np.int64)
        return utilities


@dataclass(frozen=True)
class ChosenQuantile:
    """The bin of a quantile, and the first and the last bin of its interval.

    ``shows_rows`` tells that the counts around the bin say that there are rows.
    """

    place: int
    ends: tuple[int, int]
    shows_rows: bool


@dataclass(frozen=True)
class QuantileChoice:
    """A quantile: the choice of its bin, and the counts around that for its interval."""

    target: RankTarget
    value: Exponential
    around: RankInterval

    @property
    def cost(self) -> Cost:
        """That of the value, and of the counts around it."""
        return self.value.cost + self.around.cost

    def half_width(self, bins: int, confidence: float) -> float:
        """How far the value's rank is off at most with that confidence, in the steps of counts."""
        return (
            log(bins / confidence_tail(confidence))
            / float(self.value.rate)
            / self.target.part.denominator
        )

    def choose(
        self, ordered: OrderedBins, confidence: float, row: int, entropy: Entropy
    ) -> ChosenQuantile:
        """The quantile's bins in a group; ``row`` is how much one row counts."""
        cell = self.value.draw(*ordered.near(self.target), _entropy=entropy)
        first, last, shows_rows = self.around.ends(
            cell, ordered.counts, confidence, row, _entropy=entropy
        )
        return ChosenQuantile(cell, (first, last), shows_rows)


@dataclass(frozen=True)
class QuantileChoices:
    """The quantiles that are chosen from one histogram of ``bins`` bins in each group."""

    bins: int
    quantiles: tuple[QuantileChoice, ...]

    @property
    def cost(self) -> Cost:
        """The sum over the quantiles; each is chosen separately."""
        return sum((quantile.cost for quantile in self.quantiles), FREE)

    def choose(
        self,
        places: Sequence[int],
        counts: Sequence[int],
        confidence: float,
        row: int,
        *,
        _entropy: Entropy = OPERATING_SYSTEM,
    ) -> dict[RankTarget, ChosenQuantile]:
        """The chosen bins, over one group's bins and their exact counts.

        A row adds ``row`` to a count.
        """
        ordered = OrderedBins(places, counts, self.bins)
        return {
            quantile.target: quantile.choose(ordered, confidence, row, _entropy)
            for quantile in self.quantiles
        }


class OrderedBins:
    """One group's bins in order, with the exact counts before and after each.

    Runs of empty bins are one.
    """

    __slots__ = ("_after", "_before", "_places", "_sums", "_total", "_widths", "bins")

    def __init__(self, places: Sequence[int], counts: Sequence[int], bins: int) -> None:
        inside, exact = bins_in_order(places, counts, bins)
        sums = np.cumsum(np.concatenate([[0], exact]), dtype=exact.dtype)
        empty = np.diff(np.concatenate([[-1], inside, [bins]])) - 1
        full = len(inside)
        widths = np.ones(2 * full + 1, np.int64)  # runs of empty bins and bins with rows by turns
        widths[::2] = empty
        before = np.repeat(sums, 2)[:-1]
        after = np.repeat(sums, 2)[1:]
        before = before[: 2 * full + 1]
        after = np.concatenate([after, sums[-1:]])[: 2 * full + 1]
        self._places = inside
        self._sums = sums
        some = widths > 0
        self.bins = bins
        self._total = int(sums[-1])
        self._widths = widths[some]
        self._before = before[some]
        self._after = after[some]

    def __repr__(self) -> str:
        return "Ordered(…)"

    def near(self, target: RankTarget) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The utilities of the bins for a rank: how far it is from theirs, in parts of a row;
        and their numbers.
        """
        return target.utilities(self._before, self._after, self._total), self._widths

    def counts(self, edges: Sequence[int]) -> list[int]:
        """The exact counts between bins: from each edge to the one before the next."""
        sums = self._sums[np.searchsorted(self._places, np.array(edges, np.int64))]
        return [int(count) for count in np.diff(sums)]


def exact_utilities(
    ranking: QuantileChoices, places: Sequence[int], counts: Sequence[int]
) -> list[tuple[Exponential, NDArray[np.int64], NDArray[np.int64]]]:
    """The choices of one group, each with the utilities it is made by and their widths:
    what the tests look at.
    """
    ordered = OrderedBins(places, counts, ranking.bins)
    return [(quantile.value, *ordered.near(quantile.target)) for quantile in ranking.quantiles]


def exact_cells(
    ranking: QuantileChoices, around: int, places: Sequence[int], counts: Sequence[int]
) -> list[tuple[TreeMechanism, list[int]]]:
    """The trees of one group, had the bin ``around`` been chosen, each with its leaves' counts:
    for the tests, too.
    """
    ordered = OrderedBins(places, counts, ranking.bins)
    grown = [quantile.around.grown(around) for quantile in ranking.quantiles]
    return [(tree, ordered.counts(cells)) for tree, cells in grown]


def bins_in_order(
    places: Sequence[int], counts: Sequence[int], bins: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bins with rows, in order, and their counts:
    64-bit integers where these and their multiples fit in.
    """
    at = np.array(places, np.int64)
    exact = np.array(counts, np.int64 if sum(counts) < MOST_COUNT else object)
    inside = np.flatnonzero((at >= 0) & (at < bins))
    order = inside[np.argsort(at[inside])]
    return at[order], exact[order]
