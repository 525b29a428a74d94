"""Which groups have rows, as far as a released count tells. Proved in ``docs/proofs/presence.md``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.selection import beyond

#: How often at most an answer has a group without rows that the evidence takes for one with rows.
APPEARS = Fraction(1, 20)


@dataclass(frozen=True)
class Presence:
    """A group is present where the noisy count in its ``cell`` reaches a threshold that noise alone seldom reaches.

    ``noise`` is that of the cell. All groups without rows together are taken for absent with probability at least 1 −
    ``chance``. ``released`` tells that absent groups are not released; else those who read the table leave them out.
    """

    cell: int
    noise: Mechanism
    chance: Fraction
    released: bool

    def threshold(self, candidates: int) -> int:
        """The least count, in steps of the cell, of a present group among so many candidates."""
        return beyond(self.noise, max(candidates, 1), self.chance)

    def absent(self, counts: Sequence[int], candidates: int) -> frozenset[int]:
        """The places of the noisy counts, in steps of the cell, that do not reach the threshold."""
        least = self.threshold(candidates)
        return frozenset(place for place, count in enumerate(counts) if count < least)
