"""The price of each mechanism is its true price, and its error bar holds."""

from fractions import Fraction
from math import ceil, exp, log, sqrt

import mpmath
import numpy as np
import pytest
from scipy import optimize
from seeded_entropy import FALSE_ALARM, Seeded, chi_square, fit, gaussian_cdf, laplace_cdf

from dpsql.privacy.measure import pure_rho
from dpsql.privacy.mechanism import ExponentialMechanism, Gaussian, Laplace, PermuteAndFlip
from dpsql.privacy.mechanism.exponential import bounded_range_rho
from dpsql.privacy.mechanism.laplace import laplace_rho
from dpsql.privacy.rounding import rounded_up

ORDERS = [1.0001, 1.01, 1.5, 2, 3, 7, 30, 200]


def renyi(p, q, order):
    """The Rényi divergence of two finite laws."""
    p, q = np.array(p, float), np.array(q, float)
    exponents = order * np.log(p) + (1 - order) * np.log(q)
    top = exponents.max()
    return (top + log(np.exp(exponents - top).sum())) / (order - 1)


@pytest.mark.parametrize(
    "l1, expected", [(1, 0.462117), (2, 0.393469), (5, 0.372074), (10**6, 0.367879)]
)
def test_rho_of_discrete_laplace_at_epsilon_one(l1, expected):
    assert float(Laplace.for_epsilon(l1, Fraction(1)).cost.rho) == pytest.approx(expected, abs=1e-6)


def test_rho_of_the_other_mechanisms():
    assert float(pure_rho(Fraction(1))) == pytest.approx(0.462117, abs=1e-6)
    assert float(ExponentialMechanism.for_epsilon(3, Fraction(1)).cost.rho) == pytest.approx(
        0.1233016, abs=1e-7
    )
    assert float(ExponentialMechanism.for_epsilon(3, Fraction(4)).cost.rho) == pytest.approx(
        1.6698496, abs=1e-7
    )
    assert PermuteAndFlip.for_epsilon(3, Fraction(1)).cost.rho == pure_rho(Fraction(1))


@pytest.mark.parametrize(
    "scale", [Fraction(1, 5), Fraction(1), Fraction(10), Fraction(10**6), Fraction(2**50)], ids=str
)
@pytest.mark.parametrize("l1", [1, 2, 9, 1000, 2**40])
def test_laplace_rho_is_rounded_up_by_less_than_two_grains(l1, scale):
    with mpmath.workdps(400):
        rate = mpmath.mpf(scale.denominator) / scale.numerator
        q = mpmath.exp(-rate)
        true = rate * l1 - 2 * rate * q * (1 - q**l1) / (1 - q * q)
        claimed = laplace_rho(l1, scale)
        excess = (mpmath.mpf(claimed.numerator) / claimed.denominator - true) * mpmath.mpf(2) ** 192
        assert 0 <= excess < 2


@pytest.mark.parametrize("l1, scale", [(1, 1.0), (1, 0.3), (3, 2.0), (3, 0.9), (10, 10.0)])
def test_laplace_rho_bounds_every_renyi_order_and_is_met_at_one(l1, scale):
    z = np.arange(-int(60 * scale) - 60, int(60 * scale) + 60 + l1)
    p, q = (np.exp(-np.abs(z - centre) / scale) for centre in (0, l1))
    rho = float(laplace_rho(l1, Fraction(scale)))
    ratios = [renyi(p / p.sum(), q / q.sum(), order) / order for order in ORDERS]
    assert max(ratios) <= rho * (1 + 1e-6)
    assert ratios[0] == pytest.approx(rho, rel=1e-3)
    assert max(ratios) > 0.9 * rho  # ten per cent less would be caught


def test_a_vector_costs_no_more_than_one_cell_with_all_of_its_l1_norm():
    rng = np.random.default_rng(1)
    for _ in range(50):
        parts = [int(part) for part in rng.integers(1, 30, rng.integers(2, 6))]
        scale = Fraction(int(rng.integers(1, 100)), 7)
        assert sum(laplace_rho(part, scale) for part in parts) <= laplace_rho(sum(parts), scale)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 9.0])
def test_bounded_range_rho_bounds_all_two_point_laws(epsilon):
    def ratio(top, order):
        low, high = exp(top - epsilon), exp(top)
        q = (1 - low) / (high - low)
        return renyi([q * high, (1 - q) * low], [q, 1 - q], order) / order

    worst = max(
        ratio(top, order) for top in np.linspace(0.02, 0.98, 97) * epsilon for order in ORDERS
    )
    rho = float(bounded_range_rho(Fraction(epsilon)))
    assert 0.97 * rho < worst <= rho * (1 + 1e-6)
    assert bounded_range_rho(Fraction(epsilon)) <= rounded_up(Fraction(epsilon) ** 2 / 8)


def test_bounded_range_rho_of_a_tiny_epsilon():
    tiny = Fraction(1, 1 << 80)
    assert bounded_range_rho(tiny) == rounded_up(tiny**2 / 8) > 0


def test_permute_and_flip_keeps_its_epsilon_on_all_small_neighbours():
    rate, cells = 0.5, 3
    for utilities in np.ndindex(*(4,) * cells):
        for change in np.ndindex(*(3,) * cells):
            other = np.array(utilities) + np.array(change) - 1
            ratio = _permute_and_flip(utilities, rate) / _permute_and_flip(other, rate)
            assert ratio.max() <= exp(2 * rate) * (1 + 1e-9)


def _permute_and_flip(utilities, rate):
    nodes, weights = np.polynomial.legendre.leggauss(8)
    x, weights = (nodes + 1) / 2, weights / 2
    chances = np.exp(rate * (np.array(utilities, float) - max(utilities)))
    return np.array(
        [
            chance
            * np.sum(
                weights * np.prod([1 - c * x for j, c in enumerate(chances) if j != i], axis=0)
            )
            for i, chance in enumerate(chances)
        ]
    )


def test_priced_mechanisms_cost_what_was_asked():
    epsilon = Fraction(3, 10)
    assert Laplace.for_epsilon(7, epsilon).cost.epsilon == epsilon
    assert Laplace.for_epsilon(7, epsilon).scale == Fraction(70, 3)
    assert Gaussian.for_epsilon(7, epsilon).cost.rho == epsilon**2 / 2
    assert Gaussian.for_epsilon(7, epsilon).cost.epsilon is None
    assert Gaussian.for_rho(7, Fraction(1, 100)).cost.rho == Fraction(1, 100)
    assert ExponentialMechanism.for_epsilon(7, epsilon).cost.epsilon == epsilon
    assert PermuteAndFlip.for_epsilon(7, epsilon).cost.epsilon == epsilon
    assert (
        Laplace.for_epsilon(1, Fraction(1, 10)).cost + Laplace.for_epsilon(1, Fraction(2, 10)).cost
    )
    assert all(
        m.cost.delta == 0
        for m in (Laplace.for_epsilon(7, epsilon), Gaussian.for_epsilon(7, epsilon))
    )


def test_open_dp_maps_agree():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    laplace = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=7.0)
    gaussian = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=7.0)
    for distance in (1, 3, 50):
        assert laplace.map(distance) == pytest.approx(
            float(Laplace(distance, Fraction(7)).cost.epsilon), rel=1e-12
        )
        assert gaussian.map(float(distance)) == pytest.approx(
            float(Gaussian(distance**2, Fraction(49)).cost.rho), rel=1e-12
        )


@pytest.mark.parametrize("sigma, epsilon, expected", [(2, 1.0, 0.0072488), (1, 0.5, 0.203983)])
def test_the_discrete_gaussian_has_its_own_delta_not_the_continuous_one(sigma, epsilon, expected):
    def tail(x):
        return float(1 - gaussian_cdf(np.floor(x), sigma**2))

    delta = tail(epsilon * sigma**2 - 0.5) - exp(epsilon) * tail(epsilon * sigma**2 + 0.5)
    assert delta == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "make", [lambda: Laplace(0, Fraction(1)), lambda: Laplace(-1, Fraction(1))]
)
@pytest.mark.parametrize(
    "other", [lambda: Gaussian(0, Fraction(1)), lambda: Gaussian.for_epsilon(1, Fraction(0))]
)
def test_no_sensitivity_and_no_price_are_refused(make, other):
    for build in (
        make,
        other,
        lambda: Laplace.for_epsilon(1, Fraction(-1)),
        lambda: Gaussian.for_rho(1, Fraction(0)),
    ):
        with pytest.raises(ValueError, match="positive"):
            build()


def test_noise_out_of_range_is_refused_when_it_is_planned_not_when_it_is_drawn():
    for build in (
        lambda: Laplace.for_epsilon(1 << 51, Fraction(1)),
        lambda: Gaussian.for_epsilon(1 << 101, Fraction(1)),
        lambda: Laplace.for_epsilon(1, Fraction(1 << 60)),
    ):
        with pytest.raises(ValueError):
            build()


@pytest.mark.parametrize("mechanism", [Laplace(3, Fraction(30)), Gaussian(3, Fraction(900))])
def test_perturbed_values_are_python_integers_with_a_draw_of_their_own(mechanism):
    n = 100_000
    noise = np.array(mechanism.perturb([10**30] * n, _entropy=Seeded(1)), object) - 10**30
    assert all(type(value) is int for value in mechanism.perturb([np.int64(5), 10**30]))
    noise = noise.astype(np.int64)
    parameter = mechanism.scale if isinstance(mechanism, Laplace) else mechanism.variance
    cdf = laplace_cdf if isinstance(mechanism, Laplace) else gaussian_cdf
    assert fit(noise, lambda k: cdf(k, float(parameter)), 30.0) > FALSE_ALARM
    assert fit(noise, lambda k: cdf(k, float(parameter) * 1.3), 30.0) < FALSE_ALARM
    assert fit(noise, lambda k: cdf(k, float(parameter) * 0.7), 30.0) < FALSE_ALARM
    assert abs(np.corrcoef(noise[: n // 2], noise[n // 2 :])[0, 1]) < 6.5 / (n / 2) ** 0.5
    assert mechanism.perturb([]) == []


@pytest.mark.parametrize("parameter", [Fraction(1, 2), Fraction(3), Fraction(35), Fraction(900)])
@pytest.mark.parametrize("noise", [Laplace, Gaussian])
def test_exponents_are_the_logarithms_of_probabilities(noise, parameter):
    """Of ratios of probabilities, and so up to a constant;
    a noise of half or double the size has others.
    """
    mechanism = noise(3, parameter)
    reach = range(1, 6 * ceil(mechanism.standard_deviation))
    chances = {z: mechanism.above(z) - mechanism.above(z + 1) for z in reach}
    ratios = [log(chances[1] / chances[z]) for z in reach[1:]]
    assert [mechanism.exponent(z) - mechanism.exponent(1) for z in reach[1:]] == pytest.approx(
        ratios, rel=1e-6
    )
    assert [mechanism.exponent(-z) for z in reach] == [mechanism.exponent(z) for z in reach]
    assert mechanism.exponent(0) == 0 < mechanism.exponent(0.5) < mechanism.exponent(1)


def test_what_is_said_of_a_noise():
    """Its claim as the ledger has it, and as a norm; its largest change of one cell;
    the law and its parameter.
    """
    laplace = Laplace(7, Fraction(20))
    assert (laplace.distance, laplace.sensitivity, laplace.largest_change) == (7, 7.0, 7)
    assert (laplace.family, laplace.norm, laplace.size) == ("laplace", "L1", 20)
    gaussian = Gaussian(50, Fraction(900))
    assert (gaussian.distance, gaussian.sensitivity, gaussian.largest_change) == (50, sqrt(50), 7)
    assert (gaussian.family, gaussian.norm, gaussian.size) == ("gaussian", "L2", 900)
    for noise in (laplace, gaussian):
        assert noise.continuous_variance == pytest.approx(noise.standard_deviation**2, rel=1e-3)


LAPLACES = [Fraction(1, 50), Fraction(1, 2), Fraction(1), Fraction(10), Fraction(12345, 7)]
GAUSSIANS = [
    Fraction(1, 100),
    Fraction(1, 4),
    Fraction(2),
    Fraction(35),
    Fraction(37),
    Fraction(400),
    Fraction(10**6),
]
CONFIDENCES = [0.01, 0.3, 0.5, 0.683, 0.9, 0.95, 0.99, 0.999, 1 - 1e-9]


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_half_width_is_the_least_that_covers(confidence):
    for scale in LAPLACES:
        h = Laplace(1, scale).half_width(confidence)
        assert _laplace_outside(h, scale) <= 1 - confidence
        assert h == 0 or _laplace_outside(h - 1, scale) > 1 - confidence
    for variance in GAUSSIANS:
        h = Gaussian(1, variance).half_width(confidence)
        assert _gaussian_outside(h, variance) <= 1 - confidence
        assert h == 0 or _gaussian_outside(h - 1, variance) > 1 - confidence


def _laplace_outside(h, scale):
    q = exp(-1 / scale)
    return 2 * q ** (h + 1) / (1 + q)


def _gaussian_outside(h, variance):
    reach = int(45 * sqrt(variance)) + 3
    weights = np.exp(-(np.arange(reach + 1.0) ** 2) / (2 * float(variance)))
    return 2 * weights[h + 1 :].sum() / (2 * weights.sum() - 1)


def test_half_width_of_very_wide_noise():
    assert Gaussian(1, Fraction(2**100)).half_width(0.95) / 2**50 == pytest.approx(
        1.959963984540054, rel=1e-11
    )
    assert Laplace(1, Fraction(2**50)).half_width(0.95) / 2**50 == pytest.approx(log(20), rel=1e-11)
    assert Gaussian(1, Fraction(2**41)).half_width(0.95) / 2**20.5 == pytest.approx(
        1.959963984540054, rel=1e-6
    )
    for confidence in (0, 1, -1, 2):
        with pytest.raises(ValueError):
            Laplace(1, Fraction(1)).half_width(confidence)


@pytest.mark.parametrize(
    "parameter", [Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(35), Fraction(400)]
)
def test_standard_deviations(parameter):
    z = np.arange(-20_000, 20_001)
    for mechanism, weights in (
        (Laplace(1, parameter), np.exp(-np.abs(z) / float(parameter))),
        (Gaussian(1, parameter), np.exp(-(z**2) / (2 * float(parameter)))),
    ):
        assert mechanism.standard_deviation == pytest.approx(
            sqrt((weights * z**2).sum() / weights.sum()), rel=1e-9
        )
    assert Laplace(1, Fraction(1, 2**50)).standard_deviation == 0


def test_choices_draw_with_their_own_rate():
    entropy, n = Seeded(3), 3000
    choice = ExponentialMechanism.for_epsilon(4, Fraction(4))
    observed = np.bincount([choice.draw([0, -1], _entropy=entropy) for _ in range(n)], minlength=2)
    law = np.array([exp(1), 1]) / (exp(1) + 1) * n
    assert chi_square(observed, law) > FALSE_ALARM
    assert chi_square(observed, np.array([exp(0.5), 1]) / (exp(0.5) + 1) * n) < FALSE_ALARM
    flips = PermuteAndFlip.for_epsilon(4, Fraction(4))
    observed = np.bincount([flips.draw([0, -1], _entropy=entropy) for _ in range(n)], minlength=2)
    assert chi_square(observed, np.array([1 - exp(-1) / 2, exp(-1) / 2]) * n) > FALSE_ALARM


def test_bounded_range_formula_is_the_maximum_over_thresholds():
    for epsilon in (0.3, 2.0):
        found = optimize.minimize_scalar(
            lambda top, e=epsilon: -(top - e * (exp(top) - 1) / (exp(e) - 1)),
            bounds=(0, epsilon),
            method="bounded",
        )
        assert -found.fun == pytest.approx(float(bounded_range_rho(Fraction(epsilon))), rel=1e-6)
