"""The half-width of a weighted sum of independent noises, from its law.

Proof in `docs/proofs/sums.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import asinh, ceil, exp, expm1, gcd, hypot, inf, lcm, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanism.gaussian import Gaussian
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.rounding import confidence_tail

#: The most points of a lattice on which noises are added up; a finer lattice is taken at this many.
POINTS = 2**17
#: Of what the confidence leaves, the part that may lie beyond the lattice;
#: and the rounding error #: of the transforms.
BEYOND = 1e-8
SLACK = 1e-13
#: Below this tail the transforms do not tell one half-width from the next.
LEAST_TAIL = 1e-9


@dataclass(frozen=True)
class NoiseTerm:
    """``times`` independent draws of a noise, each multiplied by ``weight``."""

    noise: Laplace | Gaussian
    weight: Fraction
    times: int = 1

    @property
    def deviation(self) -> float:
        """That of one draw, in the unit of the weight."""
        return self.noise.standard_deviation * float(abs(self.weight))


def sum_half_width(terms: Sequence[NoiseTerm], confidence: float) -> float:
    """The least h with P(|sum of the terms| <= h) >= confidence, in the unit of the weights.

    >>> from dpsql.privacy.mechanism import Laplace
    >>> noise = Laplace(1, Fraction(10))
    >>> noise.half_width(0.95), sum_half_width([NoiseTerm(noise, Fraction(1))] * 2, 0.95)
    (30, 41.0)
    """
    random_terms = tuple(sorted((term for term in terms if term.weight and term.times), key=repr))
    if not random_terms:
        return 0.0
    if len(random_terms) == 1 and random_terms[0].times == 1:
        return float(random_terms[0].noise.half_width(confidence) * abs(random_terms[0].weight))
    return _half_width(random_terms, confidence)


@lru_cache(maxsize=1024)
def _half_width(terms: tuple[NoiseTerm, ...], confidence: float) -> float:
    tail = confidence_tail(confidence)
    if tail < LEAST_TAIL:
        return hypot(
            *(
                sqrt(term.times) * float(term.noise.half_width(confidence) * term.weight)
                for term in terms
            )
        )
    reach = _reach(terms, log(2 / (tail * BEYOND)))
    finest = _lattice(terms)
    steps = reach / float(finest)
    if steps < POINTS // 2:
        inside = _inside(terms, float(finest), ceil(steps))
        return float(int(np.argmax(inside >= confidence + SLACK)) * finest)
    largest = max(float(abs(term.weight)) for term in terms)
    step = reach / (POINTS // 2 - 1)
    # The coarsest noise keeps its law.
    step = largest / ceil(largest / step) if largest > step else step
    inside = _inside(terms, step, ceil(reach / step))
    first = int(np.argmax(inside >= confidence))
    # P(|sum| <= (first − 1/2)·step).
    before = float(inside[first - 1]) if first else -float(inside[0])
    half = (first - 0.5 + (confidence - before) / (float(inside[first]) - before)) * step
    # The masses at ±k·finest reach half a step further.
    return float(ceil(half / float(finest) - 0.5) * finest)


def _reach(terms: Sequence[NoiseTerm], exponent: float) -> float:
    """A bound that the sum passes with probability at most exp(−exponent) on either side.

    By Chernoff's inequality.
    """
    variance = sum(
        term.times * _noise_variance(term.noise) * float(term.weight) ** 2 for term in terms
    )
    scales = [
        float(term.noise.scale * abs(term.weight))
        for term in terms
        if isinstance(term.noise, Laplace)
    ]
    rate = min(0.5 / max(scales) if scales else inf, sqrt(exponent / variance) if variance else 1.0)
    grown = sum(
        term.times * _log_moment(term.noise, rate * float(abs(term.weight))) for term in terms
    )
    return (exponent + grown) / rate + sum(float(abs(term.weight)) for term in terms)


def _noise_variance(noise: Laplace | Gaussian) -> float:
    return float(noise.variance) if isinstance(noise, Gaussian) else noise.standard_deviation**2


def _log_moment(noise: Laplace | Gaussian, rate: float) -> float:
    """At least ln E exp(rate·noise), for Laplace noise at rates of at most 1/(2·scale)."""
    if isinstance(noise, Gaussian):
        return rate * rate * float(noise.variance) / 2
    half = float(1 / noise.scale) / 2
    ratio = exp(rate / 2 - half) * expm1(-rate) / expm1(-2 * half)  # sinh(rate/2)/sinh(half)
    return -log1p(-ratio * ratio)


def _lattice(terms: Sequence[NoiseTerm]) -> Fraction:
    """The largest number that divides all weights, and so the sum."""
    denominator = reduce(lcm, (term.weight.denominator for term in terms))
    return Fraction(
        reduce(
            gcd,
            (abs(term.weight.numerator) * denominator // term.weight.denominator for term in terms),
        ),
        denominator,
    )


def _inside(terms: Sequence[NoiseTerm], step: float, most: int) -> NDArray[np.float64]:
    """P(|sum| <= k·step) for k = 0 … most, on a lattice that wraps around far beyond."""
    size = 1 << (2 * most + 1).bit_length()
    transform = np.ones(size // 2 + 1)
    for term in terms:
        transform = transform * np.fft.rfft(_masses(term, step, size)).real ** term.times
    masses = np.fft.irfft(transform, size)
    return np.asarray(
        np.cumsum(np.concatenate([masses[:1], 2 * masses[1 : most + 1]])), dtype=np.float64
    )


def _masses(term: NoiseTerm, step: float, size: int) -> NDArray[np.float64]:
    """The probabilities of one draw at 0, step, … and, at the end, at −step, ….

    They are its own if its weight is a multiple of the step, else those of the noise of the same
    family and variance on the lattice.
    """
    stride = round(float(abs(term.weight)) / step)
    places = np.minimum(np.arange(size), size - np.arange(size))
    if stride >= 1 and abs(stride * step - float(abs(term.weight))) <= 1e-9 * step:
        exact = np.where(places % stride == 0, _weights(term.noise, places / stride, None), 0.0)
        return np.asarray(exact / exact.sum(), dtype=np.float64)
    weights = _weights(term.noise, places.astype(np.float64), term.deviation / step)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _weights(
    noise: Laplace | Gaussian, at: NDArray[np.float64], deviation: float | None
) -> NDArray[np.float64]:
    """What the noise's probabilities are proportional to, on its own grid or on integers."""
    if isinstance(noise, Laplace):
        rate = (
            float(1 / noise.scale)
            if deviation is None
            else 2 * asinh(1 / (sqrt(2) * max(deviation, 1e-150)))
        )
        return np.exp(-np.minimum(at * rate, 745.0))
    variance = float(noise.variance) if deviation is None else max(deviation**2, 1e-300)
    return np.exp(-np.minimum(at * at / (2 * variance), 745.0))
