"""How wide the noise of a cell is, and that of a sum of cells. Proved in ``docs/proofs/cube.md``."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from dpsql.planning.estimators.least_squares import Spread
from dpsql.planning.plan import CorePlan

#: Noise that is all but certain to be 0 has a deviation that is no double, and neither is the square of a variance of
#: 1e-170; a larger one only makes intervals wider.
LEAST_VARIANCE = 1e-100
#: Up to so many groups of the finest level the spread of each sum is computed, beyond it is bounded.
DENSE = 400


def cell_variance(plan: CorePlan, place: int, step: Fraction) -> float:
    """The variance of a cell's noise in steps of that size: the square of the noise itself may be no double."""
    cell = plan.cells[place]
    spread = float(cell.mechanism.standard_deviation) * float(cell.contribution.step / step)
    return max(spread * spread, LEAST_VARIANCE)


def spread_half_width(spread: Spread, laplace: bool, confidence: float) -> float:
    """Half the interval of a sum of noises: the normal one, widened for Laplace noises by their fourth moment."""
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    wider = max(0.0, normal**3 - 3 * normal) / 8 * spread.single if laplace else 0.0
    return (normal + wider) * math.sqrt(spread.variance)
