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
    return tuple(_omission_sentence(count, released, weighed) for count in plan.left_out)


def _omission_sentence(omission: LeftOut, released: Released, weighed: bool) -> str:
    """The sentence of one count; ``weighed`` tells that keys are chosen by weight."""
    value, low, high = _counted(omission.core, omission.aggregate, released)
    total, least, _ = _counted(omission.whole_core, omission.whole, released)
    known = least > 0 and total > 0  # of a whole that may be nothing there are no parts
    of = f" of about {total:,}" if known else ""
    subject, verb = _beyond(omission, weighed)
    if low <= 0:
        return f"no sign that {subject} {verb} (at most about {max(round(high), 0):,}{of})"
    share = f" ({_percent(min(value / total, 1.0))})" if known else ""
    count = f"about {value:,} ± {round((high - low) / 2):,}{of} {subject}{share}"
    return f"{count} {verb}; the interval does not hold what they leave out"


def _counted(core: int, aggregate: int, released: Released) -> tuple[int, float, float]:
    """A released count with its interval."""
    table = released.tables[core]
    value = table.aggregates[0][aggregate]
    interval = table.intervals[0][aggregate]
    assert isinstance(value, int) and interval is not None
    return value, *interval


def _beyond(omission: LeftOut, weighed: bool) -> tuple[str, str]:
    """Rows or units, and what is too much of them."""
    most = int(omission.high)
    match omission.kind:
        case "rows":
            ends = f"{float(omission.low):g} to {float(omission.high):g}"
            return "rows", f"have {omission.name} outside of {ends} and count as the nearer end"
        case "units":
            where = f" in {omission.name}" if omission.name else ""
            return "units", f"have more than {_number(most, 'row')} and may count in part{where}"
        case "groups":
            consequence = "may count in part in all of them" if weighed else "count in part"
            return "units", f"are in more than {_number(most, 'group')} and {consequence}"
        case "values":
            return (
                "units",
                f"have more than {_number(most, 'different value')} of {omission.name} and count in part",
            )
        case _:
            assert_never(omission.kind)


def _percent(share: float) -> str:
    """A part of the whole.

    >>> _percent(0.031), _percent(0.26), _percent(0.0002)
    ('3.1 %', '26 %', 'less than 0.1 %')
    """
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
