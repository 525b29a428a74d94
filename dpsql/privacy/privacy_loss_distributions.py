"""Privacy loss distributions: dominating pairs of releases, and the δ of their composition.

Proved in ``docs/proofs/privacy_loss_distributions.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite, nextafter, sqrt
from typing import Any, TypeAlias, assert_never

from dpsql.errors import DataError

#: Larger distances are rounded up to a multiple of so many parts of a distance of this.
FINEST = 256
#: The widest Gaussian noise, as a standard deviation in steps,
#: of which every step need be looked #: at.
WIDEST = 2**10
#: Below this δ the rounding of floating-point convolutions would have a say.
LEAST_DELTA = Fraction(1, 10**9)
#: The grid of losses where none is of more than 1 in the mean,
#: and all together of no more than #: `MOST_WHOLE`.
_STEP = 1e-4
MOST_WHOLE = 64


@dataclass(frozen=True)
class LaplaceLoss:
    """Discrete Laplace noise P(z) ∝ exp(−rate·|z|) around 0 and around ``distance``."""

    rate: Fraction
    distance: int

    def coarse(self) -> LaplaceLoss:
        """A dominating pair of few steps: the distance is rounded up and stretched over them."""
        if self.distance <= FINEST:
            return self
        steps = -(-self.distance // FINEST)
        return LaplaceLoss(self.rate * steps, FINEST)


@dataclass(frozen=True)
class GaussianLoss:
    """Discrete Gaussian noise P(z) ∝ exp(−z²/(2·variance)) around 0 and around ``distance``:
    of one integer alone.
    """

    variance: Fraction
    distance: int


@dataclass(frozen=True)
class GaussianVectorLoss:
    """Discrete Gaussian noise P(z) ∝ exp(−z²/(2·variance)) on each of some integers,
    which move by √l2_squared in L2.

    ``variance`` must be above `smoothing`:
    narrower noise on a lattice is too far from noise on the line.
    """

    variance: Fraction
    l2_squared: int

    def __post_init__(self) -> None:
        if self.l2_squared < 1 or self.variance <= smoothing(self.l2_squared):
            raise DataError(
                "Gaussian noise as narrow as this has no known pair on several integers"
            )

    @property
    def line(self) -> LineLoss:
        """The pair on the line that dominates it, but for what `epsilon_of_losses` adds."""
        return LineLoss(self.l2_squared / (self.variance - smoothing(self.l2_squared)))


@dataclass(frozen=True)
class LineLoss:
    """Continuous Gaussian noise around 0 and around √square standard deviations.

    Several are one, of their sum.
    """

    square: Fraction


@dataclass(frozen=True)
class PureLoss:
    """Randomized response at ε: it dominates whatever is ε-DP."""

    epsilon: Fraction


@dataclass(frozen=True)
class ApproximateLoss:
    """What tells everything with probability δ, and otherwise nothing."""

    delta: Fraction


#: A closed union. What is known by its zCDP alone has no pair in it.
Loss: TypeAlias = LaplaceLoss | GaussianLoss | GaussianVectorLoss | PureLoss | ApproximateLoss
#: Those that have a distribution.
ComposedLoss: TypeAlias = LaplaceLoss | GaussianLoss | LineLoss | PureLoss


def smoothing(l2_squared: int) -> Fraction:
    """The variance r² above which rounding a Gaussian to integers does not show.

    2.0001·l2_squared·exp(−2π²r²) ≤ 2^-60,
    from the Poisson summation of exp(−(k − x)²/(2r²)) over integers k.
    """
    return Fraction(l2_squared.bit_length() + 62, 28)


def epsilon_of_losses(losses: Iterable[Loss], delta: Fraction) -> Fraction:
    """The ε at δ of all of them together, from above.

    Holds for releases that are fixed before the first of them is made. Raises DataError without the
    extra `pld`, or for a tiny δ.
    """
    counted = Counter(loss.coarse() if isinstance(loss, LaplaceLoss) else loss for loss in losses)
    leaks = sum(
        (
            loss.delta * times
            for loss, times in counted.items()
            if isinstance(loss, ApproximateLoss)
        ),
        Fraction(0),
    )
    lines = [
        (loss.line, times)
        for loss, times in counted.items()
        if isinstance(loss, GaussianVectorLoss)
    ]
    others: dict[ComposedLoss, int] = {
        loss: times
        for loss, times in counted.items()
        if not isinstance(loss, ApproximateLoss | GaussianVectorLoss)
    }
    if lines:
        others[LineLoss(sum((loss.square * times for loss, times in lines), Fraction(0)))] = 1
    if delta - leaks < LEAST_DELTA:
        raise DataError(
            f"pld needs a δ of at least {float(LEAST_DELTA):g} beside what thresholds use"
        )
    # At most so much is seen of the rounding to integers.
    rounded = Fraction(sum(times for _, times in lines), 2**57)
    return _epsilon(frozenset(others.items()), delta - leaks) + rounded if others else Fraction(0)


@lru_cache(maxsize=256)
def _epsilon(counted: frozenset[tuple[ComposedLoss, int]], delta: Fraction) -> Fraction:
    library = _library()
    total: Any = None
    step = _step(counted)
    for loss, times in sorted(counted, key=repr):
        composed = _distribution(library, loss, step).self_compose(times)
        total = composed if total is None else total.compose(composed)
    # What is left covers the rounding of the convolutions.
    delta_share = float(delta * Fraction(63, 64))
    epsilon = float(total.get_epsilon_for_delta(delta_share))
    if not isfinite(epsilon):
        raise DataError("pld finds no ε at this δ for prices as large as these")
    rounded_up = Fraction(epsilon) * (1 + Fraction(1, 10**9))
    return Fraction(-(-rounded_up.numerator * 10**12 // rounded_up.denominator), 10**12)


def _step(counted: frozenset[tuple[ComposedLoss, int]]) -> float:
    """The grid of losses: as fine as possible without work that grows with the price.

    The result is an upper bound on any grid.
    """
    dearest = max(_mean(loss) for loss, _ in counted)
    mean = sum((times * _mean(loss) for loss, times in counted), Fraction(0))
    return _STEP * 2.0 ** max(int(dearest), int(mean) // MOST_WHOLE).bit_length()


def _mean(loss: ComposedLoss) -> Fraction:
    """About the mean of a loss, or less if the grid may be finer."""
    match loss:
        case LaplaceLoss(rate=rate, distance=distance):
            return min(rate * distance, (rate * distance) ** 2 / 2)
        case GaussianLoss(variance=variance, distance=distance):
            return distance**2 / (2 * variance)
        case LineLoss(square=square):
            return square / 16  # of one distribution, which composes with nothing of its kind
        case PureLoss(epsilon=epsilon):
            return min(epsilon, epsilon**2 / 2)
        case _:
            assert_never(loss)


def _distribution(library: Any, loss: ComposedLoss, step: float) -> Any:
    settings = {"pessimistic_estimate": True, "value_discretization_interval": step}
    match loss:
        case LaplaceLoss(rate=rate, distance=distance):
            return library.from_discrete_laplace_mechanism(
                _above(rate), sensitivity=distance, **settings
            )
        case GaussianLoss(variance=variance, distance=distance):
            sigma = sqrt(variance) * (1 - 2.0**-40)
            return library.from_discrete_gaussian_mechanism(sigma, sensitivity=distance, **settings)
        case LineLoss(square=square):
            sigma = (1 - 2.0**-40) / sqrt(square)
            return library.from_gaussian_mechanism(sigma, sensitivity=1, **settings)
        case PureLoss(epsilon=epsilon):
            return library.from_discrete_laplace_mechanism(
                _above(epsilon), sensitivity=1, **settings
            )
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
