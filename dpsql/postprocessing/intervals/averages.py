"""Intervals of sums and differences of averages of one released row (``docs/proofs/ends.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.planning.estimators.estimate import Average, Interval
from dpsql.planning.estimators.linear_forms import Form, ratio

#: How near to the end of what is possible an interval's end is taken to be cut there.
CUT = 1e-9


@dataclass(frozen=True)
class _Part:
    """Averages over one count, each times its factor: their value, where it may lie, and how far it can be from 0."""

    value: float
    interval: Interval
    reach: float


def sum_interval(averages: Sequence[tuple[float, Average]], constant: float) -> Interval:
    """Where the sum of averages lies, each times its factor, and of a constant.

    Averages over the same rows are one ratio. What noise leaves open to one side is added as it is, the rest as what
    is independent.
    """
    parts, law = _parts(averages), averages[0][1].total.law
    middle = constant + sum(factor * each.middle for factor, each in averages) + sum(part.value for part in parts)
    reached = []
    for side in (0, 1):
        far = [abs(part.interval[side] - part.value) for part in parts]
        opened = [abs(part.interval[side]) >= part.reach * (1 - CUT) for part in parts]
        whole = sum(each for each, is_open in zip(far, opened, strict=True) if is_open)
        reached.append(whole + law.together(*(each for each, is_open in zip(far, opened, strict=True) if not is_open)))
    return middle - reached[0], middle + reached[1]


def _parts(averages: Sequence[tuple[float, Average]]) -> list[_Part]:
    parts = []
    for count in {tuple(each.count.moved.items()): each.count for _, each in averages}.values():
        same = [(factor, each) for factor, each in averages if each.count.moved == count.moved]
        above, reach, value = Form(0.0, {}, count.law), 0.0, 0.0
        for factor, each in same:
            above = above + each.total * factor
            reach += abs(factor) * each.reach
            value += factor * min(max(each.total.value / max(count.value, 1.0), -each.reach), each.reach)
        low, high = ratio(above, count, (-reach, reach))
        parts.append(_Part(value, (min(low, value), max(high, value)), reach))
    return parts
