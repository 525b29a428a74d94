"""Statistics of moments: variances, covariances, correlations and regressions, read off noisy centred sums.

Proved in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.sql.ir.relation import Joint, Spread

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Variable:
    """Where the sums of one variable are measured, from the middle of its bounds; values lie within ``middle ± reach``.

    ``squares`` is None where the statistic needs no squares. Their cell, too, counts from the middle of what a square
    may be: ``square_middle`` for each row is missing in it.
    """

    total: int
    squares: int | None
    middle: Fraction
    reach: Fraction
    square_middle: Fraction

    @property
    def half(self) -> float:
        """``square_middle`` where the variable is measured in units of ``reach``: a half, up to rounding."""
        return float(self.square_middle / self.reach**2)


@dataclass(frozen=True, slots=True)
class Moment:
    """A statistic of ``x``, or of the pairs of ``y`` and ``x``; ``count`` is the number of rows that have both.

    ``product_middle`` for each row is missing in the cell of products: it is not 0 where both are one expression.
    """

    statistic: Spread | Joint
    count: int
    x: Variable
    y: Variable | None = None
    products: int | None = None
    product_middle: Fraction = Fraction(0)

    @property
    def pair(self) -> tuple[Variable, Variable]:
        """``y`` and ``x``."""
        assert self.y is not None
        return self.y, self.x


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, means, variances and covariance in units of the variables' reaches, each kept where it can lie."""

    count: Numbers
    mean_x: Numbers
    variance_x: Numbers
    mean_y: Numbers
    variance_y: Numbers
    covariance: Numbers


def moments(moment: Moment, cells: Sequence[Numbers]) -> Moments:
    """The moments that the cells tell, for as many draws of the cells as there are.

    A count below 1 is taken for 1. Where a mean is u, a variance lies between 0 and 1 − u², and a covariance within the
    root of the product of two variances; without squares, of their greatest values.
    """
    count = np.maximum(cells[moment.count], 1.0)
    mean_x, variance_x = _mean_and_variance(moment.x, count, cells)
    if moment.y is None:
        nothing = np.zeros_like(count)
        return Moments(count, mean_x, variance_x, nothing, nothing, nothing)
    mean_y, variance_y = _mean_and_variance(moment.y, count, cells)
    most = np.sqrt(variance_x * variance_y)
    covariance = np.zeros_like(count)
    if moment.products is not None:
        missing = float(moment.product_middle / (moment.x.reach * moment.y.reach))
        products = cells[moment.products] / float(moment.x.reach) / float(moment.y.reach) / count + missing
        covariance = np.clip(products - mean_x * mean_y, -most, most)
    return Moments(count, mean_x, variance_x, mean_y, variance_y, covariance)


def _mean_and_variance(variable: Variable, count: Numbers, cells: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    reach = float(variable.reach)
    mean = np.clip(cells[variable.total] / reach / count, -1.0, 1.0)
    if variable.squares is None:
        return mean, 1.0 - mean**2
    square = cells[variable.squares] / reach / reach / count + variable.half
    return mean, np.clip(square - mean**2, 0.0, 1.0 - mean**2)


def statistic(moment: Moment, cells: Sequence[Numbers]) -> Numbers:
    """The statistic on every draw; NaN where a variance that it divides by is 0."""
    with np.errstate(all="ignore"):
        return _statistic(moment, cells)


def _statistic(moment: Moment, cells: Sequence[Numbers]) -> Numbers:
    found = moments(moment, cells)
    count, x = found.count, float(moment.x.reach)
    sample = np.maximum(count, 2.0) / (np.maximum(count, 2.0) - 1.0)
    match moment.statistic:
        case "var_pop":
            return found.variance_x * x * x
        case "var_samp":
            return found.variance_x * sample * x * x
        case "stddev_pop":
            return np.sqrt(found.variance_x) * x
        case "stddev_samp":
            return np.sqrt(found.variance_x * sample) * x
    y = float(moment.pair[0].reach)
    match moment.statistic:
        case "regr_sxx":
            return found.variance_x * count * x * x
        case "regr_syy":
            return found.variance_y * count * y * y
        case "regr_sxy":
            return found.covariance * count * x * y
        case "covar_pop":
            return found.covariance * x * y
        case "covar_samp":
            return found.covariance * sample * x * y
        case "corr":
            return _correlation(found)
        case "regr_r2":
            return np.where(
                found.variance_y == 0, np.where(found.variance_x == 0, np.nan, 1.0), _correlation(found) ** 2
            )
        case "regr_slope":
            return _slope(found) * y / x
        case "regr_intercept":
            middle_x, middle_y = float(moment.x.middle), float(moment.pair[0].middle)
            return middle_y + y * found.mean_y - _slope(found) * y / x * (middle_x + x * found.mean_x)
        case _:
            assert_never(moment.statistic)


def _correlation(found: Moments) -> Numbers:
    spread = np.sqrt(found.variance_x * found.variance_y)
    return np.clip(_ratio(found.covariance, spread), -1.0, 1.0)


def _slope(found: Moments) -> Numbers:
    return _ratio(found.covariance, found.variance_x)


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    """The ratio, NaN where it has none."""
    return np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0)
