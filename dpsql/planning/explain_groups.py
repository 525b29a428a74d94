"""What is told, before anything is measured, of which groups an answer will show."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.planning.cells import EVIDENCE_SHARE
from dpsql.planning.estimators.estimate import Alone
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.presence import Presence
from dpsql.sql.ir.relation import Units

#: For how many keys the threshold is told where only public tables know their number.
EXAMPLES = (100, 10_000)


def groups_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each core with public keys: which of its groups are shown, and what telling them costs."""
    return tuple(dict.fromkeys(f"groups: {said}" for _, said in _told(plan)))


def nothing_seen(plan: Plan) -> tuple[str, ...]:
    """What is said of an answer without rows, where groups are shown by evidence."""
    found = [said for core, said in _told(plan) if core.presence is not None]
    if not found:
        return ()
    return (f"no row is shown; groups are {found[0]}; SET dpsql.empty_groups = show shows those without rows, too",)


def _told(plan: Plan) -> Iterator[tuple[CorePlan, str]]:
    """What is said of the groups of each core with public keys."""
    first = 0
    for core in plan.cores:
        if core.core.domain is not None:
            count = core.core.domain.count
            if core.presence is None:
                yield core, f"{'all' if count is None else f'all {count:,}'} are shown, with rows or without"
            else:
                yield core, _said(core, core.presence, count, first + core.presence.cell)
        first += len(core.cells) + len(core.histograms)


def _said(core: CorePlan, presence: Presence, count: int | None, place: int) -> str:
    cell, chance = core.cells[presence.cell].contribution, float(100 * presence.chance)
    what = "units" if isinstance(cell.cell, Units) else "rows"
    most = [f"{float(presence.threshold(each) * cell.step):.4g}{f' (of {each:,} groups)' if count is None else ''}"
            for each in (EXAMPLES if count is None else (count,))]  # fmt: skip
    together = "all" if count is None else f"all {count:,}"
    said = f"shown where the noisy count of {what} (cell {place}) is {' or '.join(most)} or more"
    said += f", which groups without rows, {together} together, reach in at most {chance:.3g} % of answers"
    bought = what == "units" and Alone(presence.cell) not in core.estimates
    return f"{said}; the count costs {float(100 * EVIDENCE_SHARE):g} % of this part's price" if bought else said
