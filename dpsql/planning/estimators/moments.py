"""Statistics of moments: variances, covariances, correlations and regressions.

They are read off noisy centred sums. Proved in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.cell_list import CellList, ValuePair
from dpsql.sql.analysis.quantisation import product_quantum, quantum
from dpsql.sql.ir.aggregate_properties import MomentSums, Power, Statistic
from dpsql.sql.ir.core import Aggregate, ProductSum
from dpsql.sql.ir.expression import Expression

FloatArray: TypeAlias = NDArray[np.float64]
#: The statistics that divide by one less than the number of rows.
OF_SAMPLES: Final = frozenset({Statistic.VAR_SAMP, Statistic.STDDEV_SAMP, Statistic.COVAR_SAMP})


@dataclass(frozen=True, slots=True)
class CentredVariable:
    """The cells of one variable's sums, which are measured from the middle of its bounds.

    Values lie within ``middle ± reach``. ``squares`` is None if the statistic needs no squares.
    Their cell, too, counts from the middle of what a square may be: ``square_middle`` for each row
    is missing in it.
    """

    total: int
    squares: int | None
    middle: Fraction
    reach: Fraction
    square_middle: Fraction

    @property
    def half(self) -> float:
        """``square_middle`` in units of ``reach`` squared: a half, up to rounding."""
        return float(self.square_middle / self.reach**2)


@dataclass(frozen=True, slots=True)
class MomentEstimate:
    """A statistic of ``x``, or of the pairs of ``y`` and ``x``.

    ``count`` is the number of rows that have both. ``product_middle`` for each row is missing in
    the cell of products: it is not 0 if both are one expression.
    """

    statistic: Statistic
    count: int
    x: CentredVariable
    y: CentredVariable | None = None
    products: int | None = None
    product_middle: Fraction = Fraction(0)

    @property
    def pair(self) -> tuple[CentredVariable, CentredVariable]:
        """``y`` and ``x``."""
        assert self.y is not None
        return self.y, self.x


def moment(sums: MomentSums, aggregate: Aggregate, cells: CellList) -> MomentEstimate:
    """The statistic with the cells that it needs.

    Cells of pairs are of the rows in which both have a value.
    """
    if aggregate.other is None:
        assert aggregate.argument is not None
        x = _variable(aggregate.argument, aggregate.condition, sums.x, cells)
        return MomentEstimate(
            sums.statistic, cells.rows(aggregate.argument, aggregate.condition), x
        )
    pairs = ValuePair.of(aggregate)
    count = cells.rows(*pairs.counted)
    x = _variable(pairs.x, pairs.x_where, sums.x, cells)
    y = _variable(pairs.y, pairs.y_where, sums.y, cells)
    if not sums.products:
        return MomentEstimate(sums.statistic, count, x, y)
    products = cells.index_of(ProductSum(*pairs.factors, pairs.condition))
    grid = product_quantum(*pairs.factors)
    return MomentEstimate(
        sums.statistic, count, x, y, products=products, product_middle=grid.middle * grid.size
    )


def _variable(
    argument: Expression, condition: Expression | None, power: Power, cells: CellList
) -> CentredVariable:
    grid = quantum(argument)
    squares = product_quantum(argument, argument)
    total = cells.total(argument, condition)
    match power:
        case 0 | 1:
            squares_cell = None
        case 2:
            squares_cell = cells.index_of(ProductSum(argument, argument, condition))
        case _:
            assert_never(power)
    reach = max(grid.reach, 1) * grid.size
    middle = grid.middle * grid.size
    return CentredVariable(
        total, squares_cell, middle, reach, square_middle=squares.middle * squares.size
    )


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, means, variances and covariance in units of the variables' reaches.

    Each is kept within its possible range.
    """

    count: FloatArray
    mean_x: FloatArray
    variance_x: FloatArray
    mean_y: FloatArray
    variance_y: FloatArray
    covariance: FloatArray


def moments(moment: MomentEstimate, cells: Sequence[FloatArray]) -> Moments:
    """The moments for as many draws of the cells as there are.

    A count below 1 is taken for 1. If a mean is u, a variance lies between 0 and 1 − u². A
    covariance lies within the root of the product of two variances; without squares, of their
    greatest values.
    """
    count = np.maximum(cells[moment.count], 1.0)
    mean_x, variance_x = _mean_and_variance(moment.x, count, cells)
    if moment.y is None:
        nothing = np.zeros_like(count)
        return Moments(count, mean_x, variance_x, nothing, variance_y=nothing, covariance=nothing)
    mean_y, variance_y = _mean_and_variance(moment.y, count, cells)
    most = np.sqrt(variance_x * variance_y)
    covariance = np.zeros_like(count)
    if moment.products is not None:
        missing = float(moment.product_middle / (moment.x.reach * moment.y.reach))
        products = (
            cells[moment.products] / float(moment.x.reach) / float(moment.y.reach) / count + missing
        )
        covariance = np.clip(products - mean_x * mean_y, -most, most)
    return Moments(count, mean_x, variance_x, mean_y, variance_y=variance_y, covariance=covariance)


def _mean_and_variance(
    variable: CentredVariable, count: FloatArray, cells: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    reach = float(variable.reach)
    mean = np.clip(cells[variable.total] / reach / count, -1.0, 1.0)
    if variable.squares is None:
        return mean, 1.0 - mean**2
    square = cells[variable.squares] / reach / reach / count + variable.half
    return mean, np.clip(square - mean**2, 0.0, 1.0 - mean**2)


def statistic(moment: MomentEstimate, cells: Sequence[FloatArray]) -> FloatArray:
    """The statistic on every draw; NaN if a variance that it divides by is 0."""
    with np.errstate(all="ignore"):
        return _statistic(moment, cells)


def _statistic(moment: MomentEstimate, cells: Sequence[FloatArray]) -> FloatArray:
    moments_ = moments(moment, cells)
    count = moments_.count
    x = float(moment.x.reach)
    sample = np.maximum(count, 2.0) / (np.maximum(count, 2.0) - 1.0)
    match moment.statistic:
        case Statistic.VAR_POP:
            return moments_.variance_x * x * x
        case Statistic.VAR_SAMP:
            return moments_.variance_x * sample * x * x
        case Statistic.STDDEV_POP:
            return np.sqrt(moments_.variance_x) * x
        case Statistic.STDDEV_SAMP:
            return np.sqrt(moments_.variance_x * sample) * x
    y = float(moment.pair[0].reach)
    match moment.statistic:
        case Statistic.REGR_SXX:
            return moments_.variance_x * count * x * x
        case Statistic.REGR_SYY:
            return moments_.variance_y * count * y * y
        case Statistic.REGR_SXY:
            return moments_.covariance * count * x * y
        case Statistic.COVAR_POP:
            return moments_.covariance * x * y
        case Statistic.COVAR_SAMP:
            return moments_.covariance * sample * x * y
        case Statistic.CORR:
            return _correlation(moments_)
        case Statistic.REGR_R2:
            return np.where(
                moments_.variance_y == 0,
                np.where(moments_.variance_x == 0, np.nan, 1.0),
                _correlation(moments_) ** 2,
            )
        case Statistic.REGR_SLOPE:
            return _slope(moments_) * y / x
        case Statistic.REGR_INTERCEPT:
            middle_x = float(moment.x.middle)
            middle_y = float(moment.pair[0].middle)
            return (
                middle_y
                + y * moments_.mean_y
                - _slope(moments_) * y / x * (middle_x + x * moments_.mean_x)
            )
        case _:
            assert_never(moment.statistic)


def _correlation(moments_: Moments) -> FloatArray:
    spread = np.sqrt(moments_.variance_x * moments_.variance_y)
    return np.clip(_ratio(moments_.covariance, spread), -1.0, 1.0)


def _slope(moments_: Moments) -> FloatArray:
    return _ratio(moments_.covariance, moments_.variance_x)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """The ratio; NaN if the divisor is not above 0."""
    return np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0)
