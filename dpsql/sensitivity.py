"""Where SQL facts become privacy facts: what one unit can change in a cell, and the mechanism that hides it.

Proved in ``docs/proofs/sensitivity.md`` and, for histograms, in ``docs/proofs/quantiles.md`` and
``docs/proofs/frequencies.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal as OneOf

from dpsql.errors import Refused
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.privacy.mechanism.tree import Tree, shape
from dpsql.privacy.selection import Threshold
from dpsql.query.contribution import Contribution, Norm
from dpsql.query.relation import Frequencies

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


def tree(contribution: Contribution, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction) -> Tree:
    """The noise of a histogram that gets ``share`` of the statement, in equal parts for the levels of its tree.

    The counts of a level are sums over bins of one group each, so that what bounds the sums over all of them bounds
    every level. Counts of public values are the leaves alone.
    """
    if isinstance(contribution.cell, Frequencies):
        count = len(contribution.cell.values)
        return Tree(count, count, 1, mechanism(contribution, norm, neighbours, epsilon, share))
    assert contribution.bins is not None
    count = contribution.bins.count
    branching, levels = shape(count, 2 if norm == "l1" else 1)
    return Tree(count, branching, levels, mechanism(contribution, norm, neighbours, epsilon, share / levels))


def key_threshold(groups: int, norm: Norm, neighbours: Neighbours, epsilon: Fraction, share: Fraction,
                  delta: Fraction) -> Threshold:  # fmt: skip
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
    return Threshold(noise, delta)


def _out_of_reach() -> Refused:
    return Refused("E_BOUNDS", "the noise at this price is beyond exact sampling; raise dpsql.epsilon, or sum values "
                   "of narrower bounds")  # fmt: skip


def _units_changed(neighbours: Neighbours) -> int:
    return 1 if neighbours == "add-remove" else 2
