"""How much of each claim two neighbours use, in exact integers.

Claims cover cells, tree levels, and choices of ranks and values.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.measure import FREE
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices, exact_cells, exact_utilities
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import (
    PARTS,
    QuantileRecursion,
    QuantileSplit,
    RowsBetween,
    exact_counts,
    exact_splits,
)
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism, exact_levels


@dataclass(frozen=True)
class ClaimUsage:
    """The use of one claim, which is private. Both figures are squares if ``squared``."""

    kind: str
    observed: int
    claimed: int
    squared: bool = False

    @property
    def broken(self) -> bool:
        """Whether the use exceeds the claim."""
        return self.observed > self.claimed

    @property
    def ratio(self) -> Fraction:
        """The part of the claim that is used; a square if the figures are."""
        return Fraction(self.observed, self.claimed)


@dataclass(frozen=True)
class ClaimComparison:
    """How much two neighbours use of each claim, and the differences that no claim covers."""

    uses: tuple[ClaimUsage, ...] = ()
    wrong: tuple[str, ...] = ()

    def __add__(self, more: ClaimComparison) -> ClaimComparison:
        return ClaimComparison(self.uses + more.uses, self.wrong + more.wrong)

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults, in words without figures of the data."""
        broken = dict.fromkeys(
            f"{use.kind}: one unit changes more than is claimed" for use in self.uses if use.broken
        )
        return (*self.wrong, *broken)


def distance(kind: str, mechanism: Laplace | Gaussian, change: Sequence[int]) -> ClaimUsage:
    """The distance of two vectors in the mechanism's norm, and the most that it claims."""
    if isinstance(mechanism, Gaussian):
        return ClaimUsage(
            kind, sum(step * step for step in change), mechanism.l2_squared, squared=True
        )
    return ClaimUsage(kind, sum(abs(step) for step in change), mechanism.l1)


#: A histogram without rows: no bins, no counts.
_NOTHING_LISTED: tuple[list[int], list[int]] = ([], [])
#: Of how many bins the surroundings are compared.
TRIED_AROUND = 8

#: The lists of one histogram by group.
Listed: TypeAlias = Mapping[str, Any]


def levels(tree: TreeMechanism, first: Listed, second: Listed) -> ClaimComparison:
    """Compare the change of each level of a tree, and of each group, with the claim of its noise."""
    nothing: list[dict[int, int]] = [{}] * tree.levels
    one, other = (
        {key: exact_levels(tree, *(listed or _NOTHING_LISTED)) for key, listed in side.items()}
        for side in (first, second)
    )
    kind = f"histogram {tree.node.norm}"
    comparison = ClaimComparison()
    for level in range(tree.levels):
        change = []
        sums = []
        for key in one.keys() | other.keys():
            before = one.get(key, nothing)[level]
            after = other.get(key, nothing)[level]
            changed = [
                before.get(start, 0) - after.get(start, 0) for start in before.keys() | after.keys()
            ]
            change += changed
            sums.append(sum(map(abs, changed)))
        comparison += ClaimComparison(
            (distance(kind, tree.node, change), distance(kind, tree.node, sums))
        )
    paid = tree.cost == sum([tree.node.cost] * tree.levels, FREE)
    if paid:
        return comparison
    return comparison + ClaimComparison((), ("the levels of a tree are not all paid for",))


def ranks(ranking: QuantileChoices, first: Listed, second: Listed) -> ClaimComparison:
    """Compare the spread of the utilities of each choice, over all groups, with its claim.

    Also compares the counts around bins with the claim of their noise, at the ends of the range and
    at the bins of some rows.
    """
    full = {
        cell
        for side in (first, second)
        for listed in side.values()
        for cell in (listed or _NOTHING_LISTED)[0]
    }
    near = {cell + step for cell in full for step in (-1, 0, 1, 2)} | {0, ranking.bins - 1}
    places = sorted(cell for cell in near if 0 <= cell < ranking.bins)
    spreads: list[list[int]] = []
    for key in first.keys() | second.keys():
        one, other = (
            exact_utilities(ranking, *(side.get(key) or _NOTHING_LISTED))
            for side in (first, second)
        )
        spread_of_key = []
        for (_, utilities, wide), (_, other_utilities, broad) in zip(one, other, strict=True):
            if wide.sum() != broad.sum():
                return ClaimComparison((), ("the number of candidates depends on the data",))
            change = [
                _at(utilities, wide, index) - _at(other_utilities, broad, index) for index in places
            ]
            spread_of_key.append(max(change) - min(change))
        spreads.append(spread_of_key)
    choices = [choice for choice, _, _ in exact_utilities(ranking, *_NOTHING_LISTED)]
    trees = [tree for tree, _ in exact_cells(ranking, places[0], *_NOTHING_LISTED)]
    paid = sum((mechanism.cost for mechanism in (*choices, *trees)), FREE) == ranking.cost
    comparison = ClaimComparison(
        (), () if paid else ("the choices of a rank are not all paid for",)
    )
    for number, choice in enumerate(choices):
        comparison += _spread(choice, [spread[number] for spread in spreads], "rank")
    for around in places[:: -(-len(places) // TRIED_AROUND)]:
        comparison += _around(ranking, around, first, second)
    return comparison


def _around(ranking: QuantileChoices, cell: int, first: Listed, second: Listed) -> ClaimComparison:
    """Compare the levels of the trees that are grown if one bin is chosen in all groups."""
    one, other = (
        {
            key: exact_cells(ranking, cell, *(listed or _NOTHING_LISTED))
            for key, listed in side.items()
        }
        for side in (first, second)
    )
    result = ClaimComparison()
    for number, (tree, _) in enumerate(exact_cells(ranking, cell, *_NOTHING_LISTED)):
        leaves = (
            {key: (range(tree.bins), cells[number][1]) for key, cells in side.items()}
            for side in (one, other)
        )
        result += levels(tree, *leaves)
    return result


def frequencies(peeling: TopKPeeling, first: Listed, second: Listed) -> ClaimComparison:
    """Compare the spread of any two values' counts, over all groups, with their choice's claim."""
    spreads = []
    for key in first.keys() | second.keys():
        one, other = (
            dict(zip(*(side.get(key) or _NOTHING_LISTED), strict=True)) for side in (first, second)
        )
        change = [one.get(index, 0) - other.get(index, 0) for index in range(peeling.values)]
        spreads.append(max(change) - min(change))
    paid = peeling.cost == sum([peeling.each.cost] * peeling.most, FREE)
    return _spread(peeling.each, spreads, "most frequent") + ClaimComparison(
        (), () if paid else ("a choice is not paid for",)
    )


def size_scan_use(scan: ClippingBoundSearch, first: Listed, second: Listed) -> ClaimComparison:
    """Compare the change of the numbers of rows above any size, over all groups, with the claim.

    If the scan takes them for monotone, a unit that is added moves none of them down.
    """
    moved = []
    wrong = []
    for key in first.keys() | second.keys():
        one, other = (
            dict(zip(*(side.get(key) or _NOTHING_LISTED), strict=True)) for side in (first, second)
        )
        above = [
            sum(one.get(index, 0) - other.get(index, 0) for index in range(size + 1, scan.sizes))
            for size in range(scan.sizes)
        ]
        if scan.monotone and min(above) < 0 < max(above):
            wrong.append("sizes: a unit moves the numbers of rows both ways")
        moved.append(max(map(abs, above)))
    observed = sum(steps * steps for steps in moved) if scan.concentrated else sum(moved)
    mechanism = scan.each
    if scan.concentrated:
        paid = scan.moved * mechanism.epsilon**2 / 2 <= scan.cost.rho * mechanism.sensitivity**2
    else:
        paid = (
            scan.cost.epsilon is not None
            and mechanism.epsilon <= scan.cost.epsilon
            and mechanism.sensitivity >= scan.moved
        )
    wrong += [] if paid else ["sizes: a scan is more exact than it is paid for"]
    return ClaimComparison(
        (ClaimUsage("sizes", observed, scan.moved, squared=scan.concentrated),), tuple(wrong)
    )


def _at(utilities: Any, widths: Any, cell: int) -> int:
    return int(utilities[int(np.searchsorted(np.cumsum(widths), cell, "right"))])


def _spread(
    choice: ExponentialMechanism | ConcentratedExponential | PermuteAndFlip,
    spreads: Sequence[int],
    kind: str,
) -> ClaimComparison:
    """What the spreads over groups use of the choice's claim, and whether its rate is paid for."""
    if isinstance(choice, ConcentratedExponential):
        use = ClaimUsage(
            kind, sum(spread * spread for spread in spreads), choice.spread_squared, squared=True
        )
        charged = choice.rate**2 * choice.spread_squared / 8 <= choice.cost.rho
    else:
        use = ClaimUsage(kind, sum(spreads), choice.spread)
        charged = (
            choice.cost.epsilon is not None and choice.rate * choice.spread <= choice.cost.epsilon
        )
    return ClaimComparison(
        (use,), () if charged else (f"{kind}: a choice is more exact than it is paid for",)
    )


#: Where among the bins of some rows the candidates lie that are taken for drawn.
TURNS = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))


def with_fallback(either: QuantilesWithFallback, first: Listed, second: Listed) -> ClaimComparison:
    """Compare the count of rows, the choices and the tree, over all groups, with their claims."""
    change = [
        _rows(either, first, key) - _rows(either, second, key)
        for key in first.keys() | second.keys()
    ]
    comparison = ClaimComparison((distance("rows of a histogram", either.count, change),))
    comparison += levels(either.tree, first, second)
    choices = either.choices
    comparison += (
        splits(choices, first, second)
        if isinstance(choices, QuantileRecursion)
        else ranks(choices, first, second)
    )
    enough = all(cost.rho <= either.either.rho for cost in (choices.cost, either.tree.cost))
    paid = enough and either.cost == either.count.cost + either.either
    if paid:
        return comparison
    return comparison + ClaimComparison(
        (), ("the count, the choices or the tree are not paid for",)
    )


def splits(recursion: QuantileRecursion, first: Listed, second: Listed) -> ClaimComparison:
    """Compare all choices of a level together with the claim of one, whatever was drawn before."""
    listed = [
        histogram or _NOTHING_LISTED for side in (first, second) for histogram in side.values()
    ]
    near = sorted({index for places, _ in listed for index in places} | {0, recursion.bins - 1})
    comparison = ClaimComparison()
    tree = recursion.around
    for turn in TURNS:
        moved: dict[int, list[tuple[Exponential, int]]] = {}
        around: dict[int, dict[str, tuple[range, list[int]]]] = {0: {}, 1: {}}
        for key in first.keys() | second.keys():
            sides = [side.get(key) or _NOTHING_LISTED for side in (first, second)]
            one, other = (
                list(exact_splits(recursion, _near_places(near, turn), *side)) for side in sides
            )
            for number, histogram in enumerate(sides):
                cells = [cell for _, cell, _, _ in one]
                tree, counts = exact_counts(recursion, cells, *histogram)
                around[number][key] = (range(tree.bins), counts)
            for (split, _, utilities, wide), (_, _, others, broad) in zip(one, other, strict=True):
                if wide.sum() != broad.sum():
                    return ClaimComparison((), ("the number of candidates depends on the data",))
                depth = _level(recursion, split)
                change = _range(utilities, wide, others, broad)
                moved.setdefault(depth, []).append((split.value, change))
        comparison += ClaimComparison(tuple(map(_use, moved.values())))
        comparison += levels(tree, around[0], around[1])
    dearest = (max(choice.value.cost.rho for choice in level) for level in recursion.first.levels)
    paid = recursion.cost.rho == recursion.around.cost.rho + sum(dearest, Fraction(0))
    if paid:
        return comparison
    return comparison + ClaimComparison((), ("a level of choices is not paid for",))


def _rows(
    either: QuantilesWithFallback, side: Mapping[str, tuple[list[int], list[int]] | None], key: str
) -> int:
    return either.inside(*(side.get(key) or _NOTHING_LISTED))


def _near_places(near: list[int], turn: Fraction) -> Callable[[RowsBetween], int]:
    """A rule that draws one of some bins, whatever their rows."""

    def drawn(rows: RowsBetween) -> int:
        inside = [cell for cell in near if rows.first <= cell <= rows.last] or [rows.first]
        return (inside[int(turn * len(inside))] - rows.first) * PARTS + int(turn * PARTS)

    return drawn


def _level(recursion: QuantileRecursion, split: QuantileSplit) -> int:
    return next(index for index, level in enumerate(recursion.first.levels) if split in level)


def _range(
    utilities: NDArray[np.int64],
    wide: NDArray[np.int64],
    other_utilities: NDArray[np.int64],
    broad: NDArray[np.int64],
) -> int:
    """How far apart the utilities of any two candidates move.

    A utility holds for a run of candidates, whose lengths are the widths.
    """
    ends = [np.cumsum(widths) for widths in (wide, broad)]
    last = np.union1d(*ends) - 1
    change = (
        utilities[np.searchsorted(ends[0], last, "right")]
        - other_utilities[np.searchsorted(ends[1], last, "right")]
    )
    return int(change.max() - change.min())


def _use(moved: list[tuple[Exponential, int]]) -> ClaimUsage:
    """The parts of their claims that choices use, added up."""
    choices = [choice for choice, _ in moved]
    squared = isinstance(choices[0], ConcentratedExponential)
    claims = [
        choice.spread_squared if isinstance(choice, ConcentratedExponential) else choice.spread
        for choice in choices
    ]
    common = lcm(*claims)
    parts = [
        far ** (2 if squared else 1) * (common // claim)
        for (_, far), claim in zip(moved, claims, strict=True)
    ]
    return ClaimUsage("rank among others", sum(parts), common, squared=squared)
