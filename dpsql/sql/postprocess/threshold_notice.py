"""What is to be said of a number that decided whether it is shown (``docs/intervals.md``)."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.sql.ir.relation import Core

#: Where, why, and what to look at instead.
CAVEAT = (
    "the number of units of a group is the one that let the group be shown: near the threshold it is too large on the "
    "average, which its interval allows for; COUNT(*) has noise of its own"
)


def shown_notices(cores: Sequence[Core]) -> tuple[str, ...]:
    """The caveat, once, where some core shows the number of units that its keys are chosen by."""
    for core in cores:
        chosen = core.keys and core.domain is None
        if chosen and any(each.function == "units" and each.condition is None for each in core.aggregates):
            return (CAVEAT,)
    return ()
