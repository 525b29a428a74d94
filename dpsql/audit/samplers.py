"""Checks that the installed samplers draw the distributions that are priced.

They draw with the system's randomness.

This includes the sparse vector technique, alone and in the scan for a clipping bound. Proved in
``docs/proofs/audit.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpsql.audit.clock import AuditClock
from dpsql.audit.empirical.confidence import deviation, surprise
from dpsql.audit.report import AuditCheck, CheckGroup
from dpsql.audit.sampler_distributions import (
    exponential_law,
    first_above_law,
    flipped_law,
    gaussian_below,
    gaussian_moments,
    laplace_below,
    laplace_moments,
    response_law,
)
from dpsql.privacy.mechanism import (
    AboveThreshold,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
)
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch

#: Queries around a threshold.
QUERIES: Final = (-3, 0, 2, -1)
THRESHOLD: Final = 1
#: The scales of the threshold's and of each query's noise at which a unit that moves each query by
#: 1 costs ε = 1: 1/2.5 + 2·1/(10/3), and 1/2 + 1/2 where it moves all of them one way.
ANY = (2.5, 10 / 3)
COUNTS = (2.0, 2.0)
#: Rows of each size. A unit moves 2 of them at ε = 1, or one in each of four groups at ρ = 1/2,
#: which is ε = 1/2 for each: seven tenths for the threshold's noise and three for the queries',
#: 2/(20/7) + 2/(20/3) = 1, and 8 rows left above.
ROWS: Final = (30, 20, 15, 10, 8, 5)
SCALES_OF_ROWS = (20 / 7, 20 / 3)
LEFT = 8


def sparse_vectors() -> Iterator[tuple[str, Callable[[int], list[int]], NDArray[np.float64]]]:
    """Each sparse vector mechanism: its name, its sampler, and its exact probabilities."""
    for name, monotone, scales in (("any queries", False, ANY), ("counts", True, COUNTS)):
        yield (
            f"sparse vector, {name}",
            partial(firsts, AboveThreshold(1, Fraction(1), monotone)),
            first_law(scales),
        )
    for name, moved, price in (("ε", 2, Fraction(1)), ("ρ", 4, Fraction(1, 2))):
        scan = ClippingBoundSearch(len(ROWS), moved, price, concentrated=name == "ρ", monotone=True)
        yield f"scan for a bound, priced in {name}", partial(sampled_size_scans, scan), scan_law()


def firsts(mechanism: AboveThreshold, draws: int) -> list[int]:
    """Sampled indices of the first query above; one past the last stands for none."""
    indices = [mechanism.draw(QUERIES, THRESHOLD) for _ in range(draws)]
    return [len(QUERIES) if index is None else index for index in indices]


def sampled_size_scans(scan: ClippingBoundSearch, draws: int) -> list[int]:
    """Sampled indices of the chosen sizes."""
    return [scan.choose(range(len(ROWS)), ROWS) for _ in range(draws)]


def first_law(scales: tuple[float, float]) -> NDArray[np.float64]:
    """The probabilities of each index, and of none, with noise of these scales."""
    return first_above_law(QUERIES, THRESHOLD, *scales)


def scan_law() -> NDArray[np.float64]:
    """The probabilities of each size: the first that few enough rows exceed, or the last."""
    above = [sum(ROWS[index + 1 :]) for index in range(len(ROWS) - 1)]
    return first_above_law([-rows for rows in above], -LEFT, *SCALES_OF_ROWS)


#: A test fails where what it saw has a smaller chance than this;
#: there are fewer than a hundred #: tests.
ALARM = 1e-12
#: What all tests together have, at most, of a chance to fail where nothing is wrong.
FALSE_ALARM = 1e-10
DRAWS = 1_000_000
CHOICES = 20_000
#: Draws that would fit noise of these scales as well would show nothing.
TOLD_APART = (0.7, 1.3)
#: Standard errors by which the observed variance may miss its own.
_ERRORS = 8

_SCALES = [
    Fraction(1, 6),
    Fraction(1, 2),
    Fraction(10),
    Fraction(1000, 7),
    Fraction(3_000_000),
    Fraction(2**49),
]
_VARIANCES = [
    Fraction(1, 4),
    Fraction(2),
    Fraction(100),
    Fraction(10**6, 3),
    Fraction(10**13),
    Fraction(2**99),
]
_NOISE_FITS = "the law, signs, neighbouring draws and variance fit; other scales do not"
_UTILITIES = (0, -1, -3)
_RATE = Fraction(1, 2)


def check_samplers(clock: AuditClock, draws: int = DRAWS, choices: int = CHOICES) -> CheckGroup:
    """Check each sampler at several scales."""
    checks = []
    looks = list(_looks(draws, choices))
    for index, (name, look) in enumerate(looks, 1):
        clock.tell(f"samplers: {index} of {len(looks)}, {name}")
        problems = look() if clock.left > 0 else None
        if problems is None:
            checks.append(AuditCheck(name, "skipped", "the time was up"))
        else:
            message = "; ".join(problems) or (
                _NOISE_FITS if name.startswith("discrete") else "the choices have their law"
            )
            checks.append(AuditCheck(name, "failed" if problems else "passed", message))
    return CheckGroup(
        "samplers",
        f"{draws:,} fresh draws of each have the law that is priced, and could be told from 0.7 and from 1.3 times its "
        f"scale; together these checks fail by chance less than once in {1 / FALSE_ALARM:.0e} audits",
        tuple(checks),
    )


def seconds_of_samplers(draws: int = DRAWS, choices: int = CHOICES) -> float:
    """The expected seconds of these draws, from two small parts of them."""
    few, more = (_seconds(draws // divisor, choices // divisor) for divisor in (100, 25))
    return few + max(more - few, 0.0) * (1 - 1 / 100) / (1 / 25 - 1 / 100)


def _seconds(draws: int, choices: int) -> float:
    started = time.perf_counter()
    for _, look in _looks(max(draws, 100), max(choices, 2)):
        look()
    return time.perf_counter() - started


def _looks(draws: int, choices: int) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    for scale in _SCALES:
        yield (
            f"discrete Laplace, scale {float(scale):.4g}",
            lambda scale=scale: laplace_problems(  # type: ignore[misc]
                Laplace(1, scale).sample(draws), scale
            ),
        )
    for variance in _VARIANCES:
        yield (
            f"discrete Gaussian, σ = {sqrt(variance):.4g}",
            lambda variance=variance: gaussian_problems(  # type: ignore[misc]
                Gaussian(1, variance).sample(draws), variance
            ),
        )
    exponential = ExponentialMechanism(1, _RATE)
    flip = PermuteAndFlip(1, _RATE)
    response = RandomizedResponse.for_epsilon(4, Fraction(1))
    yield (
        "exponential mechanism",
        lambda: choice_problems(
            [exponential.draw(_UTILITIES) for _ in range(choices)],
            exponential_law(_UTILITIES, _RATE),
        ),
    )
    yield (
        "permute-and-flip",
        lambda: choice_problems(
            [flip.draw(_UTILITIES) for _ in range(choices)], flipped_law(_UTILITIES, _RATE)
        ),
    )
    for name, draw, law in sparse_vectors():
        yield name, lambda draw=draw, law=law: choice_problems(draw(choices // 2), law)  # type: ignore[misc]
    yield (
        "randomized response",
        lambda: choice_problems(response.draw([2] * choices), response_law(2, 4, Fraction(1))),
    )


def laplace_problems(drawn: NDArray[np.int64], scale: Fraction) -> list[str]:
    """Faults of draws that should have P(z) ∝ exp(−|z|/scale)."""
    size = float(scale)
    return _problems(
        drawn,
        size,
        lambda bounds, factor: laplace_below(bounds, size * factor),
        laplace_moments(size),
    )


def gaussian_problems(drawn: NDArray[np.int64], variance: Fraction) -> list[str]:
    """Faults of draws that should have P(z) ∝ exp(−z²/(2·variance))."""
    sigma = sqrt(variance)
    return _problems(
        drawn,
        sigma,
        lambda bounds, factor: gaussian_below(bounds, sigma * factor),
        gaussian_moments(sigma),
    )


def choice_problems(drawn: list[int], law: NDArray[np.float64]) -> list[str]:
    """Faults of choices that should have these probabilities."""
    fits = surprise(np.bincount(drawn, minlength=len(law)), law) >= ALARM
    return [] if fits else ["the choices do not have their law"]


def _problems(
    drawn: NDArray[np.int64],
    scale: float,
    below: Callable[[list[int], float], NDArray[np.float64]],
    moments: tuple[float, float],
) -> list[str]:
    result = []
    bounds = [int(bound) for bound in np.unique(np.round(np.linspace(-8, 8, 201) * scale))]
    observed = np.bincount(np.searchsorted(bounds, drawn, "left"), minlength=len(bounds) + 1)

    def chance(factor: float) -> float:
        return surprise(*_merged(observed, np.diff(below(bounds, factor), prepend=0.0, append=1.0)))

    if chance(1.0) < ALARM:
        result.append("the draws do not have their law")
    if any(chance(factor) >= ALARM for factor in TOLD_APART):
        result.append("the draws fit another scale as well")
    if not _signs_are_fair(drawn):
        result.append("the signs are not fair")
    if not _neighbours_are_unrelated(drawn, below):
        result.append("neighbouring draws are related")
    second, fourth = moments
    error = sqrt((fourth - second**2) / len(drawn))
    if abs(float((drawn.astype(np.float64) ** 2).mean()) - second) > _ERRORS * error:
        result.append("the variance is not that of the law")
    return result


def _merged(
    observed: NDArray[np.int64], law: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The counts with cells of fewer than ten expected draws merged into their neighbours."""
    enough = 10 / max(int(observed.sum()), 1)
    total = 0.0
    ends = []
    for index, chance in enumerate(law):
        total += chance
        if total >= enough:
            ends.append(index)
            total = 0.0
    starts = [0, *(end + 1 for end in ends[:-1])]
    return np.add.reduceat(observed, starts), np.add.reduceat(law, starts)


def _signs_are_fair(drawn: NDArray[np.int64]) -> bool:
    """Whether positive and negative draws are as frequent, and neighbouring signs are unrelated."""
    signs = np.sign(drawn[drawn != 0])
    pairs = signs[: len(signs) // 2 * 2].reshape(-1, 2)
    fair = deviation(int((signs > 0).sum()), len(signs), 0.5) >= ALARM
    return fair and deviation(int((pairs[:, 0] == pairs[:, 1]).sum()), len(pairs), 0.5) >= ALARM


def _neighbours_are_unrelated(
    drawn: NDArray[np.int64], below: Callable[[list[int], float], NDArray[np.float64]]
) -> bool:
    """Whether successive draws are both large as often as independent ones would be."""
    size = int(np.median(np.abs(drawn)))
    low, high = below([-size - 1, size], 1.0)
    chance = float(low + 1 - high) ** 2
    large = np.abs(drawn) > size
    for shift in (0, 1):
        pairs = large[shift : shift + (len(large) - shift) // 2 * 2].reshape(-1, 2)
        if deviation(int(pairs.all(axis=1).sum()), len(pairs), chance) < ALARM:
            return False
    return True
