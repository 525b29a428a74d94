"""Upper bounds on P(noise >= m), proven and rounded up; proof in `docs/proofs/selection.md`."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from dpsql.privacy.sampling.enclosure import exp_bounds

_ROOT_TWO_PI = Fraction(2506628274631, 10**12)  # below √(2π) = 2.50662827463100050…
_LEVELS = 25  # of the continued fraction; odd, so that it bounds from above


def laplace_tail(scale: Fraction, m: int, bits: int) -> Fraction:
    """An upper bound, within 2^(1−bits), on P(Z >= m) = q^m/(1+q) for m >= 0, where q = exp(−1/scale)."""
    q, _ = exp_bounds(1 / scale, bits)
    _, power = exp_bounds(m / scale, bits)
    return Fraction(power, (1 << bits) + q)


def gaussian_tail(variance: Fraction, m: int, bits: int) -> Fraction:
    """An upper bound on P(Z >= m) for discrete Gaussian Z and m >= 1: the smaller of two, or 1 where neither holds."""
    one = 1 << bits
    sigma = _root_below(variance, bits)
    _, first = exp_bounds(m * m / (2 * variance), bits)
    _, ratio = exp_bounds((2 * m + 1) / (2 * variance), bits)
    bounds = [Fraction(1)]
    if ratio < one:
        bounds.append(Fraction(first, one - ratio) / max(Fraction(1), sigma * _ROOT_TWO_PI))
    middle = Fraction(2 * m - 1, 2)
    if middle**2 >= variance:
        _, density = exp_bounds(middle**2 / (2 * variance), bits)
        bounds.append(Fraction(density, one) / _ROOT_TWO_PI * mills_above(_root_below(middle**2 / variance, 64)))
    return min(bounds)


def mills_above(x: Fraction) -> Fraction:
    """An upper bound on Mills' ratio P(N > x)/density(x) of the normal law, for x > 0: 1/(x + 1/(x + 2/(x + …)))."""
    value = x
    for level in range(_LEVELS - 1, 0, -1):
        value = x + level / value
    return 1 / value


def _root_below(value: Fraction, bits: int) -> Fraction:
    """A multiple of 2^-bits at most √value."""
    return Fraction(isqrt((value.numerator << 2 * bits) // value.denominator), 1 << bits)
