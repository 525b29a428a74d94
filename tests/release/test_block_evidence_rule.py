"""Which groups blocks show, and how far a count may fall,
against the rule as its docstring says it, block by block.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest

from dpsql.release.block_evidence import (
    UNLIKE_DEVIATIONS,
    BlockLevel,
    RunEvidence,
    block_sizes,
    paired,
)

WITHIN = 12


class _Rule:
    """One run of counts; reach and variance are those of each block of each level."""

    def __init__(
        self, counts: list[int], reach: list[list[float]], variance: list[list[float]]
    ) -> None:
        self.counts = counts
        self.reach = reach
        self.variance = variance

    def _groups(self, level: int, block: int) -> list[int]:
        return list(range(len(self.counts)))[block << level : (block + 1) << level]

    def present(self, level: int, block: int) -> bool:
        if level and len(self._groups(level - 1, 2 * block + 1)) == 0:
            return self.present(level - 1, 2 * block)
        return (
            sum(self.counts[group] for group in self._groups(level, block))
            > self.reach[level][block]
        )

    def _rest(self, level: int, block: int) -> list[int]:
        return [
            self.counts[group] for group in self._groups(level, block) if not self.present(0, group)
        ]

    def evident(self, level: int, block: int) -> bool:
        return (
            self.present(level, block) and sum(self._rest(level, block)) > self.reach[level][block]
        )

    def _mean(self, level: int, block: int) -> float:
        rest = self._rest(level, block)
        return sum(rest) / max(len(rest), 1)

    def _is_shown_half(self, level: int, block: int) -> bool:
        sibling = block ^ 1
        if (
            not self._groups(level, sibling)
            or self.evident(level, block)
            or not self.evident(level + 1, block // 2)
        ):
            return False
        noise = sum(
            self.variance[level][one] / len(self._groups(level, one)) ** 2
            for one in (block, sibling)
        )
        return self._mean(level, block) > self._mean(level, sibling) - UNLIKE_DEVIATIONS * sqrt(
            noise
        )

    def is_shown(self, group: int) -> bool:
        halves = range(len(self.reach) - 1)
        return self.present(0, group) or any(
            self._is_shown_half(level, group >> level) for level in halves
        )

    def slack(self, group: int) -> float:
        """The least loss of the group's count at which it is not shown."""
        for loss in range(1, WITHIN + 1):
            less = [count - loss * (place == group) for place, count in enumerate(self.counts)]
            if not _Rule(less, self.reach, self.variance).is_shown(group):
                return loss
        return inf


@pytest.mark.parametrize("length", range(1, 14))
def test_runs_are_shown_as_the_rule_says(length: int) -> None:
    random, runs = np.random.default_rng(length), 15
    counts = random.integers(-6, 22, (runs, length)) + random.integers(0, 9, (runs, 1))
    levels, sums = [], counts.astype(float)
    for number, sizes in enumerate(block_sizes(length)):
        shape = (runs, len(sizes))
        reach = (
            np.floor(23 * sizes**0.6) + random.integers(-3, 4, shape)
            if number
            else np.full(shape, 23.0)
        )
        levels.append(BlockLevel(sums, sizes, reach, 8.0 * sizes + random.integers(0, 3, shape)))
        sums = paired(sums)
    evidence = RunEvidence(levels)
    slacks = evidence.slacks(WITHIN)
    for run in range(runs):
        rule = _Rule(
            counts[run].tolist(),
            [level.reach[run].tolist() for level in levels],
            [level.variance[run].tolist() for level in levels],
        )
        shown = [rule.is_shown(group) for group in range(length)]
        assert evidence.visible_groups[run].tolist() == shown
        assert slacks[run].tolist() == [
            rule.slack(group) if shown[group] else inf for group in range(length)
        ]
