"""DuckDB's total forms of functions of dates and timestamps: parts, truncation, differences,
shifts and names.

Each is NULL for moments before the year 1 or from the last day of 9999 on. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.sql.emit.duckdb.guarded_calls import attempt, attempted, cast
from dpsql.sql.emit.total_form import Node, TotalForm, both, call, case, compare
from dpsql.sql.functions.datetimes import (
    AGES,
    BUCKETS,
    FARTHEST,
    PARTS,
    SHIFTS,
    UNITS,
    farthest_shift,
    moved,
)
from dpsql.sql.functions.interval_rules import span

_ENDS = ("0001-01-01", "9999-12-31")
#: DuckDB's dates end a little behind it.
_FARTHEST_YEAR = 5_000_000


def ordinary(moment: Node) -> Node:
    """The moment, or NULL before the year 1 and from the last day of 9999 on.

    DATE_TRUNC and EXTRACT are also applied to the least and the greatest value that the engine's
    statistics hold, out of reach of TRY: one extreme date in the data would fail the statement.
    """
    first, last = (cast(exp.Literal.string(end), "date") for end in _ENDS)
    return case(
        both(compare(exp.GTE, moment, first), compare(exp.LT, moment.copy(), last)), moment.copy()
    )


def _timestamp(moment: Node) -> Node:
    """The ordinary moment as a timestamp.

    The engine would convert a date by itself, and then in one place for all that read it,
    out of reach of TRY.
    """
    return cast(ordinary(moment), "timestamp")


def _named(name: str) -> TotalForm:
    return lambda moment: attempt(call(name)(ordinary(moment)))


def _part(name: str) -> TotalForm:
    return lambda moment: attempt(
        exp.Extract(this=exp.var(name.upper()), expression=ordinary(moment))
    )


def _trunc(unit: str) -> TotalForm:
    return lambda moment: attempt(call("DATE_TRUNC")(exp.Literal.string(unit), ordinary(moment)))


def _difference(name: str, unit: str) -> TotalForm:
    return lambda start, end: attempt(
        call(name)(exp.Literal.string(unit), _timestamp(start), _timestamp(end))
    )


def _age(unit: str) -> TotalForm:
    def build(end: Node, start: Node) -> Node:
        age = call("AGE")(_timestamp(end), _timestamp(start))
        return attempt(exp.Extract(this=exp.var(unit.upper()), expression=age))

    return build


def _shift(unit: str) -> TotalForm:
    """A moment and a constant number of units, NULL if that is beyond all moments."""

    def build(moment: Node, amount: Node) -> Node:
        count = f"-{amount.this.name}" if isinstance(amount, exp.Neg) else amount.name
        if (moved(unit, span(int(count), int(count))).magnitude or 0) > FARTHEST:
            return cast(exp.null(), "timestamp")
        added = exp.Interval(this=exp.Literal.string(count), unit=exp.var(unit.upper()))
        return attempt(exp.Add(this=exp.Paren(this=ordinary(moment)), expression=added))

    return build


def _shift_by(unit: str) -> TotalForm:
    """A moment and a number of units that each row has for itself, NULL beyond all moments."""
    far = farthest_shift(unit)

    def build(moment: Node, amount: Node) -> Node:
        count: Node = case(_within(amount, -far, far), amount)
        if unit in ("year", "month", "day"):
            count = exp.TryCast(this=count, to=exp.DataType.build("integer"))
        return attempt(
            exp.Add(
                this=exp.Paren(this=ordinary(moment)), expression=call(f"TO_{unit.upper()}S")(count)
            )
        )

    return build


def _bucket(unit: str) -> TotalForm:
    def build(moment: Node, amount: Node) -> Node:
        width = exp.Interval(this=exp.Literal.string(amount.name), unit=exp.var(unit.upper()))
        return attempt(call("TIME_BUCKET")(width, ordinary(moment)))

    return build


def _formatted(moment: Node, pattern: Node) -> Node:
    return attempt(call("STRFTIME")(ordinary(moment), pattern))


def _made(year: Node, month: Node, day: Node) -> Node:
    """The day, NULL if there is none: it is looked for before it is made,
    as nothing may fail within TRY.
    """

    def made(number: Node) -> Node:
        return attempt(call("MAKE_DATE")(year.copy(), month.copy(), number))

    last = call("DAY")(call("LAST_DAY")(made(exp.Literal.number(1))))
    is_there = both(
        compare(exp.GTE, day, exp.Literal.number(1)), compare(exp.LTE, day.copy(), last)
    )
    in_a_month = both(_within(year, -_FARTHEST_YEAR, _FARTHEST_YEAR), _within(month, 1, 12))
    return case(in_a_month, case(is_there, made(day.copy())))


def _within(value: Node, low: int, high: int) -> Node:
    ends = exp.Literal.number(abs(low)), exp.Literal.number(high)
    least = exp.Neg(this=ends[0]) if low < 0 else ends[0]
    return both(compare(exp.GTE, value.copy(), least), compare(exp.LTE, value.copy(), ends[1]))


DATES: Final[dict[str, TotalForm]] = {
    **{name: _part(name) for name in PARTS},
    "epoch": _named("EPOCH"),
    **{f"date_trunc {unit}": _trunc(unit) for unit in UNITS},
    **{f"date_diff {unit}": _difference("DATE_DIFF", unit) for unit in UNITS},
    **{f"date_sub {unit}": _difference("DATE_SUB", unit) for unit in UNITS},
    **{f"age {part}": _age(part) for part in AGES},
    **{f"date_add {unit}": _shift(unit) for unit in SHIFTS},
    **{f"date_add {unit} by": _shift_by(unit) for unit in SHIFTS},
    **{f"time_bucket {unit}": _bucket(unit) for unit in BUCKETS},
    "last_day": _named("LAST_DAY"),
    "dayname": _named("DAYNAME"),
    "monthname": _named("MONTHNAME"),
    "strftime": _formatted,
    "strptime": attempted("TRY_STRPTIME"),
    "make_date": _made,
    "isfinite moment": call("ISFINITE"),
}
