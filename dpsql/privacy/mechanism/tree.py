"""A noisy tree of counts over bins; every node of every level has noise of its own.

The noise is drawn when the node is first read.

Proof in `docs/proofs/quantiles.md`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, chain, islice, pairwise
from math import sqrt

from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism.gaussian import Gaussian
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: The most levels of a tree.
MOST_LEVELS = 8
#: How often MIN or MAX lies in a part of the range, or beyond one, in which only noise was counted.
PHANTOM_CHANCE = 0.01


@dataclass(frozen=True)
class TreeMechanism:
    """Counts of ``bins`` leaves and of all nodes above them but the root, on ``levels`` levels.

    A node of one level has ``branching`` children on the next, fewer at the right edge. ``node`` is
    the noise of one level: the vector of its counts, over all groups, moves by no more than the
    node's sensitivity. A leaf holds ``merged`` neighbouring bins of the histogram.
    """

    bins: int
    branching: int
    levels: int
    node: Laplace | Gaussian
    merged: int = field(default=1, repr=False)

    def __post_init__(self) -> None:
        if self.branching < 1 or self.branching**self.levels < self.bins:
            raise ValueError(
                f"{self.levels} levels of {self.branching} children do not reach {self.bins} bins"
            )

    @property
    def cost(self) -> Cost:
        """The cost of one level, as often as there are levels."""
        return sum([self.node.cost] * self.levels, FREE)

    def width(self, level: int) -> int:
        """The bins of a node on the level, from 1 (below the root) to ``levels`` (the leaves)."""
        return int(self.branching ** (self.levels - level))

    def half_width(self, confidence: float, fraction: float, one_sided: bool = False) -> float:
        """How far a rank read off the tree may be from ``fraction`` of all: on every level,
        with that confidence.

        Where ``one_sided``, to one side that is known beforehand. In grid units of the counts.
        """
        return self.node_half_width(confidence, one_sided) * self.spread(fraction)

    def node_half_width(self, confidence: float, one_sided: bool = False) -> float:
        """How far the noise of one node on each level goes, all levels together.

        It holds with that confidence.
        """
        tail = (1 - confidence) / self.levels
        if one_sided and self.levels > 1:
            tail = min(2 * tail, 0.5)
        return float(self.node.half_width(1 - tail))

    def spread(self, fraction: float) -> float:
        """At most how many times as far as a node's count such a rank varies."""
        largest = max(fraction, 1 - fraction)
        return sqrt(self.branching * largest**2 + (self.levels - 1) * self.branching / 4)

    def explained_by_noise(self) -> int:
        """The greatest count of a node that noise alone explains, in grid units.

        On a way down from the root, noise exceeds it in any of the two comparisons that are made of
        each child with a probability of `PHANTOM_CHANCE` at most.
        """
        comparisons = 2 * self.branching * self.levels
        return self.node.half_width(1 - 2 * PHANTOM_CHANCE / comparisons)

    def explained_sum(self, nodes: int, confidence: float) -> float:
        """The greatest sum of the counts of so many nodes that noise alone explains,
        with that confidence.
        """
        return sum_half_width([NoiseTerm(self.node, Fraction(1), nodes)], confidence)

    def grow(
        self, places: Sequence[int], counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> NoisyTree:
        """The tree over bins and their exact counts; what lies in no bin is not counted."""
        return NoisyTree(self, places, counts, _entropy)


def shape(bins: int, power: int) -> tuple[int, int]:
    """The branching and the levels of the tree over so many bins whose ranks vary least.

    The variance of a node grows with the number of levels to this ``power``: 1 where levels share
    ρ, 2 where they share ε.

    >>> shape(80, 1), shape(65536, 1), shape(65536, 2)
    ((9, 2), (5, 7), (16, 4))
    """

    def variance(levels: int) -> float:
        branching = _least_branching(bins, levels)
        return float(levels**power) * (branching / 4 + (levels - 1) * branching / 6)

    best = min(range(1, MOST_LEVELS + 1), key=variance)
    return _least_branching(bins, best), best


def _least_branching(bins: int, levels: int) -> int:
    """The least branching that reaches so many bins."""
    near = max(int(pow(float(bins), 1.0 / levels)) - 1, 1)
    return next(branching for branching in range(near, bins + 1) if branching**levels >= bins)


class NoisyTree:
    """One group's tree: it gives noisy counts only, and always the same one of a node."""

    __slots__ = ("_bins", "_entropy", "_read", "_sums", "tree")

    def __init__(
        self, tree: TreeMechanism, places: Sequence[int], counts: Sequence[int], entropy: Entropy
    ) -> None:
        self.tree = tree
        pairs = ((index // tree.merged, count) for index, count in zip(places, counts, strict=True))
        inside = sorted((leaf, count) for leaf, count in pairs if 0 <= leaf < tree.bins)
        self._bins = [index for index, _ in inside]
        self._sums = list(accumulate((count for _, count in inside), initial=0))
        self._entropy = entropy
        self._read: dict[tuple[int, int], tuple[int, ...]] = {}

    def __repr__(self) -> str:
        return "NoisyTree(…)"

    def children(self, level: int, start: int) -> tuple[int, ...]:
        """The noisy counts of the nodes on the level whose parent begins at the bin ``start``."""
        if (level, start) not in self._read:
            self.draw([(level, start)])
        return self._read[level, start]

    def shows_rows(self, confidence: float) -> bool:
        """Whether a count of the first level, or their sum, is more than noise explains."""
        counts = self.children(1, 0)
        explained = self.tree.explained_sum(len(counts), confidence)
        return max(counts) > self.tree.explained_by_noise() or sum(counts) > explained

    def draw(self, parents: Sequence[tuple[int, int]]) -> None:
        """Draw the children of parents that were not read yet, all at once."""
        counts = [self._counts(*parent) for parent in parents]
        noisy = iter(
            self.tree.node.perturb(list(chain.from_iterable(counts)), _entropy=self._entropy)
        )
        self._read |= {
            parent: tuple(islice(noisy, len(count)))
            for parent, count in zip(parents, counts, strict=True)
        }

    def _counts(self, level: int, start: int) -> list[int]:
        ends = edges(self.tree, level, start)
        sums = [self._sums[bisect_left(self._bins, end)] for end in ends]
        return [after - before for before, after in pairwise(sums)]


def edges(tree: TreeMechanism, level: int, start: int) -> list[int]:
    """The bins at which the children of a parent begin, and the end of the last."""
    width = tree.width(level)
    last = min(start + width * tree.branching, tree.bins)
    return [*range(start, last, width), last]


def exact_levels(
    tree: TreeMechanism, places: Sequence[int], counts: Sequence[int]
) -> list[dict[int, int]]:
    """The exact counts that each level perturbs, by the bin at which their node begins:
    what the tests look at.
    """
    result: list[dict[int, int]] = []
    for level in range(1, tree.levels + 1):
        width = tree.width(level)
        nodes: dict[int, int] = {}
        for index, count in zip(places, counts, strict=True):
            leaf = index // tree.merged
            if 0 <= leaf < tree.bins:
                nodes[leaf - leaf % width] = nodes.get(leaf - leaf % width, 0) + count
        result.append(nodes)
    return result
