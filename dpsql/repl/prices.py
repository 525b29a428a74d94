r"""Prices and the budget in words: the toolbar's meter, the line behind an answer, ``\\budget``, a dry run's list."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.errors import BudgetExhausted, OperationalError
from dpsql.output import Rows, bar, plain
from dpsql.privacy.measure import FREE, shown

if TYPE_CHECKING:
    from dpsql.planning.plan import Plan
    from dpsql.postprocessing import Price
    from dpsql.privacy.filter import Remaining
    from dpsql.session import Session
    from dpsql.session.explain import Explanation


def left(remaining: Remaining) -> str:
    """What is left, of how much."""
    share = f"{float(remaining.share):.0%}"
    return f"ε = {_shown(remaining.epsilon)} of {_shown(remaining.budget.epsilon)} left ({share}){remaining.renewed}"


def price_line(rows: int | None, price: Price, private: bool, remaining: Remaining, seconds: float | None) -> str:
    """What an answer was, what it cost and what is left; ``rows`` and ``seconds`` may be None, unwanted."""
    parts = [] if rows is None else [f"{rows} {'row' if rows == 1 else 'rows'}"]
    if price.stored:
        parts.append("free: answered before, and paid for once")
    elif price.charged:
        parts.append(f"cost ε = {_shown(price.charged)}")
    else:
        parts.append("free" if private else "free: no private row was read")
    parts.append(left(remaining))
    if seconds is not None:
        parts.append(f"{1000 * seconds:,.0f} ms")
    return " · ".join(parts)


def cost_lines(explanation: Explanation) -> list[str]:
    """The price of a statement and how exact each of its columns would be."""
    from wcwidth import wcswidth

    if explanation.affordable is None:
        return ["free: it reads public tables only"]
    exact = zip(map(plain, explanation.columns), explanation.said_half_widths, strict=True)
    estimated = [(name, half) for name, half in exact if half]
    widest = max((wcswidth(name) for name, _ in estimated), default=0)
    lines = [f"{name}{' ' * (widest - wcswidth(name))}  {half}" for name, half in estimated]
    if explanation.reached is not None:
        lines += explanation.reached.lines
    if explanation.missing_below is not None:
        lines.append(f"groups of fewer than about {explanation.missing_below} units will be missing")
    charged = f"ρ = {_shown(explanation.rho)}, δ = {_shown(explanation.delta)}"
    again = "free now, for it was paid for already; otherwise " if explanation.stored else ""
    lines.append(f"{again}price ε = {_shown(explanation.epsilon)} ({charged})")
    return [*lines, f"{left(explanation.remaining)}: {explanation.affordable} more such statements"]


def budget_lines(session: Session, spent: Fraction, statements: int) -> list[str]:
    """What is left of each budget that binds the analyst, and what this session took of it."""
    remaining = session.remaining
    lines = []
    for standing in remaining.standings:
        whose = "the database" if standing.holder is None else f"the cap of {plain(standing.holder)}"
        figures = f"ε = {_shown(standing.epsilon)} of {_shown(standing.budget.epsilon)} left"
        delta = f", δ = {_shown(standing.delta)} left for keys" if standing.budget.delta else ""
        lines.append(f"{whose:<20} {bar(standing.share)} {figures}{delta}")
    if remaining.window is not None:
        lines.append(f"{'this window':<20} {remaining.window} (UTC)")
    lines.append(f"{'the whole life':<20} {remaining.lifetime}")
    if session.target_error is None:
        lines.append(f"a statement costs ε = {_shown(session.epsilon)}; SET dpsql.epsilon = … changes it")
    else:
        lines.append(f"a statement costs what reaches {session.target_error}; RESET dpsql.target_error ends that")
    return [*lines, f"this session paid ε = {_shown(spent)} in {statements} statement{'' if statements == 1 else 's'}"]


def meter(session: Session) -> list[tuple[str, str]]:
    """The toolbar as prompt_toolkit's (style, text) fragments."""
    remaining = session.remaining
    share = remaining.share
    level = "full" if share > Fraction(1, 2) else "half" if share > Fraction(1, 5) else "low"
    figures = f" ε = {_shown(remaining.epsilon)} of {_shown(remaining.budget.epsilon)} left "
    delta = f"│ δ = {_shown(remaining.delta)} for keys " if remaining.budget.delta else ""
    return [
        ("class:meter.name", f" {plain(session.analyst)} at {session.schema.name} "),
        (f"class:meter.{level}", f" {bar(share, 12)}"),
        ("class:meter", f"{figures}{delta}│ a statement: ε = {_shown(session.epsilon)} │ \\? helps "),
    ]


def _shown(value: Fraction) -> str:
    from dpsql.privacy.measure import shown

    return shown(value)


class Declined(OperationalError):
    """The person did not agree to the price; nothing was charged."""

    sqlstate = "57014"

    def __init__(self) -> None:
        super().__init__("not run, and nothing was charged")


class Prices:
    """A list of planned statements that grows; nothing in it is charged."""

    def __init__(self) -> None:
        self._lines: list[tuple[object, ...]] = []
        self._seen: set[tuple[str, Fraction]] = set()
        self.epsilon, self._cost = Fraction(0), FREE

    def add(self, plan: Plan, price: Fraction, remaining: Remaining) -> None:
        """Add a statement at its price; BudgetExhausted where the budget does not admit it behind those before it.

        A statement that stands there twice is priced once: its second answer would be the first one again.
        """
        again = (plan.statement, plan.price)
        cost, price = (FREE, Fraction(0)) if not price or again in self._seen else (plan.cost, price)
        self._seen.add(again)
        self.epsilon, self._cost = self.epsilon + price, self._cost + cost
        figures = (float(each) for each in (price, cost.rho, cost.delta, self.epsilon))
        self._lines.append((" ".join(plan.statement.split()), *figures))
        if price:
            for standing in remaining.standings:
                standing.require(self._cost)

    @property
    def rows(self) -> Rows:
        """The statements with their prices, and the sum up to each."""
        return Rows.exact(["statement", "epsilon", "rho", "delta", "epsilon_so_far"], self._lines)

    @property
    def said(self) -> str:
        """What all of them cost, in words."""
        count = "1 statement" if len(self._lines) == 1 else f"{len(self._lines)} statements"
        return f"{count}, ε = {shown(self.epsilon)} in all; nothing was run"


def within(limit: Fraction | None, paid: Fraction, price: Fraction) -> None:
    """Refuse a price that would take what was paid above the limit; None is no limit."""
    if limit is not None and paid + price > limit:
        raise BudgetExhausted(
            f"the statement costs ε = {shown(price)}, and of the most that may be spent, ε = {shown(limit)}, "
            f"ε = {shown(max(limit - paid, Fraction(0)))} is left"
        )
