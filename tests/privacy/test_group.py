"""What a budget promises to several units together,
against laws whose group privacy is known exactly.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import mpmath
import numpy as np
import pytest

from dpsql.privacy.budget import Budget
from dpsql.privacy.measure import epsilon_of_rho
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.analytic_gaussian import delta_above

MICRO = Fraction(1, 10**6)
SIZES = [1, 2, 3, 7, 20]


def best_selection(units: int, epsilon: float, delta: Fraction) -> mpmath.mpf:
    """How often the best (ε, δ)-DP rule shows a key of so many units:
    the recurrence of partition selection.
    """
    d, e = mpmath.mpf(delta.numerator) / delta.denominator, mpmath.exp(epsilon)
    shown = mpmath.mpf(0)
    for _ in range(units):
        shown = min(e * shown + d, 1 - (1 - shown - d) / e, mpmath.mpf(1))
    return shown


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)], ids=str)
def test_pure_privacy_is_k_epsilon_and_laplace_noise_reaches_it(
    size: int, epsilon: Fraction
) -> None:
    promise = Budget(epsilon).group(size)
    assert promise.epsilon == size * epsilon and promise.delta == 0
    scale = float(Laplace.for_epsilon(1, epsilon).scale)
    z = np.arange(-200, 201)
    ratios = (np.abs(z - size) - np.abs(z)) / scale  # logarithms of the ratios of the two laws
    assert ratios.max() == pytest.approx(float(promise.epsilon), rel=1e-12)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2)], ids=str)
def test_the_delta_of_a_group_is_reached_by_the_best_choice_of_keys(
    size: int, epsilon: Fraction
) -> None:
    """A key that nobody has is never shown, so that how often one of k units is shown is all δ."""
    promise = Budget(epsilon, MICRO, Fraction(1, 10**9)).group(size)
    with mpmath.workdps(40):
        shown = best_selection(size, float(epsilon), MICRO)
        claimed = mpmath.mpf(promise.delta.numerator) / promise.delta.denominator
        assert shown <= claimed * (1 + mpmath.mpf(10) ** -12)
        if shown < mpmath.mpf("1e-3"):
            assert claimed == pytest.approx(shown, rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)], ids=str)
def test_gaussian_noise_keeps_the_promise_to_a_group(size: int, epsilon: Fraction) -> None:
    """One release takes the whole ρ; a group moves it k times as far, which is k²ρ."""
    budget = Budget(epsilon, MICRO)
    noise = Gaussian.for_rho(1 << 20, budget.rho_total)
    far = size << 10
    assert Gaussian(far**2, noise.variance).cost.rho == size**2 * budget.rho_total
    for thresholds in (True, False):
        promise = budget.group(size, thresholds=thresholds)
        if promise.delta < 1 and promise.epsilon <= 100:
            assert delta_above(far, noise.variance, promise.epsilon) <= promise.delta
    zcdp = budget.group(size, thresholds=False)
    assert zcdp.delta == budget.delta_conversion
    assert zcdp.epsilon == max(
        size * epsilon, epsilon_of_rho(size**2 * budget.rho_total, budget.delta_conversion)
    )
    if zcdp.epsilon <= 100:
        assert (
            delta_above(far, noise.variance, zcdp.epsilon * Fraction(3, 4)) > zcdp.delta
        )  # and not by much too much


def test_a_linear_growth_of_rho_would_not_hold() -> None:
    """What is k²ρ for a group is not kρ: the exact δ passes it."""
    budget, size = Budget(Fraction(1), MICRO), 5
    noise = Gaussian.for_rho(1 << 20, budget.rho_total)
    linear = epsilon_of_rho(size * budget.rho_total, budget.delta_conversion)
    assert delta_above(size << 10, noise.variance, linear) > budget.delta_conversion


def test_a_delta_that_does_not_grow_would_not_hold() -> None:
    """kε with the δ of one unit fails already for two."""
    two = best_selection(2, 1.0, MICRO)
    assert two > MICRO * 2 and two == pytest.approx(1e-6 * (1 + exp(1)), rel=1e-9)
    assert Budget(Fraction(1), MICRO).group(2).delta >= Fraction(3718281, 10**12)
