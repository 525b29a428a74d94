"""Quantiles that are chosen in groups with enough rows, and are else read off a noisy tree.

Proof in `docs/proofs/quantiles.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dpsql.privacy.measure import Cost, pure_rho
from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.mechanism.quantile_choice import ChosenQuantile, QuantileChoices, RankTarget
from dpsql.privacy.mechanism.quantile_recursion import CountedQuantiles, QuantileRecursion
from dpsql.privacy.mechanism.tree import NoisyTree, TreeMechanism
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: The bins of quantiles, and of their intervals.
ChosenPlaces: TypeAlias = dict[RankTarget, ChosenQuantile]


@dataclass(frozen=True)
class QuantilesWithFallback:
    """``choices`` in groups whose noisy ``count`` of rows is at least ``least``, else ``tree``."""

    count: Mechanism
    least: int
    choices: QuantileChoices | QuantileRecursion
    tree: TreeMechanism

    @property
    def cost(self) -> Cost:
        """That of the count, and of the dearer of both: no group has both."""
        return self.count.cost + self.either

    @property
    def either(self) -> Cost:
        """What choices in some groups and trees in the others cost together."""
        choices = self.choices.cost
        tree = self.tree.cost
        if choices.epsilon is None or tree.epsilon is None:
            return Cost(None, max(choices.rho, tree.rho))
        epsilon = max(choices.epsilon, tree.epsilon)
        return Cost(epsilon, pure_rho(epsilon))

    def measure(
        self,
        places: Sequence[int],
        counts: Sequence[int],
        confidence: float,
        row: int,
        *,
        _entropy: Entropy = OPERATING_SYSTEM,
    ) -> ChosenPlaces | CountedQuantiles | NoisyTree:
        """What is released of one group's bins and their exact counts.

        A row adds ``row`` to a count.
        """
        (noisy,) = self.count.perturb([self.inside(places, counts)], _entropy=_entropy)
        if noisy < self.least:
            return self.tree.grow(places, counts, _entropy=_entropy)
        if isinstance(self.choices, QuantileRecursion):
            return self.choices.choose(places, counts, _entropy=_entropy)
        return self.choices.choose(places, counts, confidence, row, _entropy=_entropy)

    def inside(self, places: Sequence[int], counts: Sequence[int]) -> int:
        """The exact count of a group's rows, of those that lie in a bin."""
        return sum(
            count
            for index, count in zip(places, counts, strict=True)
            if 0 <= index < self.choices.bins
        )
