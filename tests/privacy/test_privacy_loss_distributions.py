"""The composition of losses is from above, and an exact computation and known figures agree."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

from dpsql.errors import DataError
from dpsql.privacy import privacy_loss_distributions as losses_of
from dpsql.privacy.measure import epsilon_of_rho
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.privacy_loss_distributions import (
    ApproximateLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    PureLoss,
    epsilon_of_losses,
)

MICRO, NANO = Fraction("1e-6"), Fraction("1e-9")


def responses(epsilon: str, count: int, delta: Fraction) -> mpmath.mpf:
    """ε at δ of so many randomized responses, from their binomial law."""
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)
        p = 1 / (1 + mpmath.exp(-e))
        masses = [
            mpmath.binomial(count, j) * p**j * (1 - p) ** (count - j) for j in range(count + 1)
        ]

        def at(target: mpmath.mpf) -> mpmath.mpf:
            return mpmath.fsum(
                mass * max(0, 1 - mpmath.exp(target - (2 * j - count) * e))
                for j, mass in enumerate(masses)
            )

        low, high, wanted = (
            mpmath.mpf(0),
            count * e,
            mpmath.mpf(delta.numerator) / delta.denominator,
        )
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if at(middle) > wanted else (low, middle)
        return high


@pytest.mark.parametrize("count", [1, 10, 37, 100, 300])
@pytest.mark.parametrize("delta", [MICRO, NANO * 2, Fraction(1, 100)])
@pytest.mark.parametrize("epsilon", ["0.1", "0.03333", "0.77"])
def test_composition_is_from_above_and_tight(epsilon: str, count: int, delta: Fraction) -> None:
    exact = responses(epsilon, count, delta)
    for loss in (PureLoss(Fraction(epsilon)), LaplaceLoss(Fraction(epsilon), 1)):
        found = epsilon_of_losses([loss] * count, delta)
        assert exact <= float(found) * (1 + 1e-12) and float(found) <= exact * 1.03 + 1e-3


@pytest.mark.parametrize(
    ("loss", "delta", "known"),
    [
        (LaplaceLoss(Fraction(1, 10), 1), MICRO, 4.7746),
        (LaplaceLoss(Fraction(1, 10), 1), NANO, 5.9596),
        (LaplaceLoss(Fraction(1, 20480), 2048), MICRO, 4.69267),
        (LaplaceLoss(Fraction(1, 20480), 2048), NANO, 5.85325),
        (GaussianLoss(Fraction(200), 1), MICRO, 3.3107),
        (GaussianLoss(Fraction(200), 1), NANO, 4.2286),
    ],
)
def test_a_hundred_have_the_known_values(loss: Loss, delta: Fraction, known: float) -> None:
    assert known <= float(epsilon_of_losses([loss] * 100, delta)) <= known * 1.003


def test_the_loss_is_that_of_discrete_noise() -> None:
    """The continuous Laplace law would say less of a count: 4.6927 instead of 4.7746."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    continuous = from_laplace_mechanism(10, value_discretization_interval=1e-4).self_compose(100)
    assert (
        continuous.get_epsilon_for_delta(1e-6)
        < 4.70
        < 4.77
        < epsilon_of_losses([LaplaceLoss(Fraction(1, 10), 1)] * 100, MICRO)
    )


def test_losses_are_ordered_before_the_other_accountants() -> None:
    cost = Laplace.for_epsilon(1, Fraction(1, 10)).cost
    assert epsilon_of_losses([PureLoss(Fraction(1, 10))] * 100, MICRO) < epsilon_of_rho(
        100 * cost.rho, MICRO
    )


def test_a_leak_is_taken_from_delta() -> None:
    plain = epsilon_of_losses([PureLoss(Fraction(1, 2))] * 8, MICRO / 2)
    assert (
        epsilon_of_losses([PureLoss(Fraction(1, 2))] * 8 + [ApproximateLoss(MICRO / 4)] * 2, MICRO)
        == plain
    )
    assert (
        epsilon_of_losses([ApproximateLoss(MICRO / 4)], MICRO) == 0 == epsilon_of_losses([], MICRO)
    )
    with pytest.raises(DataError, match="beside what thresholds use"):
        epsilon_of_losses([PureLoss(Fraction(1)), ApproximateLoss(MICRO)], MICRO)


def test_a_delta_below_the_rounding_of_floats_is_refused() -> None:
    with pytest.raises(DataError, match="needs a δ of at least 1e-09"):
        epsilon_of_losses([PureLoss(Fraction(1))], NANO / 2)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses_of, "is_installed", lambda: False)
    with pytest.raises(DataError, match=r'pip install "dpsql\[pld\]"'):
        epsilon_of_losses([PureLoss(Fraction(987, 1000))], MICRO)


def test_the_extra_is_imported_when_it_is_used_and_not_before() -> None:
    import subprocess

    code = "import sys, dpsql, dpsql.session, dpsql.planning.workload; sys.exit('dp_accounting' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_pairs_next_to_each_other_are_in_order() -> None:
    found = [
        float(epsilon_of_losses([LaplaceLoss(Fraction(1, 10) / d, d)] * 50, MICRO))
        for d in (1, 2, 4, 256, 512)
    ]
    assert all(after <= before * 1.001 for before, after in pairwise(found))


def test_a_loss_that_is_larger_than_can_be_told_is_an_error() -> None:
    with pytest.raises(DataError, match="finds no ε at this δ"):
        epsilon_of_losses([GaussianLoss(Fraction(2**20, 25), 2**11)] * 2, MICRO)
