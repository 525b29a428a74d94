"""How wide the interval of a sum of noises is, by what is known of the noises alone."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from dpsql.planning.estimators.least_squares import SumVariance, spread_half_width


def test_a_sum_of_gaussian_noises_has_the_normal_interval() -> None:
    for single in (0.1, 1.0):
        expected = 2 * NormalDist().inv_cdf(0.975)
        assert spread_half_width(SumVariance(4.0, single), laplace=False, confidence=0.95) == pytest.approx(expected)


def test_the_interval_of_laplace_noise_is_wider_by_the_fourth_moment() -> None:
    """P(|noise| > h) is exp(−h/scale) of one noise, whose interval is 2 % too wide; of many it is nearly the normal."""
    one = spread_half_width(SumVariance(4.0, 1.0), laplace=True, confidence=0.95)
    exact = math.sqrt(2) * math.log(20)
    assert exact < one < 1.03 * exact
    many = spread_half_width(SumVariance(4.0, 0.01), laplace=True, confidence=0.95)
    assert 2 * NormalDist().inv_cdf(0.975) < many < 2.01 * NormalDist().inv_cdf(0.975)
