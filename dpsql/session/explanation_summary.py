"""An explanation in a dozen lines: the price, the expected errors and what is hidden, before any SQL or noise."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dpsql.privacy.measure import shown

if TYPE_CHECKING:
    from dpsql.session.explain import Explanation

#: The lines of a summary, and how many of them may say what reaches a target, and what norms cost.
MOST_LINES, MOST_REACHED, MOST_NORMS = 12, 2, 2


def summary(explanation: Explanation, most: int = MOST_LINES) -> list[str]:
    """At most so many lines; EXPLAIN VERBOSE and EXPLAIN PRIVACY have the rest."""
    price = price_lines(explanation)
    if explanation.answers is None:
        return price
    reached = [] if explanation.reached is None else list(explanation.reached.lines)[:MOST_REACHED]
    hidden = hidden_lines(explanation)
    last = ["engine SQL, noise and thresholds: EXPLAIN VERBOSE"]
    errors = _cut(error_lines(explanation), most - sum(map(len, (price, reached, hidden, last))))
    return [*price, *reached, *errors, *hidden, *last]


def price_lines(explanation: Explanation) -> list[str]:
    """What it takes of the budget and what is left, in answers; its price; what it promises by itself."""
    answers, promise = explanation.answers, explanation.alone
    if answers is None:
        return ["price: nothing, for it reads public tables only"]
    free = "nothing, for it was paid for already; otherwise " if explanation.stored else ""
    charged = f"ρ = {shown(explanation.rho)}, δ = {shown(explanation.delta)}"
    lines = [
        f"takes: {free}{answers.part} of the budget; {answers}{explanation.remaining.renewed}",
        f"price: ε = {shown(explanation.epsilon)} (charged: {charged})",
    ]
    lines += explanation.made_of
    return lines if promise is None else [*lines, f"alone: {promise}; the budget is the guarantee, a price is none"]


def error_lines(explanation: Explanation) -> list[str]:
    """For each column that is an estimate, half the expected width of its interval."""
    confidence = f"{100 * explanation.confidence:g} %"
    halves = zip(explanation.columns, explanation.said_half_widths, strict=True)
    return [f"error of {name}, with {confidence}: {half}" for name, half in halves if half]


def hidden_lines(explanation: Explanation) -> list[str]:
    """Whom the noise hides, which groups are missing or shown, and what intervals take as given."""
    counts = [cell.sensitivity for cell in explanation.cells if cell.measures.startswith("rows")]
    most = f", which changes the number of rows by at most {max(counts):.6g}" if counts else ""
    lines = [f"hidden: any one {explanation.unit}{most}"]
    if explanation.missing_below is not None:
        lines.append(explanation.missing_groups)
    return [*lines, *explanation.norms[:MOST_NORMS], *explanation.groups[:1], *explanation.given]


def html_summary(explanation: Explanation) -> str:
    """The summary as HTML: what a line is about stands before its words."""
    rows = []
    for line in summary(explanation):
        name, colon, rest = line.partition(": ")
        cells = (name, rest) if colon else ("", line)
        rows.append("<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in cells) + "</tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _cut(lines: list[str], most: int) -> list[str]:
    """The lines, the last of them counted where they are too many."""
    if len(lines) <= most:
        return lines
    kept = lines[: max(most - 1, 0)]
    return [*kept, f"and the errors of {len(lines) - len(kept)} more columns"]
