"""The bounds on chances are bounds, and those that have a library's counterpart agree with it."""

from __future__ import annotations

from itertools import product
from math import comb, factorial, log, prod

import numpy as np
import pytest
from scipy import special, stats

from dpsql.audit.empirical.confidence import beta, deviation, greatest, least, surprise

COUNTS = [
    (0, 10),
    (1, 10),
    (5, 10),
    (10, 10),
    (1, 7000),
    (3500, 7000),
    (6999, 7000),
    (12, 10**6),
    (700_000, 10**6),
]


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
@pytest.mark.parametrize("tail", [1e-10, 1e-3, 0.05])
def test_clopper_and_pearson_as_scipy_has_them(successes: int, trials: int, tail: float) -> None:
    low = 0.0 if successes == 0 else stats.beta.ppf(tail, successes, trials - successes + 1)
    high = 1.0 if successes == trials else stats.beta.isf(tail, successes + 1, trials - successes)
    assert least(successes, trials, tail) == pytest.approx(low, rel=1e-8, abs=1e-300)
    assert greatest(successes, trials, tail) == pytest.approx(high, rel=1e-8)


def test_the_incomplete_beta_function_as_scipy_has_it() -> None:
    for p, a, b in product(
        (1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9), (0.5, 1, 3, 700, 10**5), (0.5, 1, 4, 900, 10**5)
    ):
        assert beta(p, a, b) == pytest.approx(special.betainc(a, b, p), rel=1e-7, abs=1e-12)
    assert beta(0, 2, 3) == 0 and beta(1, 2, 3) == 1


@pytest.mark.parametrize("trials", [1, 4, 25])
@pytest.mark.parametrize("chance", [0.01, 0.3, 0.5])
def test_an_interval_misses_no_more_often_than_it_says(trials: int, chance: float) -> None:
    weights = [
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)
    ]
    for tail in (0.2, 0.01):
        above = sum(weight for k, weight in enumerate(weights) if least(k, trials, tail) > chance)
        below = sum(
            weight for k, weight in enumerate(weights) if greatest(k, trials, tail) < chance
        )
        assert above <= tail and below <= tail


@pytest.mark.parametrize(
    "law", [(0.5, 0.5), (0.2, 0.3, 0.5), (0.01, 0.49, 0.5), (0.1, 0.2, 0.3, 0.4)]
)
@pytest.mark.parametrize("draws", [3, 9])
def test_a_surprise_is_never_said_to_be_rarer_than_it_is(
    law: tuple[float, ...], draws: int
) -> None:
    """The exact chance of counts at least as far from their law, over all counts."""
    every = [
        counts for counts in product(range(draws + 1), repeat=len(law)) if sum(counts) == draws
    ]
    weight = {
        counts: factorial(draws)
        / prod(map(factorial, counts))
        * prod(p**count for p, count in zip(law, counts, strict=True))
        for counts in every
    }
    far = {
        counts: sum(o * log(o / (draws * p)) for o, p in zip(counts, law, strict=True) if o)
        for counts in every
    }
    for counts in every:
        exact = sum(weight[each] for each in every if far[each] >= far[counts] - 1e-12)
        assert surprise(np.array(counts), np.array(law)) >= exact * (1 - 1e-9)


@pytest.mark.parametrize("chance", [0.5, 0.1])
def test_a_deviation_is_never_said_to_be_rarer_than_it_is(chance: float) -> None:
    law = stats.binom(40, chance)
    for k in range(41):
        exact = law.sf(k - 1) if k > 40 * chance else law.cdf(k)
        assert deviation(k, 40, chance) >= exact * (1 - 1e-9)


def test_what_cannot_happen_is_no_chance_at_all() -> None:
    assert surprise(np.array([1, 5]), np.array([0.0, 1.0])) == 0
    assert deviation(1, 5, 0.0) == 0


def test_much_data_tells_laws_apart_that_are_near() -> None:
    law = np.full(10, 0.1)
    moved = law + np.array([0.01, -0.01, *[0] * 8])
    assert surprise(np.round(moved * 10**6).astype(int), law) < 1e-12
    assert surprise(np.round(law * 10**6).astype(int), law) == 1
