"""What an answer leaves out, told from noisy counts beside it (``docs/proofs/clipped.md``)."""

from __future__ import annotations

from dpsql.plan import Plan
from dpsql.query.clipped import LeftOut
from dpsql.release import Released


def left_out(plan: Plan, released: Released) -> tuple[str, ...]:
    """One sentence for each count of what the answer to the plan leaves out in part."""
    return tuple(_said(each, released) for each in plan.left_out)


def _said(each: LeftOut, released: Released) -> str:
    ((value, *_),) = (released.tables[each.core].aggregates[0][each.aggregate : each.aggregate + 1],)
    interval = released.tables[each.core].intervals[0][each.aggregate]
    assert isinstance(value, int) and interval is not None
    low, high = interval
    if each.kind == "rows":
        what = (
            f"rows have {each.name} outside of {float(each.low):g} to {float(each.high):g} and count as the nearer end"
        )
    else:
        rows = "1 row" if each.high == 1 else f"{int(each.high)} rows"
        what = f"units have more than {rows} and count in part"
    if low <= 0:
        return f"no sign that {what} (at most about {max(round(high), 0):,})"
    return f"about {value:,} ± {round((high - low) / 2):,} {what}; the interval does not hold what they leave out"
