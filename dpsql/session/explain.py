"""EXPLAIN PRIVACY: the engine SQL of a plan, its noise, its expected errors and its price."""

from __future__ import annotations

import json
from fractions import Fraction

from dpsql.planning.assumptions import (
    changed_groups,
    joins_said,
    nan_left_out,
    norms_said,
    rows_of_nobody,
    taken_as_given,
)
from dpsql.planning.cells_in_words import (
    bin_width,
    explained_cell,
    explained_histogram,
    frequency_width,
    rank_width,
)
from dpsql.planning.estimators.estimate import (
    CentredSum,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
)
from dpsql.planning.estimators.histogram import (
    ClippingBound,
    PresentValues,
    TopValues,
    ValueCounts,
    least_present,
)
from dpsql.planning.estimators.moments import MomentEstimate
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.planning.estimators.typical_errors import errors_in_groups
from dpsql.planning.group_notices import groups_said
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn, is_number
from dpsql.planning.rows_beyond import rows_beyond_said
from dpsql.postprocessing.possible_values import ranges
from dpsql.privacy.filter import RemainingBudget
from dpsql.privacy.measure import shown
from dpsql.session.explanation import MOST_LINES, Explanation, summary
from dpsql.session.pricing.expected_errors import ColumnError, expected, place_of
from dpsql.session.pricing.price_search import Errors, ReachedGoal
from dpsql.sql.analysis.grouping_levels import Cube, is_additive
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.interval import Interval


def cost_lines(explanation: Explanation, as_json: bool, verbose: bool) -> list[str]:
    """The lines of PostgreSQL's EXPLAIN, with the price in ε as the cost,
    followed by a summary or, verbose, by all.

    The first line, and the JSON, have PostgreSQL's form: ``(cost=first..whole rows=… width=…)``.
    """
    price = Fraction(0) if explanation.stored else explanation.epsilon
    lines = explanation.whole().splitlines() if verbose else summary(explanation, MOST_LINES - 1)
    if as_json:
        node = {
            "Node Type": "Private Answer",
            "Startup Cost": 0.0,
            "Total Cost": float(price),
            "Plan Rows": 0,
            "Plan Width": 0,
        }
        return [json.dumps([{"Plan": node, "dpsql": lines}], ensure_ascii=False, indent=2)]
    return [f"Private Answer  (cost=0.00..{shown(price)} rows=0 width=0)", *lines]


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
        likely: The expected errors of the columns,
            and the price of the earlier answer that they come from.
        reached: The price that reaches a goal, if one was asked about.
        unit: The privacy unit, as the schema names it.
        made_of: What is said of an answer that is made of earlier ones.
        rest: The plan of what is bought, where earlier answers tell the other part.
    """
    sure = expected(plan)
    bought = rest or plan
    errors, known = likely or (sure, None)
    cells = tuple(
        explained
        for core in bought.cores
        for explained in (
            *(
                explained_cell(cell.contribution, cell.mechanism, plan.confidence)
                for cell in core.cells
            ),
            *(explained_histogram(histogram, plan.confidence) for histogram in core.histograms),
        )
    )
    needed = [core.selection.units_needed() for core in plan.cores if core.selection is not None]
    return Explanation(
        tuple(core.dialect.pretty(core.sql) for core in bought.cores),
        tuple(SANDBOX.pretty(table.sql) for table in plan.derived),
        cells=cells,
        columns=tuple(column.name for column in plan.columns),
        half_widths=tuple(
            _half_width(plan, *column_and_error)
            for column_and_error in zip(plan.columns, sure, strict=True)
        ),
        missing_below=max(needed, default=None),
        epsilon=bought.price if plan.cores else Fraction(0),
        cost=bought.cost,
        remaining=remaining,
        answers=remaining.answers_left(bought.cost) if plan.cores else None,
        confidence=plan.confidence,
        levels=tuple(_levels(plan, cube) for cube in plan.cubes),
        stored=stored,
        expected=tuple(errors),
        known=known,
        reached=reached,
        within=tuple(
            _within(range_, column)
            for range_, column in zip(ranges(plan), plan.columns, strict=True)
        ),
        groups=groups_said(plan) if rest is None else (),
        given=(
            *taken_as_given(plan),
            *changed_groups(plan),
            *rows_of_nobody(plan),
            *nan_left_out(plan),
            *rows_beyond_said(plan),
            *plan.clamped,
        ),
        unit=unit,
        made_of=made_of,
        by_weight=any(
            core.selection is not None and core.selection.weights is not None for core in plan.cores
        ),
        norms=norms_said(plan),
        joins=joins_said(plan),
    )


def _within(interval: Interval, column: OutputColumn) -> str:
    """The range of a number in words; empty without one, and for dates, which the schema bounds."""
    if not is_number(column.type):
        return ""
    low, high = ("" if end is None else shown(end) for end in (interval.low, interval.high))
    if low and high:
        return f"from {low} to {high}"
    if low:
        return f"from {low} on"
    return f"up to {high}" if high else ""


def _levels(plan: Plan, cube: Cube) -> str:
    """How the grouping sets of a cube are measured, in words."""
    count = len({level.keys for level in cube.levels})
    if cube.finest is None:
        return f"{count} grouping sets, each measured for itself with its share of the price"
    cores = [None if level.core is None else plan.cores[level.core].core for level in cube.levels]
    if all(core is not None and any(map(is_additive, core.aggregates)) for core in cores):
        return f"{count} grouping sets, each with its share of the price; least squares make totals the sums of parts"
    return (
        f"{count} grouping sets, released once at the finest level; totals are sums of its groups"
    )


def _half_width(plan: Plan, column: OutputColumn, sure: ColumnError | None) -> str:
    if sure is not None:
        return f"± {sure.half_width:.4g}"
    if column.aggregate is None:
        return ""
    at = place_of(plan, column)
    assert at is not None
    core, index = at
    halves = core.half_widths(plan.confidence)
    match core.estimates[index]:
        case SingleCell() | CentredSum():
            raise AssertionError("the plan tells how exact a count or a sum is")
        case MeanEstimate() | MomentEstimate() as ratio:
            return errors_in_groups(ratio, halves, core.law(plan.confidence))
        case PresenceEstimate(count=count):
            return f"told from {float(2 * halves[count]):.4g} rows on"
        case QuantileEstimate(histogram=number, ranks=ranks):
            width = bin_width(core.histograms[number])
            bin_note = f"; one bin is {width} wide" if width else ""
            return f"± {rank_width(core.histograms[number], ranks, plan.confidence):.4g} rows in rank{bin_note}"
        case PresentValues(histogram=number, values=values):
            return f"told from {float(least_present(core.histograms[number], len(values))):.4g} rows of a value on"
        case (
            ValueCounts(histogram=number)
            | TopValues(histogram=number)
            | ClippingBound(histogram=number)
        ):
            return frequency_width(core.histograms[number], plan.confidence)
