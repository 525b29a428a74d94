"""The drawn distributions are the stated ones, and the tests would see it if they were not."""

import os
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from forks import exit_code_of_fork
from scipy import stats
from seeded_entropy import FALSE_ALARM, Seeded, chi_square, fit, gaussian_cdf, laplace_cdf

from dpsql.privacy.sampling import discrete_gaussian, discrete_laplace, entropy

DRAWS = 1_000_000
SCALES = [
    Fraction(1, 6),
    Fraction(1, 2),
    Fraction(10),
    Fraction(1000, 7),
    Fraction(3_000_000),
    Fraction(2**49),
]
VARIANCES = [
    Fraction(1, 4),
    Fraction(2),
    Fraction(100),
    Fraction(10**6, 3),
    Fraction(10**13),
    Fraction(2**99),
]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_discrete_laplace_has_its_mass_function(scale):
    draws = discrete_laplace(scale, DRAWS, _entropy=Seeded(1))
    assert fit(draws, lambda k: laplace_cdf(k, float(scale)), float(scale)) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert (
            fit(draws, lambda k, f=factor: laplace_cdf(k, float(scale) * f), float(scale))
            < FALSE_ALARM
        )


def test_very_narrow_noise_is_as_rare_as_it_should_be():
    nonzero = np.count_nonzero(discrete_laplace(Fraction(1, 11), DRAWS, _entropy=Seeded(1)))

    def surprise(scale):
        law = stats.poisson(2 * DRAWS / (np.exp(1 / scale) + 1))
        return 2 * min(law.cdf(nonzero), law.sf(nonzero - 1))

    assert surprise(1 / 11) > FALSE_ALARM
    assert surprise(0.7 / 11) < FALSE_ALARM and surprise(1.3 / 11) < FALSE_ALARM


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_discrete_gaussian_has_its_mass_function(variance):
    draws = discrete_gaussian(variance, DRAWS, _entropy=Seeded(2))
    sigma = float(variance) ** 0.5
    assert fit(draws, lambda k: gaussian_cdf(k, float(variance)), sigma) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert (
            fit(draws, lambda k, f=factor: gaussian_cdf(k, float(variance) * f**2), sigma)
            < FALSE_ALARM
        )


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_small_requests_have_the_same_law_as_large_ones(draw):
    entropy = Seeded(3)
    singles = np.concatenate([draw(Fraction(4), 3, _entropy=entropy) for _ in range(10_000)])
    cdf = laplace_cdf if draw is discrete_laplace else gaussian_cdf
    assert fit(singles, lambda k: cdf(k, 4.0), 4.0) > FALSE_ALARM
    assert fit(singles, lambda k: cdf(k, 4.0 * 1.3**2), 4.0) < FALSE_ALARM


def test_residues_on_a_wide_grid_are_uniform_so_that_no_value_of_the_cell_shows_through():
    for draw, parameter in (
        (discrete_laplace, Fraction(10**6)),
        (discrete_gaussian, Fraction(10**12)),
    ):
        residues = np.bincount(draw(parameter, DRAWS, _entropy=Seeded(4)) % 256, minlength=256)
        assert chi_square(residues, np.full(256, DRAWS / 256)) > FALSE_ALARM


def test_signs_are_fair_neighbours_unrelated_and_no_draw_is_used_twice():
    for draw, parameter in (
        (discrete_laplace, Fraction(2**50)),
        (discrete_gaussian, Fraction(2**100)),
    ):
        draws = draw(parameter, 200_000, _entropy=Seeded(5))
        assert abs(np.sign(draws).mean()) < 6.5 / len(draws) ** 0.5
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 6.5 / len(draws) ** 0.5
        assert (
            abs(np.corrcoef(np.abs(draws[:-1]), np.abs(draws[1:]))[0, 1]) < 6.5 / len(draws) ** 0.5
        )
        assert len(np.unique(draws)) == len(draws)


@pytest.mark.parametrize(
    "variance, expected", [(Fraction(1, 4), 0.2150127), (Fraction(100), 100.0)]
)
def test_variance_of_the_discrete_gaussian(variance, expected):
    draws = discrete_gaussian(variance, DRAWS, _entropy=Seeded(6))
    assert draws.var() == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("rate, expected", [(Fraction(1, 10), 199.8334), (Fraction(1), 1.8413)])
def test_variance_of_the_discrete_laplace(rate, expected):
    draws = discrete_laplace(1 / rate, DRAWS, _entropy=Seeded(7))
    assert draws.var() == pytest.approx(expected, rel=0.02)


def test_open_dp_draws_the_same_laws():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=3.0)([0] * 20_000))
    assert (
        _two_samples(theirs, discrete_laplace(Fraction(3), 100_000, _entropy=Seeded(8)))
        > FALSE_ALARM
    )
    assert (
        _two_samples(theirs, discrete_laplace(Fraction(21, 10), 100_000, _entropy=Seeded(8)))
        < FALSE_ALARM
    )
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    theirs = np.array(dp.m.make_gaussian(*space, scale=3.0)([0] * 20_000))
    assert (
        _two_samples(theirs, discrete_gaussian(Fraction(9), 100_000, _entropy=Seeded(9)))
        > FALSE_ALARM
    )
    assert (
        _two_samples(theirs, discrete_gaussian(Fraction(9) * 2, 100_000, _entropy=Seeded(9)))
        < FALSE_ALARM
    )


def _two_samples(a, b):
    edges = np.concatenate([[-1e9], np.arange(-8.5, 9), [1e9]])
    table = np.array([np.histogram(a, edges)[0], np.histogram(b, edges)[0]])
    return stats.chi2_contingency(table).pvalue


@pytest.mark.parametrize(
    "scale", [Fraction(0), Fraction(-1), Fraction(2**50 + 1), Fraction(1, 2**51)]
)
def test_scales_out_of_range_are_refused(scale):
    with pytest.raises(ValueError):
        discrete_laplace(scale, 1)
    with pytest.raises(ValueError):
        discrete_gaussian(scale * abs(scale), 1)


def test_no_draws_are_no_draws():
    assert discrete_laplace(Fraction(1), 0).shape == discrete_gaussian(Fraction(1), 0).shape == (0,)


def _write_noise(writer: int) -> None:
    os.write(writer, discrete_laplace(Fraction(2**50), 4).tobytes())


def test_forked_children_draw_different_noise(monkeypatch):
    monkeypatch.setattr(entropy, "os", os)  # the kernel itself, not what tests put in its place
    drawn = [discrete_laplace(Fraction(2**50), 4).tobytes()]
    for _ in range(3):
        reader, writer = os.pipe()
        assert exit_code_of_fork(partial(_write_noise, writer)) == 0
        drawn.append(os.read(reader, 32))
        os.close(reader)
        os.close(writer)
    assert len(set(drawn)) == 4


def test_no_pseudo_random_generator_is_consulted(monkeypatch):
    monkeypatch.setattr(entropy, "os", os)

    def forbidden(*_args, **_kwargs):
        raise AssertionError("a pseudo-random generator was used")

    for name in ("random", "getrandbits", "randrange", "gauss", "seed"):
        monkeypatch.setattr(random, name, forbidden)
    for name in ("random", "default_rng", "normal", "laplace", "geometric", "seed", "randint"):
        monkeypatch.setattr(np.random, name, forbidden)
    assert (
        len(discrete_laplace(Fraction(5), 100)) == len(discrete_gaussian(Fraction(5), 100)) == 100
    )


def test_a_source_that_runs_dry_stops_the_release():
    class Dry:
        def read(self, n):
            return b"\0" * (n // 2)

    with pytest.raises(OSError, match="fewer bytes"):
        discrete_laplace(Fraction(5), 10, _entropy=Dry())
