"""Interval of a rank around a released bin: noisy counts of cells that double in width.

Proof in `docs/proofs/quantiles.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import hypot

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism.gaussian import Gaussian
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width
from dpsql.privacy.mechanism.tree import NoisyTree, TreeMechanism, edges
from dpsql.privacy.rounding import confidence_tail
from dpsql.privacy.sampling import Entropy

#: Sums of Laplace noises of a greater scale have the half-widths of those of this one, in
#: proportion; each is taken on the integers, so that ranks of odd fractions ask for no finer
#: lattice.
FINE_SCALE = 100


def cells_around(cell: int, bins: int) -> list[int]:
    """The bins at which the cells around a place begin, and the end of the last.

    >>> cells_around(6, 20)
    [0, 2, 4, 5, 6, 7, 8, 9, 11, 15, 20]
    """
    before = cell
    after = bins - cell - 1
    starts = [cell - (1 << power) for power in range(before.bit_length()) if 1 << power < before]
    ends = [cell + 1 + (1 << power) for power in range(after.bit_length()) if 1 << power < after]
    return sorted({0, *starts, cell, cell + 1, *ends, bins})


def most_cells(bins: int) -> int:
    """The largest number of cells around any of so many bins.

    It is reached in the middle, or at a bin after which a further cell has just begun.

    >>> most_cells(1), most_cells(5), most_cells(65536)
    (1, 5, 34)
    """
    begun = [(1 << power) + 1 for power in range(bins.bit_length())]
    return max(len(cells_around(cell, bins)) - 1 for cell in (bins // 2, *begun) if cell < bins)


@dataclass(frozen=True)
class RankInterval:
    """The interval of the rank that is ``part`` of all rows, by a noisy tree around a released bin.

    ``tree`` is that of the most cells; with fewer cells it has fewer leaves.
    """

    part: Fraction
    bins: int
    tree: TreeMechanism

    def __post_init__(self) -> None:
        if self.tree.bins < most_cells(self.bins):
            raise ValueError(
                f"{self.tree.bins} leaves are too few for the cells around one of {self.bins} bins"
            )

    @property
    def cost(self) -> Cost:
        """That of the tree."""
        return self.tree.cost

    def ends(
        self,
        cell: int,
        counts: Callable[[Sequence[int]], Sequence[int]],
        confidence: float,
        row: int,
        *,
        _entropy: Entropy,
    ) -> tuple[int, int, bool]:
        """The first and the last bin of the interval, and whether the counts show rows.

        The interval holds the released bin and, with that confidence, the rank. Rows are shown if
        the counts say so, or the interval is not the whole range. ``counts`` gives the exact counts
        between edges; a row adds ``row`` to a count.
        """
        tree, cells = self.grown(cell)
        noisy = tree.grow(range(tree.bins), counts(cells), _entropy=_entropy)
        ranks = _factors(tree, self.part) @ np.array(_nodes(noisy), float)
        one_sided = 1 - min(2 * confidence_tail(confidence), 0.5)
        sure = _half_widths(tree, self.part, one_sided) + row
        first = next(
            (edge for edge in range(1, tree.bins) if ranks[edge] >= -sure[edge]), tree.bins
        )
        last = next(
            (edge for edge in reversed(range(1, tree.bins)) if ranks[edge] <= sure[edge]), 0
        )
        low = min(cells[first - 1], cell)
        high = max(cells[last + 1] - 1, cell)
        shows_rows = (low, high) != (0, self.bins - 1) or noisy.shows_rows(confidence)
        return low, high, shows_rows

    def grown(self, cell: int) -> tuple[TreeMechanism, list[int]]:
        """The tree around a released bin, and the edges of its leaves."""
        cells = cells_around(cell, self.bins)
        return replace(self.tree, bins=len(cells) - 1), cells


def _nodes(noisy: NoisyTree) -> list[int]:
    """The noisy counts of all nodes, level by level, drawn at once,
    so that how many cells there are does not show.
    """
    noisy.draw(_parents(noisy.tree))
    return [count for parent in _parents(noisy.tree) for count in noisy.children(*parent)]


def _parents(tree: TreeMechanism) -> list[tuple[int, int]]:
    """Of each level, the level and the leaves at which the parents of its nodes begin."""
    starts = [0]
    result = list[tuple[int, int]]()
    for level in range(1, tree.levels + 1):
        result += [(level, start) for start in starts]
        starts = [child for start in starts for child in edges(tree, level, start)[:-1]]
    return result


@lru_cache(maxsize=256)
def _weights(tree: TreeMechanism, fraction: Fraction) -> NDArray[np.object_]:
    """Factors of the counts of all nodes that give the distance of each edge from the rank.

    The estimates of a node's children are moved by one common amount,
    so that they add up to the node's own.
    """
    sizes = [len(edges(tree, *parent)) - 1 for parent in _parents(tree)]
    nodes = np.array(
        [[Fraction(row == column) for column in range(sum(sizes))] for row in range(sum(sizes))]
    )
    nothing = nodes[0] * 0
    at = 0
    estimates = {0: nothing}
    for (level, start), size in zip(_parents(tree), sizes, strict=True):
        node_sums = nodes[at : at + size]
        missing = nothing if level == 1 else (estimates[start] - node_sums.sum(axis=0)) / size
        estimates |= dict(zip(edges(tree, level, start)[:-1], node_sums + missing, strict=True))
        at += size
    sums = np.cumsum([nothing, *(estimates[leaf] for leaf in range(tree.bins))], axis=0)
    result: NDArray[np.object_] = sums - fraction * sums[-1]
    return result


@lru_cache(maxsize=256)
def _factors(tree: TreeMechanism, fraction: Fraction) -> NDArray[np.float64]:
    """The weights as doubles."""
    return _weights(tree, fraction).astype(np.float64)


@lru_cache(maxsize=256)
def _half_widths(tree: TreeMechanism, fraction: Fraction, confidence: float) -> NDArray[np.float64]:
    """How far the noise moves each of these ranks at most, with that confidence."""
    return np.array(
        [_half_width(tree.node, weight, confidence) for weight in _weights(tree, fraction)]
    )


def _half_width(noise: Laplace | Gaussian, weights: Iterable[Fraction], confidence: float) -> float:
    """The half-width of a sum of draws, each so many times as large;
    but for narrow Laplace noise a step is added.
    """
    if isinstance(noise, Gaussian):
        return (noise.half_width(confidence) + 1) * hypot(*weights)
    times = Counter(abs(weight) for weight in weights if weight)
    if noise.scale <= FINE_SCALE:
        return sum_half_width([NoiseTerm(noise, *item) for item in times.items()], confidence)
    fine = [
        NoiseTerm(Laplace(1, FINE_SCALE * weight), Fraction(1), many)
        for weight, many in times.items()
    ]
    return (sum_half_width(fine, confidence) + 1) * float(noise.scale / FINE_SCALE)
