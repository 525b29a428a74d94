"""Which groups are shown by the noisy counts of groups and of blocks of neighbouring groups.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: A half of an evident block is unlike the other half if its mean count is lower by so many
#: deviations.
UNLIKE_DEVIATIONS = 3.0

#: Places of candidates.
Places: TypeAlias = NDArray[np.int64]
Doubles: TypeAlias = NDArray[np.float64]
_Truths: TypeAlias = NDArray[np.bool_]


def block_sizes(length: int) -> list[Places]:
    """The number of groups of each block of a run, level by level.

    The levels go from single groups to the block of all.

    >>> [sizes.tolist() for sizes in block_sizes(5)]
    [[1, 1, 1, 1, 1], [2, 2, 1], [4, 1], [5]]
    """
    levels = [np.ones(length, np.int64)]
    while len(levels[-1]) > 1:
        levels.append(paired(levels[-1]))
    return levels


def paired(values: Any) -> Any:
    """The sums of neighbours along the last axis; an odd one out stays alone."""
    rest = values.shape[-1] % 2
    padded = np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1) if rest else values
    return padded[..., 0::2] + padded[..., 1::2]


@dataclass(frozen=True)
class BlockLevel:
    """All blocks of one size of several runs of one length.

    They have their noisy sums, and what noise alone seldom passes. ``reach`` and ``variance`` have
    one number for each block or for each place of a block.
    """

    sums: Doubles
    sizes: Places
    reach: Doubles
    variance: Doubles


@dataclass(frozen=True)
class RunEvidence:
    """Runs of one length, the levels of their blocks from single groups up, and the shown groups.

    A block is present if its sum passes its reach, and evident if the rest without groups that are
    present by themselves passes it as well. An evident block shows all groups of a half that is not
    evident, but for one whose rest is unlike that of the other half. All other halves are looked at
    in the same way.
    """

    levels: Sequence[BlockLevel]

    @cached_property
    def rests(self) -> list[Doubles]:
        """The sum of each block without the groups that are present by themselves."""
        first = self.levels[0]
        result = [np.where(first.sums > first.reach, 0.0, first.sums)]
        for _ in self.levels[1:]:
            result.append(paired(result[-1]))
        return result

    @cached_property
    def rest_sizes(self) -> list[Places]:
        """How many groups of each block are not present by themselves."""
        first = self.levels[0]
        result = [(first.sums <= first.reach).astype(np.int64)]
        for _ in self.levels[1:]:
            result.append(paired(result[-1]))
        return result

    @cached_property
    def present(self) -> list[_Truths]:
        """Which blocks are present; one of a single part is what its part is."""
        result = [self.levels[0].sums > self.levels[0].reach]
        for lower, level in zip(self.levels, self.levels[1:], strict=False):
            is_present = level.sums > level.reach
            if lower.sums.shape[-1] % 2:
                is_present[..., -1] = result[-1][..., -1]
            result.append(is_present)
        return result

    @cached_property
    def evident(self) -> list[_Truths]:
        """Which blocks are evident."""
        return [
            present & (rests > level.reach)
            for present, rests, level in zip(self.present, self.rests, self.levels, strict=True)
        ]

    @cached_property
    def least_rates(self) -> list[Doubles]:
        """For each block but the highest the mean rest that it must pass to be like its sibling."""
        return [self._least_rates(number) for number in range(len(self.levels) - 1)]

    def _rates(self, number: int) -> Doubles:
        """The mean rest of each block on a level."""
        return np.asarray(self.rests[number] / np.maximum(self.rest_sizes[number], 1))

    def _least_rates(self, number: int) -> Doubles:
        """Infinite for a block without a sibling."""
        level = self.levels[number]
        rates = self._rates(number)
        count = rates.shape[-1]
        noise = level.variance / level.sizes**2 + np.zeros_like(rates)
        sibling = np.arange(count) ^ 1
        paired = np.minimum(sibling, count - 1)
        least = rates[..., paired] - UNLIKE_DEVIATIONS * np.sqrt(noise + noise[..., paired])
        return np.where(sibling < count, least, np.inf)

    @cached_property
    def visible_groups(self) -> _Truths:
        """Which groups are shown."""
        result = np.zeros_like(self.present[-1])
        for number in range(len(self.levels) - 2, -1, -1):
            alike = self._rates(number) > self.least_rates[number]
            parent = np.arange(alike.shape[-1]) // 2
            above = self.evident[number + 1][..., parent]
            result = result[..., parent] | (above & ~self.evident[number] & alike)
        return np.asarray(result | self.present[0])

    def slacks(self, within: float) -> Doubles:
        """By how much the count of each shown group may fall before the group is not shown.

        The counts of all other groups stay as they are. Infinite for groups that are not shown, or
        if the fall is more than ``within``.
        """
        result = np.full(self.visible_groups.shape, np.inf)
        runs, groups = np.nonzero(self.visible_groups)
        for limits in self._limits(runs, groups):
            tried = np.flatnonzero((limits > 0) & (limits <= within))
            hidden = tried[~self._shown_after(runs[tried], groups[tried], limits[tried])]
            at = runs[hidden], groups[hidden]
            result[at] = np.minimum(result[at], limits[hidden])
        return result

    def _limits(self, runs: Places, groups: Places) -> Iterator[Doubles]:
        """The losses of a group's count at which a block with the group is no longer evident.

        Also those at which the block is unlike its sibling. A block that is absent is not evident
        either: the counts of groups that are present are above 0.
        """
        for number, level in enumerate(self.levels):
            blocks = groups >> number
            reach = np.broadcast_to(level.reach, level.sums.shape)[runs, blocks]
            others, count = self._others(number, runs, groups)
            rests = others + self.levels[0].sums[runs, groups]
            yield np.ceil(rests - reach)
            if number < len(self.levels) - 1:
                least = self.least_rates[number][runs, blocks]
                yield np.ceil(np.where(np.isfinite(least), rests - least * (count + 1), 0.0))

    def _shown_after(self, runs: Places, groups: Places, loss: Doubles) -> _Truths:
        """Whether each of these groups is shown after its count has fallen by so much."""
        present = list[_Truths]()
        evident = list[_Truths]()
        rates = list[Doubles]()
        own_count = self.levels[0].sums[runs, groups] - loss
        for number, level in enumerate(self.levels):
            blocks = groups >> number
            reach = np.broadcast_to(level.reach, level.sums.shape)[runs, blocks]
            is_present = level.sums[runs, blocks] - loss > reach
            if number:
                lower = self.levels[number - 1].sums.shape[-1]
                is_present = np.where(
                    (lower % 2 == 1) & (blocks == lower // 2), present[-1], is_present
                )
            present.append(is_present)
            others, count = self._others(number, runs, groups)
            rests = others + np.where(present[0], 0.0, own_count)
            evident.append(is_present & (rests > reach))
            rates.append(rests / np.maximum(count + ~present[0], 1))
        result = present[0].copy()
        for number in range(len(self.levels) - 1):
            alike = rates[number] > self.least_rates[number][runs, groups >> number]
            result |= evident[number + 1] & ~evident[number] & alike
        return result

    def _others(self, number: int, runs: Places, groups: Places) -> tuple[Doubles, Places]:
        """The rests of the groups' blocks on a level without these groups.

        Also of how many groups they are.
        """
        rests = self.rests[number][runs, groups >> number] - self.rests[0][runs, groups]
        return rests, self.rest_sizes[number][runs, groups >> number] - self.rest_sizes[0][
            runs, groups
        ]
