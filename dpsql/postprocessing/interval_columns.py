"""The ends of intervals as columns of the answer.

``x_low`` and ``x_high`` follow each column ``x`` that has intervals. Which columns have them
follows from the plan alone, so that an answer is described as it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import CellInterval, OutputColumn, end_type, unused_name
from dpsql.postprocessing.answer import Result
from dpsql.postprocessing.intervals.result_intervals import may_have_interval
from dpsql.sql.analysis.grouping_levels import shapes


def columns_with_intervals(plan: Plan) -> tuple[OutputColumn, ...]:
    """The columns of a plan's answer; ends follow each that may have intervals."""
    estimated = _estimated(plan)
    names = [column.name for column in plan.columns]
    result = list[OutputColumn]()
    for index, column in enumerate(plan.columns):
        result.append(column)
        if index in estimated:
            ends = [unused_name(f"{column.name}_{word}", names) for word in ("low", "high")]
            names += ends
            result += [OutputColumn(name, end_type(column.type)) for name in ends]
    return tuple(result)


def with_interval_columns(plan: Plan, result: Result) -> Result:
    """The answer with the columns of `columns_with_intervals`.

    A cell without an interval has NULL for both ends.
    """
    estimated = _estimated(plan)
    rows = [
        tuple(_row_with_interval_ends(row, bars, estimated))
        for row, bars in zip(result.rows, result.intervals, strict=True)
    ]
    none: tuple[CellInterval | None, ...] = (None, None)
    intervals = [
        tuple(
            ends
            for index, bar in enumerate(bars)
            for ends in ((bar, *none) if index in estimated else (bar,))
        )
        for bars in result.intervals
    ]
    return replace(
        result, columns=columns_with_intervals(plan), rows=rows, intervals=intervals, has_ends=True
    )


def _estimated(plan: Plan) -> frozenset[int]:
    """The places of the columns that may have intervals."""
    tables = shapes([core.core for core in plan.cores], plan.cubes)
    resampled = () if plan.resampling is None else plan.resampling.wanted
    return frozenset(
        index
        for index, column in enumerate(plan.columns)
        if index in resampled or may_have_interval(column, tables)
    )


def _row_with_interval_ends(
    row: Sequence[object], bars: Sequence[CellInterval | None], estimated: frozenset[int]
) -> Iterator[object]:
    for index, (value, bar) in enumerate(zip(row, bars, strict=True)):
        yield value
        if index in estimated:
            yield from (None, None) if bar is None else bar
