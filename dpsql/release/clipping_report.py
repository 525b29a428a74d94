"""What an answer leaves out, told from noisy counts beside it (``docs/proofs/clipped.md``)."""

from __future__ import annotations

from typing import assert_never

from dpsql.planning.plan import Plan
from dpsql.release.released_tables import Released
from dpsql.sql.binder.aggregates.clipping_report import LeftOut


def left_out(plan: Plan, released: Released) -> tuple[str, ...]:
    """One sentence for each count of what the answer to the plan leaves out in part."""
    weighed = any(
        core.selection is not None and core.selection.weights is not None for core in plan.cores
    )
    return tuple(_said(each, released, weighed) for each in plan.left_out)


def _said(each: LeftOut, released: Released, weighed: bool) -> str:
    """The sentence of one count; ``weighed`` tells that keys are chosen by weight."""
    value, low, high = _counted(each.core, each.aggregate, released)
    whole, least, _ = _counted(each.whole_core, each.whole, released)
    known = least > 0 and whole > 0  # of a whole that may be nothing there are no parts
    of = f" of about {whole:,}" if known else ""
    subject, verb = _beyond(each, weighed)
    if low <= 0:
        return f"no sign that {subject} {verb} (at most about {max(round(high), 0):,}{of})"
    part = f" ({_percent(min(value / whole, 1.0))})" if known else ""
    count = f"about {value:,} ± {round((high - low) / 2):,}{of} {subject}{part}"
    return f"{count} {verb}; the interval does not hold what they leave out"


def _counted(core: int, aggregate: int, released: Released) -> tuple[int, float, float]:
    """A released count with its interval."""
    table = released.tables[core]
    value = table.aggregates[0][aggregate]
    interval = table.intervals[0][aggregate]
    assert isinstance(value, int) and interval is not None
    return value, *interval


def _beyond(each: LeftOut, weighed: bool) -> tuple[str, str]:
    """Rows or units, and what is too much of them."""
    most = int(each.high)
    match each.kind:
        case "rows":
            ends = f"{float(each.low):g} to {float(each.high):g}"
            return "rows", f"have {each.name} outside of {ends} and count as the nearer end"
        case "units":
            where = f" in {each.name}" if each.name else ""
            return "units", f"have more than {_number(most, 'row')} and may count in part{where}"
        case "groups":
            part = "may count in part in all of them" if weighed else "count in part"
            return "units", f"are in more than {_number(most, 'group')} and {part}"
        case "values":
            return (
                "units",
                f"have more than {_number(most, 'different value')} of {each.name} and count in part",
            )
        case _:
            assert_never(each.kind)


def _percent(share: float) -> str:
    """A part of the whole.

    >>> _percent(0.031), _percent(0.26), _percent(0.0002)
    ('3.1 %', '26 %', 'less than 0.1 %')
    """
    return (
        "less than 0.1 %" if share < 0.001 else f"{100 * share:.2g} %" if share < 0.995 else "100 %"
    )


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
