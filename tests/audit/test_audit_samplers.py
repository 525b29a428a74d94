"""The checks of samplers pass right draws and fail wrong ones of every kind that they are made
for.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from seeded_entropy import Seeded

from dpsql.audit.clock import AuditClock
from dpsql.audit.sampler_distributions import exponential_law, flipped_law, response_law
from dpsql.audit.samplers import (
    ALARM,
    FALSE_ALARM,
    check_samplers,
    choice_problems,
    gaussian_problems,
    laplace_problems,
    sparse_vectors,
)
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.sampling import discrete_gaussian, discrete_laplace

DRAWS = 300_000
SCALES = [Fraction(1, 6), Fraction(1, 2), Fraction(10), Fraction(1000, 7), Fraction(2**49)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_noise_of_its_scale_passes_and_of_others_fails(scale: Fraction) -> None:
    assert laplace_problems(discrete_laplace(scale, DRAWS, _entropy=Seeded(1)), scale) == []
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert laplace_problems(discrete_laplace(scale * factor, DRAWS, _entropy=Seeded(2)), scale)


@pytest.mark.parametrize("scale", SCALES[1:], ids=str)
def test_gaussian_noise_of_its_scale_passes_and_of_others_fails(scale: Fraction) -> None:
    assert gaussian_problems(discrete_gaussian(scale**2, DRAWS, _entropy=Seeded(3)), scale**2) == []
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert gaussian_problems(
            discrete_gaussian((scale * factor) ** 2, DRAWS, _entropy=Seeded(4)), scale**2
        )


def drawn() -> NDArray[np.int64]:
    return discrete_laplace(Fraction(10), DRAWS, _entropy=Seeded(5))


def test_each_property_is_looked_at() -> None:
    right = drawn()
    assert "the signs are not fair" in laplace_problems(np.abs(right), Fraction(10))
    assert "neighbouring draws are related" in laplace_problems(
        np.repeat(right[::2], 2), Fraction(10)
    )
    assert "the signs are not fair" in laplace_problems(np.repeat(right[::2], 2), Fraction(10))
    magnitudes = np.repeat(np.abs(right[::2]), 2) * np.sign(right)
    assert "neighbouring draws are related" in laplace_problems(magnitudes, Fraction(10))
    assert "the variance is not that of the law" in laplace_problems(
        np.append(right, [10**5] * 3), Fraction(10)
    )
    even = right // 2 * 2
    assert "the draws do not have their law" in laplace_problems(even, Fraction(10)), (
        "every second value is missing"
    )
    assert "the draws fit another scale as well" in laplace_problems(right[:100], Fraction(10)), (
        "too few to tell"
    )


def test_choices_of_another_law_fail() -> None:
    generator = np.random.default_rng(1)
    utilities, rate = (0, -1, -3), Fraction(1, 2)
    for law in (
        exponential_law(utilities, rate),
        flipped_law(utilities, rate),
        response_law(2, 4, Fraction(1)),
    ):
        assert law.sum() == pytest.approx(1)
        assert choice_problems(generator.choice(len(law), 20_000, p=law).tolist(), law) == []
        wrong = law**1.3 / (law**1.3).sum()
        assert choice_problems(generator.choice(len(law), 20_000, p=wrong).tolist(), law)


def test_the_laws_of_choices_are_the_published_ones() -> None:
    """Utilities 0, −1, −3 at ε = 1 and sensitivity 1, so that a step is worth ε/2."""
    assert exponential_law((0, -1, -3), Fraction(1, 2)) == pytest.approx(
        (0.546549, 0.331499, 0.121952), abs=1e-6
    )
    assert flipped_law((0, -1, -3), Fraction(1, 2)) == pytest.approx(
        (0.630281, 0.280709, 0.089009), abs=2e-6
    )


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(3, 2)])
def test_a_mechanism_that_draws_another_scale_fails(
    factor: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Laplace, "sample", lambda self, size, **_: discrete_laplace(self.scale * factor, size)
    )
    room = check_samplers(AuditClock(10), draws=50_000, choices=500)
    verdicts = {check.what: check.verdict for check in room.checks}
    assert all(
        (verdict == "failed") == what.startswith("discrete Laplace")
        for what, verdict in verdicts.items()
        if not what.startswith(("discrete Gaussian", "sparse vector", "scan"))
    )


@pytest.mark.parametrize("factor", [Fraction(7, 10), Fraction(1), Fraction(13, 10)], ids=str)
def test_the_sparse_vector_of_its_scale_passes_and_of_others_fails(
    factor: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Laplace,
        "sample",
        lambda self, size, *, _entropy: discrete_laplace(
            self.scale * factor, size, _entropy=entropy
        ),
    )
    for seed, (name, draw, law) in enumerate(sparse_vectors()):
        entropy = Seeded(seed)
        assert law.sum() == pytest.approx(1)
        assert (choice_problems(draw(5_000), law) == []) == (factor == 1), name


def test_the_installed_samplers_pass() -> None:
    room = check_samplers(AuditClock(10), draws=200_000, choices=5_000)
    assert room.count("passed") == len(room.checks) == 19, room
    assert (12 * 6 + 7) * ALARM < FALSE_ALARM
    assert Gaussian(1, Fraction(4)).sample(1).shape == (1,)
