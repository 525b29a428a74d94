"""Gaussian noise on a lattice is dominated by slightly narrower noise on the line,
however the vector is moved.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from dpsql.errors import DataError
from dpsql.privacy.privacy_loss_distributions import (
    GaussianVectorLoss,
    epsilon_of_losses,
    smoothing,
)

MICRO = Fraction("1e-6")

#: The mass of each loss ln P(z)/P(z − v), of noise on a lattice that is moved by a vector.
Losses = list[tuple[float, float]]


def lattice(variance: float, moved: tuple[int, ...]) -> Losses:
    """Summed term by term, on a line for each coordinate."""
    reach = math.ceil(11 * math.sqrt(variance))
    weights = {z: math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)}
    whole = math.fsum(weights.values())
    found: Losses = [(0.0, 1.0)]
    for d in moved:
        line = [
            ((d * d - 2 * z * d) / (2 * variance), weight / whole) for z, weight in weights.items()
        ]
        found = [(a + b, p * q) for a, p in found for b, q in line if p * q > 1e-18]
    return found


def lost(pair: Losses, epsilon: float) -> float:
    """The hockey-stick divergence at ε."""
    return math.fsum(mass * -math.expm1(epsilon - loss) for loss, mass in pair if loss > epsilon)


def on_the_line(epsilon: float, ratio: float) -> float:
    """The same of continuous Gaussian noise that is moved by so many standard deviations."""

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * below(
        -ratio / 2 - epsilon / ratio
    )


MOVED = [(1,), (2,), (3,), (1, 1), (1, 2), (2, 2), (1, 1, 1)]


@pytest.mark.parametrize("variance", [2.7, 3.0, 5.0])
@pytest.mark.parametrize("moved", MOVED)
def test_noise_on_a_lattice_is_dominated_by_slightly_narrower_noise_on_the_line(
    variance: float, moved: tuple[int, ...]
) -> None:
    """And not by noise of its own width: the check can fail."""
    pair, square = lattice(variance, moved), sum(d * d for d in moved)
    narrow, own = (
        math.sqrt(square / each) for each in (variance - float(smoothing(square)), variance)
    )
    grid = [place / 20 for place in range(-60, 61)]
    assert all(lost(pair, epsilon) <= on_the_line(epsilon, narrow) + 1e-14 for epsilon in grid)
    assert any(lost(pair, epsilon) > on_the_line(epsilon, own) + 1e-6 for epsilon in grid)


@pytest.mark.parametrize("moved", MOVED)
@pytest.mark.parametrize("other", [(), (1,), (2,)])
def test_the_epsilon_of_vectors_is_not_below_that_of_their_lattice(
    moved: tuple[int, ...], other: tuple[int, ...]
) -> None:
    """Alone, and beside another release: a product of lattices is a lattice."""
    variance, delta = Fraction(27, 10), Fraction(1, 20)
    both = [
        GaussianVectorLoss(variance, sum(d * d for d in each)) for each in (moved, other) if each
    ]
    found = float(epsilon_of_losses(both, delta))
    assert lost(lattice(float(variance), (*moved, *other)), found) <= float(delta)


@pytest.mark.parametrize("square", [1, 2, 3, 1000, 2**22, 2**100])
def test_what_is_rounded_to_integers_is_not_seen(square: int) -> None:
    """The bound of the docstring, and that half of the variance would not do."""
    with mpmath.workdps(60):
        r = smoothing(square)

        def seen(variance: Fraction) -> mpmath.mpf:
            exponent = 2 * mpmath.pi**2 * variance.numerator / variance.denominator
            return square * 2 * mpmath.fsum(mpmath.exp(-exponent * k * k) for k in range(1, 6))

        assert seen(r) <= mpmath.mpf(2) ** -60 < seen(r / 2)


@pytest.mark.parametrize("step", [2**11, 10**12])
def test_the_wider_the_noise_the_nearer_is_the_lattice_to_the_line(step: int) -> None:
    """So that counts and sums, of thousands of steps a row and more, lose nothing by it."""
    wide = float(
        epsilon_of_losses([GaussianVectorLoss(Fraction(200) * step**2, step**2)] * 100, MICRO)
    )
    assert on_the_line(wide, math.sqrt(0.5)) <= 1e-6 <= on_the_line(wide * 0.999, math.sqrt(0.5))


def test_narrow_noise_on_vectors_has_no_pair() -> None:
    with pytest.raises(DataError, match="as narrow as this"):
        GaussianVectorLoss(smoothing(5), 5)


def test_dear_blocks_are_composed_on_a_wider_grid() -> None:
    """From above, and without work that grows with the price."""
    dear = [GaussianVectorLoss(Fraction(10**6), 1000 * 10**6)]
    found = float(epsilon_of_losses(dear, MICRO))
    assert (
        on_the_line(found, math.sqrt(1000)) <= 1e-6 <= on_the_line(found * 0.999, math.sqrt(1000))
    )
