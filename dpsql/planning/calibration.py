"""Calibration of noise to sensitivity: the mechanism that hides what one unit changes, at a price.

A statement's ε becomes noise here and nowhere else: Laplace noise for ε, Gaussian noise for
ρ = ε²/2. The functions that make mechanisms take the same arguments:

* ``contribution``: what one unit can add to a cell or a histogram, in steps.
* ``norm``: "l1" for mechanisms that are priced in ε, "l2" for those that are priced in ρ (zCDP).
* ``neighbours``: whether a unit comes and goes, or is replaced by another one.
* ``epsilon``: the price of the whole statement. In the norm "l2" it stands for ρ = ε²/2.
* ``share``: the part of the price that the mechanism gets; the parts of a statement add up to 1.

They raise Refused (E_BOUNDS) if the price asks for noise that cannot be drawn exactly.

Proved in ``docs/proofs/sensitivity.md`` and, for histograms, in ``docs/proofs/quantiles.md``,
``docs/proofs/frequencies.md`` and ``docs/proofs/clipping.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from dpsql.errors import Refused
from dpsql.privacy.measure import NeighbourRelation
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    Mechanism,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoice, QuantileChoices, RankTarget
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import QuantileRecursion, QuantileSplit
from dpsql.privacy.mechanism.rank_interval import RankInterval, most_cells
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism, shape
from dpsql.privacy.partition_selection import KeyThreshold, KeyWeights
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.ir.core import Frequencies, UnitNorms

#: What a chosen quantile's value gets of its price;
#: for the rest rows are counted around it for its #: interval.
VALUE_SHARE = Fraction(1, 2)
#: What the values of several quantiles get of their price;
#: for the rest rows are counted around all #: of them.
VALUES_SHARE = Fraction(2, 3)
#: What a count of a group's rows gets of the price of quantiles that are chosen where it is large
#: enough.
COUNT_SHARE = Fraction(1, 20)
#: It is large enough where a bin beyond all rows is e to this power times less likely to be chosen
#: than the right one.
CLEAR = 6
#: A row is evident where noise alone explains at most this part of one.
EVIDENT_PART = Fraction(1, 2)
#: Ranks are fractions of rows with denominators of at most this.
FINEST = 10_000


def l1_sensitivity(contribution: Contribution, neighbours: NeighbourRelation) -> int:
    """The L1 sensitivity of a cell, in its steps.

    It is the largest sum over all groups of the absolute changes when a unit comes,
    goes or is replaced.
    """
    return contribution.limit * _units_changed(neighbours)


def l2_squared_sensitivity(contribution: Contribution, neighbours: NeighbourRelation) -> int:
    """The square of the L2 sensitivity of a cell, in squares of its steps.

    It is the largest sum over all groups of the squared changes when a unit comes,
    goes or is replaced.
    """
    return contribution.limit * _units_changed(neighbours) ** 2


def mechanism(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
) -> Mechanism:
    """The additive noise of a cell: Laplace at share·ε, or Gaussian at share·ε²/2 in ρ."""
    try:
        if norm == "l1":
            return Laplace.for_epsilon(l1_sensitivity(contribution, neighbours), epsilon * share)
        return Gaussian.for_rho(
            l2_squared_sensitivity(contribution, neighbours), epsilon**2 / 2 * share
        )
    except ValueError:
        raise _out_of_reach() from None


def tree(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
) -> TreeMechanism:
    """The noise of a histogram: its share in equal parts for the levels of its tree.

    A count of a level is a sum of bins of one group. So the bound on a unit's part in all bins
    bounds its part in each level, whatever bins a leaf holds. Counts of public values are the
    leaves alone.
    """
    if isinstance(contribution.cell, Frequencies):
        count = len(contribution.cell.values)
        return TreeMechanism(
            count, count, 1, mechanism(contribution, norm, neighbours, epsilon, share=share)
        )
    assert contribution.bins is not None
    merged = merged_bins(contribution, norm, neighbours, epsilon, share=share)
    leaves = contribution.bins.merged(merged).count
    return replace(
        _tree(contribution, norm, neighbours, epsilon, share=share, leaves=leaves), merged=merged
    )


def merged_bins(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
) -> int:
    """The number of bins of a histogram that a leaf of its tree holds.

    It is 1 if the price makes each row evident, else the number that makes a bin of `coarse`. More
    leaves ask for more levels, and so for more noise on each.
    """
    assert contribution.bins is not None
    finest = _tree(
        contribution, norm, neighbours, epsilon, share=share, leaves=contribution.bins.count
    )
    if finest.explained_by_noise() <= EVIDENT_PART * contribution.fine:
        return 1
    return contribution.bins.coarse.width // contribution.bins.width


def _tree(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    leaves: int,
) -> TreeMechanism:
    branching, levels = shape(leaves, 2 if norm == "l1" else 1)
    return TreeMechanism(
        leaves,
        branching,
        levels,
        mechanism(contribution, norm, neighbours, epsilon, share=share / levels),
    )


def ranking(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    target: RankTarget,
) -> QuantileChoices:
    """The choice of a histogram's only quantile.

    Its value gets `VALUE_SHARE` of the price, the counts around it get the rest.
    """
    assert contribution.bins is not None
    bins = contribution.bins.count
    value = _exponential(
        contribution, norm, neighbours, epsilon, share=share * VALUE_SHARE, spread=target.spread
    )
    cells = _tree(
        contribution,
        norm,
        neighbours,
        epsilon,
        share=share * (1 - VALUE_SHARE),
        leaves=most_cells(bins),
    )
    return QuantileChoices(
        bins, (QuantileChoice(target, value, RankInterval(target.part, bins, cells)),)
    )


def with_fallback(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    targets: Sequence[RankTarget],
) -> QuantilesWithFallback:
    """The choices of quantiles in groups with enough rows on both sides, and a fallback.

    One quantile is chosen directly, several by recursion. The count that decides gets
    `COUNT_SHARE`; the choices get the rest. In other groups a tree gets the rest.
    """
    rest = share * (1 - COUNT_SHARE)
    count = mechanism(contribution, norm, neighbours, epsilon, share=share * COUNT_SHARE)
    choices: QuantileChoices | QuantileRecursion
    if len(targets) == 1:
        choices = ranking(contribution, norm, neighbours, epsilon, share=rest, target=targets[0])
        ranks = [
            (quantile.value, quantile.target, min(quantile.target.part, 1 - quantile.target.part))
            for quantile in choices.quantiles
        ]
    else:
        choices = recursion(contribution, norm, neighbours, epsilon, share=rest, targets=targets)
        ranks = [
            (choice.value, choice.rank, choice.beside)
            for level in choices.first.levels
            for choice in level
        ]
    least = max(
        CLEAR / (value.rate * rank.part.denominator * margin) for value, rank, margin in ranks
    )
    return QuantilesWithFallback(
        count, ceil(least), choices, tree(contribution, norm, neighbours, epsilon, share=rest)
    )


def recursion(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    targets: Sequence[RankTarget],
) -> QuantileRecursion:
    """The choices of several quantiles by recursion.

    The levels share `VALUES_SHARE` of the price in equal parts; the counts around get the rest.
    """
    assert contribution.bins is not None
    bins = contribution.bins.count
    levels = len(targets).bit_length()
    order = sorted(targets, key=lambda rank: rank.part)
    level_share = share * VALUES_SHARE / levels
    ends = (Fraction(0), Fraction(1))
    first = _split(
        contribution,
        norm,
        neighbours=neighbours,
        epsilon=epsilon,
        share=level_share,
        targets=order,
        ends=ends,
    )
    cells = min(len(targets) * most_cells(bins), bins)
    around = _tree(
        contribution, norm, neighbours, epsilon, share=share * (1 - VALUES_SHARE), leaves=cells
    )
    return QuantileRecursion(bins, first, around)


def _split(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    targets: Sequence[RankTarget],
    ends: tuple[Fraction, Fraction],
) -> QuantileSplit:
    """The choice of the middle one of targets in rising order, among rows between two ranks."""
    middle = len(targets) // 2
    (low, high) = ends
    target = targets[middle]
    rank = RankTarget(((target.part - low) / (high - low)).limit_denominator(FINEST), target.ties)
    value = _exponential(contribution, norm, neighbours, epsilon, share=share, spread=rank.spread)
    sides = ((targets[:middle], (low, target.part)), (targets[middle + 1 :], (target.part, high)))
    before, after = (
        _split(contribution, norm, neighbours, epsilon, share, *side) if side[0] else None
        for side in sides
    )
    return QuantileSplit(
        target, rank, min(target.part - low, high - target.part), value, before=before, after=after
    )


def peeling(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    most: int,
) -> TopKPeeling:
    """Choose the ``most`` most frequent values, each at an equal part of the share.

    A unit that comes or goes moves all counts of a group one way,
    so that no two move further apart than one moves.
    """
    assert isinstance(contribution.cell, Frequencies)
    choice: Exponential | PermuteAndFlip
    if norm == "l1":
        choice = PermuteAndFlip.for_epsilon(
            l1_sensitivity(contribution, neighbours), epsilon * share / most
        )
    else:
        choice = _exponential(contribution, norm, neighbours, epsilon, share=share / most, spread=1)
    return TopKPeeling(len(contribution.cell.values), most, choice)


def scan(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
) -> ClippingBoundSearch:
    """The search for a clipping bound: a size that few rows exceed.

    A unit that comes or goes moves the numbers of rows above all sizes one way;
    one that is replaced does not.
    """
    cell = contribution.cell
    monotone = neighbours == "add-remove"
    assert isinstance(cell, Frequencies | UnitNorms)
    sizes = cell.sizes if isinstance(cell, UnitNorms) else len(cell.values)
    try:
        if norm == "l1":
            moved = l1_sensitivity(contribution, neighbours)
            return ClippingBoundSearch(sizes, moved, epsilon * share, False, monotone=monotone)
        moved = l2_squared_sensitivity(contribution, neighbours)
        return ClippingBoundSearch(sizes, moved, epsilon**2 / 2 * share, True, monotone=monotone)
    except ValueError:
        raise _out_of_reach() from None


def _exponential(
    contribution: Contribution,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    spread: int,
) -> Exponential:
    """The exponential mechanism in each group.

    One row moves two utilities apart by at most ``spread``.
    """
    if norm == "l1":
        return ExponentialMechanism.for_epsilon(
            spread * l1_sensitivity(contribution, neighbours), epsilon * share
        )
    moved = spread**2 * l2_squared_sensitivity(contribution, neighbours)
    return ConcentratedExponential(moved, epsilon**2 / 2 * share)


def key_threshold(
    groups: int,
    norm: Norm,
    neighbours: NeighbourRelation,
    epsilon: Fraction,
    share: Fraction,
    delta: Fraction,
    weights: KeyWeights | None = None,
) -> KeyThreshold:
    """The threshold that decides which undeclared keys are shown.

    A unit's counts are 0 or 1, so their L1 norm and the square of their L2 norm are both at most
    ``groups``. With ``weights`` they are what these say.

    Args:
        groups: in how many groups a unit stands at most.
        delta: the probability with which some key that only one unit has may be shown.
    """
    changed = (groups if weights is None else weights.sensitivity) * _units_changed(neighbours)
    try:
        noise: Mechanism
        if norm == "l1":
            noise = Laplace.for_epsilon(changed, epsilon * share)
        else:
            noise = Gaussian.for_rho(changed, epsilon**2 / 2 * share)
    except ValueError:
        raise _out_of_reach() from None
    return KeyThreshold(noise, delta, weights)


def _out_of_reach() -> Refused:
    return Refused(
        "E_BOUNDS",
        "the noise at this price is beyond exact sampling; raise dpsql.epsilon, or sum values "
        "of narrower bounds",
    )


def _units_changed(neighbours: NeighbourRelation) -> int:
    return 1 if neighbours == "add-remove" else 2
