"""Intervals of statistics of moments, given how far noise may have moved each of their sums.

Proved in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dpsql.planning.estimators.linear_forms import (
    EVERYTHING,
    FROM_ZERO,
    GAUSSIAN,
    ConfidenceInterval,
    LinearForm,
    NoiseLaw,
    NoisyCell,
    cut,
    ratio,
)
from dpsql.planning.estimators.moments import CentredVariable, MomentEstimate
from dpsql.sql.ir.aggregate_properties import Statistic


@dataclass(frozen=True, slots=True)
class CentredForms:
    """The sums that statistics are ratios of, in units of the variables' reaches."""

    count: LinearForm
    mean_x: float
    mean_y: float
    total_x: LinearForm
    total_y: LinearForm
    square_x: LinearForm | None
    square_y: LinearForm | None
    product: LinearForm | None


def forms(moment: MomentEstimate, cells: Sequence[NoisyCell], law: NoiseLaw) -> CentredForms:
    """Count, totals and centred sums about the noisy means u, v.

    The centred sums are Σ(x − u)², Σ(y − v)² and Σ(x − u)(y − v).
    """

    def form(index: int, *reaches: Fraction) -> LinearForm:
        value, half = cells[index]
        scale = math.prod(reaches, start=Fraction(1))
        return LinearForm(float(value / scale), {index: float(half / scale)}, law)

    count = form(moment.count)
    rows = max(count.value, 1.0)

    def first(variable: CentredVariable) -> tuple[LinearForm, float]:
        total = form(variable.total, variable.reach)
        return total, min(max(total.value / rows, -1.0), 1.0)

    total_x, mean_x = first(moment.x)
    total_y, mean_y = (total_x, mean_x) if moment.y is None else first(moment.y)
    loose_x, loose_y = (
        (total + count * -mean).half_width for total, mean in ((total_x, mean_x), (total_y, mean_y))
    )

    def second(
        variable: CentredVariable, total: LinearForm, mean: float, loose: float
    ) -> LinearForm | None:
        if variable.squares is None:
            return None
        square = form(variable.squares, variable.reach, variable.reach) + count * variable.half
        centred = square + total * (-2 * mean) + count * mean**2
        return replace(centred, lost_above=loose**2 / rows)

    product = None
    if moment.products is not None:
        y, x = moment.pair
        missing = float(moment.product_middle / (x.reach * y.reach))
        products = form(moment.products, x.reach, y.reach) + count * missing
        centred = products + total_x * -mean_y + total_y * -mean_x + count * (mean_x * mean_y)
        lost = loose_x * loose_y / (2 * rows)
        product = replace(centred, lost_below=lost, lost_above=lost)
    square_x = second(moment.x, total_x, mean_x, loose_x)
    square_y = None if moment.y is None else second(moment.y, total_y, mean_y, loose_y)
    return CentredForms(
        count,
        mean_x,
        mean_y=mean_y,
        total_x=total_x,
        total_y=total_y,
        square_x=square_x,
        square_y=square_y,
        product=product,
    )


def moment_interval(
    moment: MomentEstimate, cells: Sequence[NoisyCell], law: NoiseLaw = GAUSSIAN
) -> ConfidenceInterval:
    """The values of the statistic that the noise leaves open."""
    forms_ = forms(moment, cells, law)
    x = float(moment.x.reach)
    y = 1.0 if moment.y is None else float(moment.y.reach)
    match moment.statistic:
        case Statistic.VAR_POP:
            return _scaled(ratio(_known(forms_.square_x), forms_.count, (0.0, 1.0)), x * x)
        case Statistic.VAR_SAMP:
            return _scaled(
                ratio(_known(forms_.square_x), forms_.count.plus(-1.0), (0.0, 2.0)), x * x
            )
        case Statistic.STDDEV_POP:
            return _root(ratio(_known(forms_.square_x), forms_.count, (0.0, 1.0)), x)
        case Statistic.STDDEV_SAMP:
            return _root(ratio(_known(forms_.square_x), forms_.count.plus(-1.0), (0.0, 2.0)), x)
        case Statistic.REGR_SXX:
            return _scaled(_nonnegative_interval(_known(forms_.square_x)), x * x)
        case Statistic.REGR_SYY:
            return _scaled(_nonnegative_interval(_known(forms_.square_y)), y * y)
        case Statistic.REGR_SXY:
            return _scaled(_known(forms_.product).interval, x * y)
        case Statistic.COVAR_POP:
            return _scaled(ratio(_known(forms_.product), forms_.count, (-1.0, 1.0)), x * y)
        case Statistic.COVAR_SAMP:
            return _scaled(
                ratio(_known(forms_.product), forms_.count.plus(-1.0), (-2.0, 2.0)), x * y
            )
        case Statistic.CORR:
            return _correlation(forms_)
        case Statistic.REGR_R2:
            low, high = _correlation(forms_)
            least = 0.0 if low <= 0 <= high else min(low * low, high * high)
            return least, max(low * low, high * high)
        case Statistic.REGR_SLOPE:
            return _scaled(
                ratio(_known(forms_.product), _known(forms_.square_x), EVERYTHING), y / x
            )
        case Statistic.REGR_INTERCEPT:
            return _intercept(moment, forms_)
        case _:
            assert_never(moment.statistic)


def _correlation(centred_forms: CentredForms) -> ConfidenceInterval:
    """Fieller's interval for the product over the root of both squares.

    The root is taken as linear near its value.
    """
    x = _known(centred_forms.square_x)
    y = _known(centred_forms.square_y)
    product = _known(centred_forms.product)
    if x.interval[0] <= 0 or y.interval[0] <= 0:
        return -1.0, 1.0
    root = math.sqrt(x.value * y.value)
    spread = x * (0.5 * math.sqrt(y.value / x.value)) + y * (0.5 * math.sqrt(x.value / y.value))
    return ratio(product, replace(spread, value=root), (-1.0, 1.0))


def _intercept(moment: MomentEstimate, centred_forms: CentredForms) -> ConfidenceInterval:
    """The interval of ȳ − b·x̄.

    It is the ratio of ȳ·Σ(x − u)² − x̄·Σ(x − u)(y − v) and Σ(x − u)², linear near its value.
    """
    x = moment.x
    y = moment.pair[0]
    square = _known(centred_forms.square_x)
    product = _known(centred_forms.product)
    rows = max(centred_forms.count.value, 1.0)
    mean_x = centred_forms.mean_x + float(x.middle / x.reach)
    mean_y = centred_forms.mean_y + float(y.middle / y.reach)
    moved_x = (centred_forms.total_x + centred_forms.count * -centred_forms.mean_x) * (1 / rows)
    moved_y = (centred_forms.total_y + centred_forms.count * -centred_forms.mean_y) * (1 / rows)
    level = square * mean_y + product * -mean_x
    noise = level + moved_y * square.value + moved_x * -product.value
    above = replace(level, moved=noise.moved)
    return _scaled(ratio(above, square, EVERYTHING), float(y.reach))


def _nonnegative_interval(square: LinearForm) -> ConfidenceInterval:
    return cut(square.interval, FROM_ZERO)


def _root(interval: ConfidenceInterval, scale: float) -> ConfidenceInterval:
    return math.sqrt(interval[0]) * scale, math.sqrt(interval[1]) * scale


def _scaled(interval: ConfidenceInterval, scale: float) -> ConfidenceInterval:
    low, high = (end * scale if math.isfinite(end) and end else end for end in interval)
    return low, high


def _known(form: LinearForm | None) -> LinearForm:
    assert form is not None
    return form
