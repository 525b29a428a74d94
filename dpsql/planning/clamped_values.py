"""What is told of values that an answer clamps to their bounds.

It follows from the statement and the schema alone, so it tells nothing of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.planning.plan import CorePlan
from dpsql.schema import Bound
from dpsql.sql.analysis.clamping import Clamped, clamped_values
from dpsql.sql.binder.aggregates.clipping_report import LeftOut
from dpsql.sql.ir.relation import groups_in

#: From this number on, thousands are set apart: a year is none.
LEAST_SEPARATED = 10_000
#: What is said of values that the clipping report would count.
REPORT = "; SET dpsql.clipping = report counts the values beyond"


def values_clamped(cores: Sequence[CorePlan], left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """One sentence for all values that an answer clamps, without those of its clipping report."""
    reported = any(count.kind == "rows" for count in left_out)
    clamped = dict[str, bool]()
    for core in cores:
        countable = groups_in(core.core.relation) is None
        for value in clamped_values(core.core):
            if not (reported and value.released and countable):
                clamped.setdefault(f"{value.name} to {_ends(value)}", value.released and countable)
    if not clamped:
        return ()
    return (f"clamped: {', '.join(clamped)}{REPORT if any(clamped.values()) else ''}",)


def _ends(value: Clamped) -> str:
    if value.low is None or value.high is None:
        at_most = value.low is None
        end = value.high if at_most else value.low
        assert end is not None
        return f"at {'most' if at_most else 'least'} {_end(end)}"
    return f"{_end(value.low)} … {_end(value.high)}"


def _end(end: Bound) -> str:
    """An end of a range, as people write it.

    >>> from datetime import date
    >>> _end(Fraction(1950)), _end(Fraction(20000)), _end(Fraction(-1, 2)), _end(date(2020, 2, 1))
    ('1950', '20,000', '-0.5', '2020-02-01')
    """
    if not isinstance(end, Fraction):
        return str(end)
    if abs(end) < LEAST_SEPARATED:
        return str(end.numerator) if end.denominator == 1 else f"{float(end):.6g}"
    return f"{int(end):,}" if end.denominator == 1 and abs(end) < 10**15 else f"{float(end):,.6g}"
