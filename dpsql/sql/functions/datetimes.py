"""Functions of dates and timestamps: parts, truncation, differences, shifts and names.

Each is NULL for moments before the year 1 or from the last day of 9999 on. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction

from dpsql.schema import SqlType
from dpsql.sql.functions.interval_rules import constant, span
from dpsql.sql.functions.signature import CallCost, Function, always, same
from dpsql.sql.ir.expression import BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP
from dpsql.sql.ir.interval import EVERYTHING, Interval

__all__ = ["DATES", "FARTHEST", "MICROSECONDS", "PARTS", "SHIFTS", "UNITS"]

#: How long the units are, from the shortest to the longest of each, in days.
UNITS: dict[str, tuple[Fraction, Fraction]] = {
    "millennium": (Fraction(365_242), Fraction(365_243)),
    "century": (Fraction(36_524), Fraction(36_525)),
    "decade": (Fraction(3_651), Fraction(3_653)),
    "year": (Fraction(365), Fraction(366)),
    "quarter": (Fraction(90), Fraction(92)),
    "month": (Fraction(28), Fraction(31)),
    "week": (Fraction(7), Fraction(7)),
    "day": (Fraction(1), Fraction(1)),
    "hour": (Fraction(1, 24), Fraction(1, 24)),
    "minute": (Fraction(1, 1_440), Fraction(1, 1_440)),
    "second": (Fraction(1, 86_400), Fraction(1, 86_400)),
    "millisecond": (Fraction(1, 86_400_000), Fraction(1, 86_400_000)),
    "microsecond": (Fraction(1, 86_400_000_000), Fraction(1, 86_400_000_000)),
}
#: How many microseconds the units of a day have.
MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 10**6,
    "minute": 60 * 10**6,
    "hour": 3_600 * 10**6,
}
SHIFTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")
#: The parts that EXTRACT takes of an AGE.
AGES = ("year", "month", "day")
BUCKETS = ("month", "day", "hour", "minute", "second")
#: The parts of a moment and the least and the greatest that each can be.
PARTS = {
    "year": (1, 9999),
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "dayofyear": (1, 366),
    "dayofweek": (0, 6),
    "isodow": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "millisecond": (0, 59_999),
    "microsecond": (0, 59_999_999),
    "isoyear": (0, 10_000),
    "decade": (0, 999),
    "century": (1, 100),
    "millennium": (1, 10),
    "yearweek": (-52, 1_000_053),
    "era": (1, 1),
}
#: Parts that only grow with the moment.
_GROWING: dict[str, Callable[[date], int]] = {
    "year": lambda day: day.year,
    "decade": lambda day: day.year // 10,
    "century": lambda day: (day.year - 1) // 100 + 1,
    "millennium": lambda day: (day.year - 1) // 1000 + 1,
    "isoyear": lambda day: day.isocalendar()[0],
    "yearweek": lambda day: day.isocalendar()[0] * 100 + day.isocalendar()[1],
}
#: Parts that grow within one year.
_IN_A_YEAR: dict[str, Callable[[date], int]] = {
    "month": lambda day: day.month,
    "quarter": lambda day: (day.month - 1) // 3 + 1,
    "dayofyear": lambda day: day.timetuple().tm_yday,
}
_FIRST = date.min.toordinal()
_LAST = date.max.toordinal()
_EPOCH = date(1970, 1, 1).toordinal()


def is_ordinary(moment: Interval) -> bool:
    """Whether all of the moments are ordinary ones."""
    return (
        moment.low is not None
        and moment.high is not None
        and moment.low >= _FIRST
        and moment.high < _LAST
    )


def _extraordinary(*moments: Interval) -> bool:
    return not all(map(is_ordinary, moments))


def _day(moment: Fraction) -> date:
    return date.fromordinal(int(moment // 1))


def _part_interval(name: str, moment: Interval) -> Interval:
    low, high = PARTS[name]
    if not is_ordinary(moment):
        return span(low, high)
    assert moment.low is not None and moment.high is not None
    first = _day(moment.low)
    last = _day(moment.high)
    if name in _GROWING:
        return span(_GROWING[name](first), _GROWING[name](last))
    if name in _IN_A_YEAR and first.year == last.year:
        return span(_IN_A_YEAR[name](first), _IN_A_YEAR[name](last))
    if name == "day" and (first.year, first.month) == (last.year, last.month):
        return span(first.day, last.day)
    return span(low, high)


def _part(name: str) -> Function:
    """EXTRACT of one part, whose values lie between two numbers whatever the date."""
    return Function(
        ("temporal",),
        always(INTEGER),
        lambda moment: _part_interval(name, moment),
        fallible=_extraordinary,
        whole=True,
        examples=(f"EXTRACT({name.upper()} FROM ts)", f"DATE_PART('{name}', d)"),
        cost=CallCost.ONE_LOOK,
    )


def _epoch_interval(moment: Interval) -> Interval:
    inside = moment.within(Fraction(_FIRST), Fraction(_LAST))
    return (inside - span(_EPOCH, _EPOCH)) * span(86_400, 86_400)


def _trunc(unit: str) -> Function:
    longest = UNITS[unit][1] + (10 if unit in ("millennium", "century", "decade") else 0)
    return Function(
        ("temporal",),
        same,
        lambda moment: moment - span(0, longest),
        fallible=_extraordinary,
        examples=(f"DATE_TRUNC('{unit}', ts)",),
        cost=CallCost.ONE_LOOK,
    )


def _difference(name: str, unit: str) -> Function:
    shortest, longest = UNITS[unit]

    def interval(start: Interval, end: Interval) -> Interval:
        exact = (end - start) * span(1 / longest, 1 / shortest)
        return Interval(
            None if exact.low is None else Fraction(exact.low.__floor__() - 1),
            None if exact.high is None else Fraction(exact.high.__ceil__() + 1),
        )

    spelling = "DATE_DIFF" if name == "DATE_DIFF" else "DATESUB"
    return Function(
        ("temporal", "temporal"),
        always(INTEGER),
        interval,
        fallible=_extraordinary,
        whole=True,
        examples=(
            f"{spelling}('{unit}', TIMESTAMP '2020-01-01 12:00:00', ts)",
            f"{spelling}('{unit}', d, ts)",
        ),
        cost=CallCost.ONE_LOOK,
    )


def _age(unit: str) -> Function:
    def interval(end: Interval, start: Interval) -> Interval:
        if unit != "year":
            return span(-31, 31) if unit == "day" else span(-11, 11)
        years = (end - start) * span(Fraction(1, 366), Fraction(1, 365))
        return years.monotone(int)

    return Function(
        ("temporal", "temporal"),
        always(INTEGER),
        interval,
        fallible=_extraordinary,
        whole=True,
        examples=(f"EXTRACT({unit.upper()} FROM AGE(ts, TIMESTAMP '1990-05-31'))",),
        cost=CallCost.ONE_LOOK,
    )


#: The average month, from which no number of months is six days away.
_MONTH = Interval(Fraction(30_436_875, 10**6), Fraction(30_436_875, 10**6))


def moved(unit: str, amount: Interval) -> Interval:
    """By how many days so many units move a moment."""
    if unit in ("year", "month"):
        months = amount * span(12, 12) if unit == "year" else amount
        return months * _MONTH + span(-6, 6)
    return amount * Interval(*UNITS[unit])


#: By so many days an ordinary moment may be moved, and DuckDB still knows it.
FARTHEST = 280_000 * 365


def _shift(unit: str) -> Function:
    """A moment and a constant number of units, NULL where that is beyond all moments."""

    return Function(
        ("temporal", "amount"),
        shifted_type(unit),
        lambda moment, amount: moment + moved(unit, amount),
        fallible=lambda moment, amount: _extraordinary(moment, moment + moved(unit, amount)),
        examples=(f"ts + INTERVAL 3 {unit.upper()}", f"ts - INTERVAL '3' {unit.upper()}"),
        cost=CallCost.ONE_LOOK,
    )


def shifted_type(unit: str) -> Callable[..., SqlType]:
    """A date stays one when it is moved by whole days."""
    return same if unit in ("day", "month", "year") else always(TIMESTAMP)


def farthest_shift(unit: str) -> int:
    """The largest number of units by which a column may move a moment:
    beyond it no engine has a moment.
    """
    match unit:
        case "year" | "month":
            return FARTHEST // 365 * (1 if unit == "year" else 12)
        case _:
            return int(FARTHEST / UNITS[unit][1])


def _shift_by(unit: str) -> Function:
    """A moment and a number of units that each row has for itself."""

    far = Fraction(farthest_shift(unit))

    def interval(moment: Interval, amount: Interval) -> Interval:
        return moment + moved(unit, amount.within(-far, far))

    def may_fail(moment: Interval, amount: Interval) -> bool:
        near = amount.magnitude is not None and amount.magnitude <= far
        return not near or _extraordinary(moment, interval(moment, amount))

    return Function(
        ("temporal", "integer"),
        shifted_type(unit),
        interval,
        fallible=may_fail,
        examples=(f"ts + i * INTERVAL '1' {unit.upper()}", f"ts + INTERVAL (i) {unit.upper()}"),
        cost=CallCost.ONE_LOOK,
    )


def _bucket(unit: str) -> Function:
    return Function(
        ("temporal", "constant"),
        same,
        lambda moment, width: moment - span(0, 1) * moved(unit, width),
        fallible=True,
        examples=(
            f"TIME_BUCKET(INTERVAL '3' {unit.upper()}, ts)",
            *(
                ()
                if unit == "month"
                else (f"DATE_BIN('3 {unit}s', ts, TIMESTAMP '2020-01-05 10:20:30.5')",)
            ),
        ),
        cost=CallCost.ONE_LOOK,
    )


def _named(name: str, short: int, long: int) -> Function:
    return Function(
        ("temporal",),
        always(TEXT),
        constant(short, long),
        fallible=_extraordinary,
        examples=(f"{name}(d)",),
        cost=CallCost.ONE_LOOK,
    )


_LISTED: dict[str, Function] = {
    **{name: _part(name) for name in PARTS},
    "epoch": Function(
        ("temporal",),
        always(DOUBLE),
        _epoch_interval,
        fallible=_extraordinary,
        examples=("EPOCH(ts)", "EXTRACT(EPOCH FROM d)"),
        cost=CallCost.ONE_LOOK,
    ),
    **{f"date_trunc {unit}": _trunc(unit) for unit in UNITS},
    **{f"date_diff {unit}": _difference("DATE_DIFF", unit) for unit in UNITS},
    **{f"date_sub {unit}": _difference("DATE_SUB", unit) for unit in UNITS},
    **{f"age {part}": _age(part) for part in AGES},
    **{f"date_add {unit}": _shift(unit) for unit in SHIFTS},
    **{f"date_add {unit} by": _shift_by(unit) for unit in SHIFTS},
    **{f"time_bucket {unit}": _bucket(unit) for unit in BUCKETS},
    "last_day": Function(
        ("temporal",),
        always(DATE),
        lambda moment: moment + span(-1, 31),
        fallible=_extraordinary,
        examples=("LAST_DAY(d)",),
        cost=CallCost.ONE_LOOK,
    ),
    "dayname": _named("DAYNAME", 6, 9),
    "monthname": _named("MONTHNAME", 3, 9),
    "strftime": Function(
        ("temporal", "words"),
        always(TEXT),
        lambda _, pattern: Interval(Fraction(0), EVERYTHING.high),
        fallible=_extraordinary,
        examples=("STRFTIME(d, '%Y-%m')", "TO_CHAR(ts, 'YYYY-MM-DD HH24:MI')"),
        cost=CallCost.BY_CHARACTER,
    ),
    "strptime": Function(
        ("text", "words"),
        always(TIMESTAMP),
        fallible=True,
        examples=("TRY_STRPTIME(s, '%Y-%m-%d')",),
        note="NULL where the text is no such moment",
        cost=CallCost.BY_CHARACTER,
    ),
    "make_date": Function(
        ("integer", "integer", "integer"),
        always(DATE),
        fallible=True,
        examples=("MAKE_DATE(2020, i, 28)",),
        note="NULL where there is no such day",
        cost=CallCost.ONE_LOOK,
    ),
    "isfinite moment": Function(
        ("temporal",), always(BOOLEAN), examples=("ISFINITE(d)",), cost=CallCost.ONE_LOOK
    ),
}
#: Every function of dates, under its name and unit.
DATES = {
    name: replace(entry, note=entry.note or "NULL outside the years 1 to 9999")
    if entry.fallible
    else entry
    for name, entry in _LISTED.items()
}
