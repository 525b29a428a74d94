"""Weights by which a unit counts in each of its groups, so that it may stand in many and still moves all by one.

Proved in ``docs/proofs/key_weights.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

#: The weight of a unit that stands in one group: weights are whole numbers of this part of it.
WHOLE = 4096


@dataclass(frozen=True)
class KeyWeights:
    """A unit of k groups, at most ``most``, weighs `WHOLE`/√k in each if ``squared``, else `WHOLE`/k, rounded down."""

    most: int
    squared: bool

    def __post_init__(self) -> None:
        if not 1 <= self.most <= WHOLE:
            raise ValueError(f"a unit may weigh in 1 to {WHOLE} groups, not {self.most}")

    @property
    def sensitivity(self) -> int:
        """The largest L1 norm of a unit's weights, or the square of their largest L2 norm."""
        return WHOLE**2 if self.squared else WHOLE

    def weight(self, groups: int) -> int:
        """What a unit weighs in each of so many groups."""
        return isqrt(WHOLE**2 // groups) if self.squared else WHOLE // groups

    def threshold(self, beyond: Callable[[int], int]) -> int:
        """The least sum that no unit reaches by itself, whatever the number of its groups.

        ``beyond(groups)``, which never falls, is what the noise of none of so many groups may reach.
        """
        found, least = 0, 1
        while least <= self.most:
            last = min(2 * least - 1, self.most)
            found, least = max(found, self.weight(least) + beyond(last)), last + 1
        return found
