"""Timestamps, times and intervals as PostgreSQL's text format has them: written,
and intervals read, too.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, time, timedelta, tzinfo


def _plain(value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


def _fraction(microseconds: int) -> str:
    """The decimal point and the fraction of a second; empty for a whole second."""
    return f".{microseconds:06}".rstrip("0") if microseconds else ""


def timestamp_text(value: object) -> bytes:
    """The text of a timestamp; other values are written as they are."""
    if not isinstance(value, datetime):
        return _plain(value)
    text = f"{value.year:04}-{value.month:02}-{value.day:02} {value.hour:02}:{value.minute:02}:{value.second:02}"
    return (text + _fraction(value.microsecond)).encode()


def moment_text(zone: tzinfo, value: object) -> bytes:
    """The text of an instant in a time zone, with the zone's offset as PostgreSQL writes it.

    >>> from datetime import timezone
    >>> new_year = datetime(2024, 1, 1, tzinfo=UTC)
    >>> moment_text(UTC, new_year), moment_text(timezone(-timedelta(hours=5, minutes=30)), new_year)
    (b'2024-01-01 00:00:00+00', b'2023-12-31 18:30:00-05:30')
    """
    if not isinstance(value, datetime):
        return _plain(value)
    local = (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(zone)
    offset = local.utcoffset() or timedelta()
    seconds = abs(offset) // timedelta(seconds=1)
    parts = [
        f"{'-' if offset < timedelta() else '+'}{seconds // 3600:02}",
        f"{seconds // 60 % 60:02}",
        f"{seconds % 60:02}",
    ]
    shown_parts = 1
    if seconds % 60:
        shown_parts = 3
    elif seconds % 3600:
        shown_parts = 2
    return timestamp_text(local) + ":".join(parts[:shown_parts]).encode()


def time_text(value: object) -> bytes:
    """The text of a time of day; other values are written as they are."""
    if not isinstance(value, time):
        return _plain(value)
    return f"{value.hour:02}:{value.minute:02}:{value.second:02}{_fraction(value.microsecond)}".encode()


def interval_text(value: object) -> bytes:
    """The text of an interval: days, then hours, minutes and seconds with their own sign.

    >>> interval_text(timedelta(days=1, hours=2)), interval_text(timedelta(hours=-1)), interval_text(timedelta())
    (b'1 day 02:00:00', b'-01:00:00', b'00:00:00')
    """
    if not isinstance(value, timedelta):
        return _plain(value)
    in_microseconds = value // timedelta(microseconds=1)
    days = int(math.copysign(abs(in_microseconds) // 86_400_000_000, in_microseconds))
    rest = abs(in_microseconds) % 86_400_000_000
    seconds, microseconds = divmod(rest, 1_000_000)
    clock = (
        f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{_fraction(microseconds)}"
    )
    clock = f"-{clock}" if in_microseconds < 0 and rest else clock
    if not days:
        return clock.encode()
    day_text = f"{days} day{'' if days == 1 else 's'}"
    return f"{day_text} {clock}".encode() if rest else day_text.encode()


_CLOCK = re.compile(r"([+-]?)(\d{1,6}):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?", re.ASCII)
_PART = re.compile(
    r"([+-]?\d{1,9})\s*(days?|hours?|minutes?|mins?|seconds?|secs?|weeks?)\b",
    re.ASCII | re.IGNORECASE,
)


def read_interval(text: str) -> timedelta:
    """Read an interval; raises ValueError if the text is not one, or has months.

    >>> read_interval("1 day -02:00:00"), read_interval("90 min")
    (datetime.timedelta(seconds=79200), datetime.timedelta(seconds=5400))
    """
    result = timedelta()
    text = rest = text.strip()
    clock = _CLOCK.search(text)
    if clock is not None:
        sign = -1 if clock[1] == "-" else 1
        micros = int((clock[5] or "").ljust(6, "0"))
        result += sign * timedelta(
            hours=int(clock[2]),
            minutes=int(clock[3]),
            seconds=int(clock[4] or 0),
            microseconds=micros,
        )
        rest = text.replace(clock[0], "", 1)
    for match in _PART.finditer(rest):
        unit = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds", "w": "weeks"}[
            match[2][0].lower()
        ]
        result += timedelta(**{unit: int(match[1])})
    if _PART.sub("", rest).strip() or not text:
        raise ValueError
    return result
