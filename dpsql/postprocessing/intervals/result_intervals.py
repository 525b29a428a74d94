"""The columns of a result that have intervals, their sources, and notices of columns without any.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from dpsql.planning.estimators.columnar_rows import column
from dpsql.planning.estimators.linear_forms import EVERYTHING, ConfidenceInterval
from dpsql.planning.estimators.quantiles import QuantileCurve, date_ends, is_date
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import (
    CellInterval,
    IntervalEndColumns,
    OutputColumn,
    is_number,
)
from dpsql.postprocessing.intervals.dependence import Dependence
from dpsql.postprocessing.intervals.exact_forms import (
    AnyReleasedTable,
    divisors,
    exact_form,
    exact_intervals,
    known_noises,
)
from dpsql.postprocessing.intervals.lineage import TracedQuery
from dpsql.postprocessing.intervals.resampling import MOST_RESAMPLED_ROWS, drawn_again
from dpsql.postprocessing.possible_values import ends_within, possible_of
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.sql.analysis.grouping_levels import Cube, noise_known
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import Core

#: The most rows of a result whose computed columns get exact intervals.
MOST_ROWS = 25_000


def released_columns(
    tables: Mapping[str, Core | Cube], ends: Sequence[IntervalEndColumns] = ()
) -> dict[str, dict[str, Dependence]]:
    """The columns of released tables and how they depend on noise.

    Ends of intervals are drawn on no sample.
    """
    result = {}
    for name, shape in tables.items():
        kinds = {
            column: Dependence.PUBLIC if column[0] != "a" else Dependence.CHOSEN
            for column in column_types(shape)
        }
        drawn = {f"a{index}": Dependence.SMOOTH for index in drawn_again(shape)}
        result[name] = kinds | drawn | dict.fromkeys(end_types(name, ends), Dependence.CHOSEN)
    return result


def output_columns(
    described: Sequence[tuple[str, str]], traced: TracedQuery, tables: Mapping[str, Core | Cube]
) -> tuple[OutputColumn, ...]:
    """The columns of a result, each with what its interval is read off or computed from."""

    def column(position: int, name: str, sql_type: str) -> OutputColumn:
        known = traced.columns[position] if traced.columns else None
        origin = None if known is None else known.origin
        if known is None or origin is None:
            return OutputColumn(name, sql_type)
        table = traced.tables[origin.row]
        kind = table[:4]
        number = int(table[4:])
        is_computed = (
            origin.aggregate is None
            and known.dependence is not Dependence.PUBLIC
            and is_number(sql_type)
        )
        computed = SANDBOX.write(origin.expression) if is_computed else None
        exact = computed is not None and exact_form(computed, tables[table]) is not None
        core, cube = (number, None) if kind == "core" else (0, number)
        return OutputColumn(
            name,
            sql_type,
            aggregate=origin.aggregate,
            computed=computed,
            row=origin.row,
            core=core,
            cube=cube,
            exact=exact,
        )

    return tuple(column(index, *name_and_type) for index, name_and_type in enumerate(described))


def may_have_interval(column: OutputColumn, tables: Mapping[str, Core | Cube]) -> bool:
    """Whether a column that is read off one released row may have intervals.

    The answer is the same for all that may be released.
    """
    if column.aggregate is not None:
        return known_noises(tables[column.table])[column.aggregate] is not KnownNoise.NOTHING
    return column.exact


def intervals(
    sandbox: Sandbox,
    plan: Plan,
    tables: Mapping[str, AnyReleasedTable],
    rows: Sequence[Sequence[object]],
    resampled: Mapping[tuple[int, int], ConfidenceInterval],
) -> list[tuple[CellInterval | None, ...]]:
    """The interval of each cell of a result; numbers of released rows follow its columns.

    ``resampled`` are those of cells that are not read off one released row. If the divisor of such
    a cell may be 0, no finite interval is known to hold.
    """
    by_column: list[Sequence[CellInterval | None]] = []
    numbers = len(plan.columns) + 2 * len(plan.collection or ())
    many = len(rows) > MOST_ROWS
    for index, column_ in enumerate(plan.columns):
        sampled = [resampled.get((at, index)) for at in range(len(rows))]
        if column_.aggregate is None and column_.computed is None:
            by_column.append(sampled)
            continue
        table = tables[column_.table]
        row_numbers = [row[numbers + column_.row] for row in rows]
        if column_.aggregate is not None:
            if noise_known(table.shape) is KnownNoise.NOTHING:
                by_column.append([None] * len(rows))
                continue
            column_intervals = _own(table, column_.aggregate, column_.type)
            column_intervals = (
                list(column_intervals)
                if len(row_numbers) > len(column_intervals) // 4
                else column_intervals
            )
            by_column.append(
                [
                    column_intervals[number] if isinstance(number, int) else None
                    for number in row_numbers
                ]
            )
        elif column_.exact and column_.computed is not None:
            by_column.append(
                sampled
                if many
                else exact_intervals(
                    sandbox, table, column_.computed, row_numbers, confidence=plan.confidence
                )
            )
        else:
            for sql in divisors(column_.computed or ""):
                below = exact_intervals(
                    sandbox, table, sql, row_numbers, confidence=plan.confidence
                )
                sampled = [
                    interval
                    and (interval if ends and (ends[0] >= 0 or ends[1] <= 0) else EVERYTHING)
                    for interval, ends in zip(sampled, below, strict=True)
                ]
            by_column.append(sampled)
    columns = [
        [None if row[index] is None else ends for row, ends in zip(rows, cells, strict=True)]
        for index, cells in enumerate(by_column)
    ]
    return list(zip(*columns, strict=True)) if columns else [()] * len(rows)


def _own(table: AnyReleasedTable, index: int, sql_type: str) -> Sequence[CellInterval | None]:
    """The intervals of an aggregate as they were released.

    They are of numbers, of dates or timestamps, or of lists of these.
    """
    curves = column(table.curves, index)
    member = sql_type.removesuffix("[]")
    values = column(table.aggregates, index)
    curves = [None if value is None else curve for value, curve in zip(values, curves, strict=True)]
    if member != sql_type:
        lists = [
            None if other is None else [_curve_ends(curve, member) for curve in other]
            for other in curves
        ]
        return [
            None if list_ is None else ([low for low, _ in list_], [high for _, high in list_])
            for list_ in lists
        ]
    if not is_date(sql_type):
        return column(table.intervals, index)
    return [None if curve is None else date_ends(curve[0], sql_type) for curve in curves]


def _curve_ends(curve: QuantileCurve, sql_type: str) -> tuple[float, float] | tuple[date, date]:
    return date_ends(curve, sql_type) if is_date(sql_type) else (curve.points[0], curve.points[2])


def end_types(table: str, ends: Sequence[IntervalEndColumns]) -> dict[str, str]:
    """The columns that the ends of intervals are in a released table."""
    return {name: end.type for end in ends if end.table == table for name in end.columns}


def end_values(
    sandbox: Sandbox,
    ends: Sequence[IntervalEndColumns],
    tables: Mapping[str, AnyReleasedTable],
    confidence: float,
) -> dict[IntervalEndColumns, tuple[list[Any], list[Any]]]:
    """The ends of the intervals of every row of their tables."""
    result: dict[IntervalEndColumns, tuple[list[Any], list[Any]]] = {}
    for end in ends:
        table = tables[end.table]
        if end.aggregate is not None and end.type != "DOUBLE":
            pairs = list(_own(table, end.aggregate, end.type))
        else:
            within = possible_of(end.sql, table.shape.aggregates)
            known = exact_intervals(
                sandbox, table, end.sql, range(len(table.keys)), confidence=confidence
            )
            pairs = [ends_within(interval, within) for interval in known]
        result[end] = ([pair and pair[0] for pair in pairs], [pair and pair[1] for pair in pairs])
    return result


def missing_intervals(
    plan: Plan, tables: Mapping[str, AnyReleasedTable], rows: int, ran: bool
) -> tuple[str, ...]:
    """One sentence for each reason why columns of numbers lack intervals.

    Args:
        plan: that of the statement.
        tables: the released tables that it reads.
        rows: how many its result has.
        ran: whether post-processing came to its end on the samples, if it was run on them.
    """
    notices = list[str]()
    resampling = plan.resampling
    exact = [index for index, output in enumerate(plan.columns) if output.exact]
    if exact and rows > MOST_ROWS:
        why = f"what is computed of released rows has intervals on at most {MOST_ROWS:,} rows"
        notices.append(_missing_notice(plan, exact, f"{why}; ask for fewer groups at a time"))
    if resampling is None or not rows:
        return tuple(notices)
    released_rows = sum(len(tables[name].keys) for name in resampling.tables)
    if resampling.wanted and released_rows > MOST_RESAMPLED_ROWS:
        why = (
            f"it takes {released_rows:,} released rows together, and at most "
            f"{MOST_RESAMPLED_ROWS:,} are resampled; ask for fewer groups at a time"
        )
        notices.append(_missing_notice(plan, resampling.wanted, why))
    elif resampling.wanted and not ran:
        why = "run on samples of the noise, the part of the statement over released rows fails"
        notices.append(
            _missing_notice(plan, resampling.wanted, f"{why}, or takes too much time or memory")
        )
    if resampling.without:
        why = (
            "noise chooses what is shown (by a rank, MAX, MIN or a condition on released numbers) or cannot be "
            "drawn again, and no interval would hold as often as it says"
        )
        notices.append(_missing_notice(plan, resampling.without, why))
    return tuple(notices)


def _missing_notice(plan: Plan, places: Sequence[int], why: str) -> str:
    *before, last = (plan.columns[index].name for index in places)
    return f"no interval in any row of {', '.join(before)}{' and ' if before else ''}{last}: {why}"


def groups_left_open(intervals: bool, thresholded: bool) -> str:
    """What is said of an answer that is made of some groups alone.

    They are above a threshold, or noise leaves open whether others have rows.
    """
    notice = "noise leaves open which small groups have rows; this answer is made of those that seem to have some"
    if thresholded:
        notice = "this answer is made of large groups alone"
    if not intervals:
        notice += ", so that what is made of several groups has no interval"
    return (
        notice
        if thresholded
        else f"{notice}; SET dpsql.empty_groups = show reads all groups, with rows or without"
    )
