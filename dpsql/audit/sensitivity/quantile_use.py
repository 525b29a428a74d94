"""How much of each claim two neighbours use where quantiles are chosen by recursion, or read off a tree instead.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from dpsql.audit.sensitivity.claim_use import (
    NOTHING_LISTED,
    ClaimComparison,
    ClaimUsage,
    Listed,
    distance,
    levels,
    ranks,
)
from dpsql.privacy.mechanism import ConcentratedExponential, Exponential
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import (
    PARTS,
    QuantileRecursion,
    QuantileSplit,
    RowsBetween,
    exact_counts,
    exact_splits,
)

#: Where among the bins of some rows the candidates lie that are taken for drawn.
TURNS = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))


def with_fallback(either: QuantilesWithFallback, left: Listed, right: Listed) -> ClaimComparison:
    """The count of rows, the choices and the tree change by no more, over all groups, than each is made for."""
    change = [_rows(either, left, key) - _rows(either, right, key) for key in left.keys() | right.keys()]
    found = ClaimComparison((distance("rows of a histogram", either.count, change),))
    found += levels(either.tree, left, right)
    choices = either.choices
    found += splits(choices, left, right) if isinstance(choices, QuantileRecursion) else ranks(choices, left, right)
    enough = all(each.rho <= either.either.rho for each in (choices.cost, either.tree.cost))
    paid = enough and either.cost == either.count.cost + either.either
    return found if paid else found + ClaimComparison((), ("the count, the choices or the tree are not paid for",))


def splits(recursion: QuantileRecursion, left: Listed, right: Listed) -> ClaimComparison:
    """All choices of a level together move no further than one of them is made for, whatever was drawn before."""
    listed = [each or NOTHING_LISTED for side in (left, right) for each in side.values()]
    near = sorted({place for places, _ in listed for place in places} | {0, recursion.bins - 1})
    found = ClaimComparison()
    tree = recursion.around
    for turn in TURNS:
        moved: dict[int, list[tuple[Exponential, int]]] = {}
        around: dict[int, dict[str, tuple[range, list[int]]]] = {0: {}, 1: {}}
        for key in left.keys() | right.keys():
            sides = [side.get(key) or NOTHING_LISTED for side in (left, right)]
            one, other = (list(exact_splits(recursion, _drawn(near, turn), *each)) for each in sides)
            for number, each in enumerate(sides):
                tree, counts = exact_counts(recursion, [place for _, place, _, _ in one], *each)
                around[number][key] = (range(tree.bins), counts)
            for (split, _, here, wide), (_, _, there, broad) in zip(one, other, strict=True):
                if wide.sum() != broad.sum():
                    return ClaimComparison((), ("the number of candidates depends on the data",))
                place = _level(recursion, split)
                moved.setdefault(place, []).append((split.value, _range(here, wide, there, broad)))
        found += ClaimComparison(tuple(_use(each) for each in moved.values()))
        found += levels(tree, around[0], around[1])
    dearest = (max(each.value.cost.rho for each in level) for level in recursion.first.levels)
    paid = recursion.cost.rho == recursion.around.cost.rho + sum(dearest, Fraction(0))
    return found if paid else found + ClaimComparison((), ("a level of choices is not paid for",))


def _rows(either: QuantilesWithFallback, side: Mapping[str, tuple[list[int], list[int]] | None], key: str) -> int:
    return either.inside(*(side.get(key) or NOTHING_LISTED))


def _drawn(near: list[int], turn: Fraction) -> Callable[[RowsBetween], int]:
    """A rule that draws one of some bins, whatever their rows."""

    def drawn(rows: RowsBetween) -> int:
        inside = [place for place in near if rows.first <= place <= rows.last] or [rows.first]
        return (inside[int(turn * len(inside))] - rows.first) * PARTS + int(turn * PARTS)

    return drawn


def _level(recursion: QuantileRecursion, split: QuantileSplit) -> int:
    return next(place for place, level in enumerate(recursion.first.levels) if split in level)


def _range(here: NDArray[np.int64], wide: NDArray[np.int64], there: NDArray[np.int64], broad: NDArray[np.int64]) -> int:
    """How far apart the utilities of any two candidates move, each of which stands for so many in a row."""
    ends = [np.cumsum(each) for each in (wide, broad)]
    last = np.union1d(*ends) - 1
    change = here[np.searchsorted(ends[0], last, "right")] - there[np.searchsorted(ends[1], last, "right")]
    return int(change.max() - change.min())


def _use(moved: list[tuple[Exponential, int]]) -> ClaimUsage:
    """The parts of their claims that choices use, added up."""
    choices = [choice for choice, _ in moved]
    squared = isinstance(choices[0], ConcentratedExponential)
    claims = [each.spread_squared if isinstance(each, ConcentratedExponential) else each.spread for each in choices]
    whole = lcm(*claims)
    parts = [far ** (2 if squared else 1) * (whole // claim) for (_, far), claim in zip(moved, claims, strict=True)]
    return ClaimUsage("rank among others", sum(parts), whole, squared=squared)
