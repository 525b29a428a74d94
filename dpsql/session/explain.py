"""EXPLAIN PRIVACY: the engine SQL of a plan, its noise, its expected errors and its price."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from dpsql.planning.assumptions import groups_said, norms_said, taken_as_given
from dpsql.planning.estimators.estimate import CentredSum, MeanEstimate, PresenceEstimate, SingleCell
from dpsql.planning.estimators.histogram import ClippingBound, PresentValues, TopValues, ValueCounts, least_present
from dpsql.planning.estimators.moment_intervals import typical_half_width
from dpsql.planning.estimators.moments import MomentEstimate
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.planning.explanation import (
    ExplainedCell,
    cell_note,
    explained_cell,
    explained_histogram,
    frequency_width,
    histogram_note,
    rank_width,
)
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing.possible_values import ranges
from dpsql.privacy.filter import AnswersLeft, RemainingBudget
from dpsql.privacy.measure import Cost, Guarantee, alone, shown
from dpsql.session.explanation_summary import MOST_LINES, html_summary, summary
from dpsql.session.pricing.expected_errors import ColumnError, expected, place_of
from dpsql.session.pricing.price_search import Errors, ReachedGoal
from dpsql.sql.analysis.grouping_levels import Cube, is_additive
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.interval import Interval


@dataclass(frozen=True, repr=False)
class Explanation:
    """A plan in words and figures.

    ``str()`` and ``repr()`` are what EXPLAIN PRIVACY prints or, unless ``verbose``, the `summary` of it.

    Attributes:
        half_widths: For each result column that is an aggregate, half the expected width of its interval, in words.
            The width of an average depends on the size of its group: it is that of its sum divided by the count.
        derived_sql: The statements that make the derived tables, from released and public rows.
        missing_below: The number of units below which a group with an undeclared key is mostly withheld, or None.
        groups: Which groups with public keys are shown.
        stored: Whether the answer is in the store and costs nothing; ``epsilon`` is its price otherwise.
        within: For each column, the range to which its released numbers are clamped; empty if there is none.
        expected: The half-widths as numbers. Those of counts and sums are exact; those of other columns come from an
            earlier release of the same cores, whose price is ``known``.
        reached: The price that reaches a goal, if one was asked about.
        given: What the intervals of the answer take as given.
        unit: The privacy unit, as the schema names it.
        made_of: What is said of an answer that is made of earlier ones.
        norms: What each norm that is found costs, and how many units are above it.
        by_weight: Whether a unit counts less towards ``missing_below`` in each group, the more groups it is in.
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
    verbose: bool = True

    @property
    def affordable(self) -> int | None:
        """How many more such statements the budget admits; None of what reads public tables only."""
        return None if self.answers is None else self.answers.left

    @property
    def missing_groups(self) -> str:
        """Which groups with undeclared keys are mostly withheld."""
        several = "; more are needed where its units are in several groups" if self.by_weight else ""
        return f"groups of fewer than about {self.missing_below} units will be missing{several}"

    @property
    def alone(self) -> Guarantee | None:
        """What the statement promises by itself, at the δ of the whole budget; its price is no such promise."""
        return alone(self.cost, self.remaining.standings[0].budget.delta)

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
        found = []
        for half, error in zip(self.half_widths, self.expected, strict=True):
            figure = "" if error is None else f"± {error.half_width:.4g}"
            if not figure or half == figure:
                found.append(half)
            else:
                by = f"with what was released before at ε = {shown(self.known)}"
                found.append(f"{half}; {figure} {by}" if half else f"{figure} {by}")
        return tuple(found)

    def __str__(self) -> str:
        return self.whole() if self.verbose else "\n".join(summary(self))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>" if self.verbose else html_summary(self)

    def whole(self) -> str:
        """All that is known: engine SQL, cells, noise, expected errors, groups and price, as EXPLAIN PRIVACY prints."""
        lines = [f"engine SQL:\n{sql}" for sql in self.engine_sql]
        lines += [f"derived{place}, made of released rows:\n{sql}" for place, sql in enumerate(self.derived_sql)]
        lines += [
            f"cell {place}: {cell.measures}; one unit changes it by at most {cell.sensitivity:.6g} ({cell.norm}); "
            f"{cell.noise}, standard deviation {cell.standard_deviation:.4g}"
            for place, cell in enumerate(self.cells)
        ]
        lines += [*self.levels, *self.norms, *self.groups]
        percent = f"{100 * self.confidence:g} %"
        lines += [
            f"column {name}: {half}" for name, half in zip(self.columns, self.said_half_widths, strict=True) if half
        ]
        if lines:
            lines.append(f"intervals hold with {percent}")
        within = [f"{name} {ends}" for name, ends in zip(self.columns, self.within, strict=False) if ends]
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
        left, free = self.remaining, "nothing, for it was paid for already; otherwise " if self.stored else ""
        lines += [
            *self.made_of,
            f"takes: {free}{self.answers.part} of the budget; {self.answers}{left.renewed}",
            f"price: ε = {shown(self.epsilon)} (charged: ρ = {shown(self.rho)}, δ = {shown(self.delta)})",
            f"left: ε = {shown(left.epsilon)} of {shown(left.budget.epsilon)}, δ = {shown(left.delta)}",
        ]
        if self.alone is not None:
            lines.append(f"alone: {self.alone}; the budget is the guarantee, a price is none")
        return "\n".join(lines)


def priced(explanation: Explanation, as_json: bool, verbose: bool) -> list[str]:
    """The lines of PostgreSQL's EXPLAIN, with the price in ε as the cost, followed by a summary or, verbose, by all.

    The first line, and the JSON, have PostgreSQL's form: ``(cost=first..whole rows=… width=…)``.
    """
    price = Fraction(0) if explanation.stored else explanation.epsilon
    said = explanation.whole().splitlines() if verbose else summary(explanation, MOST_LINES - 1)
    if as_json:
        node = {"Node Type": "Private Answer", "Startup Cost": 0.0, "Total Cost": float(price),
                "Plan Rows": 0, "Plan Width": 0}  # fmt: skip
        return [json.dumps([{"Plan": node, "dpsql": said}], ensure_ascii=False, indent=2)]
    return [f"Private Answer  (cost=0.00..{shown(price)} rows=0 width=0)", *said]


def explain(
    plan: Plan,
    remaining: RemainingBudget,
    stored: bool = False,
    likely: tuple[Errors, Fraction | None] | None = None,
    reached: ReachedGoal | None = None,
    unit: str = "unit",
    made_of: tuple[str, ...] = (),
    rest: Plan | None = None,
) -> Explanation:
    """Explain a plan.

    Args:
        remaining: What is left of the analyst's budget.
        stored: Whether the answer is in the store already.
        likely: The expected errors of the columns, and the price of the earlier answer that they come from.
        reached: The price that reaches a goal, if one was asked about.
        unit: The privacy unit, as the schema names it.
        made_of: What is said of an answer that is made of earlier ones.
        rest: The plan of what is bought, where earlier answers tell the other part.
    """
    sure, bought = expected(plan), rest or plan
    errors, known = likely or (sure, None)
    cells = tuple(
        explained
        for core in bought.cores
        for explained in (
            *(explained_cell(cell.contribution, cell.mechanism, plan.confidence) for cell in core.cells),
            *(explained_histogram(histogram, plan.confidence) for histogram in core.histograms),
        )
    )
    needed = [core.selection.units_needed() for core in plan.cores if core.selection is not None]
    return Explanation(
        tuple(core.dialect.pretty(core.sql) for core in bought.cores),
        tuple(SANDBOX.pretty(table.sql) for table in plan.derived),
        cells,
        tuple(column.name for column in plan.columns),
        tuple(_half_width(plan, *each) for each in zip(plan.columns, sure, strict=True)),
        max(needed, default=None),
        bought.price if plan.cores else Fraction(0),
        bought.cost,
        remaining,
        remaining.answers_left(bought.cost) if plan.cores else None,
        plan.confidence,
        tuple(_levels(plan, cube) for cube in plan.cubes),
        stored,
        tuple(errors),
        known,
        reached,
        tuple(_within(each) for each in ranges(plan)),
        groups_said(plan) if rest is None else (),
        taken_as_given(plan),
        unit,
        made_of,
        any(core.selection is not None and core.selection.weights is not None for core in plan.cores),
        norms_said(plan),
    )


def _within(interval: Interval) -> str:
    """The range of a number in words; empty if it has none."""
    low, high = ("" if end is None else shown(end) for end in (interval.low, interval.high))
    return f"from {low} to {high}" if low and high else f"from {low} on" if low else f"up to {high}" if high else ""


def _levels(plan: Plan, cube: Cube) -> str:
    """How the grouping sets of a cube are measured, in words."""
    count = len({level.keys for level in cube.levels})
    if cube.finest is None:
        return f"{count} grouping sets, each measured for itself with its share of the price"
    cores = [None if level.core is None else plan.cores[level.core].core for level in cube.levels]
    if all(core is not None and any(map(is_additive, core.aggregates)) for core in cores):
        return f"{count} grouping sets, each with its share of the price; least squares make totals the sums of parts"
    return f"{count} grouping sets, released once at the finest level; totals are sums of its groups"


def _half_width(plan: Plan, column: OutputColumn, sure: ColumnError | None) -> str:
    if sure is not None:
        return f"± {sure.half_width:.4g}"
    if column.aggregate is None:
        return ""
    at = place_of(plan, column)
    assert at is not None
    core, place = at
    halves = [float(half) for half in core.half_widths(plan.confidence)]
    match core.estimates[place]:
        case SingleCell() | CentredSum():
            raise AssertionError("the plan tells how exact a count or a sum is")
        case MeanEstimate(total=total):
            return f"± {halves[total]:.4g} / count"
        case MomentEstimate() as moment:
            return typical_half_width(moment, halves)
        case PresenceEstimate(count=count):
            return f"told from {2 * halves[count]:.4g} rows on"
        case QuantileEstimate(histogram=place, ranks=ranks):
            return f"± {rank_width(core.histograms[place], ranks, plan.confidence):.4g} rows in rank"
        case PresentValues(histogram=place, values=values):
            return f"told from {float(least_present(core.histograms[place], len(values))):.4g} rows of a value on"
        case ValueCounts(histogram=place) | TopValues(histogram=place) | ClippingBound(histogram=place):
            return frequency_width(core.histograms[place], plan.confidence)


def journal_note(*plans: Plan) -> str:
    """The note of plans in the ledger, as JSON: the cells of each core with their noise, and its key threshold."""
    return json.dumps([_note(core) for plan in plans for core in plan.cores])


def _note(core: CorePlan) -> dict[str, object]:
    cells = [cell_note(cell.contribution, cell.mechanism) for cell in core.cells]
    cells += [histogram_note(each) for each in core.histograms]
    return {"cells": cells, "threshold": None if core.selection is None else core.selection.threshold}
