"""Curves of tails on counts without noise, which lie on a curve themselves."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsql.session.tuning.tail_fit import _Curve, _curve, hidden_tail

LIMITS = [2**step for step in range(41)]
WIDTHS = np.diff([0, *LIMITS]).astype(float)
LOGS = np.log(np.array(LIMITS, dtype=float))
#: Steps up to this one are known to have units.
LAST = 6


def on_a_curve(a: float, b: float, c: float = 0.0) -> list[float]:
    """Counts whose density at n is exp(a + b·ln n + c·(ln n)²)."""
    return [
        width * exp(a + b * step + c * step**2) for width, step in zip(WIDTHS, LOGS, strict=True)
    ]


def tail(counts: list[float], deviation: float = 5.0, last: int = LAST) -> list[float]:
    return hidden_tail(LIMITS, [float(limit) for limit in LIMITS], counts, deviation, last)


def fitted(counts: list[float], deviation: float = 5.0, last: int = LAST) -> _Curve:
    steps = len(counts)
    curve = _curve(WIDTHS[:steps], LOGS[:steps], np.array(counts), deviation, last)
    assert curve is not None
    return curve


def orthogonal(counts: NDArray[np.float64], curve: _Curve, terms: int) -> bool:
    """Whether what the fit leaves is at right angles to the slopes of all parameters."""
    residual = counts - curve.counts
    slopes = np.vander(LOGS[: len(counts)], terms, increasing=True) * curve.counts[:, None]
    sizes = np.linalg.norm(slopes, axis=0) * np.linalg.norm(residual)
    return bool((abs(slopes.T @ residual) < 0.01 * sizes).all())


def test_a_tail_is_the_curve_for_seven_steps() -> None:
    """Each step has half as many units as the one before; the noise hides more than ten of them."""
    counts = on_a_curve(log(50_000), -2)
    steps = tail(counts, deviation=1_000.0)
    assert steps[: LAST + 1] == [0.0] * (LAST + 1)
    assert steps[LAST + 1 : LAST + 8] == pytest.approx(counts[LAST + 1 : LAST + 8], rel=1e-3)
    assert steps[LAST + 7] > 2 and steps[LAST + 8 :] == [0.0] * (40 - LAST - 7)


def test_a_step_that_does_not_show_has_at_most_twice_the_noise() -> None:
    counts = on_a_curve(log(50_000), -2)
    steps = tail(counts, deviation=70.0)
    assert counts[LAST + 1] > 150 > 140 > counts[LAST + 2]
    assert steps[LAST + 1] == 140
    assert steps[LAST + 2] == pytest.approx(counts[LAST + 2], rel=1e-3)


def test_a_tail_of_less_than_one_unit_is_none() -> None:
    """From the fifth hidden step on there are 1.2 units, from the sixth on 0.6."""
    steps = tail(on_a_curve(log(0.6 * 2 * LIMITS[LAST + 5]), -2), deviation=5.0)
    assert steps[LAST + 5] == pytest.approx(0.6, rel=1e-2)
    assert steps[LAST + 6 :] == [0.0] * (40 - LAST - 5)


@pytest.mark.parametrize(
    ("units", "b", "c"), [(20_000, -1.5, 0.0), (200_000, -3.0, 0.0), (20_000, -1.2, -0.1)]
)
def test_a_curve_goes_on_as_it_falls(units: int, b: float, c: float) -> None:
    counts = on_a_curve(log(units), b, c)
    steps = tail(counts, deviation=30.0, last=4)
    hidden = [min(count, 60.0) for count in counts[5:8]]
    assert steps[5:8] == pytest.approx(hidden, rel=0.02)
    curve = fitted(counts, deviation=30.0, last=4)
    assert curve.slope == pytest.approx(b + 2 * c * LOGS[4], abs=0.02)
    assert curve.left < 1e-3


@pytest.mark.parametrize(("b", "c"), [(-2.0, 0.0), (-1.2, -0.1)])
def test_the_slope_is_that_at_the_last_step_though_the_curve_starts_later(
    b: float, c: float
) -> None:
    """The first three steps have next to no units, so that the curve starts after them."""
    counts = on_a_curve(log(1e6), b, c)
    counts[:3] = [0.0, 0.0, 0.0]
    curve = fitted(counts, last=8)
    assert curve.slope == pytest.approx(b + 2 * c * LOGS[8], abs=0.01)
    assert list(curve.counts[3:12]) == pytest.approx(counts[3:12], rel=0.01)


def test_three_steps_are_a_straight_line_and_two_are_no_curve() -> None:
    """A step has units if it has more than one standard deviation of the noise."""
    counts = [1000.0, 100.0, 10.0, *[0.0] * 38]
    assert tail(counts, deviation=10.0, last=2) == [0.0] * 41
    steps = tail(counts, deviation=9.0, last=2)
    slope = fitted(counts, deviation=9.0, last=2).slope
    assert slope == pytest.approx(log(0.1) / log(2), abs=0.1)
    assert 0 < steps[3] < counts[2]


def test_noise_beyond_the_last_step_is_no_step_with_units() -> None:
    counts = [0.0, 0.0, 0.0, 1000.0, 100.0, 12.0, *[0.0] * 35]
    assert _curve(WIDTHS, LOGS, np.array(counts), 10.0, 4) is None
    assert _curve(WIDTHS, LOGS, np.array(counts), 10.0, 5) is not None


def test_the_noise_far_beyond_the_last_step_is_not_looked_at() -> None:
    counts = on_a_curve(log(50_000), -2)
    quiet = tail(counts, deviation=70.0)
    counts[LAST + 30] = 10_000.0
    assert tail(counts, deviation=70.0) == quiet
    counts[LAST + 10] = 10_000.0
    assert tail(counts, deviation=70.0) == [0.0] * 41


def test_a_number_that_no_curve_describes_has_no_tail() -> None:
    """Ten steps with as many units each, and none beyond."""
    assert tail([100.0] * 10 + [0.0] * 31, deviation=2.0, last=9) == [0.0] * 41


def test_a_curve_does_not_turn_upwards() -> None:
    """Of counts that fall ever more slowly the straight line is taken, with c = 0."""
    counts = np.array(on_a_curve(log(5_000), -3, 0.05)[:7])
    curve = fitted(list(counts), deviation=12.0)
    density = np.log(curve.counts / WIDTHS[:7])
    falls = np.diff(density) / np.diff(LOGS[:7])
    assert falls == pytest.approx([curve.slope] * 6)
    assert orthogonal(counts, curve, 2)


@pytest.mark.parametrize("steps", [3, 4, 6])
def test_a_curve_leaves_the_least_squares(steps: int) -> None:
    """What is left is in variances of the noise, divided by the steps beyond the terms."""
    noise = np.array([4.0, -6.0, 8.0, 7.0, -5.0, 6.0])[:steps]
    counts = np.array(on_a_curve(log(1_000), -1.8, -0.05)[:steps]) + noise
    curve = fitted(list(counts), deviation=20.0, last=steps - 1)
    density = np.log(curve.counts / WIDTHS[:steps])
    bends = np.diff(np.diff(density) / np.diff(LOGS[:steps]))
    terms = 3 if (abs(bends) > 1e-9).any() else 2
    assert orthogonal(counts, curve, terms)
    squares = float(((counts - curve.counts) ** 2).sum())
    assert curve.left == pytest.approx(squares / 20.0**2 / max(steps - terms, 1), rel=1e-6)
