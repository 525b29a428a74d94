"""The groups of a released table that are not shown: noisy cells, and whether they may have rows.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dpsql.planning.estimators.columnar_rows import ColumnarRows, StepColumn, column
from dpsql.release.noise_addition import in_order, read_aggregate
from dpsql.release.released_tables import ReleasedTable
from dpsql.release.shown_groups import key_runs


def with_hidden_groups(table: ReleasedTable, confidence: float) -> ReleasedTable | None:
    """The table with all groups that have noisy cells; those that are not shown are marked.

    None if they are not kept.
    """
    presence = table.plan.presence
    hidden = table.hidden
    if presence is None or not presence.released or not table.is_complete:
        return replace(table, unshown=table.absent) if table.is_complete else None
    if hidden is None or table.plan.histograms:
        return None
    width = len(table.plan.core.keys)
    counts = [table.counts(index) for index in range(len(table.plan.cells))]
    rows = [
        (*key, *numbers, mark)
        for keys, noisy_counts, mark in (
            (table.keys, counts, True),
            (hidden.keys, hidden.counts, False),
        )
        for key, numbers in zip(keys, zip(*noisy_counts, strict=True), strict=True)
    ]
    rows = list(in_order(rows, width))
    measured = tuple(
        StepColumn([row[width + index] for row in rows], step)
        for index, step in enumerate(table.plan.steps)
    )
    results = [
        read_aggregate(table.plan, index, measured, (), confidence=confidence)
        for index in range(len(table.plan.estimates))
    ]
    return replace(
        table,
        keys=ColumnarRows(tuple([row[index] for row in rows] for index in range(width)), len(rows)),
        aggregates=ColumnarRows(tuple(values for values, _, _ in results), len(rows)),
        intervals=ColumnarRows(tuple(intervals for _, intervals, _ in results), len(rows)),
        cells=ColumnarRows(measured, len(rows)),
        curves=ColumnarRows(tuple([None] * len(rows) for _ in results), len(rows)),
        hidden=None,
        unshown=frozenset(index for index, row in enumerate(rows) if not row[-1]),
    )


@dataclass(frozen=True)
class OpenGroups:
    """Which groups may have rows, as far as noise leaves it open.

    Groups with rows may be ``left_out``, and such groups may be in ``gaps`` before others in the
    order of a key. Groups without any may be ``shown``.
    """

    left_out: bool = False
    gaps: bool = False
    shown: bool = False


def open_groups(table: ReleasedTable, confidence: float) -> OpenGroups:
    """What the noisy counts of a table leave open.

    Nothing if one row, or one unit, would be seen.
    """
    presence = table.plan.presence
    selection = table.plan.selection
    if presence is None:
        is_left_out = selection is not None and selection.units_needed() > 1
        return OpenGroups(left_out=is_left_out, gaps=is_left_out)
    complete = with_hidden_groups(table, confidence)
    rows = table if complete is None else complete
    least = presence.threshold(len(rows.keys))
    step = table.plan.steps[presence.cell]
    if least * step <= 1:
        return OpenGroups()
    if complete is None:
        return OpenGroups(left_out=True, gaps=True, shown=True)
    counts = column(rows.cells, presence.cell)
    is_small = any(
        count < least * step for count, mark in zip(counts, rows.marks, strict=True) if mark
    )
    marks = rows.marks
    gaps = any(
        _has_gap([marks[index] for index in run])
        for run in key_runs(table.plan.core.keys, rows.keys)
    )
    gaps = gaps or (len(table.plan.core.keys) > 1 and bool(rows.unshown))
    return OpenGroups(bool(rows.unshown), gaps, is_small)


def _has_gap(marks: Sequence[bool]) -> bool:
    """Whether a group that is not shown is before one that is.

    >>> _has_gap([True, True, False]), _has_gap([True, False, True])
    (False, True)
    """
    return any(not one and other for one, other in pairwise(marks))
