"""What was released of a statement before, read as if it had been released at another price.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsql.planning.estimators.estimate import Interval, interval
from dpsql.planning.estimators.frequencies import Clip, Counted, Most
from dpsql.planning.estimators.quantiles import Curve, Ranked
from dpsql.planning.explain_cells import rank_width
from dpsql.planning.plan import CorePlan, Plan
from dpsql.release.noise import Released, ReleasedTable


@dataclass(frozen=True)
class Known:
    """A plan, and what was released for it."""

    plan: Plan
    released: Released

    def at(self, plan: Plan) -> Released:
        """The same numbers with the intervals that they would have under a plan of the same cores at another price."""
        tables = zip(self.released.tables, plan.cores, strict=True)
        return Released(tuple(_at(table, core, plan.confidence) for table, core in tables))


def _at(table: ReleasedTable, core: CorePlan, confidence: float) -> ReleasedTable:
    halves, wide, law = core.half_widths(confidence), core.additive_half_widths(confidence), core.law(confidence)
    grown = [_grown(table.plan, core, place, confidence) for place in range(len(core.estimates))]
    intervals, curves = [], []
    for row, cells in enumerate(table.cells):
        measured = list(zip(cells, halves, strict=True))
        found: list[Interval | None] = []
        drawn: list[Curve | None] = []
        for place, estimate in enumerate(core.estimates):
            curve, factor = table.curves[row][place], grown[place]
            if isinstance(estimate, Ranked | Counted | Most | Clip):
                wider = None if curve is None else replace(curve, points=_stretched(curve.points, factor))
                has = table.intervals[row][place] is not None and wider is not None
                found.append((wider.points[0], wider.points[2]) if has and wider is not None else None)
                drawn.append(wider)
            else:
                found.append(interval(estimate, measured, wide[place], law))
                drawn.append(None)
        intervals.append(tuple(found))
        curves.append(tuple(drawn))
    return replace(table, plan=core, intervals=tuple(intervals), curves=tuple(curves))


def _grown(before: CorePlan, core: CorePlan, place: int, confidence: float) -> float:
    """How many times as far in rank as before a quantile may be: its interval is taken to grow by as much."""
    estimate = core.estimates[place]
    if not isinstance(estimate, Ranked):
        return 1.0
    widths = [rank_width(each.histograms[estimate.histogram], estimate.ranks, confidence) for each in (before, core)]
    return widths[1] / widths[0] if widths[0] else 1.0


def _stretched(points: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    low, middle, high = points
    return middle - (middle - low) * factor, middle, middle + (high - middle) * factor
