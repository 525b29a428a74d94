"""Limits and bounds that noisy counts tell: near the best that is possible,
and right in what they leave out.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsql.planning.tuning import NoisyCounts, of_bounds, of_limits
from dpsql.schema import SqlType
from dpsql.session.tuning.noisy_ladders import RowLimit, covering, last_step, middle, row_limit
from dpsql.session.tuning.tail_fit import hidden_tail

RUNGS = of_limits().rungs
LIMITS = np.array([int(rung) for rung in RUNGS])
#: The standard deviation of a count of rows in which a unit has one, at the ordinary price of 0.1.
ERROR = 10.0

Numbers = NDArray[np.float64]


def noisy(counts: Numbers, deviation: float) -> NoisyCounts:
    """Counts with Gaussian noise."""
    return NoisyCounts(tuple(counts), deviation, 3.59 * deviation, 6.0 * deviation)


def counted(
    numbers: Numbers,
    deviation: float,
    random: np.random.Generator,
    rungs: NDArray[np.int64] = LIMITS,
) -> NoisyCounts:
    exact = np.bincount(np.searchsorted(rungs, numbers), minlength=len(rungs))
    return noisy(exact + random.normal(0, deviation, len(rungs)), deviation)


def laws(units: int) -> dict[str, Numbers]:
    """Rows of units by several laws."""
    random = np.random.default_rng(11)
    return {
        "geometric": random.geometric(1 / 8, units).astype(float),
        "log-normal": np.maximum(1, np.round(random.lognormal(0.9, 1.0, units))),
        "Pareto": np.floor((1 - random.random(units)) ** (-1 / 2)),
        "heavy": np.floor((1 - random.random(units)) ** (-1 / 1.5)),
        "constant": np.full(units, 5.0),
        "two kinds": np.where(random.random(units) < 0.95, 1.0, 60.0),
    }


def errors(numbers: Numbers, limit: RowLimit) -> tuple[float, float]:
    """The part of the rows that a limit leaves out, and the error of a count with it."""
    cut = float(np.maximum(numbers - limit.most, 0).sum() / numbers.sum())
    return cut, float(np.hypot(cut, ERROR * limit.most / numbers.sum()))


@pytest.mark.parametrize("law", laws(10))
def test_the_limit_has_nearly_the_least_error_and_what_is_beyond_is_said_right(law: str) -> None:
    """With 8,000 units and counts at a tenth of ε = 3; over 40 draws."""
    numbers = laws(8_000)[law]
    random = np.random.default_rng(5)
    best = min(errors(numbers, RowLimit(int(limit), 0, 0, 0, 0))[1] for limit in LIMITS)
    found, within, units_within, apart = [], 0, 0, []
    for _ in range(40):
        limit = row_limit(RUNGS, counted(numbers, 7.0, random), ERROR)
        assert (
            limit is not None
            and limit.most in LIMITS
            and 0 <= limit.beyond <= limit.beyond_at_most <= 1
        )
        cut, error = errors(numbers, limit)
        found.append(error)
        within += cut <= limit.beyond_at_most + 0.002
        units_within += abs((numbers > limit.most).sum() - limit.units) <= limit.units_error
        apart.append(limit.beyond - cut)
    assert fmean(found) <= 1.8 * best + 0.005
    assert within >= 38 and units_within >= 38
    assert abs(fmean(apart)) < (0.12 if law == "heavy" else 0.01)


def test_counts_and_sums_are_within_a_tenth_though_tails_are_heavy() -> None:
    """The bias and one standard deviation of noise, in 9 of 10 draws;
    the heaviest tail needs more units.
    """
    for law, numbers in {**laws(8_000), "heavy": laws(50_000)["heavy"]}.items():
        random = np.random.default_rng(6)
        limits = [row_limit(RUNGS, counted(numbers, 7.0, random), ERROR) for _ in range(40)]
        good = sum(errors(numbers, limit)[1] <= 0.1 for limit in limits if limit is not None)
        assert good >= 36, law


def test_a_tail_of_which_three_steps_show_is_cut_into_knowingly() -> None:
    """1,500 units with counts of ± 13: without a curve the limit is 3,
    with twice the least error and nothing said.
    """
    numbers = np.floor((1 - np.random.default_rng(1_500).random(1_500)) ** (-1 / 2))
    random = np.random.default_rng(7)
    best = min(errors(numbers, RowLimit(int(limit), 0, 0, 0, 0))[1] for limit in LIMITS)
    found = [row_limit(RUNGS, counted(numbers, 13.0, random), ERROR) for _ in range(60)]
    limits = [limit for limit in found if limit is not None]
    assert len(limits) == 60 and fmean(errors(numbers, limit)[1] for limit in limits) <= 1.45 * best
    assert sum(limit.beyond > 0.01 for limit in limits) >= 50


def test_a_larger_price_of_statements_takes_a_larger_limit() -> None:
    numbers = laws(8_000)["Pareto"]
    found = []
    for error in (0.1, 10.0, 1000.0):
        limit = row_limit(RUNGS, counted(numbers, 0.5, np.random.default_rng(1)), error)
        assert limit is not None
        found.append(limit)
    assert found[0].most > found[1].most > found[2].most
    assert found[0].beyond < found[1].beyond < found[2].beyond
    assert found[2].beyond == pytest.approx(errors(numbers, found[2])[0], abs=0.02)
    assert found[2].units == pytest.approx(
        (numbers > found[2].most).sum(), abs=found[2].units_error
    )


def test_noise_alone_is_no_limit_and_no_bound() -> None:
    """In 300 ladders of noise; far from all units one count in a billion passes."""
    random = np.random.default_rng(2)
    ladders = [noisy(random.normal(0, 7.0, len(RUNGS)), 7.0) for _ in range(300)]
    assert all(row_limit(RUNGS, each, ERROR) is None for each in ladders)
    assert all(covering(RUNGS, each) is None and middle(RUNGS, each) is None for each in ladders)
    zero = noisy(np.zeros(len(RUNGS)), 7.0)
    assert row_limit(RUNGS, zero, ERROR) is None


@pytest.mark.parametrize(
    ("counts", "last"),
    [
        ([49.0, 0, 0, 0], None),
        ([51.0, 0, 0, 0], 0),
        ([28.0, 28.0, 28.0, 0], None),
        ([30.0, 30.0, 30.0, 0], 2),
        ([100.0, 0, 0, 37.0], 3),
        ([100.0, 0, 0, 35.0], 0),
        ([100.0, 0, 0, 0, 49.0], 0),
        ([100.0, 0, 0, 0, 51.0], 4),
        ([100.0, 26.0, 26.0, 0], 2),
        ([100.0, -60.0, 37.0], 2),
    ],
)
def test_the_last_step_with_units(counts: list[float], last: int | None) -> None:
    """A count shows above 50, next to others above 36, and so does a sum of neighbours."""
    assert last_step(counts, 36.0, 50.0) == last


def test_bounds_reach_one_step_beyond_the_last_value_but_not_beyond_0() -> None:
    ladder = of_bounds(SqlType.parse("integer"))
    rungs = np.array([int(rung) for rung in ladder.rungs])
    random = np.random.default_rng(3)
    years = random.integers(1871, 2015, 1_500).astype(float)
    highs = [covering(ladder.rungs, counted(years, 20.0, random, rungs)) for _ in range(40)]
    lows = [covering(ladder.rungs, counted(-years, 20.0, random, rungs)) for _ in range(40)]
    assert (
        all(high is not None and high >= 2240 for high in highs)
        and sum(high == 2500 for high in highs) >= 35
    )
    assert (
        all(low is not None and low >= -1800 for low in lows)
        and sum(low == -1600 for low in lows) >= 35
    )
    none = np.zeros(1_500)
    assert covering(ladder.rungs, counted(none, 20.0, random, rungs)) == 0
    assert covering(ladder.rungs, counted(none - 1, 20.0, random, rungs)) == 0
    assert covering(ladder.rungs, counted(none + 1, 20.0, random, rungs)) == 2


def test_the_middle_is_that_of_half_of_the_units() -> None:
    random = np.random.default_rng(4)
    numbers = np.array([1.0] * 400 + [5.0] * 300 + [50.0] * 300)
    assert {middle(RUNGS, counted(numbers, 3.0, random)) for _ in range(20)} == {Fraction(5)}


def test_a_tail_that_noise_hides_is_that_of_the_curve() -> None:
    """Of Pareto's law the rest that is fitted is near the true one;
    of a number that all have there is none.
    """
    numbers = np.floor((1 - np.random.default_rng(8).random(30_000)) ** (-1 / 1.5))
    steps = np.unique(LIMITS)
    sizes = [
        1.0,
        *((high - low) / np.log((high + 0.5) / (low + 0.5)) for low, high in pairwise(steps)),
    ]
    exact = np.bincount(np.searchsorted(steps, numbers), minlength=len(steps)).astype(float)
    limits, last = [int(step) for step in steps], int(np.argmax(steps >= 200))
    random = np.random.default_rng(9)
    tails = [
        sum(hidden_tail(limits, sizes, list(exact + random.normal(0, 7.0, len(steps))), 7.0, last))
        for _ in range(20)
    ]
    assert fmean(tails) == pytest.approx(exact[last + 1 :].sum(), rel=0.3)
    flat = [0.0] * len(steps)
    flat[4] = 5000.0
    assert sum(hidden_tail(limits, sizes, flat, 7.0, 4)) == 0
