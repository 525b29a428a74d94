"""Quantiles and frequent values that are chosen: by which utilities, with which law,
and how far off.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest
from databases import without_noise
from seeded_entropy import FALSE_ALARM, Seeded, chi_square

from dpsql.privacy.measure import FREE
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    ExponentialMechanism,
    Gaussian,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import (
    OrderedBins,
    QuantileChoice,
    QuantileChoices,
    RankTarget,
    exact_utilities,
)
from dpsql.privacy.mechanism.rank_interval import RankInterval, most_cells
from dpsql.privacy.mechanism.tree import TreeMechanism

MIDDLE = RankTarget(Fraction(1, 2), "lower")
TARGETS = [
    MIDDLE,
    RankTarget(Fraction(1, 2), "either"),
    RankTarget(Fraction(9, 10), "upper"),
    RankTarget(Fraction(1, 20), "lower"),
]
#: The noise of the counts around a quantile.
NODE = Gaussian.for_rho(1, Fraction(1, 4))
#: The counts of five bins.
COUNTS = (0, 3, 1, 0, 2)


def quantile(
    target: RankTarget, choice: ExponentialMechanism | ConcentratedExponential, bins: int
) -> QuantileChoice:
    """A choice of one of so many bins, with the counts around it in a tree of one level."""
    most = most_cells(bins)
    return QuantileChoice(
        target, choice, RankInterval(target.part, bins, TreeMechanism(most, most, 1, NODE))
    )


def full(counts) -> tuple[list[int], list[int]]:
    """The bins with rows, and their counts."""
    places = [place for place, count in enumerate(counts) if count]
    return places, [counts[place] for place in places]


def distances(counts, target) -> list[int]:
    """The utilities of a rank as their definition has them, bin by bin."""
    part, found = target.part, []
    for place in range(len(counts)):
        before, after, rank = sum(counts[:place]), sum(counts[: place + 1]), part * sum(counts)
        short, over = (int(each * part.denominator) for each in (rank - after, before - rank))
        found.append(max(0, short + (target.ties == "upper"), over + (target.ties == "lower")))
    return found


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_utilities_are_the_distances_in_rank(target):
    draw = np.random.default_rng(1)
    for _ in range(200):
        counts = [int(each) for each in draw.integers(0, 4, 6) * draw.integers(0, 2, 6)]
        places, inside = full(counts)
        utilities, widths = OrderedBins([*places, -1, 6], [*inside, 5, 5], 6).near(target)
        assert np.repeat(-utilities, widths).tolist() == distances(counts, target)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_a_row_moves_two_utilities_apart_by_no_more_than_the_spread(target):
    draw, most = np.random.default_rng(2), 0
    choice = ExponentialMechanism.for_epsilon(1, Fraction(1))
    ranking = QuantileChoices(6, (quantile(target, choice, 6),))
    for _ in range(1000):
        counts, own = draw.integers(0, 30, 6) * draw.integers(0, 2, 6), draw.integers(0, 2, 6)
        one, other = (
            exact_utilities(ranking, *full(each.tolist())) for each in (counts, counts + own)
        )
        for (_, here, wide), (_, there, broad) in zip(one, other, strict=True):
            change = np.repeat(here, wide) - np.repeat(there, broad)
            assert change.max() - change.min() <= target.spread * own.sum()
            most = max(most, (change.max() - change.min()) / max(target.spread * own.sum(), 1))
    assert most == 1, "the spread is reached"


@pytest.mark.slow
@pytest.mark.parametrize(
    "choice",
    [ExponentialMechanism.for_epsilon(4, Fraction(1)), ConcentratedExponential(8, Fraction(1, 16))],
)
def test_a_quantile_has_its_law(choice):
    entropy, draws, rate = Seeded(1), 12_000, float(choice.rate)
    ranking = QuantileChoices(len(COUNTS), (quantile(MIDDLE, choice, len(COUNTS)),))
    found = [
        ranking.choose(*full(COUNTS), 0.95, 1, _entropy=entropy)[MIDDLE].place for _ in range(draws)
    ]

    def law(rate):
        weights = np.exp(-rate * np.array(distances(COUNTS, MIDDLE), float))
        return weights / weights.sum() * draws

    observed = np.bincount(found, minlength=len(COUNTS))
    assert chi_square(observed, law(rate)) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert chi_square(observed, law(rate * factor)) < FALSE_ALARM


def test_a_rate_costs_no_more_than_is_charged():
    for spread, rho in (
        (1, Fraction(1, 8)),
        (7, Fraction(1, 3)),
        (10**30, Fraction(1, 10**12)),
        (3, Fraction(10**6)),
    ):
        choice = ConcentratedExponential(spread, rho)
        assert choice.rate**2 * spread / 8 <= choice.cost.rho == rho
        assert float(choice.rate) == pytest.approx((8 * rho / spread) ** 0.5, rel=1e-12)


@pytest.mark.slow
def test_frequent_values_have_their_law():
    """Two of three, one after the other; the law of the pair."""
    counts, draws = ([0, 1, 2, 9], [3, 1, 4, 100]), 12_000

    def exponential_law(rate):
        law = {}
        weights = dict(enumerate(np.exp(rate * np.array([3, 1, 4]))))
        for first, second in permutations(range(3), 2):
            rest = sum(weight for place, weight in weights.items() if place != first)
            law[first, second] = weights[first] / sum(weights.values()) * weights[second] / rest
        return np.array([law[pair] for pair in sorted(law)]) * draws

    choice, entropy = ConcentratedExponential(4, Fraction(1, 8)), Seeded(4)
    peeling = TopKPeeling(3, 2, choice)
    found = [peeling.choose(*counts, _entropy=entropy) for _ in range(draws)]
    observed = np.array([found.count(pair) for pair in sorted(permutations(range(3), 2))])
    rate = float(choice.rate)
    assert chi_square(observed, exponential_law(rate)) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert chi_square(observed, exponential_law(rate * factor)) < FALSE_ALARM


@pytest.mark.slow
def test_a_flipped_mode_has_its_law():
    """Of two values, the one with a row less is taken with half the chance of its coin."""
    peeling, entropy, draws = (
        TopKPeeling(2, 1, PermuteAndFlip.for_epsilon(2, Fraction(1))),
        Seeded(5),
        12_000,
    )
    found = [peeling.choose([0, 1], [3, 2], _entropy=entropy)[0] for _ in range(draws)]
    for rate, fits in ((0.5, True), (0.35, False), (0.65, False)):
        less = exp(-rate) / 2
        law = np.array([1 - less, less]) * draws
        assert (chi_square(np.bincount(found, minlength=2), law) > FALSE_ALARM) is fits


def test_every_choice_is_paid_for():
    choice = ConcentratedExponential(8, Fraction(1, 16))
    around = RankInterval(
        MIDDLE.part, 9, TreeMechanism(8, 3, 2, Gaussian.for_rho(1, Fraction(1, 64)))
    )
    ranking = QuantileChoices(
        9, (QuantileChoice(MIDDLE, choice, around), quantile(TARGETS[2], choice, 9))
    )
    assert (
        ranking.cost.rho == Fraction(1, 16) + 2 * Fraction(1, 64) + Fraction(1, 16) + NODE.cost.rho
    )
    assert TopKPeeling(9, 3, choice).cost.rho == Fraction(3, 16)
    assert ranking.cost != FREE


def test_without_noise_the_best_is_chosen(monkeypatch):
    without_noise(monkeypatch)
    choice = ExponentialMechanism.for_epsilon(1, Fraction(1))
    ranking = QuantileChoices(5, tuple(quantile(target, choice, 5) for target in TARGETS))
    places = [each.place for each in ranking.choose(*full(COUNTS), 0.95, 1).values()]
    assert places == [1, 1, 4, 1]
    assert TopKPeeling(5, 3, choice).choose(*full(COUNTS)) == (1, 4, 2)


def test_more_rows_than_64_bits_hold_are_ranked():
    utilities, widths = OrderedBins([0, 2], [10**30, 1], 4).near(MIDDLE)
    assert utilities[0] == 0 and utilities[1] == -(2**61) and widths.tolist() == [1, 1, 1, 1]


def test_exact_ranks_do_not_show():
    assert repr(OrderedBins(*full(COUNTS), 5)) == "Ordered(…)"
