"""The price of a statement by how exact its answer shall be,
from the plan and from what was released before.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import Refused, StatementError
from dpsql.planning.cells_in_words import rank_width
from dpsql.planning.estimators.estimate import interval
from dpsql.planning.estimators.histogram import ClippingBound, PresentValues, TopValues, ValueCounts
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.quantiles import QuantileCurves, QuantileEstimate
from dpsql.planning.plan import CorePlan, Plan
from dpsql.postprocessing import Result
from dpsql.privacy.filter import RemainingBudget
from dpsql.privacy.measure import Cost
from dpsql.release.released_tables import Released, ReleasedTable
from dpsql.session.pricing.error_target import AccuracyGoal, ErrorTarget
from dpsql.session.pricing.expected_errors import (
    ColumnError,
    expected,
    has_interval,
    is_list,
    typical,
)
from dpsql.session.pricing.price_search import (
    Errors,
    ReachedGoal,
    WantedError,
    approximate_price,
    decimal,
    exact_price,
    excess,
    least,
    nearest,
)


@dataclass(frozen=True)
class EarlierRelease:
    """A plan, and what was released for it."""

    plan: Plan
    released: Released

    def at(self, plan: Plan) -> Released:
        """The same numbers with the intervals that they would have under a plan of the same cores
        at another price.
        """
        tables = zip(self.released.tables, plan.cores, strict=True)
        return Released(tuple(_at(table, core, plan.confidence) for table, core in tables))


def _at(table: ReleasedTable, core: CorePlan, confidence: float) -> ReleasedTable:
    halves = core.half_widths(confidence)
    wide = core.additive_half_widths(confidence)
    law = core.law(confidence)
    grown = [_grown(table.plan, core, index, confidence) for index in range(len(core.estimates))]
    intervals = []
    curves = []
    for row, cells in enumerate(table.cells):
        measured = list(zip(cells, halves, strict=True))
        new_intervals: list[ConfidenceInterval | None] = []
        drawn: list[QuantileCurves | None] = []
        for index, estimate in enumerate(core.estimates):
            before = table.curves[row][index]
            factor = grown[index]
            if isinstance(
                estimate, QuantileEstimate | ValueCounts | TopValues | ClippingBound | PresentValues
            ):
                wider = (
                    None
                    if before is None
                    else tuple(
                        replace(curve, points=_stretched(curve.points, factor)) for curve in before
                    )
                )
                has = table.intervals[row][index] is not None and wider is not None
                new_intervals.append(
                    (wider[0].points[0], wider[0].points[2]) if has and wider is not None else None
                )
                drawn.append(wider)
            else:
                new_intervals.append(interval(estimate, measured, wide[index], law))
                drawn.append(None)
        intervals.append(tuple(new_intervals))
        curves.append(tuple(drawn))
    return replace(table, plan=core, intervals=tuple(intervals), curves=tuple(curves))


def _grown(before: CorePlan, core: CorePlan, index: int, confidence: float) -> float:
    """How many times as far in rank as before a quantile may be:
    its interval is taken to grow by as much.
    """
    estimate = core.estimates[index]
    if not isinstance(estimate, QuantileEstimate):
        return 1.0
    widths = [
        rank_width(core_plan.histograms[estimate.histogram], estimate.ranks, confidence)
        for core_plan in (before, core)
    ]
    return widths[1] / widths[0] if widths[0] else 1.0


def _stretched(points: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    low, middle, high = points
    return middle - (middle - low) * factor, middle, middle + (high - middle) * factor


#: An answer reaches a target that depends on its own size if it is no wider than this many times:
#: or noise in the size would make the same statement pay again and again.
NEAR_ENOUGH = 1.1


class UnresolvedTarget(StatementError):
    """The target is a part of something that nobody knows:
    nothing was released of the statement, or 0.
    """

    def __init__(
        self, column: str, target: ErrorTarget, relative: bool, known: bool, zero: bool = False
    ) -> None:
        name = f"{column} " if target.column else ""
        amount = f"{float(100 * target.amount):g} %"
        if relative:
            size = "was released as 0" if zero else "was not released yet"
            reason = f"it is {amount} of what {column!r} is, which {size}; say of what"
            hint = f"TO REACH {name}{amount} OF 4000"
        else:
            reason = f"how wide {column!r} is depends on numbers that were not released yet; of an average say its rows"
            hint = f"TO REACH {target} AT 4000 ROWS"
        if not known:  # neither a size nor a number of rows tells it
            reason = f"how wide {column!r} is depends on numbers that were not released yet"
            hint = f"SET dpsql.target_error = '{replace(target, column=None)}'"
        super().__init__(
            "E_STMT", f"{reason}, or run the statement once at a small price", hint=hint
        )


@dataclass(frozen=True)
class Pricing:
    """What prices are found from: ``find`` looks for an answer of the same private part that was
    paid for, whatever its price; ``run`` is post-processing over released rows; no price is above
    ``largest``."""

    find: Callable[[Plan], EarlierRelease | None]
    run: Callable[[Plan, Released], Result]
    remaining: RemainingBudget
    largest: Fraction

    def reach(
        self, plan: Plan, goal: AccuracyGoal, known: EarlierRelease | None = None
    ) -> ReachedGoal:
        """The price that reaches the goal. Raises UnresolvedTarget if it depends on a first release."""
        lists = [
            column.name
            for index, column in enumerate(plan.columns)
            if is_list(plan, index) and goal.target(column.name) is not None
        ]
        return replace(self._reached(plan, goal, known), lists=tuple(lists))

    def _reached(self, plan: Plan, goal: AccuracyGoal, known: EarlierRelease | None) -> ReachedGoal:
        columns = self._columns(plan, goal)
        known = self.find(plan) if known is None else known
        targets = self._wanted(plan, goal, columns, known)
        simulated = not all(target.exact for target in targets)

        found_at: dict[Fraction, Errors] = {}

        def errors(at: Plan) -> Errors:
            if (
                at.price not in found_at
            ):  # what is found by drawing noise is drawn once for each price
                sure = expected(at, goal.at)
                like = (
                    typical(self.run(at, known.at(at))) if simulated and known is not None else sure
                )
                found_at[at.price] = [
                    first or second for first, second in zip(sure, like, strict=True)
                ]
            return found_at[at.price]

        def errors_at(at: Plan) -> tuple[ColumnError, ...]:
            all_errors = errors(at)
            return tuple(error for column in columns if (error := all_errors[column]) is not None)

        sized = simulated or any(_by_size(goal, plan, column) for column in columns)
        base = known.plan.price if sized and known is not None else None
        if known is not None:
            near = NEAR_ENOUGH if sized else 1.0
            if excess(targets, errors(known.plan)) <= near:
                return ReachedGoal(
                    goal,
                    known.plan.price,
                    errors=errors_at(known.plan),
                    share=0.0,
                    most=None,
                    best=(),
                    known=base,
                    free=True,
                )
        price = (
            approximate_price(plan, errors, targets)
            if simulated
            else exact_price(plan, goal, targets)
        )
        share = None if price is None or price > self.largest else self._share(plan.at(price).cost)
        if price is not None and share is not None:
            return ReachedGoal(
                goal,
                price,
                errors=errors_at(plan.at(price)),
                share=share,
                most=None,
                best=(),
                known=base,
            )
        most = self.most(plan)
        best = () if most is None else errors_at(plan.at(most))
        return ReachedGoal(
            goal,
            price,
            errors=() if price is None else errors_at(plan.at(price)),
            share=None,
            most=most,
            best=best,
            known=base,
        )

    def likely(self, plan: Plan) -> tuple[Errors, Fraction | None]:
        """What is known of the columns before they are paid for,
        and the price of the answer that tells of them.
        """
        sure = expected(plan)
        if all(
            error is not None or not has_interval(plan, index) for index, error in enumerate(sure)
        ):
            return sure, None
        known = self.find(plan)
        if known is None:
            return sure, None
        like = typical(self.run(plan, known.at(plan)))
        return [first or second for first, second in zip(sure, like, strict=True)], known.plan.price

    def most(self, plan: Plan) -> Fraction | None:
        """The largest price of three digits that the budget admits now,
        or that of the plan if it admits no other.
        """

        def admitted(price: Fraction) -> bool:
            with suppress(Refused):  # noise beyond exact sampling, where nothing is left
                return price <= self.largest and self._share(plan.at(price).cost) is not None
            return False

        beyond = least(
            lambda price: not admitted(price),
            float(min(self.largest, max(self.remaining.epsilon, plan.price))),
        )
        assert beyond is not None
        below = decimal(nearest(float(beyond)) - 1)
        return next((price for price in (below, plan.price) if admitted(price)), None)

    def _columns(self, plan: Plan, goal: AccuracyGoal) -> list[int]:
        """The columns that the goal is about."""
        estimated = [index for index in range(len(plan.columns)) if has_interval(plan, index)]
        names = [plan.columns[index].name.lower() for index in estimated]
        for target in goal.targets:
            if target.column is not None and target.column.lower() not in names:
                raise StatementError(
                    "E_STMT", f"no column {target.column!r} of the result has an interval"
                )
        result = [index for index in estimated if goal.target(plan.columns[index].name) is not None]
        if not result:
            raise StatementError(
                "E_STMT", "no column of the result has an interval that a price would narrow"
            )
        return result

    def _wanted(
        self, plan: Plan, goal: AccuracyGoal, columns: Sequence[int], known: EarlierRelease | None
    ) -> list[WantedError]:
        """What is wanted of each column, in its own unit."""
        sure = expected(plan, goal.at)
        by_rows = expected(plan, Fraction(1))
        sizes: Errors = [None] * len(plan.columns)
        if known is not None and any(
            sure[column] is None or _by_size(goal, plan, column) for column in columns
        ):
            sizes = typical(self.run(known.plan, known.released))
        result = []
        for column in columns:
            name = plan.columns[column].name
            target = goal.target(name)
            size = sizes[column]
            assert target is not None
            half = target.half_width(None if size is None else size.magnitude)
            if half is None:  # nothing of it was released, or 0
                by_size = sure[column] is not None or by_rows[column] is not None
                raise UnresolvedTarget(
                    name, target, relative=True, known=by_size, zero=size is not None
                )
            if sure[column] is None and size is None:
                raise UnresolvedTarget(
                    name, target, relative=False, known=by_rows[column] is not None
                )
            result.append(WantedError(column, half, sure[column] is not None))
        return result

    def _share(self, cost: Cost) -> float | None:
        """The part of the remaining budget that a cost takes; None if the budget does not admit it."""
        after = self.remaining.shares_after(cost.rounded_up())
        if after is None:
            return None
        before = [standing.share for standing in self.remaining.standings]
        taken = [
            1 - remaining / share if share else Fraction(1)
            for remaining, share in zip(after, before, strict=True)
        ]
        return float(max(taken))


def _by_size(goal: AccuracyGoal, plan: Plan, index: int) -> bool:
    target = goal.target(plan.columns[index].name)
    return target is not None and target.relative and target.of is None
