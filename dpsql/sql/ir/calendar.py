"""Where days, months and years begin.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

#: The units whose starts are known.
STARTING = ("year", "quarter", "month", "week", "day", "hour", "minute")


def moment_of(text: str, pattern: str) -> datetime | None:
    """The moment that a text writes in a format of Python's ``strptime``; None where it writes none.

    >>> moment_of("2024-03-01", "%Y-%m-%d"), moment_of("2024-03-01", "%Y-%m"), moment_of("1-1", "%m-%m")
    (datetime.datetime(2024, 3, 1, 0, 0), None, None)
    """
    try:
        return datetime.strptime(text, pattern)
    except (ValueError, re.error):  # Python makes a pattern of the format, in which no part may stand twice
        return None


def starts(moment: datetime, unit: str) -> Iterator[datetime]:
    """The start of the unit that holds the moment, and the starts after it."""
    midnight = datetime(moment.year, moment.month, moment.day)
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    if months is None:
        start = midnight - timedelta(days=midnight.weekday()) if unit == "week" and midnight.year > 1 else midnight
        if unit in ("hour", "minute"):
            start = moment.replace(minute=0 if unit == "hour" else moment.minute, second=0, microsecond=0)
        span = {"week": timedelta(days=7), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}
        while True:
            yield start
            if datetime.max - start < timedelta(days=8):
                return
            start += span.get(unit, timedelta(days=1))
    count = (moment.year * 12 + moment.month - 1) // months * months
    while count // 12 <= 9999:
        yield datetime(count // 12, count % 12 + 1, 1)
        count += months
