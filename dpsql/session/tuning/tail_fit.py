"""Fits a smooth density to noisy counts, for the tail of a distribution that noise hides.

The density of whole numbers n is exp(a + b·ln n + c·(ln n)²) with c ≤ 0 from some step on, which
log-normal and Pareto distributions have, by least squares over all steps from there, the empty ones
too. All of it is post-processing. Described in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The mean square of what a fit leaves, in variances of the noise, up to which it is believed.
WORST_FIT = 1.6
#: A tail with fewer units than this is none.
FEWEST = 1.0
#: A curve is believed for so many steps beyond the last that shows,
#: which have up to five times as #: many rows.
MOST_STEPS = 7
#: So many steps from the last with units on take part in the fit: that one and the empty ones after it.
EMPTY_STEPS = 20
#: A fit is at least over so many steps with units; over so many alone it has no square.
LEAST_STEPS = 3
#: An exponent as which no count is larger than anybody's data.
MOST_EXPONENT = 25.0
_ROUNDS = 60

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class _Curve:
    """A fitted curve: the counts of units on all steps, the mean square of what is left,
    and its slope at the end.
    """

    counts: Vector
    left: float
    slope: float


def hidden_tail(
    limits: Sequence[int],
    sizes: Sequence[float],
    counts: Sequence[float],
    deviation: float,
    last: int,
) -> list[float]:
    """About how many units each step above ``last`` has; empty if no curve fits, or it does not fall.

    Args:
        limits: The upper end of each step, a whole number.
        sizes: A typical number of each step.
        counts: Noisy counts of units on the steps.
        deviation: The standard deviation of their noise.
        last: The last step that is known to have units.
    """
    none = [0.0] * len(limits)
    widths = np.diff(np.array([0, *limits], dtype=float))
    curve = _curve(widths, np.log(np.array(sizes)), np.array(counts), deviation, last=last)
    if curve is None or curve.slope >= -1:
        return none
    beyond = curve.counts.copy()
    beyond[np.cumsum(beyond[::-1])[::-1] < FEWEST] = 0
    beyond[: last + 1] = 0
    beyond[last + 1 + MOST_STEPS :] = 0
    return [float(size) for size in np.minimum(beyond, 2 * deviation)]


def _curve(
    widths: Vector, logs: Vector, counts: Vector, deviation: float, last: int
) -> _Curve | None:
    """The curve that fits from the mode on, or from the first step after it;
    None if there is none.
    """
    ends = np.log(np.cumsum(widths) + 0.5)
    spans = np.diff(ends, prepend=np.log(0.5))
    three = np.ones(3)
    density = np.convolve(counts, three, "same") / np.convolve(spans, three, "same")
    for start in range(int(np.argmax(density[: last + 1])), last + 1):
        curve = _fitted(
            widths, logs, counts=counts, deviation=deviation, start=start, last=last, terms=3
        )
        if curve is None or curve.left < WORST_FIT:
            return curve
    return None


def _fitted(
    widths: Vector,
    logs: Vector,
    counts: Vector,
    deviation: float,
    start: int,
    last: int,
    terms: int,
) -> _Curve | None:
    """The curve from a step on, by the method of Levenberg and Marquardt;
    None if too few steps have units.
    """
    steps = slice(start, min(len(counts), last + EMPTY_STEPS))
    step_counts = counts[steps]
    width = widths[steps]
    powers = np.vander(logs - logs[start], terms, increasing=True)
    basis = powers[steps]
    seen = (step_counts > deviation) & (np.arange(len(step_counts)) <= last - start)
    if seen.sum() < LEAST_STEPS:
        return None
    if seen.sum() == LEAST_STEPS and terms == LEAST_STEPS:
        return _fitted(
            widths,
            logs,
            counts=counts,
            deviation=deviation,
            start=start,
            last=last,
            terms=terms - 1,
        )

    def curve(basis: Vector, width: Vector, at: Vector) -> Vector:
        return np.asarray(width * np.exp(np.clip(basis @ at, -2 * MOST_EXPONENT, MOST_EXPONENT)))

    roots = np.sqrt(step_counts[seen])
    at = np.linalg.lstsq(
        basis[seen] * roots[:, None], np.log(step_counts[seen] / width[seen]) * roots, rcond=None
    )[0]
    best = float(((step_counts - curve(basis, width, at)) ** 2).sum())
    damping = 1e-3
    for _ in range(_ROUNDS):
        now = curve(basis, width, at)
        slopes = basis * now[:, None]
        square = slopes.T @ slopes
        change = np.linalg.lstsq(
            square + damping * np.diag(np.diag(square) + 1e-9),
            slopes.T @ (step_counts - now),
            rcond=None,
        )[0]
        squares = float(((step_counts - curve(basis, width, at + change)) ** 2).sum())
        if squares < best:
            is_done = best - squares < 1e-6 * best
            at = at + change
            best = squares
            damping = max(damping / 5, 1e-9)
            if is_done:
                break
        else:
            damping *= 5
    if terms == 3 and at[2] > 0:
        return _fitted(
            widths, logs, counts=counts, deviation=deviation, start=start, last=last, terms=2
        )
    slope = float(at[1] + (2 * at[2] * (logs[last] - logs[start]) if terms == 3 else 0))
    residual = best / deviation**2 / max(len(step_counts) - terms, 1)
    return _Curve(curve(powers, widths, at), residual, slope)
