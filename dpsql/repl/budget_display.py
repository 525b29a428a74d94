r"""Prices and the budget in words: the toolbar's meter, the line behind an answer, ``\\budget``."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.output import bar, plain
from dpsql.privacy.measure import shown

if TYPE_CHECKING:
    from dpsql.postprocessing import Price
    from dpsql.session import Session
    from dpsql.session.explain import Explanation


def left(session: Session) -> str:
    """What is left, in answers."""
    remaining = session.remaining
    return f"{session.ordinary_answers(remaining).said('')}{remaining.renewed}"


def price_line(rows: int | None, price: Price, private: bool, session: Session, seconds: float | None) -> str:
    """What an answer was, what it took and what is left; ``rows`` and ``seconds`` may be None, unwanted."""
    parts = [] if rows is None else [f"{rows} {'row' if rows == 1 else 'rows'}"]
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
    return [*lines, f"{again}{explanation.answers.takes}; {explanation.answers}{explanation.remaining.renewed}"]


def budget_lines(session: Session, spent: Fraction, statements: int, details: bool = False) -> list[str]:
    """What is left of each budget that binds the analyst, in answers; with details also in ε, ρ and δ."""
    remaining = session.remaining
    cost, lines = session.ordinary_cost(remaining), list[str]()
    for standing in remaining.standings:
        whose = "the database" if standing.holder is None else f"the cap of {plain(standing.holder)}"
        answers = standing.answers_left(cost)
        lines.append(f"{whose:<20} {bar(answers.share)} {answers.said('')}")
        if details:
            rho = f", ρ = {shown(standing.spent.rho)} of {shown(standing.budget.rho_total)} spent"
            delta = f"{rho}, δ = {shown(standing.delta)} left for keys" if standing.budget.delta else ""
            lines.append(f"{'':<20} ε = {shown(standing.epsilon)} of {shown(standing.budget.epsilon)} left{delta}")
    if remaining.window is not None:
        lines.append(f"{'this window':<20} {remaining.window} (UTC)")
    lines.append(f"{'the whole life':<20} {remaining.lifetime}")
    if session.target_error is None:
        lines.append(
            f"an answer is a count at dpsql.epsilon = {shown(session.epsilon)}; SET dpsql.epsilon = … changes it"
        )
    else:
        lines.append(f"a statement costs what reaches {session.target_error}; RESET dpsql.target_error ends that")
    paid = f"this session paid for {statements} statement{'' if statements == 1 else 's'}"
    return [*lines, f"{paid}, ε = {shown(spent)} together" if details else paid]


def meter(session: Session) -> list[tuple[str, str]]:
    """The toolbar as prompt_toolkit's (style, text) fragments."""
    answers = session.ordinary_answers(session.remaining)
    share = answers.share
    level = "full" if share > Fraction(1, 2) else "half" if share > Fraction(1, 5) else "low"
    return [
        ("class:meter.name", f" {plain(session.analyst)} at {session.schema.name} "),
        (f"class:meter.{level}", f" {bar(share, 12)}"),
        ("class:meter", f" {answers.said('')} │ \\? helps "),
    ]
