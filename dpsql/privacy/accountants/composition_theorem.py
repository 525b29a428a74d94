"""A composition theorem: the joint cost of statements that are all fixed before the first one runs.

Proved in ``docs/proofs/workload.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Protocol

from dpsql.privacy.measure import FREE, Cost, pure_rho
from dpsql.privacy.privacy_loss_distributions import Loss


class TheoremInvalid(Exception):
    """A theorem does not hold for these statements; the text says why."""


class FixedReleases(Protocol):
    """Statements that are all fixed before the first of them is run, as a theorem sees them."""

    @property
    def costs(self) -> Sequence[Cost]:
        """What each statement costs alone."""

    @property
    def mechanism_costs(self) -> Sequence[Cost]:
        """What each mechanism of the statements costs, without the δ of thresholds."""

    @property
    def largest_cost_of_a_unit(self) -> Cost:
        """The most that those releases cost together that one unit can be in.

        Raises Invalid if that is not known.
        """

    @property
    def losses(self) -> Iterable[Loss]:
        """The dominating pairs of all mechanisms and thresholds; raises Invalid if one has none."""


class Theorem(ABC):
    """A theorem by which a workload may be charged, under the name that people give it.

    ``hints`` says what to write in a schema instead of names by which its owner may look for the
    theorem. ``ledger_name`` is the name that the ledger's line has where several theorems charge
    the same.
    """

    name: ClassVar[str]
    hints: ClassVar[Mapping[str, str]] = {}
    ledger_name: ClassVar[str | None] = None

    @classmethod
    @abstractmethod
    def block_cost(cls, releases: FixedReleases, delta: Fraction) -> Cost:
        """What the ledger is charged for all releases together.

        Args:
            delta: The δ that the block may use of its own, beside that of thresholds.

        Raises:
            Invalid: The theorem does not hold for these releases.
        """

    @classmethod
    @abstractmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        """The ε of all releases together, for people to compare.

        Args:
            cost: What the ledger would be charged, as `block_cost` said.
            delta: The δ of the whole promise.

        Raises:
            Invalid: There is no such ε.
        """


def sum_of(costs: Iterable[Cost]) -> Cost:
    """What releases cost together by adding up."""
    return sum(costs, FREE)


def threshold_delta(releases: FixedReleases) -> Fraction:
    """What the thresholds of the statements use of δ."""
    return sum_of(releases.costs).delta


def require_delta(delta: Fraction) -> Fraction:
    """The δ that a block has of its own; raises Invalid if it has none."""
    if not 0 < delta < 1:
        raise TheoremInvalid("it needs a δ of its own, and the budget has none for it")
    return delta


def approximate_cost(epsilon: Fraction, delta: Fraction) -> Cost:
    """What is (ε, δ)-DP, as the ledger holds it: all but δ of it is pure ε."""
    return Cost(epsilon, pure_rho(epsilon), delta)
