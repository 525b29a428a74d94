"""Whether the noisy counts of a group say that an aggregate has rows there.

Proved in ``docs/proofs/estimate.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.planning.estimators.columnar_rows import StepColumn
from dpsql.planning.plan import CorePlan
from dpsql.sql.ir.core import Aggregate, Cell, RowCount, UnitCount
from dpsql.sql.ir.expression import Expression


def rows_are_counted(
    plan: CorePlan, aggregate: Aggregate, cells: Sequence[StepColumn], rows: int, confidence: float
) -> list[bool]:
    """For each row whether the interval of a count of what the aggregate reads is clear of 0.

    That is the count of its values, if one is measured; else one of all its rows or units, which
    may have NULL.
    """
    condition = aggregate.condition
    measured = [cell.contribution.cell for cell in plan.cells]
    places = _places(measured, _row_counts(aggregate.argument, condition))
    if not places:
        if plan.selection is not None and condition is None:
            return [True] * rows  # a threshold shows groups of units alone
        places = _places(measured, [*_row_counts(None, condition), UnitCount(condition)])
    halves = plan.half_widths(confidence)
    counted = [[count > halves[index] for count in cells[index]] for index in places]
    return [any(column[row] for column in counted) for row in range(rows)]


def _row_counts(argument: Expression | None, condition: Expression | None) -> list[Cell]:
    return [RowCount(argument, condition, averaged) for averaged in (False, True)]


def _places(measured: Sequence[Cell], selected: Sequence[Cell]) -> list[int]:
    return [index for index, cell in enumerate(measured) if cell in selected]
