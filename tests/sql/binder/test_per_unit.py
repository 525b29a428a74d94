"""Where the statistics of one unit's rows can lie."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.sql.binder.per_unit import _spread
from dpsql.sql.ir.aggregate_properties import Dispersion
from dpsql.sql.ir.interval import Interval


@pytest.mark.parametrize(
    ("is_deviation", "of_sample", "most"),
    [(False, False, 4), (False, True, 8), (True, False, 2), (True, True, 3)],
)
def test_the_spread_of_values_between_two_ends_is_bounded(
    is_deviation: bool, of_sample: bool, most: int
) -> None:
    found = _spread(Dispersion(is_deviation, of_sample), Interval(Fraction(-1), Fraction(3)))
    assert found == Interval(Fraction(0), Fraction(most))
