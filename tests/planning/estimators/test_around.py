"""Intervals of quantiles: counts of cells around a released bin, what a row moves in them,
and how often they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from seeded_entropy import Seeded

from dpsql.privacy.mechanism import ExponentialMechanism, Gaussian, Laplace, Mechanism, noise_sums
from dpsql.privacy.mechanism.noise_sums import NoiseTerm
from dpsql.privacy.mechanism.quantile_choice import (
    OrderedBins,
    QuantileChoice,
    QuantileChoices,
    RankTarget,
    exact_cells,
)
from dpsql.privacy.mechanism.rank_interval import (
    RankInterval,
    _half_widths,
    _nodes,
    _weights,
    cells_around,
    most_cells,
)
from dpsql.privacy.mechanism.tree import TreeMechanism, exact_levels

MIDDLE, HIGH = RankTarget(Fraction(1, 2), "lower"), RankTarget(Fraction(9, 10), "upper")
NOISES = [Laplace(1, Fraction(4)), Gaussian(1, Fraction(16))]
FINE = [Laplace(1, Fraction(40)), Gaussian(1, Fraction(1600)), Laplace(1, Fraction(1000))]
NARROW = [Laplace(1, Fraction(1, 8)), Gaussian(1, Fraction(1, 8))]
ODD = RankTarget(Fraction(1234, 10_000), "lower")


def around(target: RankTarget, bins: int, node: Mechanism, levels: int = 1) -> RankInterval:
    """With a tree of so many levels."""
    most = most_cells(bins)
    return RankInterval(
        target.part, bins, TreeMechanism(most, most if levels == 1 else 6, levels, node)
    )


def quantile(target: RankTarget, bins: int, node: Mechanism, levels: int = 1) -> QuantileChoice:
    return QuantileChoice(
        target,
        ExponentialMechanism.for_epsilon(target.spread, Fraction(1, 2)),
        around(target, bins, node, levels),
    )


def full(counts: list[int]) -> tuple[list[int], list[int]]:
    places = [place for place, count in enumerate(counts) if count]
    return places, [counts[place] for place in places]


def test_cells_hold_every_bin_once_and_double() -> None:
    for bins in range(1, 140):
        numbers = set()
        for place in range(bins):
            cells = cells_around(place, bins)
            assert cells[0] == 0 and cells[-1] == bins and place in cells and place + 1 in cells
            sizes = [end - start for start, end in pairwise(cells)]
            assert min(sizes) > 0
            at = cells.index(place)
            for side in (sizes[:at][::-1], sizes[at + 1 :]):
                assert all(
                    size == max(1, 2 ** (step - 1)) for step, size in enumerate(side[:-1])
                ), (place, bins)
                assert not side or side[-1] <= max(1, 2 ** (len(side) - 2))
            numbers.add(len(sizes))
        assert most_cells(bins) == max(numbers)


def test_a_tree_of_fewer_leaves_than_cells_is_no_interval() -> None:
    with pytest.raises(ValueError, match="4 leaves are too few for the cells around one of 9 bins"):
        RankInterval(Fraction(1, 2), 9, TreeMechanism(4, 2, 2, NOISES[0]))


@pytest.mark.parametrize("levels", [1, 2])
def test_a_row_moves_one_node_of_each_level_wherever_the_cells_are(levels: int) -> None:
    draw = np.random.default_rng(1)
    ranking = QuantileChoices(
        200, (quantile(MIDDLE, 200, NOISES[0], levels), quantile(HIGH, 200, NOISES[1], levels))
    )
    for place in (0, 1, 17, 100, 198, 199):
        counts, own = draw.integers(0, 3, 200), draw.integers(0, 2, 200)
        one, other = (
            exact_cells(ranking, place, *full(each.tolist())) for each in (counts, counts + own)
        )
        assert len(one) == 2
        for (tree, before), (same, after) in zip(one, other, strict=True):
            assert tree == same and tree.bins == len(before) == len(after)
            sides = [exact_levels(tree, range(tree.bins), each) for each in (before, after)]
            for here, there in zip(*sides, strict=True):
                assert sum(there.values()) - sum(here.values()) == own.sum()
                assert all(there[node] >= here[node] for node in here), (
                    "so that a row moves one node, by one"
                )


def test_cells_lie_around_what_is_released() -> None:
    """Not around what is exact: with next to no rows the released bin is anywhere."""
    asked: list[list[int]] = []

    class Asked(OrderedBins):
        def counts(self, edges: Sequence[int]) -> list[int]:
            asked.append(list(edges))
            return super().counts(edges)

    made, entropy = quantile(MIDDLE, 300, NOISES[0]), Seeded(5)
    released = [made.choose(Asked([7], [1], 300), 0.95, 1, entropy).place for _ in range(20)]
    assert asked == [cells_around(place, 300) for place in released]
    assert len(set(released)) > 10


@pytest.mark.parametrize("target", [MIDDLE, HIGH], ids=str)
@pytest.mark.parametrize("levels", [1, 2])
def test_ranks_are_exact_but_for_noise(target: RankTarget, levels: int) -> None:
    made, draw = (
        around(target, 300, Laplace(1, Fraction(1, 1000)), levels),
        np.random.default_rng(2),
    )
    counts = draw.integers(0, 9, 300)
    for place in (0, 5, 150, 299):
        tree, cells = made.grown(place)
        noisy = tree.grow(range(tree.bins), OrderedBins(*full(counts.tolist()), 300).counts(cells))
        found = _weights(tree, target.part) @ np.array(_nodes(noisy))
        exact = [int(counts[:edge].sum()) - target.part * int(counts.sum()) for edge in cells]
        assert found.tolist() == exact


@pytest.mark.slow
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize(
    ("node", "target"),
    [*product([*FINE, *NOISES, *NARROW], [MIDDLE, HIGH]), (FINE[1], ODD), (FINE[2], ODD)],
    ids=str,
)
def test_the_noise_of_a_rank_is_told(node: Mechanism, levels: int, target: RankTarget) -> None:
    """Of 20,000 draws of each rank, within six deviations of 5 %;
    0.7 and 1.3 times as much is told apart.

    Noise of few steps holds more often.
    """
    tree, _ = around(target, 65536, node, levels).grown(40_000)
    weights, trials = _weights(tree, target.part).astype(float), 20_000
    noise = weights @ np.array(node.sample(trials * weights.shape[1]), float).reshape(
        weights.shape[1], trials
    )
    half, six = _half_widths(tree, target.part, 0.95), 6 * (0.05 * 0.95 / trials) ** 0.5

    def outside(factor: float) -> np.ndarray:
        return np.array((np.abs(noise) > factor * half[:, None] + 1e-9).mean(axis=1))[1:-1]

    assert (outside(1) <= 0.05 + six).all()
    if node in FINE:
        assert (outside(1) >= 0.05 - six).all()
        assert (outside(0.7) > 0.05 + six).all()
        assert (outside(1.3) < 0.05 - six).all()


def test_ranks_of_odd_fractions_take_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """All their weights are multiples of a very small number only;
    a lattice so fine takes a second for each tree.
    """
    lattices, inside = list[int](), noise_sums._inside

    def watched(terms: Sequence[NoiseTerm], step: float, most: int) -> object:
        lattices.append(most)
        return inside(terms, step, most)

    noise_sums._half_width.cache_clear()
    monkeypatch.setattr(noise_sums, "_inside", watched)
    tree, _ = around(ODD, 65536, Laplace(1, Fraction(12_345))).grown(40_000)
    _half_widths(tree, ODD.part, 0.95)
    assert len(lattices) > 20
    assert max(lattices) < 10_000


HARD = {
    "empty": [0] * 300,
    "one": [0] * 150 + [1] + [0] * 149,
    "last": [0] * 299 + [9],
    "first": [500] + [0] * 299,
    "even": [20] * 300,
    "two": [100] + [0] * 298 + [100],
    "narrow": [0] * 100 + [40] * 30 + [0] * 170,
    "tail": [1000] + [0] * 100 + [1] * 199,
    "thin": [1] * 300,
}


@pytest.mark.slow
@pytest.mark.parametrize("counts", HARD.values(), ids=HARD)
@pytest.mark.parametrize("target", [MIDDLE, HIGH], ids=str)
@pytest.mark.parametrize(
    ("node", "levels"), [(NOISES[0], 1), (NOISES[1], 2)], ids=["Laplace", "Gaussian"]
)
def test_the_interval_holds_the_quantile(
    counts: list[int], target: RankTarget, node: Mechanism, levels: int
) -> None:
    """On data that are hard on it: of 400 of 90 % more than 77 miss with a probability below
    1e-9.
    """
    made, entropy, trials = quantile(target, 300, node, levels), Seeded(3), 400
    ordered, missed, wide = OrderedBins(*full(counts), 300), 0, 0
    utilities, widths = ordered.near(target)
    right = np.flatnonzero(np.repeat(utilities, widths) == utilities.max())
    for _ in range(trials):
        low, high = made.choose(ordered, 0.9, 1, entropy).ends
        missed += not low <= right[-1] or not right[0] <= high
        wide += high - low >= 200
    assert missed <= 77
    assert wide < trials / 10 or sum(counts) < 1000 or counts[0] >= 100


@pytest.mark.slow
@pytest.mark.parametrize("place", [7_000, 9_990, 10_010, 13_000])
@pytest.mark.parametrize(
    "node", [Laplace(1, Fraction(40)), Gaussian(1, Fraction(1600))], ids=["Laplace", "Gaussian"]
)
def test_one_end_may_miss_wherever_the_released_bin_is(node: Mechanism, place: int) -> None:
    """Of 2,000 of 90 % more than 283 miss with a probability below 1e-9;
    with half the noise most would.
    """
    bins, entropy = 20_000, Seeded(6)
    ordered, made = OrderedBins(list(range(bins)), [1] * bins, bins), around(MIDDLE, bins, node)
    found = [made.ends(place, ordered.counts, 0.9, 1, _entropy=entropy)[:2] for _ in range(2_000)]
    assert all(low <= place <= high for low, high in found)
    assert sum(not low <= 9_999 <= high for low, high in found) <= 283


@pytest.mark.slow
@pytest.mark.parametrize(
    ("node", "levels"),
    [(Laplace(1, Fraction(40)), 1), (Gaussian(1, Fraction(1600)), 2)],
    ids=["Laplace", "Gaussian"],
)
def test_the_interval_is_no_longer_than_the_noise_asks_for(node: Mechanism, levels: int) -> None:
    """Among many values with a row each: as many rows to each side as the noise of the rank,
    but for the cell's end.
    """
    bins, counts = 20_000, [1] * 20_000
    made, entropy = around(MIDDLE, bins, node, levels), Seeded(4)
    ordered = OrderedBins(*full(counts), bins)
    widths = []
    for _ in range(60):
        low, high, _ = made.ends(10_000, ordered.counts, 0.95, 1, _entropy=entropy)
        widths.append(high - low)
    tree, _ = made.grown(10_000)
    half = max(_half_widths(tree, MIDDLE.part, 0.9))
    assert half < np.median(widths) < 5 * half
