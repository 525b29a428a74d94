"""Half-widths of sums and Fieller's sets hold as often as they say,
against the laws of the noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.planning.estimators.linear_forms import (
    EVERYTHING,
    GAUSSIAN,
    LinearForm,
    NoiseLaw,
    laplace,
    ratio,
    reach,
)
from dpsql.privacy.mechanism import Laplace
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width

NOISE = Laplace(1, Fraction(1000))


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    "weights", [(1,), (1, 1), (1, 2), (1, 1, 1), (1, 1, 1, 1, 1, 1), (1, 5, 5), (1,) * 20]
)
def test_sums_of_laplace_noises_are_as_wide_as_their_law(
    weights: tuple[int, ...], confidence: float
) -> None:
    """Within 1 % of the exact half-width; the hypotenuse is up to 8 % wider."""
    halves = [weight * float(NOISE.half_width(confidence)) for weight in weights]
    exact = sum_half_width([NoiseTerm(NOISE, Fraction(weight)) for weight in weights], confidence)
    assert laplace(confidence).together(*halves) == pytest.approx(exact, rel=0.01)


def test_the_hypotenuse_is_not_their_law() -> None:
    halves = [float(NOISE.half_width(0.95))] * 20
    assert GAUSSIAN.together(*halves) > 1.05 * sum_half_width(
        [NoiseTerm(NOISE, Fraction(1))] * 20, 0.95
    )


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("total", "count"), [(0.0, 0.0), (1.0, 3.0), (-20.0, 30.0), (100.0, 1000.0)]
)
def test_fieller_s_set_holds_the_ratio(law: str, total: float, count: float) -> None:
    """Above 92 % of 20,000 draws for 95 %: a false alarm below 1e-9."""
    assert held_ratios(law, total, count) > 0.92


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_narrower_sets_hold_the_ratio_too_rarely(law: str) -> None:
    """With 0.7 times the widths, where the denominator is clear of 0."""
    assert held_ratios(law, 100.0, 1000.0, 0.7) < 0.92


def held_ratios(law: str, total: float, count: float, wrong: float = 1.0) -> float:
    """The share of draws in which the set holds the ratio."""
    random, draws = np.random.default_rng(5), 20_000
    noise = random.laplace(size=(draws, 2)) if law == "laplace" else random.normal(size=(draws, 2))
    half = (math.log(20) if law == "laplace" else 1.959964) * wrong
    rule = laplace(0.95) if law == "laplace" else GAUSSIAN
    truth = total / count if count else 0.0
    held = 0
    for first, second in noise:
        ends = ratio(
            LinearForm(total + first, {0: half}, rule),
            LinearForm(count + second, {1: half}, rule),
            EVERYTHING,
        )
        held += ends[0] <= truth <= ends[1]
    return held / draws


def test_a_set_outside_of_a_gap_is_cut_to_what_is_possible() -> None:
    above, below = LinearForm(10.0, {0: 1.0}), LinearForm(0.5, {1: 1.0})
    assert ratio(above, below, (-5.0, 5.0)) == (
        -5.0,
        5.0,
    )  # nothing inside is consistent: nothing is said
    low, high = ratio(above, below, (-5.0, 50.0))
    assert high == 50.0 and 5.0 < low < 20.0
    assert ratio(above, below, EVERYTHING) == EVERYTHING


def test_what_is_lost_is_added_where_it_matters() -> None:
    assert reach(1.0, 0.25) == 1.0 and reach(1.0, 0.5) == 1.0 and reach(1.0, 1.0) == 1.25
    assert LinearForm(3.0, {0: 1.0}, lost_above=1.0).interval == (2.0, 4.25)
    assert (LinearForm(3.0, {0: 1.0}, lost_above=1.0) * -1).interval == (-4.25, -2.0)


def test_forms_add_what_they_share() -> None:
    shared = LinearForm(1.0, {0: 3.0}) + LinearForm(1.0, {0: -3.0, 1: 4.0})
    assert shared.half_width == 4.0 and NoiseLaw().together(3.0, 4.0) == 5.0
