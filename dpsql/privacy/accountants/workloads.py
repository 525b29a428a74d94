"""Accountants of workloads alone: parallel composition and privacy loss distributions.

Proved in ``docs/proofs/workload.md`` and ``docs/proofs/privacy_loss_distributions.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, final

from dpsql.errors import DataError
from dpsql.privacy.accountants.basic_and_zcdp import Hybrid
from dpsql.privacy.accountants.composition_theorem import (
    FixedReleases,
    Theorem,
    TheoremInvalid,
    approximate_cost,
    require_delta,
    sum_of,
    threshold_delta,
)
from dpsql.privacy.measure import Cost
from dpsql.privacy.privacy_loss_distributions import epsilon_of_losses


@final
class Parallel(Theorem):
    """The most that releases cost together that one unit can be in.

    Public conditions part the units.
    """

    name = "parallel"
    hints: ClassVar[Mapping[str, str]] = {
        "parallel": "parallel composition holds for statements on disjoint units, which only a list of statements "
        "shows; price them as one block with connection.workload([…]) and leave the accountant out"
    }

    @classmethod
    def block_cost(cls, releases: FixedReleases, delta: Fraction) -> Cost:
        return releases.largest_cost_of_a_unit

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        return Hybrid.block_epsilon(releases, cost, delta)


@final
class LossDistributions(Theorem):
    """Privacy loss distributions of all releases, at a δ of the block's own."""

    name = "pld"
    hints: ClassVar[Mapping[str, str]] = {
        "pld": "pld holds for statements that are all fixed beforehand, not for ones that are chosen after answers; "
        "price them as one block with connection.workload([…]) and leave the accountant out"
    }

    @classmethod
    def block_cost(cls, releases: FixedReleases, delta: Fraction) -> Cost:
        """ε at the δ of the block and of its thresholds."""
        total_delta = require_delta(delta) + threshold_delta(releases)
        return approximate_cost(_epsilon(releases, total_delta), total_delta)

    @classmethod
    def block_epsilon(cls, releases: FixedReleases, cost: Cost, delta: Fraction) -> Fraction:
        return _epsilon(releases, delta)


def _epsilon(releases: FixedReleases, delta: Fraction) -> Fraction:
    """ε at δ, with what thresholds use; raises Invalid if a release has no distribution.

    Losses are rounded up to a grid, so that the sum of ε of a few pure releases may be the smaller
    bound.
    """
    try:
        composed = epsilon_of_losses(releases.losses, delta)
    except DataError as error:
        raise TheoremInvalid(str(error)) from None
    pure = sum_of(releases.costs).epsilon
    return composed if pure is None else min(composed, pure)
