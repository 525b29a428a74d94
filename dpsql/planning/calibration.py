"""Calibration of noise to sensitivity: what one unit can change in a cell, and the mechanism that hides it at a price.

A statement's ε becomes noise here and nowhere else: Laplace noise for ε, Gaussian noise for ρ = ε²/2.

Proved in ``docs/proofs/sensitivity.md`` and, for histograms, in ``docs/proofs/quantiles.md``,
``docs/proofs/frequencies.md`` and ``docs/proofs/clipping.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.errors import Refused
from dpsql.privacy.key_thresholds import KeyThreshold
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    Mechanism,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.clipping_bound import ClippingBoundSearch
from dpsql.privacy.mechanism.quantile_choice import QuantileChoice, QuantileChoices, RankTarget
from dpsql.privacy.mechanism.rank_interval import RankInterval, most_cells
from dpsql.privacy.mechanism.top_k_peeling import TopKPeeling
from dpsql.privacy.mechanism.tree import TreeMechanism, shape
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.ir.cell import Frequencies

#: What a quantile's value gets of its price, where rows are counted around it for its interval.
VALUE_SHARE = Fraction(1, 2)

#: Which databases may not be told apart: with and without a unit, or with one unit in the place of another.
Neighbours = OneOf["add-remove", "replace"]


def l1_sensitivity(contribution: Contribution, neighbours: Neighbours) -> int:
    """The largest L1 change of a cell over all groups, in its steps, when a unit comes, goes or is replaced."""
    return contribution.limit * _units_changed(neighbours)


def l2_squared_sensitivity(contribution: Contribution, neighbours: Neighbours) -> int:
    """The square of the largest L2 change of a cell over all groups, in its steps."""
    return contribution.limit * _units_changed(neighbours) ** 2


def mechanism(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction,
              share: Fraction) -> Mechanism:  # fmt: skip
    """Noise for a cell that gets ``share`` of a statement priced ``epsilon``.

    Laplace cells share ε itself. Gaussian cells share ρ = ε²/2, of which a cell's part is never a square root.
    """
    try:
        if norm == "l1":
            return Laplace.priced(l1_sensitivity(contribution, neighbours), epsilon * share)
        return Gaussian.for_rho(l2_squared_sensitivity(contribution, neighbours), epsilon**2 / 2 * share)
    except ValueError:
        raise _out_of_reach() from None


def tree(
    contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction
) -> TreeMechanism:
    """The noise of a histogram that gets ``share`` of the statement, in equal parts for the levels of its tree.

    The counts of a level are sums over bins of one group each, so that what bounds the sums over all of them bounds
    every level. Counts of public values are the leaves alone.
    """
    if isinstance(contribution.cell, Frequencies):
        count = len(contribution.cell.values)
        return TreeMechanism(count, count, 1, mechanism(contribution, norm, neighbours, epsilon, share))
    assert contribution.bins is not None
    return _tree(contribution, norm, neighbours, epsilon, share, contribution.bins.count)


def _tree(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
          leaves: int) -> TreeMechanism:  # fmt: skip
    branching, levels = shape(leaves, 2 if norm == "l1" else 1)
    return TreeMechanism(leaves, branching, levels, mechanism(contribution, norm, neighbours, epsilon, share / levels))


def ranking(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
            targets: Mapping[RankTarget, bool]) -> QuantileChoices:  # fmt: skip
    """The choices of a histogram's quantiles that get ``share`` of the statement, in equal parts.

    Of a quantile that has an interval (``targets`` tells which do) `VALUE_SHARE` goes to its value and what is left
    to the counts around it.
    """
    assert contribution.bins is not None
    part = share / len(targets)
    return QuantileChoices(
        contribution.bins.count,
        tuple(_quantile(contribution, norm, neighbours, epsilon, part, *each) for each in targets.items()),
    )


def _quantile(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
              target: RankTarget, has_interval: bool) -> QuantileChoice:  # fmt: skip
    spread = target.spread
    if not has_interval:
        return QuantileChoice(target, _exponential(contribution, norm, neighbours, epsilon, share, spread), None)
    assert contribution.bins is not None
    value = _exponential(contribution, norm, neighbours, epsilon, share * VALUE_SHARE, spread)
    cells = _tree(
        contribution, norm, neighbours, epsilon, share * (1 - VALUE_SHARE), most_cells(contribution.bins.count)
    )
    return QuantileChoice(target, value, RankInterval(target.part, contribution.bins.count, cells))


def peeling(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
            most: int) -> TopKPeeling:  # fmt: skip
    """The choices of the ``most`` most frequent values that get ``share`` of the statement, in equal parts.

    A unit that comes or goes moves all counts of a group one way, so that no two move further apart than one moves.
    """
    assert isinstance(contribution.cell, Frequencies)
    each: Exponential | PermuteAndFlip
    if norm == "l1":
        each = PermuteAndFlip.priced(l1_sensitivity(contribution, neighbours), epsilon * share / most)
    else:
        each = _exponential(contribution, norm, neighbours, epsilon, share / most, spread=1)
    return TopKPeeling(len(contribution.cell.values), most, each)


def scan(
    contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction
) -> ClippingBoundSearch:
    """The search for a size that gets ``share`` of the statement.

    A unit that comes or goes moves the numbers of rows above all sizes one way; one that is replaced does not.
    """
    assert isinstance(contribution.cell, Frequencies)
    sizes, monotone = len(contribution.cell.values), neighbours == "add-remove"
    try:
        if norm == "l1":
            moved = l1_sensitivity(contribution, neighbours)
            return ClippingBoundSearch(sizes, moved, epsilon * share, False, monotone)
        moved = l2_squared_sensitivity(contribution, neighbours)
        return ClippingBoundSearch(sizes, moved, epsilon**2 / 2 * share, True, monotone)
    except ValueError:
        raise _out_of_reach() from None


def _exponential(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
                 spread: int) -> Exponential:  # fmt: skip
    """The choice in each group, where one row moves utilities apart by at most ``spread``."""
    if norm == "l1":
        return ExponentialMechanism.priced(spread * l1_sensitivity(contribution, neighbours), epsilon * share)
    moved = spread**2 * l2_squared_sensitivity(contribution, neighbours)
    return ConcentratedExponential(moved, epsilon**2 / 2 * share)


def key_threshold(groups: int, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
                  delta: Fraction) -> KeyThreshold:  # fmt: skip
    """The threshold that decides which undeclared keys are shown, when a unit stands in at most ``groups`` of them.

    A unit's counts are 0 or 1, so their L1 norm and the square of their L2 norm are both at most ``groups``.
    """
    changed = groups * _units_changed(neighbours)
    try:
        noise: Mechanism
        if norm == "l1":
            noise = Laplace.priced(changed, epsilon * share)
        else:
            noise = Gaussian.for_rho(changed, epsilon**2 / 2 * share)
    except ValueError:
        raise _out_of_reach() from None
    return KeyThreshold(noise, delta)


def _out_of_reach() -> Refused:
    return Refused("E_BOUNDS", "the noise at this price is beyond exact sampling; raise dpsql.epsilon, or sum values "
                   "of narrower bounds")  # fmt: skip


def _units_changed(neighbours: Neighbours) -> int:
    return 1 if neighbours == "add-remove" else 2
