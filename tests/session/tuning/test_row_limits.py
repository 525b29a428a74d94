"""Limits of rows, bounds and middles on ladders of a few rungs, worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import pytest

from dpsql.planning.tuning import NoisyCounts
from dpsql.session.tuning.noisy_ladders import (
    _part,
    covering,
    ends_of,
    last_step,
    middle,
    row_limit,
)


def rungs(*numbers: int) -> list[Fraction]:
    return [Fraction(number) for number in numbers]


def noisy(
    counts: list[float], deviation: float = 1.0, near: float = 10.0, far: float = 10.0
) -> NoisyCounts:
    return NoisyCounts(tuple(counts), deviation, near, far)


def rows_between(below: int, limit: int) -> float:
    """The mean of whole numbers above one rung and up to the next."""
    return (limit - below) / log((limit + 0.5) / (below + 0.5))


@pytest.mark.parametrize(
    ("counts", "last"),
    [
        ([0, -10, 41], 2),
        ([0, 0, 0, 0, 40.0], None),
        ([0, 0, 0, 0, 29, 29], 5),
        ([0, 0, 0, 0, 28, 28], None),
        ([0, 0, 0, 0, 21, 21, 21, 21], 7),
        ([0, 0, 0, 0, 14.5, 14.5, 14.5, 14.5, 14.5, 14.5, 14.5, 14.5], 11),
        ([0, 0, 0, 0, *[10.2] * 16], 19),
        ([10.2] * 16, 15),
        ([9.9] * 16, None),
    ],
)
def test_sums_of_two_to_sixteen_counts_show_units(counts: list[float], last: int | None) -> None:
    """A sum of w counts shows above 40·√w: of two 56.6, of four 80, of eight 113.1, of 16 160."""
    assert last_step(counts, 40.0, 40.0) == last


def test_the_rows_that_are_cut_count_with_a_quarter_of_their_noise() -> None:
    """A limit of 1 cuts 12 units of 3.33 rows, and a quarter of a noise of 8 units.

    That is as much as the noise of a count of limit 9 has more than one of limit 1 if
    (12 + 8/4) · 3.33 = √80 · e, so at e = 5.2.
    """
    excess = rows_between(1, 9) - 1
    even = 14 * excess / sqrt(80)
    assert even == pytest.approx(5.2, abs=0.05)
    for ladder, counts in (((1, 9), [100.0, 12.0]), ((1, 9, 100), [100.0, 12.0, 0.0])):
        found = noisy(counts, deviation=8.0)
        large, small = (
            row_limit(rungs(*ladder), found, even * factor) for factor in (0.999, 1.001)
        )
        assert large is not None and large.most == 9
        assert small is not None and small.most == 1


def test_what_is_beyond_the_last_rung() -> None:
    """Nothing is beyond the end of the ladder, and noise of one count hides what is."""
    counts = noisy([100.0, 12.0], deviation=8.0)
    size = rows_between(1, 9)
    total = 100 + 12 * size
    most = row_limit(rungs(1, 9), counts, 0.1)
    assert most is not None
    assert (most.most, most.beyond, most.beyond_at_most, most.units) == (9, 0, 0, 0)
    assert most.units_error == pytest.approx(2 * 8)
    least = row_limit(rungs(1, 9), counts, 1000.0)
    assert least is not None and least.most == 1
    assert least.beyond == pytest.approx(12 * (size - 1) / total)
    hidden = 2 * 8 * (size - 1)
    assert least.beyond_at_most == pytest.approx((hidden + 2 * 8 * (size - 1)) / total)
    assert least.units == 12
    assert least.units_error == pytest.approx(2 * 8 * sqrt(2))


def test_sixteen_counts_beyond_the_last_may_hide_units_four_steps_further() -> None:
    """Counts 2 to 17 add up to 12, with a noise of √16 = 4; step 5 has the rows of 16 to 32."""
    ladder = rungs(*(2**step for step in range(24)))
    counts = [1000.0, 200.0, 5.0, *[0.0] * 14, 7.0, 9.0, *[0.0] * 5]
    found = noisy(counts, deviation=3.0, near=90.0, far=90.0)
    total = 1000 + 200 * rows_between(1, 2)
    hidden = 12 + 2 * 3 * 4
    limit = row_limit(ladder, found, 0.001)
    assert limit is not None and (limit.most, limit.beyond, limit.units) == (2, 0, 0)
    assert limit.beyond_at_most == pytest.approx(hidden * (rows_between(16, 32) - 2) / total)
    assert limit.units_error == pytest.approx(2 * 3 * sqrt(16))
    limit = row_limit(ladder, found, 1e6)
    assert limit is not None and (limit.most, limit.units) == (1, 200)
    spread = 3 * (rows_between(1, 2) - 1)
    assert limit.beyond_at_most == pytest.approx(
        (hidden * (rows_between(16, 32) - 1) + 2 * spread) / total
    )
    assert limit.units_error == pytest.approx(2 * 3 * sqrt(1 + 16))


def test_of_rungs_that_are_alike_the_first_has_the_units() -> None:
    limit = row_limit(rungs(1, 1, 1, 9), noisy([100.0, 50.0, 50.0, 12.0]), 0.1)
    assert limit == row_limit(rungs(1, 9), noisy([100.0, 12.0]), 0.1)


@pytest.mark.parametrize(
    ("rows", "total", "part"),
    [(0.25, 0.5, 0.5), (3.0, 2.0, 1.0), (3.0, 0.0, 0.0), (3.0, -1.0, 0.0)],
)
def test_a_part_of_the_rows_is_at_most_all(rows: float, total: float, part: float) -> None:
    assert _part(rows, total) == part


@pytest.mark.parametrize(
    ("ladder", "counts", "bound"),
    [
        ((1, 2, 3), [50, 50, 0], 3),
        ((1, 2, 3), [50, 0, 0], 2),
        ((1, 2, 3), [50, 50, 50], 3),
        ((-3, -1, 4), [0, 50, 0], 0),
        ((-3, -2, -1), [50, 0, 0], -2),
        ((-1, 0, 4), [0, 50, 0], 0),
        ((1, 2, 3), [0, 5, 0], None),
    ],
)
def test_a_bound_is_the_next_rung_but_not_beyond_0(
    ladder: tuple[int, ...], counts: list[float], bound: int | None
) -> None:
    assert covering(rungs(*ladder), noisy(counts)) == bound


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (5, 7, (-5, 7)),
        (-5, 7, (5, 7)),
        (-7, 7, None),
        (-8, 7, None),
        (None, 7, None),
        (5, None, None),
        (None, None, None),
    ],
)
def test_the_lower_bound_is_of_minus_the_values(
    low: int | None, high: int | None, ends: tuple[int, int] | None
) -> None:
    """Two ends that meet are none."""
    bounds = (None if end is None else Fraction(end) for end in (low, high))
    assert ends_of(*bounds) == ends


@pytest.mark.parametrize(
    ("counts", "rung"),
    [
        ([40, 60], 2),
        ([50, 50], 1),
        ([60, 40], 1),
        ([40, 60, -30], 2),
        ([20, 20, 61], 3),
        ([5, 5, 0], None),
    ],
)
def test_half_of_the_units_exceed_the_middle_at_most(counts: list[float], rung: int | None) -> None:
    """Noise beyond the last step with units counts for nothing."""
    assert middle(rungs(*range(1, len(counts) + 1)), noisy(counts)) == rung
