"""The least price at which the intervals of a statement are as narrow as wanted,
and what the budget admits instead.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import exp, floor, inf, log, log1p, log10, sqrt
from statistics import NormalDist
from typing import assert_never

from dpsql.errors import Refused
from dpsql.planning.estimators.estimate import SingleCell
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.privacy.measure import shown
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.privacy.rounding import confidence_tail
from dpsql.session.pricing.error_target import AccuracyGoal
from dpsql.session.pricing.expected_errors import ColumnError, expected, place_of

#: Three-digit numbers of one power of ten: 100 … 999.
_MANTISSAS = 900
#: The prices that are looked at lie between 10^−15 and 10^12.
LEAST = -17 * _MANTISSAS
MOST = 10 * _MANTISSAS


def nearest(value: float) -> int:
    """The place of a number of three digits near the value, in the order of their size.

    >>> [str(decimal(nearest(value))) for value in (0.1, 4.2, 999.4, 1000)]
    ['1/10', '21/5', '999', '1000']
    """
    if value <= 0:
        return LEAST
    power = floor(log10(value)) - 2
    index = power * _MANTISSAS + round(value / 10.0**power) - 100
    return min(max(index, LEAST), MOST)


def decimal(index: int) -> Fraction:
    """The number at a place; places one apart are between 0.1 and 1 % apart in size."""
    power, mantissa = divmod(index, _MANTISSAS)
    return (mantissa + 100) * Fraction(10) ** power


def least(holds: Callable[[Fraction], bool], guess: float) -> Fraction | None:
    """The least number of three digits at which a condition holds that goes on to hold above;
    None beyond `MOST`.

    >>> least(lambda value: value * value >= 2, 1.0)
    Fraction(71, 50)
    """
    high = nearest(guess)
    step = 1
    low = high
    while not holds(decimal(high)):
        if high >= MOST:
            return None
        low = high
        high = min(high + step, MOST)
        step = 2 * step
    while low == high:
        low = max(high - step, LEAST)
        step = 2 * step
        if holds(decimal(low)):
            if low <= LEAST:
                return decimal(LEAST)
            high = low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(decimal(middle)) else (middle, high)
    return decimal(high)


#: What a plan's columns would be like, None for a column of which that is not known.
Errors = Sequence[ColumnError | None]


@dataclass(frozen=True)
class WantedError:
    """A column and the half-width that it is to have;
    ``exact`` tells whether the plan alone tells which it has.
    """

    place: int
    half_width: float
    exact: bool


def excess(targets: Sequence[WantedError], errors: Errors) -> float:
    """How many times as wide as wanted the widest column is."""
    ratios = []
    for target in targets:
        error = errors[target.place]
        ratios.append(inf if error is None else error.half_width / target.half_width)
    return max(ratios)


def exact_price(plan: Plan, goal: AccuracyGoal, targets: Sequence[WantedError]) -> Fraction | None:
    """The least price of three digits at which counts,
    sums and averages of so many rows are as narrow as wanted.
    """

    def reaches(price: Fraction) -> bool:
        try:
            return excess(targets, expected(plan.at(price), goal.at)) <= 1
        except Refused:  # noise beyond exact sampling: the price is too low
            return False

    return least(reaches, max(closed_form(plan, goal, target) for target in targets))


def closed_form(plan: Plan, goal: AccuracyGoal, target: WantedError) -> float:
    """The price at which a column is as narrow as wanted, as all noise is as 1/ε:
    to a step of a cell's grid.

    Of a single cell by its discrete law.
    """
    column = plan.columns[target.place]
    price = float(plan.price)
    cell = _single_cell(plan, column)
    if cell is not None:
        noise, step = cell
        return price * _shrunk(noise, int(Fraction(target.half_width) / step), plan.confidence)
    error = expected(plan, goal.at)[target.place]
    return price if error is None else price * error.half_width / target.half_width


def approximate_price(
    plan: Plan, errors: Callable[[Plan], Errors], targets: Sequence[WantedError]
) -> Fraction | None:
    """A price of three digits at which columns reach their targets, if their values are estimates.

    Half-widths fall at least as 1/ε if noise is small next to the numbers, and slower if it is not.
    """
    times = excess(targets, errors(plan))
    price = decimal(nearest(float(plan.price) * min(max(times, 1e-3), 1e3)))
    for _ in range(12):
        times = excess(targets, errors(plan.at(price)))
        if times <= 1:
            return price
        index = nearest(float(price))
        price = decimal(max(nearest(float(price) * min(times, 1e3)), index + 1))
    return None


def _single_cell(plan: Plan, column: OutputColumn) -> tuple[Mechanism, Fraction] | None:
    at = place_of(plan, column)
    if at is None:
        return None
    core, index = at
    estimate = core.estimates[index]
    return (
        (core.noises[estimate.cell], core.steps[estimate.cell])
        if isinstance(estimate, SingleCell)
        else None
    )


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


@dataclass(frozen=True)
class ReachedGoal:
    """The least price of three digits that reaches a goal (None: none does), and its half-widths.

    ``share`` is its part of the remaining budget, None if the budget does not admit it; ``most`` is
    the largest price that the budget admits, with its half-widths. Sizes of values are those of the
    answer that was released at the price ``known``; if that answer reaches the goal, it is given
    again, ``free``. ``lists`` are the columns of lists of quantiles, which the goal does not count.
    """

    goal: AccuracyGoal
    epsilon: Fraction | None
    errors: tuple[ColumnError, ...]
    share: float | None
    most: Fraction | None
    best: tuple[ColumnError, ...]
    known: Fraction | None = None
    free: bool = False
    lists: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """The goal in words, and what it does not count."""
        return (
            f"{self.goal} (not counting the lists of quantiles {', '.join(self.lists)})"
            if self.lists
            else str(self.goal)
        )

    @property
    def lines(self) -> list[str]:
        """What is said of it."""
        if self.epsilon is None:
            return [f"to reach {self.wanted}: no price does", *self._instead]
        if self.free:
            paid = f"an answer that was paid for already, at ε = {shown(self.epsilon)}, does"
            return [f"to reach {self.wanted}: {paid}: {half_widths_text(self.errors)}"]
        sizes = (
            ""
            if self.known is None
            else f", with the sizes released before at ε = {shown(self.known)}"
        )
        first = f"to reach {self.wanted}: ε = {shown(self.epsilon)}, which gives {half_widths_text(self.errors)}{sizes}"
        if self.share is None:
            return [first, *self._instead]
        return [
            first,
            f"that is {percent(self.share)} of what is left; SET dpsql.epsilon = {plain(self.epsilon)} pays it",
        ]

    @property
    def _instead(self) -> list[str]:
        if self.most is None:
            return ["the budget does not admit it, nor any other price"]
        most = f"it admits ε = {shown(self.most)} in one statement"
        return [f"the budget does not admit it; {most}, which gives {half_widths_text(self.best)}"]


def half_widths_text(errors: tuple[ColumnError, ...]) -> str:
    """The half-widths of columns, in words."""
    return ", ".join(f"{error.name} ± {error.half_width:.4g}" for error in errors)


def plain(epsilon: Fraction) -> str:
    """A price of a few digits as SET takes it.

    >>> plain(Fraction(43, 100)), plain(Fraction(12)), plain(Fraction(1, 10**6))
    ('0.43', '12', '0.000001')
    """
    text = f"{Decimal(epsilon.numerator) / Decimal(epsilon.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """A part of the remaining budget, in percent.

    >>> percent(0.5), percent(0.0123), percent(0.00001)
    ('50 %', '1.2 %', 'less than 0.1 %')
    """
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
