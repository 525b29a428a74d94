r"""Prices and the budget in words: the toolbar's meter, the line behind an answer, ``\\budget``."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.output import bar, plain
from dpsql.privacy.measure import shown

if TYPE_CHECKING:
    from dpsql.postprocessing import Price
    from dpsql.privacy.filter import RemainingBudget
    from dpsql.session import Session
    from dpsql.session.explain import Explanation


def left(remaining: RemainingBudget) -> str:
    """What is left, of how much."""
    share = f"{float(remaining.share):.0%}"
    return f"ε = {shown(remaining.epsilon)} of {shown(remaining.budget.epsilon)} left ({share}){remaining.renewed}"


def price_line(rows: int | None, price: Price, private: bool, remaining: RemainingBudget, seconds: float | None) -> str:
    """What an answer was, what it cost and what is left; ``rows`` and ``seconds`` may be None, unwanted."""
    parts = [] if rows is None else [f"{rows} {'row' if rows == 1 else 'rows'}"]
    if price.stored:
        parts.append("free: answered before, and paid for once")
    elif price.charged:
        parts.append(f"cost ε = {shown(price.charged)}")
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
    charged = f"ρ = {shown(explanation.rho)}, δ = {shown(explanation.delta)}"
    again = "free now, for it was paid for already; otherwise " if explanation.stored else ""
    lines.append(f"{again}price ε = {shown(explanation.epsilon)} ({charged})")
    return [*lines, f"{left(explanation.remaining)}: {explanation.affordable} more such statements"]


def budget_lines(session: Session, spent: Fraction, statements: int) -> list[str]:
    """What is left of each budget that binds the analyst, and what this session took of it."""
    remaining = session.remaining
    lines = []
    for standing in remaining.standings:
        whose = "the database" if standing.holder is None else f"the cap of {plain(standing.holder)}"
        figures = f"ε = {shown(standing.epsilon)} of {shown(standing.budget.epsilon)} left"
        delta = f", δ = {shown(standing.delta)} left for keys" if standing.budget.delta else ""
        lines.append(f"{whose:<20} {bar(standing.share)} {figures}{delta}")
    if remaining.window is not None:
        lines.append(f"{'this window':<20} {remaining.window} (UTC)")
    lines.append(f"{'the whole life':<20} {remaining.lifetime}")
    if session.target_error is None:
        lines.append(f"a statement costs ε = {shown(session.epsilon)}; SET dpsql.epsilon = … changes it")
    else:
        lines.append(f"a statement costs what reaches {session.target_error}; RESET dpsql.target_error ends that")
    return [*lines, f"this session paid ε = {shown(spent)} in {statements} statement{'' if statements == 1 else 's'}"]


def meter(session: Session) -> list[tuple[str, str]]:
    """The toolbar as prompt_toolkit's (style, text) fragments."""
    remaining = session.remaining
    share = remaining.share
    level = "full" if share > Fraction(1, 2) else "half" if share > Fraction(1, 5) else "low"
    figures = f" ε = {shown(remaining.epsilon)} of {shown(remaining.budget.epsilon)} left "
    delta = f"│ δ = {shown(remaining.delta)} for keys " if remaining.budget.delta else ""
    return [
        ("class:meter.name", f" {plain(session.analyst)} at {session.schema.name} "),
        (f"class:meter.{level}", f" {bar(share, 12)}"),
        ("class:meter", f"{figures}{delta}│ a statement: ε = {shown(session.epsilon)} │ \\? helps "),
    ]
