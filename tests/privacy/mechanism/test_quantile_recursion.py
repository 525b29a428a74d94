"""Quantiles that are chosen by recursion, or read off a tree where a group has few rows:
claims, law and price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from databases import without_noise
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_entropy import FALSE_ALARM, Seeded, chi_square

from dpsql.planning.calibration import CLEAR, COUNT_SHARE, VALUES_SHARE, with_fallback
from dpsql.planning.estimators.histogram import quantiles_of
from dpsql.privacy.mechanism import ConcentratedExponential, ExponentialMechanism
from dpsql.privacy.mechanism.quantile_choice import RankTarget
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import (
    PARTS,
    CountedQuantiles,
    QuantileRecursion,
    RowsBetween,
    exact_splits,
)
from dpsql.privacy.mechanism.tree import NoisyTree
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.quantisation import Bins
from dpsql.sql.ir.core import Histogram, Ranks
from dpsql.sql.ir.expression import INTEGER, Literal

FIVE = [Fraction(each, 20) for each in (2, 5, 10, 15, 18)]


def planned(
    parts: Sequence[Fraction], norm: Norm = "l1", bins: int = 6, limit: int = 1
) -> QuantilesWithFallback:
    """The quantiles of one histogram at ε = 1, of a unit with so many rows."""
    made = Contribution(
        Histogram(Literal(0, INTEGER), None),
        None,
        limit ** (1 if norm == "l1" else 2),
        1,
        Fraction(1),
        bins=Bins("number", 0, bins - 1, 1, bins, Fraction(1)),
    )
    targets = [RankTarget(part, "lower") for part in parts]
    return with_fallback(made, norm, "add-remove", Fraction(1), Fraction(1), targets)


def recursion(parts: Sequence[Fraction], norm: Norm = "l1", bins: int = 6) -> QuantileRecursion:
    found = planned(parts, norm, bins).choices
    assert isinstance(found, QuantileRecursion)
    return found


def at(turns: Sequence[float]) -> Callable[[RowsBetween], int]:
    """A rule that draws a candidate by the place of the rows alone."""
    return lambda rows: int(
        turns[(rows.first + rows.last) % len(turns)] * (rows.last - rows.first + 1) * PARTS
    )


counts = st.lists(st.integers(0, 60), min_size=6, max_size=6)


@settings(max_examples=60)
@given(
    counts,
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
    st.lists(st.floats(0, 0.999), min_size=3, max_size=5),
)
def test_all_choices_of_a_level_move_as_far_as_one_may(counts, own, turns):
    """A unit's rows are divided among the choices of a level, whatever was drawn before."""
    made = recursion(FIVE)
    one, other = (
        exact_splits(made, at(turns), range(6), each)
        for each in (counts, np.add(counts, own).tolist())
    )
    used = dict[int, Fraction]()
    for (split, _, here, wide), (_, _, there, broad) in zip(one, other, strict=True):
        change = np.repeat(here, wide) - np.repeat(there, broad)
        level = next(place for place, level in enumerate(made.first.levels) if split in level)
        used[level] = used.get(level, Fraction(0)) + Fraction(
            int(change.max() - change.min()), split.rank.spread
        )
    assert set(used) == {0, 1, 2} and all(each <= sum(own) for each in used.values())


def test_that_is_reached():
    """Rows that come behind the ranks of both choices of a level, among many."""
    made, moved = recursion([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]), Fraction(0)
    before, after = (
        [100 + (1 if place in more else 0) for place in range(6)] for more in ((), (1, 4))
    )
    for one, other in zip(
        *(exact_splits(made, at([0.5]), range(6), each) for each in (before, after)), strict=True
    ):
        change = np.repeat(*one[2:]) - np.repeat(*other[2:])
        if one[0] is not made.first:
            moved += Fraction(int(change.max() - change.min()), one[0].rank.spread)
    assert moved == 2


def test_rows_are_divided_and_none_is_lost():
    rows = RowsBetween.of_all([0, 3, 5], [40, 33, 2], 6)
    for drawn in range(6 * PARTS):
        before, after = rows.divided(drawn)
        assert (before.first, before.last, after.last) == (0, after.first, 5)
        assert sum(int(each._counts.sum()) for each in (before, after)) == 75
    assert repr(rows) == "Rows(…)"


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_every_level_is_paid_for_once_and_the_count_beside_it(norm):
    found = planned(FIVE, norm, limit=3)
    assert [len(level) for level in found.choices.first.levels] == [1, 2, 2]
    for level in found.choices.first.levels:
        for each in level:
            if norm == "l1":
                assert (
                    isinstance(each.value, ExponentialMechanism)
                    and each.value.spread == 3 * each.rank.spread
                )
                assert each.value.cost.epsilon == (1 - COUNT_SHARE) * VALUES_SHARE / 3
            else:
                assert isinstance(each.value, ConcentratedExponential)
                assert each.value.spread_squared == 9 * each.rank.spread**2
                assert each.value.rho == (1 - COUNT_SHARE) * VALUES_SHARE / 6
    first = found.choices.first.value.cost
    assert found.choices.cost == first + first + first + found.choices.around.cost
    whole = found.cost.epsilon if norm == "l1" else found.cost.rho * 2
    assert whole == 1
    assert found.either.rho >= max(found.choices.cost.rho, found.tree.cost.rho)


@pytest.mark.slow
def test_two_quantiles_have_their_law():
    """The first is drawn over all rows; the second, behind it, over the rows that it leaves."""
    made = recursion([Fraction(1, 4), Fraction(1, 2)], bins=3)
    first, second = made.first, made.first.before
    assert second is not None
    entropy, draws = Seeded(7), 3_000
    rows = RowsBetween.of_all([0, 2], [3, 4], 3)

    def chances(split, rows, factor):
        weights = np.exp(
            factor * float(split.value.rate) * np.repeat(*rows.near(split.rank)).astype(float)
        )
        return weights / weights.sum()

    chosen = [made.choose([0, 2], [3, 4], _entropy=entropy).places for _ in range(draws)]
    observed = np.zeros((3, 3))
    for each in chosen:
        observed[each[first.target], each[second.target]] += 1
    for factor, fits in ((1, True), (0.3, False), (2.0, False)):
        law = np.zeros((3, 3))
        for drawn, chance in enumerate(chances(first, rows, factor)):
            left = rows.divided(drawn)[0]
            for place, other in enumerate(chances(second, left, factor)):
                law[rows.bin_of(drawn), left.bin_of(place)] += chance * other
        possible = law > 0
        assert (chi_square(observed[possible], law[possible] * draws) > FALSE_ALARM) is fits


def test_without_noise_ranks_are_off_by_a_row_for_each_level(monkeypatch):
    without_noise(monkeypatch)
    draw = np.random.default_rng(3)
    for _ in range(30):
        counts = (draw.integers(0, 9, 40) * draw.integers(0, 2, 40)).tolist()
        counts[draw.integers(0, 40)] += 200
        sums = [0, *accumulate(counts)]
        for target, found in recursion(FIVE, bins=40).choose(range(40), counts).places.items():
            wanted = float(target.part * sums[-1])
            off = max(sums[found] - wanted, wanted - sums[found + 1], 0)
            assert off <= 3 + 200 / PARTS


@pytest.mark.parametrize("parts", [[Fraction(19, 20)], FIVE], ids=["one", "five"])
def test_few_rows_are_counted_in_a_tree(parts, monkeypatch):
    without_noise(monkeypatch)
    found = planned(parts)
    assert isinstance(found.measure([0], [found.least - 1], 0.95, 1), NoisyTree)
    chosen = found.measure([0, -1], [found.least, 7], 0.95, 1)
    assert len(chosen.places if isinstance(chosen, CountedQuantiles) else chosen) == len(parts)
    assert isinstance(found.measure([-1], [10**6], 0.95, 1), NoisyTree), (
        "rows that lie in no bin do not count"
    )


def test_the_count_that_decides_is_noisy():
    """Of groups with as many rows as are wanted, about half have a tree."""
    found = planned([Fraction(19, 20)])
    trees = sum(
        isinstance(found.measure([0], [found.least], 0.95, 1, _entropy=Seeded(each)), NoisyTree)
        for each in range(40)
    )
    assert 5 <= trees <= 35


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_each_interval_holds_its_quantile(norm):
    """Five quantiles of a few thousand rows with many values, at 90 %;
    no more than a chance of 10^-6 below that.
    """
    parts, bins, draws = FIVE, 500, 100
    drawn = np.random.default_rng(5)
    counts = np.bincount(
        np.clip(drawn.normal(200, 60, 3000), 0, bins - 1).astype(int), minlength=bins
    ).tolist()
    made, sums, held = recursion(parts, norm, bins), [0, *accumulate(counts)], np.zeros(len(parts))
    axis = Bins("number", 0, bins - 1, 1, bins, Fraction(1))
    wide = 0.0
    for seed in range(draws):
        read = quantiles_of(
            made.choose(range(bins), counts, _entropy=Seeded(seed)), axis, Fraction(1), 0.9
        )
        for place, part in enumerate(parts):
            low, value, high = read.curves(Ranks((part,)))[0].points
            assert low <= value <= high
            held[place] += sums[int(low)] <= part * 3000 <= sums[int(high) + 1]
            wide += (high - low) / bins / len(parts) / draws
    assert all(each / draws > 0.9 - 5 * (0.09 / draws) ** 0.5 for each in held)
    assert wide < 0.25


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("parts", [(1,), (99,), (1, 50), (1, 50, 99), (5, 10, 50)], ids=str)
def test_groups_have_enough_rows_beside_each_quantile_or_are_read_off_a_tree(
    parts: Sequence[int], norm: Norm
) -> None:
    """The least count is what the quantile with the fewest rows beside it asks for,
    and one row less is too few.
    """
    made = planned([Fraction(each, 100) for each in parts], norm, bins=600)
    if isinstance(made.choices, QuantileRecursion):
        choices = [
            (each.value, each.rank, each.beside)
            for level in made.choices.first.levels
            for each in level
        ]
        targets = sorted([Fraction(0), *(Fraction(each, 100) for each in parts), Fraction(1)])
        assert min(beside for *_, beside in choices) == min(b - a for a, b in pairwise(targets))
    else:
        choices = [(each.value, each.target, Fraction(1, 100)) for each in made.choices.quantiles]
    clear = [value.rate * rank.part.denominator * beside for value, rank, beside in choices]
    assert all(made.least * each >= CLEAR for each in clear)
    assert any((made.least - 1) * each < CLEAR for each in clear)
