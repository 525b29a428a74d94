"""The most frequent of public values, chosen one after the other.

Proof in `docs/proofs/frequencies.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import Exponential, PermuteAndFlip
from dpsql.privacy.rounding import confidence_tail
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy


@dataclass(frozen=True)
class TopKPeeling:
    """``most`` of ``values`` values in each group: each is chosen by its count among those that are left."""

    values: int
    most: int
    each: Exponential | PermuteAndFlip

    @property
    def cost(self) -> Cost:
        """That of one choice, as often as one is made."""
        return sum([self.each.cost] * self.most, FREE)

    def half_width(self, confidence: float) -> float:
        """How many fewer than another value a chosen one has at most with that confidence, in the steps of counts."""
        return log(self.values * self.most / confidence_tail(confidence)) / float(self.each.rate)

    def choose(
        self, places: Sequence[int], counts: Sequence[int], *, _entropy: Entropy = OPERATING_SYSTEM
    ) -> tuple[int, ...]:
        """The places of the chosen values, over one group's places and their exact counts."""
        whole = [0] * self.values
        for place, count in zip(places, counts, strict=True):
            if 0 <= place < self.values:
                whole[place] = min(count, MOST_COUNT)
        left, chosen = list(range(self.values)), list[int]()
        for _ in range(self.most):
            chosen.append(left.pop(self.each.draw([whole[place] for place in left], _entropy=_entropy)))
        return tuple(chosen)


#: Counts are cut to this, so that they are 64-bit integers however many rows there are.
MOST_COUNT = 2**61
