"""Where whole numbers lie by their type, their function and their operands."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.sql.analysis.clamping import _is_beyond
from dpsql.sql.emit.whole_numbers import _within
from dpsql.sql.functions.whole_numbers import BIGINT, _quotient
from dpsql.sql.ir.interval import EVERYTHING, Interval


def span(low: int | None, high: int | None) -> Interval:
    ends = (None if end is None else Fraction(end) for end in (low, high))
    return Interval(*ends)


@pytest.mark.parametrize(
    ("dividend", "divisor", "reach"),
    [
        (span(0, 100), span(7, 7), span(0, 14)),
        (span(0, 100), span(-7, -7), span(-14, 14)),
        (span(-100, 5), span(7, 7), span(-14, 14)),
        (span(0, 100), span(2, 7), span(0, 100)),
        (span(0, 100), span(0, 0), span(-100, 100)),
        (span(1, 100), span(-1, 5), span(-100, 100)),
        (span(0, 100), span(None, 5), span(-100, 100)),
    ],
)
def test_a_quotient_is_as_many_times_smaller_as_a_constant_says(
    dividend: Interval, divisor: Interval, reach: Interval
) -> None:
    """Of another divisor it is no larger than the dividend, with either sign."""
    assert _quotient(dividend, divisor) == reach


@pytest.mark.parametrize(
    ("inner", "fits"),
    [
        (span(0, 1), True),
        (BIGINT, True),
        (span(-(2**63), 2**63), False),
        (span(-(2**63) - 1, 0), False),
        (span(None, 0), False),
        (span(0, None), False),
        (EVERYTHING, False),
    ],
)
def test_a_number_fits_into_63_bits_if_both_its_ends_do(inner: Interval, fits: bool) -> None:
    assert _within(inner, BIGINT) == fits


@pytest.mark.parametrize(
    ("end", "possible", "direction", "beyond"),
    [
        (None, 5, 1, False),
        (None, None, 1, False),
        (3, None, 1, True),
        (3, 5, 1, True),
        (3, 3, 1, False),
        (3, 2, 1, False),
        (3, 5, -1, False),
        (3, 3, -1, False),
        (3, 2, -1, True),
    ],
)
def test_a_value_may_lie_beyond_an_end(
    end: int | None, possible: int | None, direction: int, beyond: bool
) -> None:
    """Nothing lies beyond an end that is not there; what is not limited lies beyond any."""
    numbers = [None if number is None else Fraction(number) for number in (end, possible)]
    assert _is_beyond(*numbers, direction) == beyond
