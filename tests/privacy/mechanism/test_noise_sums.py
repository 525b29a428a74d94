"""The half-width of a sum of noises against its exact law."""

from __future__ import annotations

from fractions import Fraction
from math import erf, exp, sqrt

import mpmath
import numpy as np
import pytest

from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width

NOISES = (
    Laplace(1, Fraction(1, 3)),
    Laplace(1, Fraction(10)),
    Laplace(2, Fraction(61, 3)),
    Gaussian(1, Fraction(1, 2)),
    Gaussian(1, Fraction(123, 4)),
    Gaussian(1, Fraction(1, 100)),
    Gaussian(3, Fraction(40_000)),
)
WEIGHTS = (Fraction(1), Fraction(3), Fraction(1, 2), Fraction(-7, 5))


def masses(noise: Laplace | Gaussian, most: int) -> np.ndarray:
    """The probabilities at −most … most, from their definition."""
    places = np.arange(-most, most + 1, dtype=np.float64)
    if isinstance(noise, Laplace):
        logs = -np.abs(places) / float(noise.scale)
    else:
        logs = -places * places / (2 * float(noise.variance))
    weights = np.exp(logs)
    return weights / weights.sum()


def by_convolution(terms: list[tuple[Laplace | Gaussian, int]], confidence: float) -> int:
    """The half-width of a sum with whole weights, by convolving the masses one by one."""
    law = np.ones(1)
    for noise, weight in terms:
        most = int(60 * noise.standard_deviation) + 5
        spread = np.zeros(2 * most * abs(weight) + 1)
        spread[:: abs(weight)] = masses(noise, most)
        law = np.convolve(law, spread)
    middle = len(law) // 2
    inside = np.cumsum(np.concatenate([law[middle : middle + 1], 2 * law[middle + 1 :]]))
    return int(np.argmax(inside >= confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("first", NOISES[:6])
@pytest.mark.parametrize("second", NOISES[:6])
def test_two_noises_are_convolved(
    first: Laplace | Gaussian, second: Laplace | Gaussian, confidence: float
) -> None:
    for weight in (1, -3):
        found = sum_half_width(
            [NoiseTerm(first, Fraction(weight)), NoiseTerm(second, Fraction(2))], confidence
        )
        assert found == by_convolution([(first, weight), (second, 2)], confidence)


def test_weights_are_fractions_and_noises_come_many_times() -> None:
    noise, other = NOISES[1], NOISES[4]
    found = sum_half_width(
        [NoiseTerm(noise, Fraction(3, 10), 4), NoiseTerm(other, Fraction(-1, 5))], 0.95
    )
    assert found == pytest.approx(
        by_convolution([(noise, 3)] * 4 + [(other, 2)], 0.95) / 10, rel=1e-12
    )


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_wide_laplace_noises_have_the_law_of_two_exponentials(confidence: float) -> None:
    """Of equal scales b: P(|S| > h) = e^(−h/b)·(1 + h/2b), but for one step."""
    noise = Laplace(1, Fraction(10**7))
    law = mpmath.findroot(lambda h: mpmath.e ** (-h) * (1 + h / 2) - (1 - confidence), 3)
    assert sum_half_width([NoiseTerm(noise, Fraction(1))] * 2, confidence) == pytest.approx(
        float(law) * 1e7, rel=1e-6
    )


def test_wide_noises_of_both_families() -> None:
    """Laplace and normal together: their law by integrating over the first."""
    b, sigma = 3e6, 5e6

    def beyond(h: float) -> mpmath.mpf:
        normal = lambda x: mpmath.ncdf(x / sigma)  # noqa: E731
        inner = lambda x: mpmath.e ** (-abs(x) / b) / (2 * b) * (normal(h - x) - normal(-h - x))  # noqa: E731
        return 1 - mpmath.quad(inner, [-40 * b, -h, 0, h, 40 * b])

    found = sum_half_width(
        [
            NoiseTerm(Laplace(1, Fraction(3 * 10**6)), Fraction(1)),
            NoiseTerm(Gaussian(1, Fraction(25 * 10**10)), Fraction(10)),
        ],
        0.95,
    )
    assert float(beyond(found * (1 + 1e-6))) < 0.05 < float(beyond(found * (1 - 1e-6)))


@pytest.mark.parametrize("noise", NOISES)
def test_one_noise_is_its_own_half_width(noise: Laplace | Gaussian) -> None:
    for weight in WEIGHTS:
        assert sum_half_width(
            [NoiseTerm(noise, weight), NoiseTerm(NOISES[0], Fraction(0))], 0.95
        ) == float(noise.half_width(0.95) * abs(weight))


def test_many_noises_are_normal() -> None:
    noise = Laplace(1, Fraction(200))
    normal = 1.959963984540054 * noise.standard_deviation * 100
    assert sum_half_width([NoiseTerm(noise, Fraction(1), 10_000)], 0.95) == pytest.approx(
        normal, rel=2e-5
    )


def test_far_tails_are_never_too_narrow() -> None:
    noise = Laplace(1, Fraction(50))
    scale, confidence = 50.0, 1 - 1e-10
    wide = sum_half_width([NoiseTerm(noise, Fraction(1))] * 2, confidence) / scale
    assert exp(-wide) * (1 + wide / 2) < 1e-10
    gaussian = Gaussian(1, Fraction(10_000))
    wide = sum_half_width([NoiseTerm(gaussian, Fraction(1))] * 2, confidence) / (100 * sqrt(2))
    assert 1 - erf(wide / sqrt(2)) < 1.01e-10
