"""What it takes to reach a goal, and what the budget admits instead, in figures and in words."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpsql.privacy.measure import shown
from dpsql.session.accuracy.expected import ColumnError
from dpsql.session.accuracy.target import Goal


@dataclass(frozen=True)
class Reached:
    """The least price that reaches a goal, of three digits (None: none does), and the half-widths that it gives.

    ``share`` is the part of what is left that it takes, None where the budget does not admit it; ``most`` is the
    largest price that the budget admits, with the half-widths of that. Sizes of values are those of the answer that was
    released at the price ``known``; where that answer reaches the goal itself it is given again, ``free``.
    """

    goal: Goal
    epsilon: Fraction | None
    errors: tuple[ColumnError, ...]
    share: float | None
    most: Fraction | None
    best: tuple[ColumnError, ...]
    known: Fraction | None = None
    free: bool = False

    @property
    def lines(self) -> list[str]:
        """What is said of it."""
        if self.epsilon is None:
            return [f"to reach {self.goal}: no price does", *self._instead]
        if self.free:
            paid = f"an answer that was paid for already, at ε = {shown(self.epsilon)}, does"
            return [f"to reach {self.goal}: {paid}: {said(self.errors)}"]
        sizes = "" if self.known is None else f", with the sizes released before at ε = {shown(self.known)}"
        first = f"to reach {self.goal}: ε = {shown(self.epsilon)}, which gives {said(self.errors)}{sizes}"
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
        return [f"the budget does not admit it; {most}, which gives {said(self.best)}"]


def said(errors: tuple[ColumnError, ...]) -> str:
    """The half-widths of columns, in words."""
    return ", ".join(f"{error.name} ± {error.half_width:.4g}" for error in errors)


def plain(epsilon: Fraction) -> str:
    """A price of a few digits as SET takes it.

    >>> plain(Fraction(43, 100)), plain(Fraction(12)), plain(Fraction(1, 10**6))
    ('0.43', '12', '0.000001')
    """
    whole = f"{Decimal(epsilon.numerator) / Decimal(epsilon.denominator):f}"
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def percent(share: float) -> str:
    """A part of what is left.

    >>> percent(0.5), percent(0.0123), percent(0.00001)
    ('50 %', '1.2 %', 'less than 0.1 %')
    """
    return "less than 0.1 %" if share < 0.001 else f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
