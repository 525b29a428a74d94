"""Values, intervals and draws of aggregates of a few cells, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from math import hypot

import numpy as np
import pytest

from dpsql.planning.estimators.estimate import (
    MANY_STEPS,
    CellNoise,
    CentredSum,
    Estimate,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
    cell_weights,
    interval,
    linear,
    may_lack_rows,
    mean_interval,
    simulated,
    too_few_rows,
    value,
)
from dpsql.planning.estimators.linear_forms import GAUSSIAN, LinearForm, laplace
from dpsql.privacy.mechanism import Gaussian, Laplace

#: A total of 30 ± 8, a count of 5 ± 2 and a count of 1 ± 3.
CELLS = [
    (Fraction(30), Fraction(8)),
    (Fraction(5), Fraction(2)),
    (Fraction(1), Fraction(3)),
]
ONE = SingleCell(1)
CENTRED = CentredSum(0, 1, Fraction(10))
MEAN = MeanEstimate(0, 1, middle=Fraction(10), reach=Fraction(20))


def mean_of(total: int, count: int, half: int = 0) -> Fraction | None:
    """The average of values between -10 and 30 with these noisy cells."""
    cells = [(Fraction(total), Fraction(8)), (Fraction(count), Fraction(half))]
    return value(MEAN, cells)


def test_a_sum_from_the_middle_of_its_bounds_is_moved_back() -> None:
    assert value(ONE, CELLS) == 5
    assert value(CENTRED, CELLS) == 30 + 10 * 5


def test_an_average_stays_within_its_bounds() -> None:
    assert mean_of(30, 5) == 10 + 6
    assert mean_of(500, 5) == 10 + 20
    assert mean_of(-500, 5) == 10 - 20


def test_an_average_over_a_count_below_one_divides_by_one() -> None:
    cells = [(Fraction(6), Fraction(8)), (Fraction(1, 2), Fraction(1, 4))]
    assert value(MEAN, cells) == 10 + 6


def test_an_average_is_null_if_its_count_may_be_zero() -> None:
    assert too_few_rows(MEAN) == 0
    assert mean_of(30, 5, half=4) == 16
    assert mean_of(30, 5, half=5) is None
    assert mean_of(30, 5, half=6) is None
    assert not may_lack_rows(SingleCell(2), CELLS) and not may_lack_rows(CENTRED, CELLS)


@pytest.mark.parametrize(
    ("count", "against", "truth"), [(1, False, 1), (1, True, 0), (2, False, 0), (2, True, 1)]
)
def test_a_truth_value_is_told_by_a_count_above_its_noise(
    count: int, against: bool, truth: int
) -> None:
    estimate = PresenceEstimate(count, against)
    assert value(estimate, CELLS) == truth
    assert interval(estimate, CELLS) is None
    halves = [half for _, half in CELLS]
    draws = [np.array([float(noisy)]) for noisy, _ in CELLS]
    assert list(simulated(estimate, draws, halves)) == [truth]


def test_a_count_that_its_noise_just_reaches_is_not_clearly_above_0() -> None:
    cells = [(Fraction(3), Fraction(3))]
    assert value(PresenceEstimate(0, False), cells) == 0
    drawn = simulated(PresenceEstimate(0, False), [np.array([3.0, 3.5])], [Fraction(3)])
    assert list(drawn) == [0, 1]


def test_intervals_of_counts_and_of_moved_sums() -> None:
    """Noises of 8 and of 10 times 2 move the sum, by 21.54 together."""
    assert interval(ONE, CELLS) == (3, 7)
    half = hypot(8, 20)
    assert interval(CENTRED, CELLS) == pytest.approx((80 - half, 80 + half))
    assert interval(CENTRED, CELLS, wide=4.0) == (76, 84)
    form = linear(CENTRED, CELLS, GAUSSIAN)
    assert (form.value, form.moved) == (80, {0: 8, 1: 20})


def test_an_interval_of_an_average_is_moved_by_the_middle() -> None:
    """Without noise of the count it is the interval of the total, divided by the count."""
    cells = [(Fraction(30), Fraction(8)), (Fraction(5), Fraction(0))]
    assert interval(MEAN, cells) == pytest.approx((10 + 22 / 5, 10 + 38 / 5))
    total, count = LinearForm(30.0, {0: 8.0}), LinearForm(5.0)
    assert mean_interval(MEAN, total, count) == pytest.approx((14.4, 17.6))


@pytest.mark.parametrize(("total", "ends"), [(98.0, (28, 30)), (-98.0, (-10, -8))])
def test_an_interval_of_an_average_ends_at_its_bounds(
    total: float, ends: tuple[float, float]
) -> None:
    sums, count = LinearForm(total, {0: 8.0}), LinearForm(5.0)
    assert mean_interval(MEAN, sums, count) == pytest.approx(ends)


def test_an_interval_of_an_average_holds_the_average_that_is_shown() -> None:
    """A total of 1000 over a count of 5 is shown as the upper bound."""
    low, high = mean_interval(MEAN, LinearForm(1000.0, {0: 8.0}), LinearForm(5.0))
    assert low <= 30 and high == pytest.approx(30)


def test_draws_of_cells_make_draws_of_aggregates() -> None:
    total = np.array([30.0, -30.0, 900.0, -900.0, 6.0])
    count = np.array([5.0, 5.0, 5.0, 5.0, 0.5])
    halves = [Fraction(8), Fraction(2)]
    assert list(simulated(ONE, [total, count], halves)) == list(count)
    assert list(simulated(CENTRED, [total, count], halves)) == [80, 20, 950, -850, 11]
    assert list(simulated(MEAN, [total, count], halves)) == [16, 4, 30, -10, 16]


@pytest.mark.parametrize(
    ("estimate", "weights"),
    [(ONE, {1: 1}), (CENTRED, {0: 1, 1: 10}), (MEAN, None), (PresenceEstimate(0, True), None)],
)
def test_counts_and_sums_are_sums_of_cells(
    estimate: Estimate, weights: dict[int, int] | None
) -> None:
    assert cell_weights(estimate) == weights


def test_half_widths_of_cells_are_in_the_unit_of_the_data() -> None:
    noise = Laplace(1, Fraction(100))
    cells = CellNoise((noise, noise), (Fraction(1), Fraction(1, 4)))
    steps = noise.half_width(0.95)
    assert cells.half_widths(0.95) == (steps, Fraction(steps) / 4)
    assert cells.sum_half_width({1: Fraction(8)}, 0.95) == pytest.approx(2 * float(steps))


def test_noise_of_few_steps_is_not_as_its_law_says() -> None:
    """One of the cells that a sum reads is enough."""
    many, few = Laplace(1, Fraction(100)), Laplace(1, Fraction(2))
    assert few.half_width(0.95) < MANY_STEPS < many.half_width(0.95)
    cells = CellNoise((many, few), (Fraction(1), Fraction(1)))
    assert cells.coarse_half_width({0: Fraction(1)}, 0.95) is None
    for weights in ({1: Fraction(1)}, {0: Fraction(1), 1: Fraction(1)}):
        assert cells.coarse_half_width(weights, 0.95) == cells.sum_half_width(weights, 0.95)


def test_noises_add_up_as_those_of_laplace_only_if_all_are_his() -> None:
    one, other = Laplace(1, Fraction(100)), Gaussian(1, Fraction(100))
    steps = (Fraction(1), Fraction(1))
    assert CellNoise((one, one), steps).law(0.95) == laplace(0.95) != GAUSSIAN
    assert CellNoise((one, other), steps).law(0.95) == GAUSSIAN
