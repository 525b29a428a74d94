"""Intervals of sums and differences of averages, on samples of their cells."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.planning.estimators.estimate import MeanEstimate, average, sum_interval
from dpsql.planning.estimators.linear_forms import GAUSSIAN

HALF, DRAWS = 1.959964, 2_000
#: Of 2,000 intervals of 95 % a smaller share than this holds with a probability below 1e-9.
FEWEST = 0.919


def covered(counts: tuple[int, ...], means: tuple[float, ...], factors: tuple[float, ...], noise: float) -> float:
    """How often the interval holds; averages lie within ±50, one count in common where there is only one."""
    random, held = np.random.default_rng(7), 0
    truth = sum(factor * mean for factor, mean in zip(factors, means, strict=True))
    shared = len(counts) == 1
    whole = counts * len(means) if shared else counts
    for _ in range(DRAWS):
        errors = random.normal(0, noise, len(counts) + len(means))
        noisy = [count + error for count, error in zip(counts, errors[len(means) :], strict=True)]
        totals = [mean * count + 50 * error for mean, count, error in zip(means, whole, errors, strict=False)]
        cells = [(Fraction(each), Fraction(HALF * noise * 50)) for each in totals]
        cells += [(Fraction(each), Fraction(HALF * noise)) for each in noisy]
        parts = [
            (
                factor,
                average(
                    MeanEstimate(place, len(means) + (0 if shared else place), Fraction(0), Fraction(50)),
                    cells,
                    GAUSSIAN,
                ),
            )
            for place, factor in enumerate(factors)
        ]
        low, high = sum_interval(parts, 3.0)
        held += low <= truth + 3.0 <= high
    return held / DRAWS


@pytest.mark.parametrize("counts", [(1, 1), (3, 40), (40, 40), (400, 30), (4000, 4000)])
@pytest.mark.parametrize("means", [(10.0, -20.0), (49.0, -49.0), (-30.0, -30.0)])
def test_differences_of_averages_over_different_rows_hold(counts: tuple[int, int], means: tuple[float, float]) -> None:
    assert covered(counts, means, (1.0, -1.0), 5.0) >= FEWEST
    assert covered(counts, means, (0.5, 2.0), 5.0) >= FEWEST


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
@pytest.mark.parametrize("means", [(45.0, -45.0), (45.0, 45.0)])
def test_sums_of_averages_over_the_same_rows_hold(count: int, means: tuple[float, float]) -> None:
    assert covered((count,), means, (1.0, -1.0), 5.0) >= FEWEST


def test_where_noise_is_small_the_interval_is_no_longer_than_it_must_be() -> None:
    assert covered((4000, 4000), (10.0, -20.0), (1.0, -1.0), 5.0) <= 0.969
    assert covered((4000,), (45.0, -45.0), (1.0, -1.0), 5.0) <= 0.969
