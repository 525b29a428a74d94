"""Dominating pairs dominate, by exact fractions: Laplace noise that is spread,
stretched or rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.privacy.privacy_loss_distributions import (
    FINEST,
    LaplaceLoss,
)

#: A pair of laws, as ratio and mass: the mass under P of each value of Q/P.
Pair = list[tuple[Fraction, Fraction]]


def shifted(q: Fraction, distance: int) -> Pair:
    """Discrete Laplace noise with e^(−rate) = q around 0 and around a distance."""
    inside = [(q ** (distance - 2 * z), (1 - q) / (1 + q) * q**z) for z in range(1, distance)]
    ends = [(q**distance, 1 / (1 + q)), (q**-distance, q**distance / (1 + q))]
    return [*inside, *ends] if distance else [(Fraction(1), Fraction(1))]


def together(pairs: list[Pair]) -> Pair:
    def whole(parts: tuple[tuple[Fraction, Fraction], ...], place: int) -> Fraction:
        return math.prod((part[place] for part in parts), start=Fraction(1))

    return [(whole(each, 0), whole(each, 1)) for each in product(*pairs)]


def profile(pair: Pair, factor: Fraction) -> Fraction:
    """E under P of (1 − factor·Q/P)₊: the hockey-stick divergence at e^ε = factor."""
    return sum((mass * max(1 - factor * ratio, Fraction(0)) for ratio, mass in pair), Fraction(0))


def is_dominated(small: Pair, large: Pair) -> bool:
    """Whether the profile of ``large`` is nowhere below: both are piecewise linear,
    so their corners decide.
    """
    corners = {1 / ratio for ratio, _ in [*small, *large]}
    return all(profile(small, each) <= profile(large, each) for each in corners)


@settings(max_examples=80)
@given(
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40),
    st.lists(st.integers(0, 4), max_size=4),
)
def test_a_distance_that_is_spread_over_cells_is_dominated_by_one_cell_with_all_of_it(
    q: Fraction, parts: list[int]
) -> None:
    spread = together([shifted(q, part) for part in parts])
    assert is_dominated(spread, shifted(q, sum(parts)))
    assert is_dominated(shifted(q, sum(parts)), shifted(q, sum(parts) + 1))


@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 2), Fraction(99, 100), max_denominator=100),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_fewer_and_wider_steps_dominate(q: Fraction, each: int, steps: int) -> None:
    assert is_dominated(shifted(q, each * steps), shifted(q**each, steps))
    assert is_dominated(shifted(q, each * steps), shifted(q ** (each * steps), 1))


def test_the_check_of_dominance_can_fail() -> None:
    q = Fraction(9, 10)
    assert not is_dominated(shifted(q, 3), shifted(q, 2))
    assert not is_dominated(shifted(q**2, 2), shifted(q, 4))
    assert not is_dominated(shifted(q, 4), together([shifted(q, 2), shifted(q, 2)]))


def test_a_large_distance_is_rounded_up_and_stretched() -> None:
    loss = LaplaceLoss(Fraction(1, 10_000), 1_000_001)
    coarse = loss.coarse()
    assert coarse.distance == FINEST and coarse.rate * FINEST >= loss.rate * loss.distance
    assert coarse.rate * FINEST <= loss.rate * loss.distance * (1 + Fraction(1, 1000))
    assert LaplaceLoss(Fraction(1), 7).coarse() == LaplaceLoss(Fraction(1), 7)


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_a_longer_way_dominates_under_gaussian_noise(distance: int) -> None:
    """By thresholds, where the likelihood ratio is monotone:
    P(Z ≥ t − d) − e^ε P(Z ≥ t) grows with d.
    """
    weights = {z: math.exp(-z * z / 18) for z in range(-80, 81)}
    whole = math.fsum(weights.values())

    def above(t: int) -> float:
        return math.fsum(weight for z, weight in weights.items() if z >= t) / whole

    for factor in (0.5, 1.0, 1.7, 4.0):
        one, more = (
            max(above(t - d) - factor * above(t) for t in range(-40, 41))
            for d in (distance, distance + 1)
        )
        assert one <= more + 1e-15
