"""MIN and MAX read off noisy trees: noise alone is no row,
and where it is small no row is missed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from seeded_entropy import Seeded

from dpsql.planning.calibration import merged_bins, tree
from dpsql.planning.estimators.quantiles import NoisyDistribution, _sum_deviations
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.tree import PHANTOM_CHANCE, TreeMechanism
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.quantisation import Bins
from dpsql.sql.ir.core import Histogram, Ranks
from dpsql.sql.ir.expression import INTEGER, Literal

ENDS = (Ranks((Fraction(0),), edge=True), Ranks((Fraction(1),), edge=True))
#: One row, and the noise of a node in the same steps: so small that a count is exact,
#: or of several #: rows.
ROW = 2048
NOISES = (
    Gaussian(1, Fraction(60)),
    Laplace(1, Fraction(6)),
    Gaussian(1, Fraction(7 * ROW) ** 2),
    Laplace(1, Fraction(5 * ROW)),
)


def ends(mechanism: TreeMechanism, places: range, rows: int, seed: int) -> list[Fraction]:
    """MIN and MAX of a group with so many rows in each of these bins."""
    axis = Bins("number", 0, mechanism.bins - 1, 1, mechanism.bins, Fraction(1))
    noisy = mechanism.grow(places, [rows * ROW] * len(places), _entropy=Seeded(seed))
    distribution = NoisyDistribution(noisy, axis, Fraction(1, ROW), 0.95)
    return [distribution.values(rank)[0] for rank in ENDS]


@pytest.mark.parametrize("node", NOISES, ids=["exact L2", "exact L1", "L2", "L1"])
@pytest.mark.parametrize(("branching", "levels"), [(5, 7), (16, 4), (256, 2)])
def test_a_part_of_the_range_where_no_row_lies_is_seldom_told(
    node: Gaussian | Laplace, branching: int, levels: int
) -> None:
    """Of 600 ends: more than 1 + 28 with the chance claimed has a probability below 1e-9."""
    mechanism, beyond = TreeMechanism(2**16, branching, levels, node), 0
    for seed in range(300):
        low, high = ends(mechanism, range(30_000, 30_010), 60, seed)
        beyond += (low < 30_000) + (high > 30_009)
    assert PHANTOM_CHANCE == 0.01 and beyond <= 29
    if float(node.standard_deviation) < ROW / 100:
        assert beyond == 0


@pytest.mark.parametrize("node", NOISES[:2], ids=["L2", "L1"])
@pytest.mark.parametrize(
    "places", [range(7, 8), range(60_000, 60_002), range(0, 65_536, 21_845)], ids=str
)
def test_where_noise_is_small_a_single_row_is_enough(
    node: Gaussian | Laplace, places: range
) -> None:
    mechanism = TreeMechanism(2**16, 16, 4, node)
    for seed in range(40):
        assert ends(mechanism, places, 1, seed) == [places[0], places[-1]]


def test_rows_of_few_hundredths_are_no_evidence_however_small_the_noise() -> None:
    """A unit far above its limit may leave so little of a row; noise of the same size must not."""
    mechanism = TreeMechanism(2**16, 16, 4, Gaussian(1, Fraction(1)))
    axis = Bins("number", 0, 2**16 - 1, 1, 2**16, Fraction(1))
    noisy = mechanism.grow([3, 90], [ROW // 50, ROW], _entropy=Seeded(1))
    assert NoisyDistribution(noisy, axis, Fraction(1, ROW), 0.95).values(ENDS[0]) == (90,)


@pytest.mark.parametrize("node", [Gaussian(1, Fraction(10_000)), Laplace(1, Fraction(100))])
def test_noise_explains_what_its_sums_reach(node: Gaussian | Laplace) -> None:
    """The deviations of sums of children,
    of the topmost level and of those that add up to a noisy parent.
    """
    trials, children = 20_000, 5
    own = node.sample(children * trials, _entropy=Seeded(3)).reshape(trials, children).astype(float)
    parent = node.sample(trials, _entropy=Seeded(4)).astype(float)
    moved = own + (parent - own.sum(axis=1))[:, None] / children
    for level, counts in ((1, own), (2, moved)):
        spread = np.cumsum(counts, axis=1).std(axis=0) / float(node.standard_deviation)
        assert spread == pytest.approx(_sum_deviations(children, level), rel=0.04)


def histogram(count: int, rows: int, norm: Norm) -> Contribution:
    limit = rows * ROW if norm == "l1" else (rows * ROW) ** 2
    bins = Bins("second", 0, count - 1, 1, count, Fraction(1))
    return Contribution(
        Histogram(Literal(0, INTEGER), None), None, limit, ROW, Fraction(1, ROW), bins=bins
    )


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_bins_are_as_fine_as_the_price_makes_rows_evident(norm: Norm) -> None:
    asked = histogram(10**8, 3, norm)
    for price, merged in ((Fraction(1, 10), 1526), (Fraction(10_000), 1)):
        assert merged_bins(asked, norm, "add-remove", price, Fraction(1)) == merged
        made = tree(asked, norm, "add-remove", price, Fraction(1))
        assert (made.merged, made.bins) == (merged, -(-(10**8) // merged))
        assert (made.explained_by_noise() <= ROW / 2) == (merged == 1)


def test_a_tree_with_wider_leaves_counts_each_bin_in_its_leaf() -> None:
    mechanism = TreeMechanism(4, 4, 1, Gaussian(1, Fraction(1, 10**6)), merged=3)
    noisy = mechanism.grow([0, 2, 3, 8, 11, 12], [1, 2, 4, 8, 16, 32], _entropy=Seeded(1))
    assert noisy.children(1, 0) == (3, 4, 8, 16)
