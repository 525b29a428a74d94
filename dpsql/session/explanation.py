"""An explanation, whole, or in a dozen lines: price, expected errors and what is hidden,
before any SQL and noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape

from dpsql.planning.cells_in_words import ExplainedCell
from dpsql.privacy.filter import AnswersLeft, RemainingBudget
from dpsql.privacy.measure import Cost, Guarantee, shown, standalone_guarantee
from dpsql.session.pricing.expected_errors import ColumnError
from dpsql.session.pricing.price_search import ReachedGoal


@dataclass(frozen=True, repr=False)
class Explanation:
    """A plan in words and figures.

    ``str()`` and ``repr()`` are what EXPLAIN PRIVACY prints or, unless ``verbose``,
    the `summary` of it.

    Attributes:
        half_widths: For each result column that is an aggregate, half the expected width of its
            interval, in words. The width of an average depends on the size of its group: it is that
            of its sum divided by the count.
        derived_sql: The statements that make the derived tables, from released and public rows.
        missing_below: The number of units below which a group with an undeclared key is mostly
            withheld, or None.
        groups: Which groups with public keys are shown.
        stored: Whether the answer is in the store and costs nothing;
            ``epsilon`` is its price otherwise.
        within: For each column, the range to which its released numbers are clamped;
            empty if there is none.
        expected: The half-widths as numbers. Those of counts and sums are exact; those of other
            columns come from an earlier release of the same cores, whose price is ``known``.
        reached: The price that reaches a goal, if one was asked about.
        given: What the intervals of the answer take as given.
        unit: The privacy unit, as the schema names it.
        made_of: What is said of an answer that is made of earlier ones.
        norms: What each norm that is found costs, and how many units are above it.
        joins: How many public rows a private row meets, where these are several.
        by_weight: Whether a unit counts less towards ``missing_below`` in each group,
            the more groups it is in.
    """

    engine_sql: tuple[str, ...]
    derived_sql: tuple[str, ...]
    cells: tuple[ExplainedCell, ...]
    columns: tuple[str, ...]
    half_widths: tuple[str, ...]
    missing_below: int | None
    epsilon: Fraction
    cost: Cost
    remaining: RemainingBudget
    answers: AnswersLeft | None
    confidence: float
    levels: tuple[str, ...] = ()
    stored: bool = False
    expected: tuple[ColumnError | None, ...] = ()
    known: Fraction | None = None
    reached: ReachedGoal | None = None
    within: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    unit: str = "unit"
    made_of: tuple[str, ...] = ()
    by_weight: bool = False
    norms: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    verbose: bool = True

    @property
    def affordable(self) -> int | None:
        """How many more such statements the budget admits;
        None of what reads public tables only.
        """
        return None if self.answers is None else self.answers.left

    @property
    def missing_groups(self) -> str:
        """Which groups with undeclared keys are mostly withheld."""
        several = (
            "; more are needed where its units are in several groups" if self.by_weight else ""
        )
        return f"groups of fewer than about {self.missing_below} units will be missing{several}"

    @property
    def alone(self) -> Guarantee | None:
        """What the statement promises by itself, at the δ of the whole budget;
        its price is no such promise.
        """
        return standalone_guarantee(self.cost, self.remaining.standings[0].budget.delta)

    @property
    def rho(self) -> Fraction:
        """The ρ of zero-concentrated differential privacy that is charged."""
        return self.cost.rho

    @property
    def delta(self) -> Fraction:
        """The δ that is charged for key thresholds."""
        return self.cost.delta

    @property
    def said_half_widths(self) -> tuple[str, ...]:
        """The half-widths in words, with figures for those that an earlier release tells."""
        if self.known is None:
            return self.half_widths
        result = []
        for half, error in zip(self.half_widths, self.expected, strict=True):
            figure = "" if error is None else f"± {error.half_width:.4g}"
            if not figure or half == figure:
                result.append(half)
            else:
                by = f"with what was released before at ε = {shown(self.known)}"
                result.append(f"{half}; {figure} {by}" if half else f"{figure} {by}")
        return tuple(result)

    def __str__(self) -> str:
        return self.whole() if self.verbose else "\n".join(summary(self))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>" if self.verbose else _html_summary(self)

    def whole(self) -> str:
        """All that is known: engine SQL, cells, noise, expected errors, groups and price,
        as EXPLAIN PRIVACY prints.
        """
        lines = [f"engine SQL:\n{sql}" for sql in self.engine_sql]
        lines += [
            f"derived{index}, made of released rows:\n{sql}"
            for index, sql in enumerate(self.derived_sql)
        ]
        lines += [
            f"cell {index}: {cell.measures}; one unit changes it by at most {cell.sensitivity:.6g} ({cell.norm}); "
            f"{cell.noise}, standard deviation {cell.standard_deviation:.4g}"
            for index, cell in enumerate(self.cells)
        ]
        lines += [*self.levels, *self.joins, *self.norms, *self.groups]
        percent = f"{100 * self.confidence:g} %"
        lines += [
            f"column {name}: {half}"
            for name, half in zip(self.columns, self.said_half_widths, strict=True)
            if half
        ]
        if lines:
            lines.append(f"intervals hold with {percent}")
        within = [
            f"{name} {ends}" for name, ends in zip(self.columns, self.within, strict=False) if ends
        ]
        if within:
            lines.append(
                f"shown within what can be: {', '.join(within)}; conditions and arithmetic read what is released"
            )
        lines += self.given
        if self.reached is not None:
            lines += self.reached.lines
        if self.missing_below is not None:
            lines.append(self.missing_groups)
        if self.answers is None:
            return "\n".join([*lines, "price: nothing, for it reads public tables only"])
        remaining = self.remaining
        free = "nothing, for it was paid for already; otherwise " if self.stored else ""
        lines += [
            *self.made_of,
            f"takes: {free}{self.answers.part} of the budget; {self.answers}{remaining.renewed}",
            f"price: ε = {shown(self.epsilon)} (charged: ρ = {shown(self.rho)}, δ = {shown(self.delta)})",
            f"left: ε = {shown(remaining.epsilon)} of {shown(remaining.budget.epsilon)}, δ = {shown(remaining.delta)}",
        ]
        if self.alone is not None:
            lines.append(f"alone: {self.alone}; the budget is the guarantee, a price is none")
        return "\n".join(lines)


#: The lines of a summary, and how many of them may say what reaches a target, and what norms cost.
MOST_LINES = 12
MOST_REACHED = 2
MOST_NORMS = 2


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
    """What it takes of the budget and what is left, in answers; its price;
    what it promises by itself.
    """
    answers = explanation.answers
    promise = explanation.alone
    if answers is None:
        return ["price: nothing, for it reads public tables only"]
    free = "nothing, for it was paid for already; otherwise " if explanation.stored else ""
    charged = f"ρ = {shown(explanation.rho)}, δ = {shown(explanation.delta)}"
    lines = [
        f"takes: {free}{answers.part} of the budget; {answers}{explanation.remaining.renewed}",
        f"price: ε = {shown(explanation.epsilon)} (charged: {charged})",
    ]
    lines += explanation.made_of
    return (
        lines
        if promise is None
        else [*lines, f"alone: {promise}; the budget is the guarantee, a price is none"]
    )


def error_lines(explanation: Explanation) -> list[str]:
    """For each column that is an estimate, half the expected width of its interval."""
    confidence = f"{100 * explanation.confidence:g} %"
    halves = zip(explanation.columns, explanation.said_half_widths, strict=True)
    return [f"error of {name}, with {confidence}: {half}" for name, half in halves if half]


def hidden_lines(explanation: Explanation) -> list[str]:
    """Whom the noise hides, what multiplies rows, which groups are missing or shown,
    what intervals take as given.
    """
    counts = [cell.sensitivity for cell in explanation.cells if cell.measures.startswith("rows")]
    most = f", which changes the number of rows by at most {max(counts):.6g}" if counts else ""
    lines = [f"hidden: any one {explanation.unit}{most}"]
    if explanation.missing_below is not None:
        lines.append(explanation.missing_groups)
    norms = explanation.norms[:MOST_NORMS]
    return [*lines, *explanation.joins[:1], *norms, *explanation.groups[:1], *explanation.given]


def _html_summary(explanation: Explanation) -> str:
    """The summary as HTML: what a line is about stands before its words."""
    rows = []
    for line in summary(explanation):
        name, colon, rest = line.partition(": ")
        cells = (name, rest) if colon else ("", line)
        rows.append(
            "<tr>"
            + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in cells)
            + "</tr>"
        )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _cut(lines: list[str], most: int) -> list[str]:
    """The lines, the last of them counted where they are too many."""
    if len(lines) <= most:
        return lines
    first_lines = lines[: max(most - 1, 0)]
    return [*first_lines, f"and the errors of {len(lines) - len(first_lines)} more columns"]
