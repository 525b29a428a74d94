"""Bounds of the time between two moments of a row, as the owner declares them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from dpsql.schema.numbers import exact

#: The least and the greatest number of days.
Days: TypeAlias = tuple[Fraction, Fraction]

_BETWEEN = re.compile(r"\s*([a-z_][a-z0-9_]*)\s*-\s*([a-z_][a-z0-9_]*)\s*")
_SPAN = re.compile(r"\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*(second|minute|hour|day|week)s?\s*")
#: What each unit has of a day.
_UNITS = {
    "second": Fraction(1, 86_400),
    "minute": Fraction(1, 1_440),
    "hour": Fraction(1, 24),
    "day": Fraction(1),
    "week": Fraction(7),
}


def differences(declared: object) -> dict[str, Days]:
    """The bounds by their columns, as ``end - start``.

    Raises ValueError, with the mend, if they are none.

    >>> differences({"left-entered": [0, "36 hours"]})
    {'left - entered': (Fraction(0, 1), Fraction(3, 2))}
    """
    if not isinstance(declared, Mapping):
        raise ValueError(
            'must be a table, such as { "discharged_at - admitted_at" = [0, "60 days"] }'
        )
    result = {}
    for between, pair in declared.items():
        match = _BETWEEN.fullmatch(str(between))
        if match is None:
            raise ValueError(
                f"`{between}` is no difference of two columns; write it as `end - start`"
            )
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(f'`{between}` must be a pair [low, high], such as [0, "60 days"]')
        low, high = (_days(end) for end in pair)
        if low >= high:
            raise ValueError(f"`{between}`: low is not below high; mend one of them")
        result[f"{match[1]} - {match[2]}"] = (low, high)
    return result


def ends_of(between: str) -> tuple[str, str]:
    """The column that is subtracted from, and that which is subtracted.

    >>> ends_of("left - entered")
    ('left', 'entered')
    """
    end, _, start = between.partition(" - ")
    return end, start


def _days(span: object) -> Fraction:
    """A number of days, which may be written with a unit of its own."""
    if isinstance(span, str):
        match = _SPAN.fullmatch(span)
        if match is None:
            raise ValueError(
                f'`{span}` is no span; write a number of days, or one such as "60 days" or "36 hours"'
            )
        return Fraction(match[1]) * _UNITS[match[2]]
    if isinstance(span, date):
        raise ValueError(f'`{span}` is a date; write how long it may take, such as "60 days"')
    return exact(span)
