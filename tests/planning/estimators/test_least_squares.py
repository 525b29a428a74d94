"""Least squares of several levels, against numpy,
and how wide the interval of a sum of their noises is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpsql.planning.estimators.least_squares import (
    LEAST_SHARE,
    LEAST_VARIANCE,
    MeasuredLevel,
    SumVariance,
    cell_variance,
    comparable,
    consistent,
    spread_half_width,
    spreads,
)


def test_a_sum_of_gaussian_noises_has_the_normal_interval() -> None:
    for single in (0.1, 1.0):
        expected = 2 * NormalDist().inv_cdf(0.975)
        assert spread_half_width(
            SumVariance(4.0, single), laplace=False, confidence=0.95
        ) == pytest.approx(expected)


def test_the_interval_of_laplace_noise_is_wider_by_the_fourth_moment() -> None:
    """P(|noise| > h) is exp(−h/scale) of one noise, whose interval is 2 % too wide;
    of many it is nearly the normal.
    """
    one = spread_half_width(SumVariance(4.0, 1.0), laplace=True, confidence=0.95)
    exact = math.sqrt(2) * math.log(20)
    assert exact < one < 1.03 * exact
    normal = NormalDist().inv_cdf(
        0.975
    )  # Cornish and Fisher: the excess of the fourth moment is 3, over 24
    assert one == pytest.approx(2 * (normal + (normal**3 - 3 * normal) * 3 / 24), rel=1e-12)
    many = spread_half_width(SumVariance(4.0, 0.01), laplace=True, confidence=0.95)
    assert 2 * NormalDist().inv_cdf(0.975) < many < 2.01 * NormalDist().inv_cdf(0.975)


def test_consistent_numbers_are_the_least_squares_of_all_levels() -> None:
    """Against numpy's solution of the weighted equations;
    the level of everything is one of two that overlap.
    """
    random = np.random.default_rng(3)
    finest = random.normal(10, 3, size=6)
    groups = (np.zeros(6, dtype=np.int64), np.array([0, 1, 2, 0, 1, 2]))
    levels = [
        MeasuredLevel(group, random.normal(20, 3, size=group.max() + 1), variance)
        for group, variance in zip(groups, (0.5, 2.0), strict=True)
    ]
    sums = [
        np.equal.outer(np.arange(len(each.numbers)), each.group).astype(float) for each in levels
    ]
    weights = np.repeat([1 / 4.0, 1 / 0.5, 1 / 2.0], [6, 1, 3]) ** 0.5
    measured = np.concatenate([finest, *(each.numbers for each in levels)])
    wanted = np.linalg.lstsq(
        weights[:, None] * np.vstack([np.eye(6), *sums]), weights * measured, rcond=None
    )[0]
    assert consistent(finest, 4.0, levels) == pytest.approx(wanted, rel=1e-10)
    assert consistent(finest, 4.0, []) == pytest.approx(finest)


def test_the_spread_of_a_sum_is_that_of_its_estimate() -> None:
    """The estimate is linear in the measured numbers:
    its weights are read off by moving one number at a time.
    """
    groups = [np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)]
    deviations = [3.0**0.5] * 4 + [2.0**0.5] * 2 + [5.0**0.5]

    def estimated(moved: int, members: list[int]) -> float:
        numbers = np.eye(7)[moved]
        levels = [
            MeasuredLevel(groups[0], numbers[4:6], 2.0),
            MeasuredLevel(groups[1], numbers[6:], 5.0),
        ]
        return float(consistent(numbers[:4], 3.0, levels)[members].sum())

    of = spreads(
        4,
        3.0,
        [MeasuredLevel(groups[0], np.zeros(2), 2.0), MeasuredLevel(groups[1], np.zeros(1), 5.0)],
    )
    for members in ([0], [0, 1], [1, 2], [0, 1, 2, 3]):
        parts = [(estimated(moved, members) * deviations[moved]) ** 2 for moved in range(7)]
        spread = of(members)
        assert spread.variance == pytest.approx(sum(parts))
        assert spread.single == pytest.approx(sum(part * part for part in parts) / sum(parts) ** 2)
    assert of([]) == SumVariance(0.0, 1.0)


def test_variances_that_doubles_cannot_compare_are_raised_to_a_share_of_the_largest() -> None:
    levels = [MeasuredLevel(np.array([0]), np.array([1.0]), variance) for variance in (1e-20, 4.0)]
    variance, raised = comparable(1.0, levels)
    assert (variance, [each.variance for each in raised]) == (1.0, [4.0 * LEAST_SHARE, 4.0])
    assert comparable(5.0, levels)[1][0].variance == 5.0 * LEAST_SHARE
    assert comparable(2.0, []) == (2.0, [])


def test_the_variance_of_a_cell_is_counted_in_steps() -> None:
    for deviation, variance in ((3.0, 36.0), (1e-60, LEAST_VARIANCE)):
        cell: Any = SimpleNamespace(
            mechanism=SimpleNamespace(standard_deviation=deviation),
            contribution=SimpleNamespace(step=Fraction(1, 2)),
        )
        plan: Any = SimpleNamespace(cells=[None, cell])
        assert cell_variance(plan, 1, Fraction(1, 4)) == pytest.approx(variance)
