"""Functions of dates and timestamps: parts, truncation, differences and shifts."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import floor

from sqlglot import exp

from dpsql.query.expression import INTEGER, TIMESTAMP
from dpsql.query.function import Function, Node, always, attempt, same
from dpsql.query.interval import Interval

_PER_DAY = {
    unit: Interval(Fraction(per_day), Fraction(per_day))
    for unit, per_day in {
        "year": Fraction(1, 365),
        "quarter": Fraction(1, 90),
        "month": Fraction(1, 28),
        "week": Fraction(1, 7),
        "day": Fraction(1),
        "hour": Fraction(24),
        "minute": Fraction(1_440),
        "second": Fraction(86_400),
    }.items()
}
SHIFTS = ("year", "month", "week", "day", "hour", "minute", "second")
PARTS = {
    "year": (-290_308, 294_247), "quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31),
    "dayofyear": (1, 366), "dayofweek": (0, 6), "isodow": (1, 7), "hour": (0, 23), "minute": (0, 59), "second": (0, 59),
}  # fmt: skip
_ENDS = ("0001-01-01", "9999-12-31")
_LAST = date.fromisoformat(_ENDS[1]).toordinal()


def _ordinary(moment: Node) -> Node:
    """The moment, or NULL before the year 1 and from the last day of 9999 on.

    DATE_TRUNC and EXTRACT are also applied to the least and the greatest value that the engine's statistics hold, out
    of reach of TRY: one extreme date in the data would fail the statement.
    """
    first, last = (exp.Cast(this=exp.Literal.string(end), to=exp.DataType.build("date")) for end in _ENDS)
    inside = exp.And(
        this=exp.Paren(this=exp.GTE(this=exp.Paren(this=moment), expression=first)),
        expression=exp.Paren(this=exp.LT(this=exp.Paren(this=moment.copy()), expression=last)),
    )
    return exp.Case(ifs=[exp.If(this=inside, true=moment.copy())])


def _part(name: str, low: int, high: int) -> Function:
    """EXTRACT of one part, whose values lie between two numbers whatever the date."""
    return Function(
        ("temporal",),
        always(INTEGER),
        lambda moment: attempt(exp.Extract(this=exp.var(name.upper()), expression=_ordinary(moment))),
        _years if name == "year" else lambda _: Interval(Fraction(low), Fraction(high)),
        fallible=True,
    )


def _years(moment: Interval) -> Interval:
    """The years of a moment that lies between two days, counted from year 1."""
    if not is_ordinary(moment):
        return Interval(Fraction(PARTS["year"][0]), Fraction(PARTS["year"][1]))
    first, last = (Fraction(date.fromordinal(floor(end)).year) for end in (moment.low, moment.high) if end is not None)
    return Interval(first, last)


def is_ordinary(moment: Interval) -> bool:
    """Whether parts and truncations of a moment within the interval, in days since year 1, never fail."""
    return moment.low is not None and moment.high is not None and moment.low >= 1 and moment.high < _LAST


def _trunc(unit: str) -> Function:
    def build(moment: Node) -> Node:
        return attempt(exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(unit), _ordinary(moment)]))

    return Function(("temporal",), same, build, fallible=True)


def _difference(unit: str) -> Function:
    def build(start: Node, end: Node) -> Node:
        return attempt(exp.Anonymous(this="DATE_DIFF", expressions=[exp.Literal.string(unit), start, end]))

    def interval(start: Interval, end: Interval) -> Interval:
        return (end - start) * _PER_DAY[unit] + Interval(Fraction(-1), Fraction(1))

    return Function(("temporal", "temporal"), always(INTEGER), build, interval, fallible=True)


def _shift(unit: str) -> Function:
    def build(moment: Node, amount: Node) -> Node:
        count = f"-{amount.this.name}" if isinstance(amount, exp.Neg) else amount.name
        span = exp.Interval(this=exp.Literal.string(count), unit=exp.var(unit.upper()))
        return attempt(exp.Add(this=exp.Paren(this=moment), expression=span))

    keeps_date = unit in ("day", "week", "month", "year")
    return Function(("temporal", "constant"), same if keeps_date else always(TIMESTAMP), build, fallible=True)


#: Every function of dates, under its name and unit.
DATE_FUNCTIONS: dict[str, Function] = {
    **{name: _part(name, low, high) for name, (low, high) in PARTS.items()},
    **{f"date_trunc {unit}": _trunc(unit) for unit in ("year", "quarter", "month", "week", "day", "hour", "minute")},
    **{f"date_diff {unit}": _difference(unit) for unit in _PER_DAY},
    **{f"date_add {unit}": _shift(unit) for unit in SHIFTS},
}
