"""Prices and the budget as text: the toolbar, the line after an answer, a dry run's price list."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.errors import BudgetExhausted
from dpsql.output import OutputRows, bar, plain
from dpsql.privacy.measure import FREE, shown

if TYPE_CHECKING:
    from dpsql.planning.plan import Plan
    from dpsql.postprocessing import Price
    from dpsql.privacy.filter import RemainingBudget
    from dpsql.session import Session
    from dpsql.session.explanation import Explanation
    from dpsql.session.named_releases.statements import NamedPrice


class PriceList:
    """A list of planned statements that grows; nothing in it is charged."""

    def __init__(self) -> None:
        self._lines: list[tuple[object, ...]] = []
        self._seen: set[tuple[str, Fraction]] = set()
        self._cost = FREE
        self.epsilon = Fraction(0)
        self._takes = "nothing"

    def add(
        self, plan: Plan | NamedPrice, bought: Plan | NamedPrice | None, remaining: RemainingBudget
    ) -> None:
        """Add a statement and what it is charged for. Raises BudgetExhausted if the total is too much.

        A statement that occurs twice is priced once, since its second answer would be the first.
        """
        again = (plan.text, plan.price)
        free = bought is None or again in self._seen
        cost = FREE
        price = Fraction(0)
        if bought is not None and not free:
            cost = bought.cost
            price = bought.price
        self._seen.add(again)
        self.epsilon += price
        self._cost += cost
        figures = (float(figure) for figure in (price, cost.rho, cost.delta, self.epsilon))
        takes = remaining.answers_left(cost).part if price else "nothing"
        self._lines.append((" ".join(plan.text.split()), takes, *figures))
        self._takes = remaining.answers_left(self._cost).part if self.epsilon else "nothing"
        if price:
            for standing in remaining.standings:
                standing.require(self._cost)

    @property
    def rows(self) -> OutputRows:
        """The statements with the part of the budget that each takes, its price,
        and the sum up to each.
        """
        return OutputRows.exact(
            ["statement", "takes", "epsilon", "rho", "delta", "epsilon_so_far"], self._lines
        )

    @property
    def summary(self) -> str:
        """What all of them cost, in words."""
        count = "1 statement" if len(self._lines) == 1 else f"{len(self._lines)} statements"
        return f"{count}, which {'takes' if len(self._lines) == 1 else 'take'} {self._takes} in all; nothing was run"


def require_within(limit: Fraction | None, paid: Fraction, price: Fraction) -> None:
    """Refuse a price that would take what was paid above the limit; None is no limit."""
    if limit is not None and paid + price > limit:
        raise BudgetExhausted(
            f"the statement costs ε = {shown(price)}, and of the most that may be spent, ε = {shown(limit)}, "
            f"ε = {shown(max(limit - paid, Fraction(0)))} is left"
        )


def left(session: Session) -> str:
    """What is left, in answers."""
    remaining = session.remaining
    return f"{session.ordinary_answers(remaining).describe('')}{remaining.renewed}"


def price_line(
    rows: int | None, price: Price, private: bool, session: Session, seconds: float | None
) -> str:
    """What an answer was, what it took and what is left;
    ``rows`` and ``seconds`` may be None, unwanted.
    """
    parts = []
    if rows is not None:
        parts.append(f"{rows} {'row' if rows == 1 else 'rows'}")
    if not price.charged and not price.stored and not private:
        parts += ["free: no private row was read", left(session)]
    else:
        parts.append(session.paid_for(price).replace("; ", " · ", 1))
    if seconds is not None:
        parts.append(f"{1000 * seconds:,.0f} ms")
    return " · ".join(parts)


def cost_lines(explanation: Explanation) -> list[str]:
    """The price of a statement and how exact each of its columns would be."""
    from wcwidth import wcswidth

    if explanation.answers is None:
        return ["free: it reads public tables only"]
    exact = zip(map(plain, explanation.columns), explanation.said_half_widths, strict=True)
    estimated = [(name, half) for name, half in exact if half]
    widest = max((wcswidth(name) for name, _ in estimated), default=0)
    lines = [f"{name}{' ' * (widest - wcswidth(name))}  {half}" for name, half in estimated]
    if explanation.reached is not None:
        lines += explanation.reached.lines
    if explanation.missing_below is not None:
        lines.append(explanation.missing_groups)
    again = "free now, for it was paid for already; otherwise " if explanation.stored else ""
    return [
        *lines,
        f"{again}{explanation.answers.takes}; {explanation.answers}{explanation.remaining.renewed}",
    ]


def budget_lines(
    session: Session, spent: Fraction, statements: int, details: bool = False
) -> list[str]:
    """What is left of each budget that binds the analyst, in answers; with details also in ε,
    ρ and δ.
    """
    remaining = session.remaining
    cost = session.ordinary_cost(remaining)
    lines = list[str]()
    for standing in remaining.standings:
        whose = (
            "the database" if standing.holder is None else f"the cap of {plain(standing.holder)}"
        )
        answers = standing.answers_left(cost)
        lines.append(f"{whose:<20} {bar(answers.share)} {answers.describe('')}")
        if details:
            rho = f", ρ = {shown(standing.spent.rho)} of {shown(standing.budget.rho_total)} spent"
            delta = (
                f"{rho}, δ = {shown(standing.delta)} left for keys" if standing.budget.delta else ""
            )
            lines.append(
                f"{'':<20} ε = {shown(standing.epsilon)} of {shown(standing.budget.epsilon)} left{delta}"
            )
    if remaining.window is not None:
        lines.append(f"{'this window':<20} {remaining.window} (UTC)")
    lines.append(f"{'the whole life':<20} {remaining.lifetime}")
    if session.target_error is None:
        lines.append(
            f"an answer is a count at dpsql.epsilon = {shown(session.epsilon)}; SET dpsql.epsilon = … changes it"
        )
    else:
        lines.append(
            f"a statement costs what reaches {session.target_error}; RESET dpsql.target_error ends that"
        )
    paid = f"this session paid for {statements} statement{'' if statements == 1 else 's'}"
    return [*lines, f"{paid}, ε = {shown(spent)} together" if details else paid]


def meter(session: Session) -> list[tuple[str, str]]:
    """The toolbar as prompt_toolkit's (style, text) fragments."""
    answers = session.ordinary_answers(session.remaining)
    share = answers.share
    level = "low"
    if share > Fraction(1, 2):
        level = "full"
    elif share > Fraction(1, 5):
        level = "half"
    return [
        ("class:meter.name", f" {plain(session.analyst)} at {session.schema.name} "),
        (f"class:meter.{level}", f" {bar(share, 12)}"),
        ("class:meter", f" {answers.describe('')} │ \\? helps "),
    ]
