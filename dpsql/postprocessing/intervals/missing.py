"""What is said of columns that have no interval in any row, though the noise behind them is known.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import CellInterval
from dpsql.postprocessing.intervals import row_intervals
from dpsql.postprocessing.resampling import percentiles
from dpsql.postprocessing.resampling.columns import Rows


def missing_intervals(
    plan: Plan, tables: Mapping[str, Rows], found: Sequence[Sequence[CellInterval | None]], drawn: bool
) -> tuple[str, ...]:
    """One sentence for each reason why columns of the result lack the intervals that smaller tables would give them.

    ``drawn`` tells whether the shell came to its end on the draws, where it was run on them.
    """
    if not found:
        return ()
    said = []
    if plan.redrawn is not None:
        columns, behind = plan.redrawn.wanted, sum(len(tables[name].keys) for name in plan.redrawn.tables)
        if behind > percentiles.MOST_ROWS:
            most = f"noise is drawn again for at most {percentiles.MOST_ROWS:,}"
            why = f"it takes {behind:,} released rows together, and {most}"
            said.append(_said(plan, columns, f"{why}; ask for fewer groups at a time"))
        elif not drawn:
            why = "run again with noise that is drawn anew, the part of the statement over released rows fails"
            said.append(_said(plan, columns, f"{why}, or takes too much time or memory"))
    many = len(found) > row_intervals.MOST_ROWS
    alone = [
        place for place, column in enumerate(plan.columns)
        if many and column.drawn is not None and all(row[place] is None for row in found)
    ]  # fmt: skip
    if alone:
        why = f"for what several aggregates make, noise is drawn again on at most {row_intervals.MOST_ROWS:,} rows"
        said.append(_said(plan, alone, f"{why}; ask for fewer groups at a time"))
    return tuple(said)


def _said(plan: Plan, places: Sequence[int], why: str) -> str:
    *before, last = (plan.columns[place].name for place in places)
    return f"no interval in any row of {', '.join(before)}{' and ' if before else ''}{last}: {why}"
