"""How a histogram is measured: through noisy counts or, where little is asked of it, by choices.

Proved in ``docs/proofs/quantiles.md`` and ``docs/proofs/frequencies.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpsql.planning.estimators.frequencies import Clip, Frequent, Most
from dpsql.planning.estimators.quantiles import Ranked
from dpsql.planning.sensitivity import VALUE_SHARE, Neighbours, peeling, ranking, scan, tree
from dpsql.privacy.mechanism.peeling import Peeling
from dpsql.privacy.mechanism.rank_choice import Ranking, Target
from dpsql.privacy.mechanism.scan import Scan
from dpsql.privacy.mechanism.tree import Tree
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.ir.relation import Frequencies, Ranks

#: Quantiles are chosen where each value gets at least this part of the price and `FEWEST_BESIDE` of the rows lie on
#: either side of it; others are read off one noisy tree.
LEAST_SHARE = VALUE_SHARE
FEWEST_BESIDE = Fraction(1, 10)
#: Up to so many of the most frequent values are chosen one by one; more are read off noisy counts of all.
MOST_FREQUENT: dict[Norm, int] = {"l1": 1, "l2": 2}
#: Ranks are fractions of rows with denominators of at most this.
FINEST = 10_000

#: Noisy counts, chosen quantiles, chosen values or a chosen size; a closed union.
Reading: TypeAlias = Tree | Ranking | Peeling | Scan


@dataclass(frozen=True)
class MeasuredHistogram:
    """One list of counts a group: how a unit's contribution to it is bounded, and the mechanism that reads it."""

    contribution: Contribution
    mechanism: Reading


def measured_histogram(contribution: Contribution, asked: Sequence[Ranked | Frequent], norm: Norm,
                       neighbours: Neighbours, epsilon: Fraction, share: Fraction) -> MeasuredHistogram:  # fmt: skip
    """The histogram with the mechanism that is the more exact for all that is asked of it, at the same price."""
    targets, most = _targets(contribution, asked), _most(contribution, asked)
    mechanism: Reading
    if any(isinstance(each, Clip) for each in asked):
        mechanism = scan(contribution, norm, neighbours, epsilon, share)
    elif targets and _are_chosen(targets):
        mechanism = ranking(contribution, norm, neighbours, epsilon, share, targets)
    elif most is not None and most <= MOST_FREQUENT[norm]:
        mechanism = peeling(contribution, norm, neighbours, epsilon, share, most)
    else:
        mechanism = tree(contribution, norm, neighbours, epsilon, share)
    return MeasuredHistogram(contribution, mechanism)


def _are_chosen(targets: Mapping[Target, bool]) -> bool:
    shares = [VALUE_SHARE / len(targets) if has_interval else Fraction(1, len(targets))
              for has_interval in targets.values()]  # fmt: skip
    return min(shares) >= LEAST_SHARE and all(min(each.part, 1 - each.part) >= FEWEST_BESIDE for each in targets)


def target(fraction: Fraction, ranks: Ranks) -> Target | None:
    """The rank at which a quantile lies; None where it is an end of the data, which has no rank to aim at."""
    part = (1 - fraction if ranks.descending else fraction).limit_denominator(FINEST)
    if ranks.edge or not 0 < part < 1:
        return None
    if ranks.continuous and part == Fraction(1, 2):
        return Target(part, "either")
    return Target(part, "upper" if ranks.descending else "lower")


def _targets(contribution: Contribution, asked: Sequence[Ranked | Frequent]) -> dict[Target, bool]:
    """The ranks that are asked for, each with whether it has an interval; none where one of them has to be counted."""
    found: dict[Target, bool] = {}
    for each in asked:
        if not isinstance(each, Ranked):
            return {}
        has_interval = not each.ranks.listed
        for fraction in each.ranks.fractions:
            wanted = target(fraction, each.ranks)
            if wanted is None:
                return {}
            found[wanted] = found.get(wanted, False) or has_interval
    return found


def _most(contribution: Contribution, asked: Sequence[Ranked | Frequent]) -> int | None:
    """How many of the most frequent values are asked for; None where their counts are, too."""
    if not isinstance(contribution.cell, Frequencies):
        return None
    numbers = [each.most or 1 if isinstance(each, Most) else None for each in asked]
    known = [number for number in numbers if number is not None]
    return min(max(known), len(contribution.cell.values)) if len(known) == len(numbers) else None
