"""Pairs of distributions that dominate what a release does to one unit: proved in ``docs/proofs/loss.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter, sqrt
from typing import Any, TypeAlias, assert_never

from dpsql.errors import DataError

#: Larger distances are rounded up to a multiple of so many parts of a distance of this.
FINEST = 256
#: The widest Gaussian noise, as a standard deviation in steps, whose every step is looked at.
WIDEST = 2**17
#: Below this δ the rounding of floating-point convolutions would have a say.
LEAST_DELTA = Fraction(1, 10**9)
_STEP = 1e-4


@dataclass(frozen=True)
class LaplaceLoss:
    """Discrete Laplace noise P(z) ∝ exp(−rate·|z|) around 0 and around ``distance``."""

    rate: Fraction
    distance: int

    def coarse(self) -> LaplaceLoss:
        """A pair of few steps that dominates this one: the distance rounded up, and stretched over them."""
        if self.distance <= FINEST:
            return self
        each = -(-self.distance // FINEST)
        return LaplaceLoss(self.rate * each, FINEST)


@dataclass(frozen=True)
class GaussianLoss:
    """Discrete Gaussian noise P(z) ∝ exp(−z²/(2·variance)) around 0 and around ``distance``: of one integer alone."""

    variance: Fraction
    distance: int


@dataclass(frozen=True)
class PureLoss:
    """Randomized response at ε: it dominates whatever is ε-DP."""

    epsilon: Fraction


@dataclass(frozen=True)
class Leak:
    """What tells everything with probability δ, and otherwise nothing."""

    delta: Fraction


#: A closed union. What is known by its zCDP alone has no pair in it.
Loss: TypeAlias = LaplaceLoss | GaussianLoss | PureLoss | Leak


def epsilon_of_losses(losses: Iterable[Loss], delta: Fraction) -> Fraction:
    """The ε at δ of all of them together, from above; DataError without the extra `pld`, or for a tiny δ.

    Holds for releases that are fixed before the first of them is made.
    """
    counted = Counter(each.coarse() if isinstance(each, LaplaceLoss) else each for each in losses)
    leaks = sum((each.delta * times for each, times in counted.items() if isinstance(each, Leak)), Fraction(0))
    others = tuple((each, times) for each, times in counted.items() if not isinstance(each, Leak))
    if delta - leaks < LEAST_DELTA:
        raise DataError(f"pld needs a δ of at least {float(LEAST_DELTA):g} beside what thresholds use")
    return _epsilon(frozenset(others), delta - leaks) if others else Fraction(0)


@lru_cache(maxsize=256)
def _epsilon(counted: frozenset[tuple[LaplaceLoss | GaussianLoss | PureLoss, int]], delta: Fraction) -> Fraction:
    library = _library()
    whole: Any = None
    for loss, times in sorted(counted, key=repr):
        composed = _distribution(library, loss).self_compose(times)
        whole = composed if whole is None else whole.compose(composed)
    kept = float(delta * Fraction(63, 64))  # what is left covers the rounding of the convolutions
    found = Fraction(float(whole.get_epsilon_for_delta(kept))) * (1 + Fraction(1, 10**9))
    return Fraction(-(-found.numerator * 10**12 // found.denominator), 10**12)


def _distribution(library: Any, loss: LaplaceLoss | GaussianLoss | PureLoss) -> Any:
    settings = {"pessimistic_estimate": True, "value_discretization_interval": _STEP}
    match loss:
        case LaplaceLoss(rate=rate, distance=distance):
            return library.from_discrete_laplace_mechanism(_above(rate), sensitivity=distance, **settings)
        case GaussianLoss(variance=variance, distance=distance):
            sigma = sqrt(variance) * (1 - 2.0**-40)
            return library.from_discrete_gaussian_mechanism(sigma, sensitivity=distance, **settings)
        case PureLoss(epsilon=epsilon):
            return library.from_discrete_laplace_mechanism(_above(epsilon), sensitivity=1, **settings)
        case _:
            assert_never(loss)


def is_installed() -> bool:
    """Whether the extra that composes privacy loss distributions is there."""
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None


def _library() -> Any:
    if not is_installed():
        raise DataError('pld needs dp-accounting; pip install "dpsql[pld]"')
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution


def _above(value: Fraction) -> float:
    """The least double that is not below the value."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)
