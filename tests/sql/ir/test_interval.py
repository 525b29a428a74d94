"""The image of an interval under an increasing function holds each value that a DOUBLE of it may
have.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpsql.sql.ir.interval import Interval


def _image(low: Fraction | int | None, high: Fraction | int | None) -> Interval:
    ends = (None if end is None else Fraction(end) for end in (low, high))
    return Interval(*ends).monotone(math.sqrt)


def test_whole_ends_are_exact() -> None:
    assert _image(4, 9) == Interval(Fraction(2), Fraction(3))
    assert _image(0, None) == Interval(Fraction(0), None)


@pytest.mark.parametrize(
    ("low", "high"), [(2, 3), (Fraction(1, 4), Fraction(9, 4)), (4 + Fraction(1, 10**20), 9)]
)
def test_other_ends_are_rounded_outwards(low: Fraction | int, high: Fraction | int) -> None:
    image = _image(low, high)
    assert image.low is not None and image.high is not None
    assert image.low < Fraction(math.sqrt(low)) and image.low**2 <= low
    assert image.high**2 >= high and image.high <= Fraction(math.sqrt(high)) * (
        1 + Fraction(1, 2**40)
    )
    assert (image.high > Fraction(math.sqrt(high))) == (high != 9)


def test_what_has_no_image_has_no_end() -> None:
    assert _image(-1, 4) == Interval(None, Fraction(2))
    assert Interval(Fraction(0), Fraction(1000)).monotone(math.exp).high is None
