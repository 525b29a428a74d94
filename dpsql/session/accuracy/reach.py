"""The price at which the intervals of a statement are as narrow as somebody wants them.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, log1p, sqrt
from statistics import NormalDist
from typing import assert_never

from dpsql.errors import Refused
from dpsql.planning.estimators.estimate import Alone
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.privacy.mechanism.rounding import confidence_tail
from dpsql.session.accuracy.decimals import decimal, least, nearest
from dpsql.session.accuracy.expected import ColumnError, expected, place_of
from dpsql.session.accuracy.target import Goal

#: What a plan's columns would be like, None for a column of which that is not known.
Errors = Sequence[ColumnError | None]


@dataclass(frozen=True)
class Wanted:
    """A column and the half-width that it is to have; ``exact`` tells whether the plan alone tells which it has."""

    place: int
    half_width: float
    exact: bool


def excess(wanted: Sequence[Wanted], errors: Errors) -> float:
    """How many times as wide as wanted the widest column is."""
    ratios = []
    for each in wanted:
        error = errors[each.place]
        ratios.append(inf if error is None else error.half_width / each.half_width)
    return max(ratios)


def exact_price(plan: Plan, goal: Goal, wanted: Sequence[Wanted]) -> Fraction | None:
    """The least price of three digits at which counts, sums and averages of so many rows are as narrow as wanted."""

    def reaches(price: Fraction) -> bool:
        try:
            return excess(wanted, expected(plan.at(price), goal.at)) <= 1
        except Refused:  # noise beyond exact sampling: the price is too low
            return False

    return least(reaches, max(closed_form(plan, goal, each) for each in wanted))


def closed_form(plan: Plan, goal: Goal, wanted: Wanted) -> float:
    """The price at which a column is as narrow as wanted, as all noise is as 1/ε: to a step of a cell's grid.

    Of a single cell by its discrete law.
    """
    column, price = plan.columns[wanted.place], float(plan.price)
    cell = _single_cell(plan, column)
    if cell is not None:
        noise, step = cell
        return price * _shrunk(noise, int(Fraction(wanted.half_width) / step), plan.confidence)
    error = expected(plan, goal.at)[wanted.place]
    return price if error is None else price * error.half_width / wanted.half_width


def approximate_price(plan: Plan, errors: Callable[[Plan], Errors], wanted: Sequence[Wanted]) -> Fraction | None:
    """A price of three digits at which the columns are as narrow as wanted, when what they are like is only estimated.

    Their half-widths fall at least as 1/ε where noise is small beside the numbers, and slower where it is not.
    """
    times = excess(wanted, errors(plan))
    price = decimal(nearest(float(plan.price) * min(max(times, 1e-3), 1e3)))
    for _ in range(12):
        times = excess(wanted, errors(plan.at(price)))
        if times <= 1:
            return price
        place = nearest(float(price))
        price = decimal(max(nearest(float(price) * min(times, 1e3)), place + 1))
    return None


def _single_cell(plan: Plan, column: OutputColumn) -> tuple[Mechanism, Fraction] | None:
    at = place_of(plan, column)
    if at is None:
        return None
    core, place = at
    estimate = core.estimates[place]
    return (core.noises[estimate.cell], core.steps[estimate.cell]) if isinstance(estimate, Alone) else None


def _shrunk(noise: Mechanism, half: int, confidence: float) -> float:
    """How many times as narrow the noise must be for a half-width of so many steps."""
    tail = confidence_tail(confidence)
    match noise:
        case Laplace(scale=scale):  # 2q^(h + 1)/(1 + q) = tail with q = exp(−rate)
            rate = log(1 / tail) / (half + 1)
            for _ in range(50):
                rate = (log(2 / tail) - log1p(exp(-rate))) / (half + 1)
            return float(scale) * rate
        case Gaussian(variance=variance):
            normal = -NormalDist().inv_cdf(tail / 2)
            return sqrt(variance) * normal / (half + 0.5)
        case _:
            assert_never(noise)
