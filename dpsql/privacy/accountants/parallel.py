"""Parallel composition: the most that one unit can be in. Proved in ``docs/proofs/workload.md``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, final

from dpsql.privacy.accountants.composition_theorem import FixedReleases, Theorem
from dpsql.privacy.accountants.hybrid import Hybrid
from dpsql.privacy.measure import Cost


@final
class Parallel(Theorem):
    """The most that releases cost together which one unit can be in, where public conditions part the units."""

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
