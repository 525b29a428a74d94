"""The half-widths of measured cells, and of sums of them, by the laws of their noise.

Proved in ``docs/proofs/forms.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsql.planning.estimators.estimate import CentredSum, Estimate, SingleCell
from dpsql.planning.estimators.histogram import FrequencyEstimate
from dpsql.planning.estimators.linear_forms import GAUSSIAN, NoiseLaw, laplace
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.privacy.mechanism import Laplace, Mechanism
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width

#: A half-width of so many steps is a normal one: with fewer, the next shorter one holds much less often.
MANY_STEPS = 20


@dataclass(frozen=True)
class CellNoise:
    """The noise of each cell of a core, in steps, and the size of one step in the unit of the cell's data."""

    noises: tuple[Mechanism, ...]
    steps: tuple[Fraction, ...]

    def half_widths(self, confidence: float) -> tuple[Fraction, ...]:
        """Half the width of each cell's interval, in the unit of its data."""
        return tuple(noise.half_width(confidence) * step for noise, step in zip(self.noises, self.steps, strict=True))

    def sum_half_width(self, weights: Mapping[int, Fraction], confidence: float) -> float:
        """Half the width of the interval of a weighted sum of cells, which are named by their places."""
        terms = [NoiseTerm(self.noises[cell], weight * self.steps[cell]) for cell, weight in weights.items()]
        return sum_half_width(terms, confidence)

    def coarse_half_width(self, weights: Mapping[int, Fraction], confidence: float) -> float | None:
        """The same where the noise of some cell has few steps; None where all have so many that `law` tells it, too."""
        if all(self.noises[cell].half_width(confidence) >= MANY_STEPS for cell in weights):
            return None
        return self.sum_half_width(weights, confidence)

    def law(self, confidence: float) -> NoiseLaw:
        """How the noises of the cells add up."""
        return laplace(confidence) if all(isinstance(noise, Laplace) for noise in self.noises) else GAUSSIAN


def cell_weights(estimate: Estimate | QuantileEstimate | FrequencyEstimate) -> Mapping[int, Fraction] | None:
    """How often each cell is in an estimate, by the cell's place; None where the estimate is no sum of cells."""
    match estimate:
        case SingleCell(cell=cell):
            return {cell: Fraction(1)}
        case CentredSum(total=total, count=count, middle=middle):
            return {total: Fraction(1), count: middle}
        case _:
            return None
