"""Which columns of a result have intervals, where these come from, and what is said of columns without any.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

from dpsql.planning.estimators.columnar_rows import column
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.quantiles import QuantileCurve, date_ends, is_date
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import CellInterval, IntervalEndColumns, OutputColumn, end_type, is_number
from dpsql.postprocessing.intervals import row_intervals
from dpsql.postprocessing.intervals.arithmetic import aggregates_read
from dpsql.postprocessing.intervals.lineage import TracedQuery
from dpsql.postprocessing.intervals.resampling import MOST_RESAMPLED_ROWS, AnyReleasedTable, chosen_columns, has_noise
from dpsql.postprocessing.intervals.row_intervals import computed_intervals, is_smooth
from dpsql.postprocessing.possible_values import ends_within, possible_of
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.core import Core

#: The lower and the upper ends of some intervals, None where there is none.
IntervalSides: TypeAlias = tuple[
    list[float | date | list[Any] | None],
    list[float | date | list[Any] | None],
]


def output_columns(described: Sequence[tuple[str, str]], traced: TracedQuery | None) -> tuple[OutputColumn, ...]:
    """The columns of a result, each with what its interval is read off or computed from."""

    def column(place: int, name: str, sql_type: str) -> OutputColumn:
        origin = None if traced is None else traced.origins[place]
        if traced is None or origin is None:
            return OutputColumn(name, sql_type)
        kind, number = traced.tables[origin.row][:4], int(traced.tables[origin.row][4:])
        computed = SANDBOX.write(origin.expression) if origin.is_computed and is_number(sql_type) else None
        core, cube = (number, None) if kind == "core" else (0, number)
        return OutputColumn(name, sql_type, origin.aggregate, computed, origin.row, core, cube)

    return tuple(column(place, *each) for place, each in enumerate(described))


def has_intervals(columns: Sequence[OutputColumn]) -> bool:
    """Whether some column of the result gets intervals; then the shell numbers the released rows behind each row."""
    return any(column.aggregate is not None or column.computed is not None for column in columns)


def may_have_interval(column: OutputColumn, tables: Mapping[str, Core | Cube]) -> bool:
    """Whether a column that is read off one released row may have intervals, whatever is released."""
    if column.aggregate is not None:
        shape = tables[column.table]
        return has_noise(shape, column.aggregate) or _is_list(shape, column.aggregate)
    return column.computed is not None and not _is_chosen(column, tables[column.table])


def _is_list(shape: Core | Cube, place: int) -> bool:
    """Whether the aggregate is a list of quantiles."""
    ranks = shape.aggregates[place].ranks
    return ranks is not None and ranks.listed


def intervals(
    sandbox: Sandbox,
    plan: Plan,
    tables: Mapping[str, AnyReleasedTable],
    rows: Sequence[Sequence[object]],
    resampled: Mapping[tuple[int, int], ConfidenceInterval],
) -> list[tuple[CellInterval | None, ...]]:
    """The interval of each cell of a result, behind whose columns stand the numbers of released rows.

    ``resampled`` are those of cells that several released rows make.
    """
    width, beside = len(plan.columns), 0 if plan.resampling is None else plan.resampling.beside
    if not has_intervals(plan.columns) and plan.resampling is None:
        return [(None,) * width for _ in rows]
    numbers = [row[width + beside :] for row in rows]
    computed: dict[tuple[int, int], ConfidenceInterval] = {}
    for row, table in sorted({(each.row, each.table) for each in plan.columns if each.computed is not None}):
        wanted = {number: each.computed for number, each in enumerate(plan.columns)
                  if each.computed is not None and each.row == row}  # fmt: skip
        behind = sorted({place for places in numbers if isinstance(place := places[row], int)})
        if len(behind) <= row_intervals.MOST_ROWS:
            computed |= computed_intervals(sandbox, tables[table], wanted, behind, plan.confidence)

    found: list[Sequence[CellInterval | None]] = []
    for number, each in enumerate(plan.columns):
        if each.aggregate is None and each.computed is None:
            found.append([resampled.get((at, number)) for at in range(len(rows))])
            continue
        places = [behind[each.row] for behind in numbers]
        if each.aggregate is not None:
            own = _own(tables[each.table], each.aggregate, each.type)
            own = list(own) if len(places) > len(own) // 4 else own
            found.append([own[place] if isinstance(place, int) else None for place in places])
        else:
            found.append([computed.get((number, place)) if isinstance(place, int) else None for place in places])
    return list(zip(*found, strict=True)) if found else [()] * len(rows)


def _own(table: AnyReleasedTable, place: int, sql_type: str) -> Sequence[CellInterval | None]:
    """The intervals of an aggregate as they were released: of numbers, of dates or timestamps, or of lists of these."""
    curves, member = column(table.curves, place), sql_type.removesuffix("[]")
    if member != sql_type:
        lists = [None if each is None else [_curve_ends(curve, member) for curve in each] for each in curves]
        return [None if each is None else ([low for low, _ in each], [high for _, high in each]) for each in lists]
    if not is_date(sql_type):
        return column(table.intervals, place)
    return [None if each is None else date_ends(each[0], sql_type) for each in curves]


def _curve_ends(curve: QuantileCurve, sql_type: str) -> tuple[float, float] | tuple[date, date]:
    return date_ends(curve, sql_type) if is_date(sql_type) else (curve.points[0], curve.points[2])


def end_types(table: str, shape: Core | Cube, ends: Sequence[IntervalEndColumns]) -> dict[str, str]:
    """The columns that the ends of intervals are in a released table: as dates are, or doubles."""
    return {name: _end_type(shape, each) for each in ends if each.table == table for name in each.columns}


def _end_type(shape: Core | Cube, ends: IntervalEndColumns) -> str:
    return "DOUBLE" if ends.aggregate is None else end_type(column_types(shape)[f"a{ends.aggregate}"])


def end_values(
    sandbox: Sandbox, ends: Sequence[IntervalEndColumns], tables: Mapping[str, AnyReleasedTable], confidence: float
) -> dict[IntervalEndColumns, IntervalSides]:
    """The ends of the intervals of every row of their tables."""
    found: dict[IntervalEndColumns, IntervalSides] = {}
    for name in dict.fromkeys(each.table for each in ends):
        table, own = tables[name], [each for each in ends if each.table == name]
        rows = range(len(table.keys))
        numbers = {each.number: each.sql for each in own if _end_type(table.shape, each) == "DOUBLE"}
        known = computed_intervals(sandbox, table, numbers, rows, confidence)
        for each in own:
            kind, place = _end_type(table.shape, each), each.aggregate
            if place is not None and kind != "DOUBLE":
                pairs = list(_own(table, place, kind))
            else:
                within = possible_of(each.sql, table.shape.aggregates)
                pairs = [ends_within(known.get((each.number, row)), within) for row in rows]
            found[each] = ([pair and pair[0] for pair in pairs], [pair and pair[1] for pair in pairs])
    return found


def missing_intervals(
    plan: Plan, tables: Mapping[str, AnyReleasedTable], found: Sequence[Sequence[CellInterval | None]], ran: bool
) -> tuple[str, ...]:
    """One sentence for each reason why columns of numbers lack intervals.

    Args:
        plan: that of the statement.
        tables: the released tables that it reads.
        found: the intervals of its result.
        ran: whether the shell came to its end on the samples, where it was run on them.
    """
    if not found:
        return ()
    said, resampling = [], plan.resampling
    if resampling is not None and resampling.wanted:
        behind = sum(len(tables[name].keys) for name in resampling.tables)
        if behind > MOST_RESAMPLED_ROWS:
            why = (f"it takes {behind:,} released rows together, and at most {MOST_RESAMPLED_ROWS:,} are "
                   "resampled; ask for fewer groups at a time")  # fmt: skip
            said.append(_said(plan, resampling.wanted, why))
        elif not ran:
            why = "run on samples of the noise, the part of the statement over released rows fails"
            said.append(_said(plan, resampling.wanted, f"{why}, or takes too much time or memory"))
    many = len(found) > row_intervals.MOST_ROWS
    alone = [place for place, column in enumerate(plan.columns)
             if column.computed is not None and all(row[place] is None for row in found)]  # fmt: skip
    if alone and many:
        why = f"what is computed of released rows has intervals on at most {row_intervals.MOST_ROWS:,} rows"
        said.append(_said(plan, alone, f"{why}; ask for fewer groups at a time"))
    chosen = (
        []
        if many
        else [place for place in alone if _is_chosen(plan.columns[place], tables[plan.columns[place].table].shape)]
    )
    chosen += () if resampling is None else resampling.without
    if chosen:
        why = ("noise chooses what is shown (by a rank, MAX, MIN or a condition on released numbers) or cannot be "
               "drawn again, and no interval would hold as often as it says")  # fmt: skip
        said.append(_said(plan, sorted(chosen), why))
    return tuple(said)


def _is_chosen(column: OutputColumn, shape: Core | Cube) -> bool:
    """Whether noise chooses what the column computes of several aggregates of one row."""
    assert column.computed is not None
    chosen = tuple(chosen_columns(shape))
    return len(aggregates_read(column.computed)) > 1 and not is_smooth(column.computed, chosen)


def _said(plan: Plan, places: Sequence[int], why: str) -> str:
    *before, last = (plan.columns[place].name for place in places)
    return f"no interval in any row of {', '.join(before)}{' and ' if before else ''}{last}: {why}"
