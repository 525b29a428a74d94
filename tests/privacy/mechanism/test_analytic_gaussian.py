"""Gaussian noise for (ε, δ) in one release:
the exact δ of the discrete law is within what was asked.
"""

from fractions import Fraction
from math import erfc, exp, floor, sqrt

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpsql.privacy.measure import epsilon_of_rho
from dpsql.privacy.mechanism import Gaussian
from dpsql.privacy.mechanism.analytic_gaussian import (
    _smooth,
    _summed,
    analytic_variance,
    classic_variance,
    delta_above,
)

MICRO = Fraction(1, 10**6)
EPSILONS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(10)]
DELTAS = [Fraction(1, 10), MICRO, Fraction(1, 10**12), Fraction(1, 10**40)]


def exact_delta(sensitivity, variance, epsilon):
    """δ = Σ max(P(y) − e^ε·P(y − Δ), 0), term by term, to 60 digits."""
    with mpmath.workdps(60):
        v = mpmath.mpf(variance.numerator) / variance.denominator
        e = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        reach = int(22 * mpmath.sqrt(v)) + 3 * sensitivity + 20
        mass = [mpmath.exp(-k * k / (2 * v)) for k in range(reach + sensitivity + 1)]
        total = 2 * sum(mass) - 1
        differences = (
            mass[abs(y)] - e * mass[abs(y - sensitivity)] for y in range(-reach, reach + 1)
        )
        return sum(each for each in differences if each > 0) / total


def smooth_delta(sensitivity, sigma, epsilon):
    """The δ of continuous noise, and how far from it the discrete one may be:
    curvature at the edge.
    """
    mu = sensitivity / sigma
    near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return stats.norm.cdf(near) - exp(epsilon + stats.norm.logcdf(far))


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 10])
@pytest.mark.parametrize("sigma", [0.3, 0.5, 1, 2, 5, 20])
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_bound_is_above_the_exact_delta_by_next_to_nothing(sensitivity, sigma, epsilon):
    variance = Fraction(sigma) ** 2
    true, bound = (
        exact_delta(sensitivity, variance, epsilon),
        delta_above(sensitivity, variance, epsilon),
    )
    assert true <= bound <= true * (1 + 1e-6) + 1e-8 * min(1, sigma)


@pytest.mark.parametrize(
    "sigma, epsilon, expected", [(2, 1, 0.0072488), (1, 0.5, 0.203983), (5, 1, 1.829e-8)]
)
def test_the_known_figures_of_the_discrete_law(sigma, epsilon, expected):
    assert delta_above(1, Fraction(sigma) ** 2, Fraction(epsilon)) == pytest.approx(
        expected, rel=1e-3
    )


@pytest.mark.parametrize("sensitivity", [1, 7, 4096, 1 << 24])
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_bound_joins_the_continuous_law_where_noise_is_wide(sensitivity, epsilon):
    """Both ways of finding tails agree where either is used; ten thousandths less would be seen."""
    for sigma in (4095, 4097, 10**6, 10**9):
        variance = Fraction(sigma) ** 2
        smooth = smooth_delta(sensitivity, sigma, float(epsilon))
        slack = 1e-4 * smooth + 0.3 / sigma**2 + 1e-8 * min(1, sensitivity / sigma) + 1e-290
        assert smooth * (1 - 1e-4) - 0.3 / sigma**2 - 1e-15 <= delta_above(
            sensitivity, variance, epsilon
        )
        assert delta_above(sensitivity, variance, epsilon) <= smooth + slack + 1e-9


@pytest.mark.parametrize("k", [1, 100, 4097, 4200, 8000, 20_000, 60_000])
def test_wide_tails_are_enclosed(k):
    sigma = 4096.0
    low, high = _smooth(k, sigma)
    summed, _ = _summed(k, Fraction(sigma) ** 2)
    assert low <= summed * (1 + 1e-12) and summed * (1 - 1e-12) <= high
    assert high - low <= 1.5e-8 + 2e-6 * high


@pytest.mark.parametrize("sensitivity", [1, 2, 5, 10])
@pytest.mark.parametrize("epsilon", EPSILONS[1:], ids=str)
@pytest.mark.parametrize("delta", DELTAS[:3], ids=float)
def test_analytic_noise_keeps_its_delta_and_less_noise_would_not(sensitivity, epsilon, delta):
    made = Gaussian.analytic(sensitivity, epsilon, delta)
    for moved in {1, sensitivity // 2 + 1, sensitivity}:
        assert exact_delta(moved, made.variance, epsilon) <= delta
    assert exact_delta(sensitivity, made.variance * Fraction(49, 100), epsilon) > delta  # σ × 0.7
    if (
        sensitivity**2 * 25 < made.variance
    ):  # elsewhere the steps of a coarse grid make δ a saw of the variance
        assert exact_delta(sensitivity, made.variance * Fraction(98, 100), epsilon) > delta


@pytest.mark.parametrize(
    "epsilon, delta, expected", [(1, 1e-5, 3.730632), (1, 1e-6, 4.224679), (0.1, 1e-6, 36.304690)]
)
def test_on_a_fine_grid_it_is_the_analytic_gaussian(epsilon, delta, expected):
    made = Gaussian.analytic(1 << 20, Fraction(str(epsilon)), Fraction(str(delta)))
    assert sqrt(made.variance) / (1 << 20) == pytest.approx(expected, rel=1e-6)


def test_on_a_coarse_grid_the_continuous_noise_would_break_its_promise():
    for sigma, epsilon, claimed in ((2, 1, 0.0068296), (5, 1, 1.755e-8)):
        assert exact_delta(1, Fraction(sigma) ** 2, Fraction(epsilon)) > claimed * 1.03
        assert analytic_variance(1, Fraction(epsilon), Fraction(claimed)) > sigma**2


def test_it_is_charged_in_zcdp_and_needs_less_noise_than_its_conversion():
    made = Gaussian.analytic(1000, Fraction(1), MICRO)
    assert made.cost.epsilon is None and made.cost.delta == 0
    assert made.cost.rho == Fraction(10**6) / (2 * made.variance)
    converted = Gaussian.concentrated(10**6, Fraction(1), MICRO)
    assert epsilon_of_rho(converted.cost.rho, MICRO) <= 1
    assert float(converted.variance / made.variance) ** 0.5 == pytest.approx(1.072, abs=2e-3)


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)], ids=float
)
@pytest.mark.parametrize("delta", [Fraction(9, 10), Fraction(1, 2), *DELTAS], ids=float)
@pytest.mark.parametrize("sensitivity", [1, 2, 10, 1 << 24])
def test_the_classic_formula_is_never_below_what_is_truly_private(epsilon, delta, sensitivity):
    variance = classic_variance(sensitivity, epsilon, delta)
    with mpmath.workdps(50):
        formula = (
            2
            * mpmath.log(mpmath.mpf("1.25") * delta.denominator / delta.numerator)
            * sensitivity**2
        )
        formula = formula * epsilon.denominator**2 / epsilon.numerator**2
        assert (
            formula
            <= mpmath.mpf(variance.numerator) / variance.denominator
            <= formula * (1 + mpmath.mpf(10) ** -15)
        )
    assert delta_above(sensitivity, variance, epsilon) <= delta
    if sensitivity <= 10 and variance < 10**4:
        assert exact_delta(sensitivity, variance, epsilon) <= delta


def test_the_classic_formula_is_refused_where_it_does_not_hold():
    assert sqrt(Gaussian.classic(1 << 20, Fraction(1, 10), MICRO).variance) / (
        1 << 20
    ) == pytest.approx(52.988025)
    for epsilon in (Fraction(1), Fraction(10)):
        with pytest.raises(ValueError, match=r"below 1 only.*Gaussian\.analytic"):
            Gaussian.classic(1, epsilon, Fraction(1, 10**5))
    sigma = sqrt(2 * np.log(1.25e5)) / 10
    assert delta_above(1 << 20, Fraction(sigma * (1 << 20)) ** 2, Fraction(10)) == pytest.approx(
        2.27e-5, rel=5e-3
    )


@pytest.mark.parametrize(
    "build",
    [
        lambda: Gaussian.analytic(0, Fraction(1), MICRO),
        lambda: Gaussian.analytic(1, Fraction(0), MICRO),
        lambda: Gaussian.analytic(1, Fraction(101), MICRO),
        lambda: Gaussian.analytic(1, Fraction(1), Fraction(0)),
        lambda: Gaussian.analytic(1, Fraction(1), Fraction(1)),
        lambda: Gaussian.analytic(1 << 50, Fraction(1), MICRO),
        lambda: Gaussian.classic(1, Fraction(1, 2), Fraction(0)),
        lambda: Gaussian.concentrated(1, Fraction(0), MICRO),
    ],
)
def test_what_cannot_be_calibrated_is_refused(build):
    with pytest.raises(ValueError):
        build()


@pytest.mark.parametrize("sensitivity, sigma, epsilon", [(3, 1, 1), (1, 2, 0.5), (40, 9, 3)])
def test_delta_is_the_worst_event(sensitivity, sigma, epsilon):
    """No half-line, and so no event, has more than δ; one has all of it."""
    y = np.arange(-60 * sigma - sensitivity, 60 * sigma + 2 * sensitivity + 1)
    p, q = (np.exp(-((y - shift) ** 2) / (2 * sigma**2)) for shift in (sensitivity, 0))
    gains = np.cumsum((p - exp(epsilon) * q)[::-1]) / q.sum()
    assert gains.max() == pytest.approx(
        float(exact_delta(sensitivity, Fraction(sigma) ** 2, Fraction(epsilon))), rel=1e-9
    )
    edge = floor(epsilon * sigma**2 / sensitivity + sensitivity / 2) + 1
    assert y[::-1][gains.argmax()] in (edge, edge - 1)


def test_the_functions_that_the_proof_trusts_are_as_exact_as_it_says():
    with mpmath.workdps(40):
        for x in np.linspace(-700, 0, 401):
            assert (
                abs(mpmath.mpf(float(np.exp(x))) / mpmath.exp(mpmath.mpf(float(x))) - 1) < 2.0**-45
            )
        for x in np.linspace(0, 26, 401):
            assert (
                abs(mpmath.mpf(erfc(float(x))) / mpmath.erfc(mpmath.mpf(float(x))) - 1) < 2.0**-45
            )
