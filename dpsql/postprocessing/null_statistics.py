"""Which columns of an answer are NULL because a group may have no rows.

Proved in ``docs/proofs/estimate.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.planning.estimators.columnar_rows import column
from dpsql.planning.estimators.moments import OF_SAMPLES
from dpsql.planning.group_notices import listed
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import is_number
from dpsql.postprocessing.intervals.exact_forms import AnyReleasedTable
from dpsql.sql.ir.aggregate_properties import Measure, MomentSums

#: What is said if no column of the answer is an aggregate itself.
_MADE_OF_NULL = (
    "an average, a quantile or a deviation is NULL in what this is made of if its count may be 0"
)


def nulls_said(
    plan: Plan, tables: Mapping[str, AnyReleasedTable], rows: Sequence[Sequence[object]]
) -> tuple[str, ...]:
    """One sentence for each reason why columns of an answer are NULL.

    One sentence for all if their columns are not known. The numbers of released rows follow the
    columns of each row.
    """
    names_by_reason = dict[str, list[str]]()
    numbers = len(plan.columns) + 2 * len(plan.collection or ())
    for index, output in enumerate(plan.columns):
        if output.aggregate is None:
            continue
        reason = _reason(tables[output.table].shape.aggregates[output.aggregate].function.measure)
        is_null = any(
            row[index] is None and isinstance(row[numbers + output.row], int) for row in rows
        )
        if reason is not None and is_null:
            names_by_reason.setdefault(reason, []).append(output.name)
    sentences = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} NULL if {reason}"
        for reason, names in names_by_reason.items()
    ]
    if not sentences and any(
        output.aggregate is None and is_number(output.type) for output in plan.columns
    ):
        sentences += [_MADE_OF_NULL] if any(map(_has_null, tables.values())) else []
    return tuple(sentences)


def _reason(measure: Measure | MomentSums) -> str | None:
    """Why SQL makes the aggregate NULL; None of those that are never NULL here."""
    match measure:
        case MomentSums(statistic=statistic) if statistic in OF_SAMPLES:
            return "its count may be 0 or 1"
        case MomentSums(x=2, products=True):
            return "its count or a variance may be 0"
        case (
            MomentSums() | Measure.MEAN | Measure.MEAN_OF_X | Measure.MEAN_OF_Y | Measure.QUANTILES
        ):
            return "its count may be 0"
        case _:
            return None


def _has_null(table: AnyReleasedTable) -> bool:
    """Whether an average or the like is NULL in a released row."""
    return any(
        _reason(aggregate.function.measure) is not None and None in column(table.aggregates, index)
        for index, aggregate in enumerate(table.shape.aggregates)
    )
