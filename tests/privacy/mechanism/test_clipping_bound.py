"""A size that few rows exceed: chosen with the law of the sparse vector technique,
within the price over all groups.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from seeded_entropy import FALSE_ALARM, Seeded, chi_square
from test_sparse_vector import law

from dpsql.privacy.mechanism.sparse_vector import LEFT, ClippingBoundSearch


def of(scan: ClippingBoundSearch, counts: tuple[int, ...]) -> np.ndarray:
    """The exact probability of each place, from the counts of one group."""
    above = [-sum(counts[place + 1 :]) for place in range(scan.sizes - 1)]
    each = scan.each
    return law(above, -scan.left, float(each.threshold_noise.scale), float(each.query_noise.scale))


def changes(scan: ClippingBoundSearch, size: int) -> list[tuple[int, ...]]:
    """What up to ``size`` rows of a unit may add to the counts, or take away;
    both at once where it is replaced.
    """
    added = [
        each for each in itertools.product(range(size + 1), repeat=scan.sizes) if sum(each) <= size
    ]
    if scan.monotone:
        return [*added, *(tuple(-each for each in one) for one in added)]
    return [
        tuple(a - b for a, b in zip(one, other, strict=True)) for one in added for other in added
    ]


@pytest.mark.parametrize("monotone, moved", [(True, 2), (False, 2)])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5)], ids=str)
def test_a_choice_keeps_its_epsilon_on_all_small_neighbours(
    monotone: bool, moved: int, epsilon: Fraction
) -> None:
    scan, worst = ClippingBoundSearch(4, moved, epsilon, False, monotone), 0.0
    for counts in itertools.product((0, 6, 40), repeat=4):
        here = of(scan, counts)
        for change in changes(scan, moved):
            worst = max(worst, float((here / of(scan, tuple(np.add(counts, change)))).max()))
    assert exp(0.3 * float(epsilon)) < worst <= exp(scan.cost.epsilon or 0) * (1 + 1e-6)


def test_groups_together_keep_the_price() -> None:
    """A unit that is split over groups costs no more than one that is in a single group."""
    pure = ClippingBoundSearch(3, 3, Fraction(2), False, True)
    split = [(pure, (1, 10, 5), (0, 0, 1)), (pure, (0, 2, 9), (0, 1, 1))]
    together = sum(
        np.log(of(scan, counts) / of(scan, tuple(np.add(counts, change)))).max()
        for scan, counts, change in split
    )
    assert together <= 2 * (1 + 1e-9)
    wide = ClippingBoundSearch(3, 5, Fraction(1, 2), True, True)  # 1² + 2² = 5
    for order in (1.001, 2.0, 8.0):
        loss = 0.0
        for counts, change in (((1, 10, 5), (0, 0, 1)), ((0, 2, 9), (0, 1, 1))):
            p, q = of(wide, counts), of(wide, tuple(np.add(counts, change)))
            loss += np.log((p**order * q ** (1 - order)).sum()) / (order - 1) / order
        assert 0 < loss <= float(wide.cost.rho) * (1 + 1e-6)


def test_it_costs_what_was_asked() -> None:
    pure, concentrated = (
        ClippingBoundSearch(9, 7, Fraction(1, 10), False, True),
        ClippingBoundSearch(9, 49, Fraction(1, 200), True, False),
    )
    assert pure.cost.epsilon == Fraction(1, 10) and pure.each.sensitivity == 7
    assert concentrated.cost.rho == Fraction(1, 200) and concentrated.cost.epsilon is None
    each = concentrated.each.epsilon
    assert 49 * each**2 / 2 <= Fraction(1, 200) < 49 * (each * (1 + Fraction(1, 2**60))) ** 2 / 2
    assert pure.left == LEFT * 70 and concentrated.left == pytest.approx(LEFT * 70, abs=1)
    for wrong in (
        (0, 7, Fraction(1)),
        (9, 0, Fraction(1)),
        (9, 7, Fraction(0)),
        (9, 1 << 52, Fraction(1)),
    ):
        with pytest.raises(ValueError):
            ClippingBoundSearch(*wrong, concentrated=False, monotone=True)


@pytest.mark.parametrize("concentrated", [False, True])
def test_draws_have_their_law(concentrated: bool) -> None:
    scan = ClippingBoundSearch(
        4, 1, Fraction(1) if not concentrated else Fraction(1, 2), concentrated, True
    )
    places, counts, n, entropy = (
        [3, 1, 2, 7],
        [11, 9, 4, 1000],
        12_000,
        Seeded(21),
    )  # 7 is no place of these
    drawn = np.bincount(
        [scan.choose(places, counts, _entropy=entropy) for _ in range(n)], minlength=4
    )
    scales = 1 / 0.7, 1 / 0.3  # of ε = 1 the threshold gets 7/10
    assert chi_square(drawn, law([-24, -15, -11], -LEFT, *scales) * n) > FALSE_ALARM
    for factor in (0.7, 1.3):
        wrong = [factor * scale for scale in scales]
        assert chi_square(drawn, law([-24, -15, -11], -LEFT, *wrong) * n) < FALSE_ALARM


def test_few_rows_are_left_above() -> None:
    scan, counts = (
        ClippingBoundSearch(100, 1, Fraction(1), False, True),
        [1000 - 10 * place for place in range(100)],
    )
    entropy = Seeded(22)
    for _ in range(50):
        place = scan.choose(range(100), counts, _entropy=entropy)
        above = sum(counts[place + 1 :])
        assert abs(above - scan.left) <= scan.half_width(1 - 1e-12) + counts[place]
    assert scan.choose([], [], _entropy=entropy) == 0
    assert scan.choose([99], [10**9], _entropy=entropy) == 99
