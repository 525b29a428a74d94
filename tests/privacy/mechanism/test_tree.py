"""Noisy trees: what each level holds, what it costs, and that a node is drawn once."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from databases import without_noise
from seeded_entropy import Seeded

from dpsql.planning.estimators.quantiles import NoisyDistribution, RankNoise
from dpsql.privacy.measure import FREE
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.tree import (
    MOST_LEVELS,
    NoisyTree,
    TreeMechanism,
    edges,
    exact_levels,
    shape,
)
from dpsql.privacy.sampling import OPERATING_SYSTEM
from dpsql.sql.analysis.quantisation import Bins
from dpsql.sql.ir.core import Ranks

NODE = Gaussian(1, Fraction(100))
COUNTED = ([0, 4, 5, 79, 80, -1], [3, 2, 1, 7, 100, 100])


@pytest.mark.parametrize("bins", [1, 2, 3, 10, 80, 256, 257, 4096, 50_001, 65_536])
@pytest.mark.parametrize("power", [1, 2])
def test_a_shape_reaches_every_bin_and_no_more(bins: int, power: int) -> None:
    branching, levels = shape(bins, power)
    tree = TreeMechanism(bins, branching, levels, NODE)
    assert 1 <= levels <= MOST_LEVELS
    assert branching == 1 or (branching - 1) ** levels < bins
    starts = [0]
    for level in range(1, levels + 1):
        nodes = [pair for start in starts for pair in pairwise(edges(tree, level, start))]
        assert nodes[0][0] == 0 and nodes[-1][1] == bins
        assert all(one[1] == other[0] for one, other in pairwise(nodes)) and all(
            low < high for low, high in nodes
        )
        starts = [low for low, _ in nodes]
    assert starts == list(range(bins))


def test_a_tree_must_reach_its_bins() -> None:
    with pytest.raises(ValueError, match="do not reach"):
        TreeMechanism(17, 4, 2, NODE)


@pytest.mark.parametrize("node", [NODE, Laplace(3, Fraction(30))])
def test_every_level_is_paid_for(node: Gaussian | Laplace) -> None:
    assert TreeMechanism(80, 9, 2, node).cost == node.cost + node.cost
    assert TreeMechanism(80, 9, 2, node).cost != FREE


def test_without_noise_children_are_the_exact_counts_of_their_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_noise(monkeypatch)
    tree = TreeMechanism(80, 5, 3, NODE)
    noisy = tree.grow(*COUNTED)
    for level, exact in enumerate(exact_levels(tree, *COUNTED), 1):
        for start in range(0, tree.bins, tree.width(level) * tree.branching):
            counts = noisy.children(level, start)
            assert list(counts) == [exact.get(low, 0) for low in edges(tree, level, start)[:-1]]
        assert sum(exact.values()) == 13


def test_a_node_has_one_noise_however_often_it_is_read() -> None:
    noisy = TreeMechanism(80, 9, 2, Gaussian(1, Fraction(10**12))).grow(*COUNTED)
    assert [noisy.children(1, 0) for _ in range(5)] == [noisy.children(1, 0)] * 5
    assert noisy.children(2, 0) != noisy.children(2, 9)


def test_a_noisy_tree_does_not_show_its_counts() -> None:
    assert repr(TreeMechanism(80, 9, 2, NODE).grow(*COUNTED)) == "NoisyTree(…)"


@pytest.mark.parametrize("node", [Gaussian(1, Fraction(10_000)), Laplace(1, Fraction(100))])
@pytest.mark.parametrize("fraction", [0.05, 0.5, 0.9])
def test_a_rank_is_no_further_off_than_is_claimed(
    node: Gaussian | Laplace, fraction: float
) -> None:
    """At one true point on one level of many trees;
    half the claimed width must miss far more often.
    """
    tree, trials = TreeMechanism(64, 4, 3, node), 2_000
    top, low, leaf = (node.sample(4 * trials).reshape(trials, 4).astype(float) for _ in range(3))
    inside = np.cumsum(top, axis=1)[
        :, 1
    ]  # two nodes, then two children of the third, then two of its third
    above = top[:, 2]
    for level in (low, leaf):
        inside = inside + level[:, :2].sum(axis=1) + (above - level.sum(axis=1)) / 2
        above = level[:, 2] + (above - level.sum(axis=1)) / 4
    error = np.abs(inside - fraction * top.sum(axis=1))
    assert np.mean(error > tree.half_width(0.95, fraction)) <= 0.05
    assert np.mean(error > tree.half_width(0.95, fraction) / 3) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("node", [Gaussian(1, Fraction(10_000)), Laplace(1, Fraction(100))])
@pytest.mark.parametrize("fraction", [0.0, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_the_deviation_of_a_rank_is_known(
    node: Gaussian | Laplace, fraction: float, place: int
) -> None:
    """On three levels of 20,000 trees, on which the way goes down into the same child;
    within a twentieth.
    """
    trials = 20_000
    levels = [node.sample(4 * trials).reshape(trials, 4).astype(float) for _ in range(3)]
    above, ends = None, (np.zeros(trials), levels[0].sum(axis=1))
    total = levels[0].sum(axis=1)
    for own in levels:
        moved = RankNoise(4, fraction, above)
        missing = (ends[1] - ends[0] - own.sum(axis=1))[:, None] / 4
        sums = ends[0][:, None] + np.concatenate(
            [np.zeros((trials, 1)), np.cumsum(own + missing, axis=1)], axis=1
        )
        ranks = sums - fraction * total[:, None]
        known = np.array(moved.deviations()) * node.standard_deviation
        assert ranks.std(axis=0) == pytest.approx(known, rel=0.05, abs=1e-9)
        above, ends = moved.below(place), (sums[:, place], sums[:, place + 1])


ENDS = {fraction: Ranks((Fraction(fraction),), edge=True) for fraction in (0, 1)}
VALUES = Bins("number", 0, 255, 1, 256, Fraction(1))


class Exact(NoisyTree):
    """A tree whose counts are exact, while its node's noise is what it is."""

    def children(self, level: int, start: int) -> tuple[int, ...]:
        return tuple(self._counts(level, start))


def end_that_may_miss(distribution: NoisyDistribution, fraction: int) -> float:
    return distribution.curves(ENDS[fraction])[0].points[2 if fraction == 0 else 0]


@pytest.mark.parametrize("node", [NODE, Laplace(1, Fraction(7))])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_without_noise_the_end_of_min_and_max_is_as_many_rows_away_as_one_side_asks_for(
    node: Gaussian | Laplace, confidence: float
) -> None:
    tree = TreeMechanism(256, 16, 2, node)
    distribution = NoisyDistribution(
        Exact(tree, range(256), [1] * 256, OPERATING_SYSTEM), VALUES, Fraction(1), confidence
    )
    half = node.half_width(1 - 2 * (1 - confidence) / 2)
    node_of = max(nodes for nodes in range(16) if 16 * nodes <= half * nodes**0.5 + 1)
    inside = (
        rest
        for rest in range(16)
        if 16 * node_of + rest <= half * deviation_from_an_end(node_of, rest) + 1
    )
    away = 16 * node_of + max(inside)
    assert distribution.interval(Fraction(0), ENDS[0]) == (0, away)
    assert distribution.interval(Fraction(1), ENDS[1]) == (255 - away, 255)


def deviation_from_an_end(nodes: int, rest: int) -> float:
    """That of the count of so many nodes and of a part of the next one's 16 children,
    of a node's noise.

    The next node's own noise counts by that part,
    and what its children differ from that as a bridge does.
    """
    part = rest / 16
    return float((nodes + part**2 + 16 * part * (1 - part)) ** 0.5)


@pytest.mark.parametrize("node", [NODE, Laplace(1, Fraction(7))])
@pytest.mark.parametrize("places", [range(256), [*range(100, 110), *range(240, 250)], [255], []])
def test_the_ends_of_min_and_max_hold(node: Gaussian | Laplace, places: list[int]) -> None:
    """Of 200 of 95 % fewer than 167 hold with a probability below 1e-9."""
    tree, held = TreeMechanism(256, 16, 2, node), [0, 0]
    for seed in range(200):
        noisy = tree.grow(places, [5] * len(places), _entropy=Seeded(seed))
        distribution = NoisyDistribution(noisy, VALUES, Fraction(1), 0.95)
        held[0] += not places or end_that_may_miss(distribution, 0) >= min(places)
        held[1] += not places or end_that_may_miss(distribution, 1) <= max(places)
    assert min(held) >= 167


@pytest.mark.parametrize("node", [NODE, Laplace(1, Fraction(7))])
@pytest.mark.parametrize("descending", [False, True])
def test_the_interval_of_each_element_of_a_list_holds(
    node: Gaussian | Laplace, descending: bool
) -> None:
    """Of 200 of 95 % fewer than 167 hold with a probability below 1e-9;
    none holds another element's quantile.
    """
    fractions = (Fraction(9, 10), Fraction(1, 4), Fraction(1, 2))
    ranks = Ranks(fractions, listed=True, descending=descending)
    tree, held = TreeMechanism(256, 16, 2, node), [0, 0, 0]
    for seed in range(200):
        noisy = tree.grow(range(256), [20] * 256, _entropy=Seeded(seed))
        curves = NoisyDistribution(noisy, VALUES, Fraction(1), 0.95).curves(ranks)
        truths = [255 * float(1 - each if descending else each) for each in fractions]
        for place, curve in enumerate(curves):
            low, _, high = curve.points
            held[place] += low <= truths[place] <= high
            assert not any(low <= each <= high for each in truths if each != truths[place])
    assert min(held) >= 167
