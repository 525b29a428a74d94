"""What noisy counts of units along a ladder tell: how far units reach,
and the limit of rows whose error is least.

All of it is computed of released counts: post-processing. Described in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import hypot, log, sqrt

from dpsql.planning.tuning import NoisyCounts
from dpsql.schema.authoring.write_limits import Ends
from dpsql.session.tuning.tail_fit import hidden_tail

#: So many steps without units may lie between two that have some and are near one another.
GAP = 2
#: How many neighbouring counts are added up.
WINDOWS = (1, 2, 4, 8, 16)
#: So many steps beyond the last with units may have some: fewer units than noise hides.
BEYOND_ROWS = 2
BEYOND_BOUNDS = 1
#: In so many steps beyond the last with units those are counted that may be there.
HIDDEN = 16
#: A unit that does not show may have the rows of so many steps beyond,
#: which are over twice as #: many.
FURTHER = 4
#: What a standard deviation of the rows that are cut counts beside them.
DOUBT = 0.25
#: How many standard deviations the said errors have, which is about 95 %.
SAID = 2.0


def last_step(counts: Sequence[float], near: float, far: float) -> int | None:
    """The last step of a ladder that has units; None if noise may be all that there is.

    A count has units above ``far``, or above ``near`` next to steps that have some;
    a sum of w counts above √w as much.

    >>> last_step([300, 500, 200, 4, -3, 40, 2], 36.0, 60.0), last_step([4, -3, 12], 36.0, 60.0)
    (5, None)
    """
    sums = [0.0, *accumulate(counts)]
    last = None
    for step in range(len(counts)):
        for window in WINDOWS:
            start = max(step + 1 - window, 0 if last is None else last + 1)
            is_near = last is not None and start <= last + 1 + GAP
            least = (near if is_near else far) * sqrt(max(step + 1 - start, 1))
            if start <= step and sums[step + 1] - sums[start] > least:
                last = step
                break
    return last


@dataclass(frozen=True)
class RowLimit:
    """The limit of the rows of a unit whose error is least, and what is beyond it.

    ``beyond`` is the part of all rows that it leaves out, and ``beyond_at_most`` that with the
    noise of counts. About ``units`` have more rows, but for ``units_error``.
    """

    most: int
    beyond: float
    beyond_at_most: float
    units: float
    units_error: float


def row_limit(
    rungs: Sequence[Fraction], noisy: NoisyCounts, error_of_one: float
) -> RowLimit | None:
    """The rung at which the rows that are cut and the noise together are least;
    None if no unit shows.

    Args:
        rungs: The ladder; of rungs that are alike the first has the units.
        noisy: Counts of units on it.
        error_of_one: The standard deviation of a count of rows in which a unit has one;
            it grows with the limit.
    """
    steps = [step for step, rung in enumerate(rungs) if step == 0 or rung > rungs[step - 1]]
    limits = [int(rungs[step]) for step in steps]
    counts = [noisy.counts[step] for step in steps]
    last = last_step(counts, noisy.near, noisy.far)
    if last is None:
        return None
    rows = _rows_of_a_unit(limits)
    tail = hidden_tail(limits, rows, counts, noisy.deviation, last=last)
    units = [
        count if step <= last else more
        for step, (count, more) in enumerate(zip(counts, tail, strict=True))
    ]
    end = max(last, max((step for step, more in enumerate(tail) if more), default=0))
    total = sum(count * size for count, size in zip(units, rows, strict=True))

    def beyond(step: int) -> tuple[float, float]:
        """The rows that a limit at the step cuts,
        and the standard deviation of the noise in them.
        """
        excess = [max(size - limits[step], 0) for size in rows]
        cut = sum(count * more for count, more in zip(units, excess, strict=True))
        return max(cut, 0.0), noisy.deviation * hypot(*excess[: last + 1])

    def error(step: int) -> float:
        cut, spread = beyond(step)
        return hypot(cut + DOUBT * spread, error_of_one * limits[step])

    reach = min(max(last + BEYOND_ROWS, end), len(limits) - 1)
    best = min(range(reach + 1), key=error)
    cut, spread = beyond(best)
    unsure = counts[last + 1 : last + 1 + HIDDEN]
    hidden = max(sum(unsure), 0.0) + SAID * noisy.deviation * sqrt(max(len(unsure), 1))
    further = rows[min(max(last, best) + FURTHER, len(rows) - 1)] - limits[best]
    at_most = max(cut, hidden * max(further, 0)) + SAID * spread
    return RowLimit(
        most=limits[best],
        beyond=_part(cut, total),
        beyond_at_most=_part(at_most, total),
        units=max(sum(units[best + 1 :]), 0.0),
        units_error=SAID * noisy.deviation * sqrt(max(last - best, 0) + max(len(unsure), 1)),
    )


def _rows_of_a_unit(limits: Sequence[int]) -> list[float]:
    """About how many rows a unit has on each step:
    the mean of whole numbers that are the rarer the larger they are.
    """
    between = [
        (limit - below) / log((limit + 0.5) / (below + 0.5)) for below, limit in pairwise(limits)
    ]
    return [1.0, *between]


def _part(rows: float, total: float) -> float:
    return min(rows / total, 1.0) if total > 0 else 0.0


def covering(rungs: Sequence[Fraction], noisy: NoisyCounts) -> Fraction | None:
    """A rung that hardly any unit exceeds, one beyond the last with units but not beyond 0;
    None if no unit shows.
    """
    last = last_step(noisy.counts, noisy.near, noisy.far)
    if last is None:
        return None
    further = rungs[min(last + BEYOND_BOUNDS, len(rungs) - 1)]
    return min(further, Fraction(0)) if rungs[last] <= 0 else further


def ends_of(low: Fraction | None, high: Fraction | None) -> Ends | None:
    """The bounds of a column; ``low`` is the bound of minus its values. None if there are none."""
    if low is None or high is None or -low >= high:
        return None
    return -low, high


def middle(rungs: Sequence[Fraction], noisy: NoisyCounts) -> Fraction | None:
    """The first rung that at most half of the units exceed; None if no unit shows."""
    last = last_step(noisy.counts, noisy.near, noisy.far)
    if last is None:
        return None
    up_to = list(accumulate(noisy.counts[: last + 1]))
    return next(rung for rung, below in zip(rungs, up_to, strict=False) if below >= up_to[-1] / 2)
