"""What EXPLAIN tells of averages and moments before anything is measured:
the error in a typical group.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.planning.estimators.estimate import MeanEstimate, interval
from dpsql.planning.estimators.linear_forms import GAUSSIAN, NoisyCell
from dpsql.planning.estimators.moments import CentredVariable, MomentEstimate
from dpsql.planning.estimators.typical_errors import errors_in_groups, even_half_width
from dpsql.sql.ir.aggregate_properties import Statistic

X = CentredVariable(
    total=1, squares=3, middle=Fraction(30), reach=Fraction(20), square_middle=Fraction(200)
)
Y = CentredVariable(
    total=2, squares=4, middle=Fraction(5), reach=Fraction(3), square_middle=Fraction(9, 2)
)
PAIRS = (
    Statistic.CORR,
    Statistic.COVAR_POP,
    Statistic.REGR_SLOPE,
    Statistic.REGR_R2,
    Statistic.REGR_SXY,
)
ESTIMATES = [
    MeanEstimate(total=1, count=0, middle=X.middle, reach=X.reach),
    *(
        MomentEstimate(each, 0, X)
        for each in (Statistic.VAR_POP, Statistic.STDDEV_SAMP, Statistic.REGR_SXX)
    ),
    *(MomentEstimate(each, 0, X, Y, products=5, product_middle=Fraction(7, 2)) for each in PAIRS),
]


@pytest.mark.parametrize("estimate", ESTIMATES, ids=repr)
def test_it_is_the_interval_of_rows_that_spread_evenly(
    estimate: MeanEstimate | MomentEstimate,
) -> None:
    """Pairs with a correlation of one half, each of which is spread evenly: the same number,
    or the same on its own.
    """
    random, rows = np.random.default_rng(20261128), 100_000
    x = random.uniform(-20, 20, rows)
    y = np.where(random.random(rows) < 0.5, x * 3 / 20, random.uniform(-3, 3, rows))
    sums = [rows, x.sum(), y.sum(), (x * x - 200).sum(), (y * y - 4.5).sum(), (x * y - 3.5).sum()]
    halves = [Fraction(each) for each in (60, 1200, 180, 24_000, 540, 3_600)]
    cells: list[NoisyCell] = [
        (Fraction(float(each)), half) for each, half in zip(sums, halves, strict=True)
    ]
    ends = interval(estimate, cells)
    assert ends is not None
    assert even_half_width(estimate, halves, GAUSSIAN, rows) == pytest.approx(
        (ends[1] - ends[0]) / 2, rel=0.05
    )


def test_what_says_nothing_is_said() -> None:
    correlation = MomentEstimate(Statistic.CORR, 0, X, Y, products=5)
    halves = [Fraction(each) for each in (2_000, 40_000, 6_000, 800_000, 18_000, 120_000)]
    said = errors_in_groups(correlation, halves, GAUSSIAN)
    assert said.startswith("nothing is told with 1,000 rows, ± 0.0") and said.endswith(
        " with 100,000"
    )
    slope = MomentEstimate(Statistic.REGR_SLOPE, 0, X, Y, products=5)
    assert math.isinf(even_half_width(slope, halves, GAUSSIAN, 1_000))
    assert errors_in_groups(slope, halves, GAUSSIAN).startswith(
        "nothing is told with 1,000 rows, ± "
    )
