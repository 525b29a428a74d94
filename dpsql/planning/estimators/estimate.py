"""How an aggregate is read off noisy cells: its value and its interval, by the laws of their noise.

Proved in ``docs/proofs/estimate.md``; half-widths of sums in ``docs/proofs/forms.md``; statistics
of moments and truth values in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.histogram import FrequencyEstimate
from dpsql.planning.estimators.linear_forms import (
    GAUSSIAN,
    ConfidenceInterval,
    LinearForm,
    NoiseLaw,
    NoisyCell,
    laplace,
    ratio,
)
from dpsql.planning.estimators.moment_intervals import moment_interval
from dpsql.planning.estimators.moments import OF_SAMPLES, MomentEstimate, statistic
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.privacy.mechanism import Laplace, Mechanism
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width

__all__ = [
    "CentredSum",
    "ConfidenceInterval",
    "Estimate",
    "MeanEstimate",
    "MomentEstimate",
    "NoisyCell",
    "PresenceEstimate",
    "SingleCell",
    "interval",
    "may_lack_rows",
    "mean_interval",
    "simulated",
    "value",
]


@dataclass(frozen=True, slots=True)
class SingleCell:
    """A count or a sum: the cell itself."""

    cell: int


@dataclass(frozen=True, slots=True)
class CentredSum:
    """A sum whose cell was measured from the middle of the bounds: total + middle · count."""

    total: int
    count: int
    middle: Fraction


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """An average: middle + total / count, which always lies within the bounds."""

    total: int
    count: int
    middle: Fraction
    reach: Fraction


@dataclass(frozen=True, slots=True)
class PresenceEstimate:
    """Whether a count is clearly above 0: more than its noise explains.

    EVERY counts what speaks against it.
    """

    count: int
    against: bool


Estimate: TypeAlias = SingleCell | CentredSum | MeanEstimate | MomentEstimate | PresenceEstimate


def value(estimate: Estimate, cells: Sequence[NoisyCell]) -> Fraction | None:
    """The aggregate's value, None for NULL; true is 1.

    An average over a noisy count below 1 divides by 1,
    and is kept within its bounds. It is NULL if it may lack rows.
    """
    if may_lack_rows(estimate, cells):
        return None
    match estimate:
        case SingleCell(cell=cell):
            return cells[cell][0]
        case CentredSum(total=total, count=count, middle=middle):
            return cells[total][0] + middle * cells[count][0]
        case MeanEstimate(total=total, count=count, middle=middle, reach=reach):
            ratio = cells[total][0] / max(cells[count][0], Fraction(1))
            return middle + min(max(ratio, -reach), reach)
        case MomentEstimate():
            number = float(statistic(estimate, [np.array([float(noisy)]) for noisy, _ in cells])[0])
            return Fraction(number) if math.isfinite(number) else None
        case PresenceEstimate(count=count, against=against):
            noisy, half = cells[count]
            return Fraction((noisy > half) != against)
        case _:
            assert_never(estimate)


def may_lack_rows(estimate: Estimate, cells: Sequence[NoisyCell]) -> bool:
    """Whether the interval of its count holds so few rows that SQL makes the statistic NULL.

    These are 0 rows, and 1 row of a statistic of a sample.
    """
    if not isinstance(estimate, MeanEstimate | MomentEstimate):
        return False
    noisy, half = cells[estimate.count]
    return noisy - half <= too_few_rows(estimate)


def too_few_rows(estimate: MeanEstimate | MomentEstimate) -> int:
    """The greatest number of rows for which SQL makes the statistic NULL."""
    return int(isinstance(estimate, MomentEstimate) and estimate.statistic in OF_SAMPLES)


def interval(
    estimate: Estimate,
    cells: Sequence[NoisyCell],
    wide: float | None = None,
    law: NoiseLaw = GAUSSIAN,
) -> ConfidenceInterval | None:
    """The interval of the clipped aggregate with the plan's confidence.

    It is exact for one cell, and Fieller's for ratios. A truth value has none. An average that may
    lack rows has one all the same, for the price of a better answer. ``wide`` is the half-width of
    a shifted sum, if the law of its noise is known.
    """
    match estimate:
        case SingleCell(cell=cell):
            middle, half = cells[cell]
            return float(middle - half), float(middle + half)
        case CentredSum():
            form = linear(estimate, cells, law)
            return form.interval if wide is None else (form.value - wide, form.value + wide)
        case MeanEstimate(total=total, count=count):
            above = linear(SingleCell(total), cells, law)
            below = linear(SingleCell(count), cells, law)
            return mean_interval(estimate, above, below)
        case MomentEstimate():
            return moment_interval(estimate, cells, law)
        case PresenceEstimate():
            return None
        case _:
            assert_never(estimate)


def mean_interval(
    estimate: MeanEstimate, above: LinearForm, below: LinearForm
) -> ConfidenceInterval:
    """The interval of an average from the forms of its total and its count.

    It is Fieller's set, within the bounds of the average.
    """
    middle = float(estimate.middle)
    end = float(estimate.reach)
    low, high = ratio(above, below, (-end, end))
    mean = min(max(above.value / max(below.value, 1.0), -end), end)
    return middle + min(low, mean), middle + max(high, mean)


def linear(
    estimate: SingleCell | CentredSum, cells: Sequence[NoisyCell], law: NoiseLaw
) -> LinearForm:
    """A count or a sum as a form in the cells that it is read off."""
    match estimate:
        case SingleCell(cell=cell):
            return LinearForm(float(cells[cell][0]), {cell: float(cells[cell][1])}, law)
        case CentredSum(total=total, count=count, middle=middle):
            return linear(SingleCell(total), cells, law) + linear(
                SingleCell(count), cells, law
            ) * float(middle)
        case _:
            assert_never(estimate)


def simulated(
    estimate: Estimate, cells: Sequence[NDArray[np.float64]], halves: Sequence[Fraction]
) -> NDArray[np.float64]:
    """The aggregate's value on many draws of the cells at once.

    It serves intervals of expressions over aggregates. NULL is NaN and true is 1; ``halves`` are
    the half-widths of the cells' noise.
    """
    match estimate:
        case SingleCell(cell=cell):
            return cells[cell]
        case CentredSum(total=total, count=count, middle=middle):
            return cells[total] + float(middle) * cells[count]
        case MeanEstimate(total=total, count=count, middle=middle, reach=reach):
            ratio = cells[total] / np.maximum(cells[count], 1.0)
            return float(middle) + np.clip(ratio, -float(reach), float(reach))
        case MomentEstimate():
            return statistic(estimate, cells)
        case PresenceEstimate(count=count, against=against):
            return np.where((cells[count] > float(halves[count])) != against, 1.0, 0.0)
        case _:
            assert_never(estimate)


#: A half-width of so many steps is a normal one: with fewer,
#: the next shorter one holds much less #: often.
MANY_STEPS = 20


@dataclass(frozen=True)
class CellNoise:
    """The noise of each cell of a core, in steps, and the size of a step in its data's unit."""

    noises: tuple[Mechanism, ...]
    steps: tuple[Fraction, ...]

    def half_widths(self, confidence: float) -> tuple[Fraction, ...]:
        """Half the width of each cell's interval, in the unit of its data."""
        return tuple(
            noise.half_width(confidence) * step
            for noise, step in zip(self.noises, self.steps, strict=True)
        )

    def sum_half_width(self, weights: Mapping[int, Fraction], confidence: float) -> float:
        """Half the width of the interval of a weighted sum of cells, which are named by index."""
        terms = [
            NoiseTerm(self.noises[cell], weight * self.steps[cell])
            for cell, weight in weights.items()
        ]
        return sum_half_width(terms, confidence)

    def coarse_half_width(self, weights: Mapping[int, Fraction], confidence: float) -> float | None:
        """The half-width of `sum_half_width` if the noise of some cell has few steps.

        None if all have so many that `law` tells it, too.
        """
        if all(self.noises[cell].half_width(confidence) >= MANY_STEPS for cell in weights):
            return None
        return self.sum_half_width(weights, confidence)

    def law(self, confidence: float) -> NoiseLaw:
        """How the noises of the cells add up."""
        return (
            laplace(confidence)
            if all(isinstance(noise, Laplace) for noise in self.noises)
            else GAUSSIAN
        )


def cell_weights(
    estimate: Estimate | QuantileEstimate | FrequencyEstimate,
) -> Mapping[int, Fraction] | None:
    """The factor of each cell in an estimate, by the cell's index.

    None if the estimate is no sum of cells.
    """
    match estimate:
        case SingleCell(cell=cell):
            return {cell: Fraction(1)}
        case CentredSum(total=total, count=count, middle=middle):
            return {total: Fraction(1), count: middle}
        case _:
            return None
