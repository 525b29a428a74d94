"""Several quantiles of a group by recursion: the middle one first, then those on each side.

Their intervals are counted around all of them.

Proof in `docs/proofs/quantiles.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism import Exponential
from dpsql.privacy.mechanism.quantile_choice import OrderedBins, RankTarget, bins_in_order
from dpsql.privacy.mechanism.rank_interval import cells_around
from dpsql.privacy.mechanism.tree import NoisyTree, TreeMechanism
from dpsql.privacy.rounding import confidence_tail
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: In how many parts the rows of a bin may be divided: each is a candidate.
PARTS = 16


@dataclass(frozen=True)
class QuantileSplit:
    """The choice of a quantile among the rows between two others, which it divides.

    ``target`` is the rank that is asked for, among all rows, and ``rank`` the same among those
    between. ``beside`` is the least fraction of all rows between it and the nearer of those two.
    """

    target: RankTarget
    rank: RankTarget
    beside: Fraction
    value: Exponential
    before: QuantileSplit | None = None
    after: QuantileSplit | None = None

    @property
    def levels(self) -> list[list[QuantileSplit]]:
        """The choices that are made among rows apart from each other, level by level."""
        result = list[list[QuantileSplit]]()
        level = [self]
        while level:
            result.append(level)
            level = [
                side for split in level for side in (split.before, split.after) if side is not None
            ]
        return result


@dataclass(frozen=True)
class CountedQuantiles:
    """The bins of some quantiles, and noisy counts of cells around them.

    A cell ends at the beginning of the next one.
    """

    places: dict[RankTarget, int]
    cells: list[int]
    counted: NoisyTree


@dataclass(frozen=True)
class QuantileRecursion:
    """The quantiles of one histogram of ``bins`` bins in each group, and the tree around them."""

    bins: int
    first: QuantileSplit
    around: TreeMechanism

    @property
    def cost(self) -> Cost:
        """That of the tree, and of the dearest choice of each level,
        which divide a unit's rows among them.
        """
        return sum((_dearest(level) for level in self.first.levels), self.around.cost)

    def half_width(self, confidence: float) -> float:
        """How far the ranks of all values are off at most with that confidence,
        in the steps of counts.
        """
        levels = self.first.levels
        tail = confidence_tail(confidence) / sum(map(len, levels))
        return sum(max(_rank_error(split, self.bins, tail) for split in level) for level in levels)

    def choose(
        self, places: Sequence[int], counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> CountedQuantiles:
        """The chosen bins and the counts around them, over one group's bins and exact counts."""
        cell_of_target = dict[RankTarget, int]()
        waiting = [(self.first, RowsBetween.of_all(places, counts, self.bins))]
        while waiting:
            split, rows = waiting.pop()
            drawn = split.value.draw(*rows.near(split.rank), _entropy=_entropy)
            cell_of_target[split.target] = rows.bin_of(drawn)
            waiting += [
                (side, part_rows)
                for side, part_rows in zip(
                    (split.before, split.after), rows.divided(drawn), strict=True
                )
                if side is not None
            ]
        tree, cells = self.grown(cell_of_target.values())
        inside = OrderedBins(places, counts, self.bins).counts(cells)
        return CountedQuantiles(
            cell_of_target, cells, tree.grow(range(tree.bins), inside, _entropy=_entropy)
        )

    def grown(self, chosen: Iterable[int]) -> tuple[TreeMechanism, list[int]]:
        """The tree around released bins, and the edges of its leaves."""
        cells = sorted({edge for cell in chosen for edge in cells_around(cell, self.bins)})
        return replace(self.around, bins=len(cells) - 1), cells


class RowsBetween:
    """One group's rows from a part of one bin to a part of another; they are exact."""

    __slots__ = ("_counts", "_places", "first", "last")

    def __init__(
        self, places: NDArray[np.int64], counts: NDArray[np.int64], first: int, last: int
    ) -> None:
        self._places = places
        self._counts = counts
        self.first = first
        self.last = last

    @classmethod
    def of_all(cls, places: Sequence[int], counts: Sequence[int], bins: int) -> RowsBetween:
        """All rows of the group that lie in a bin."""
        return cls(*bins_in_order(places, counts, bins), 0, bins - 1)

    def __repr__(self) -> str:
        return "Rows(…)"

    def near(self, rank: RankTarget) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The utilities of the parts of all bins, and how many successive parts have each."""
        full = len(self._places)
        numbers = np.arange(PARTS)
        ends = np.concatenate([[0], np.cumsum(self._counts)])
        counts = self._counts[:, None]
        low = np.repeat(ends[:, None], PARTS + 1, 1)
        high = np.repeat(ends[:, None], PARTS + 1, 1)
        low[:full, 1:] += counts * numbers // PARTS
        high[:full, 1:] -= -counts * (numbers + 1) // PARTS
        # Of each row: the empty bins before a full one, its parts.
        widths = np.ones((full + 1, PARTS + 1), np.int64)
        widths[:, 0] = PARTS * (
            np.diff(np.concatenate([[self.first - 1], self._places, [self.last + 1]])) - 1
        )
        widths[full, 1:] = 0
        some = widths > 0
        return rank.utilities(low[some], high[some], int(ends[-1])), widths[some]

    def bin_of(self, drawn: int) -> int:
        """The bin that holds a candidate."""
        return self.first + drawn // PARTS

    def divided(self, drawn: int) -> tuple[RowsBetween, RowsBetween]:
        """The rows up to the middle of a drawn part of a bin, and the rows after it."""
        cell = self.bin_of(drawn)
        at = int(np.searchsorted(self._places, self.bin_of(drawn)))
        before = self._counts[: at + 1].copy()
        after = self._counts[at:].copy()
        if at < len(self._places) and self._places[at] == cell:
            before[-1] = before[-1] * (2 * (drawn % PARTS) + 1) // (2 * PARTS)
            after[0] -= before[-1]
            return (
                RowsBetween(self._places[: at + 1], before, self.first, cell),
                RowsBetween(self._places[at:], after, cell, self.last),
            )
        return (
            RowsBetween(self._places[:at], before[:at], self.first, cell),
            RowsBetween(self._places[at:], after, cell, self.last),
        )


def exact_splits(
    recursion: QuantileRecursion,
    drawn: Callable[[RowsBetween], int],
    places: Sequence[int],
    counts: Sequence[int],
) -> Iterator[tuple[QuantileSplit, int, NDArray[np.int64], NDArray[np.int64]]]:
    """Had these candidates been drawn: the choices of one group, each with its bin,
    utilities and widths: for tests.
    """
    waiting = [(recursion.first, RowsBetween.of_all(places, counts, recursion.bins))]
    while waiting:
        split, rows = waiting.pop()
        yield split, rows.bin_of(drawn(rows)), *rows.near(split.rank)
        sides = zip((split.before, split.after), rows.divided(drawn(rows)), strict=True)
        waiting += [(side, rows_of_side) for side, rows_of_side in sides if side is not None]


def exact_counts(
    recursion: QuantileRecursion,
    chosen: Iterable[int],
    places: Sequence[int],
    counts: Sequence[int],
) -> tuple[TreeMechanism, list[int]]:
    """Had these bins been chosen: the tree around them and the exact counts of its leaves:
    for the tests, too.
    """
    tree, cells = recursion.grown(chosen)
    return tree, OrderedBins(places, counts, recursion.bins).counts(cells)


def _dearest(level: Sequence[QuantileSplit]) -> Cost:
    costs = [split.value.cost for split in level]
    epsilons = [cost.epsilon for cost in costs if cost.epsilon is not None]
    return Cost(
        max(epsilons) if len(epsilons) == len(costs) else None, max(cost.rho for cost in costs)
    )


def _rank_error(split: QuantileSplit, bins: int, tail: float) -> float:
    """How far a choice is off, without the step that is lost when rows of a bin are divided."""
    return log(bins * PARTS / tail) / float(split.value.rate) / split.rank.part.denominator + 1
