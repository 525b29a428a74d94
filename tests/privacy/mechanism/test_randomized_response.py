"""Randomized response costs what its law says, and its estimates and intervals hold."""

from fractions import Fraction
from math import exp, log, tanh

import mpmath
import numpy as np
import pytest
from scipy import stats
from seeded_entropy import FALSE_ALARM, Seeded, chi_square

from dpsql.privacy.measure import pure_rho
from dpsql.privacy.mechanism import RandomizedResponse

ORDERS = [1.0001, 1.01, 1.5, 2, 3, 7, 30, 200]


def law(response, truth):
    """The exact probabilities of the reports of one true category."""
    chances = [response.other] * response.categories
    chances[truth] = response.truth
    return chances


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 9, 100])
@pytest.mark.parametrize(
    "truth", [Fraction(1, 100), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)], ids=str
)
def test_the_ratio_of_any_two_laws_is_the_price_and_no_more(k, truth):
    chance = Fraction(1, k) + truth * (1 - Fraction(1, k))
    response = RandomizedResponse(k, chance)
    assert sum(law(response, 0)) == 1
    worst = max(p / q for p, q in zip(law(response, 0), law(response, k - 1), strict=True))
    with mpmath.workdps(80):
        true = mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)
        claimed = response.cost.epsilon
        excess = (mpmath.mpf(claimed.numerator) / claimed.denominator - true) * mpmath.mpf(2) ** 192
        assert 0 <= excess < 2


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 9])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_rho_bounds_every_renyi_order(k, epsilon):
    response = RandomizedResponse.for_epsilon(k, Fraction(epsilon))
    p, q = (np.array([float(chance) for chance in law(response, truth)]) for truth in (0, 1))
    rho = float(response.cost.rho)
    ratios = [log((p**order * q ** (1 - order)).sum()) / (order - 1) / order for order in ORDERS]
    assert max(ratios) <= rho * (1 + 1e-9) <= float(pure_rho(response.cost.epsilon)) * (1 + 2e-9)
    if k <= 4:
        assert ratios[0] == pytest.approx(rho, rel=1e-3)  # ten per cent less would be caught


def test_the_known_figures():
    three = RandomizedResponse.for_epsilon(3, Fraction(1))
    assert float(three.cost.rho) == pytest.approx(0.364175, abs=1e-6)
    assert float(three.truth) == pytest.approx(exp(1) / (exp(1) + 2), rel=1e-15)
    assert float(RandomizedResponse.for_epsilon(2, Fraction(1)).cost.rho) == pytest.approx(
        tanh(0.5), rel=1e-12
    )
    many = RandomizedResponse.for_epsilon(100, Fraction(1)).cost
    assert many.rho == pure_rho(many.epsilon)


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 1000), Fraction(1, 3), Fraction(2), Fraction(30)], ids=str
)
@pytest.mark.parametrize("k", [2, 7, 1000])
def test_a_priced_one_costs_what_was_asked_and_never_more(k, epsilon):
    cost = RandomizedResponse.for_epsilon(k, epsilon).cost
    assert 0 <= epsilon - cost.epsilon < Fraction(1, 10**4)
    assert cost.delta == 0


@pytest.mark.parametrize(
    "build",
    [
        lambda: RandomizedResponse(1, Fraction(3, 4)),
        lambda: RandomizedResponse(4, Fraction(1, 4)),
        lambda: RandomizedResponse(4, Fraction(1)),
        lambda: RandomizedResponse(4, Fraction(1, 2) + Fraction(1, 3**50)),
        lambda: RandomizedResponse.for_epsilon(4, Fraction(0)),
        lambda: RandomizedResponse.for_epsilon(4, Fraction(1, 10**40)),
    ],
)
def test_what_is_no_randomized_response_is_refused(build):
    with pytest.raises(ValueError):
        build()


def test_reports_have_their_law():
    n, response = 60_000, RandomizedResponse.for_epsilon(3, Fraction(1))
    observed = np.bincount(response.draw([2] * n, _entropy=Seeded(5)), minlength=3)
    assert (
        chi_square(observed, np.array([float(chance) for chance in law(response, 2)]) * n)
        > FALSE_ALARM
    )
    for factor in (0.7, 1.3):
        weights = np.array([1, 1, exp(factor)])
        assert chi_square(observed, weights / weights.sum() * n) < FALSE_ALARM


def test_open_dp_agrees_on_the_price():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    response = RandomizedResponse(4, Fraction(7, 10))
    other = dp.m.make_randomized_response(categories=["a", "b", "c", "d"], prob=0.7)
    assert other.map(1) == pytest.approx(float(response.cost.epsilon), rel=1e-9)


def test_the_estimate_has_no_bias():
    """Its mean over the exact law of the counts is the true number."""
    response, n, true = RandomizedResponse(3, Fraction(3, 5)), 12, 5
    counts = _counts(response, n, true)
    mean = sum(
        chance * response.estimate([1] * c + [0] * (n - c))[1] for c, chance in enumerate(counts)
    )
    assert mean == pytest.approx(true, rel=1e-12)
    assert sum(response.estimate([0, 1, 1, 2])) == pytest.approx(4)


@pytest.mark.parametrize("k, epsilon", [(2, "1"), (2, "4"), (4, "0.2"), (10, "2"), (100, "3")])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 40])
def test_intervals_hold_the_true_number_as_often_as_they_say(k, epsilon, n):
    """By the exact law of the counts, for every true number, of tiny groups too."""
    response = RandomizedResponse.for_epsilon(k, Fraction(epsilon))
    for confidence in (0.8, 0.95):
        ends = [response.interval([1] * c + [0] * (n - c), confidence)[1] for c in range(n + 1)]
        assert all(0 <= low <= high <= n for low, high in ends)
        for true in range(n + 1):
            held = sum(
                p
                for p, (low, high) in zip(_counts(response, n, true), ends, strict=True)
                if low <= true <= high
            )
            assert held >= confidence


def test_an_interval_is_no_wider_than_the_noise_of_many_reports():
    response = RandomizedResponse.for_epsilon(2, Fraction(1))
    reports = response.draw([1] * 3_000 + [0] * 7_000, _entropy=Seeded(6))
    low, high = response.interval(reports, 0.95)[1]
    spread = (
        2
        * 1.96
        * (10_000 * float(response.truth * response.other)) ** 0.5
        / float(response.truth - response.other)
    )
    assert low < 3_000 < high and spread < high - low < 1.05 * spread
    assert low < response.estimate(reports)[1] < high


def _counts(response, n, true):
    """The law of how many of n reports are of a category that is true for some of them."""
    kept = stats.binom.pmf(np.arange(true + 1), true, float(response.truth))
    strays = stats.binom.pmf(np.arange(n - true + 1), n - true, float(response.other))
    return np.convolve(kept, strays)
