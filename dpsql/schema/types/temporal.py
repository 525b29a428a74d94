"""The types of dates and timestamps."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from dpsql.schema.types.facts import (
    NamedType,
    Scalar,
    StoredForm,
    TypeFacts,
    always,
    never,
    no_step,
    not_a_value,
)

_ZONE = re.compile(r"(?:Z|[+-]00(?::?00)?)$")


def _date(_: NamedType, value: object) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError(f"{value} is not a date; write it as 2020-01-31 without quotes")
    return value


def _timestamp(_: NamedType, value: object) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise ValueError(
            f"{value} is not a timestamp; write it as 2020-01-31T12:00:00, with no quotes and no zone"
        )
    return value


def _is_epoch(text: str) -> bool:
    """Whether the text is the word for the beginning of Unix time."""
    return text.strip().lower() == "epoch"


def _date_constant(sql_type: NamedType, value: Scalar) -> date:
    if isinstance(value, str):
        if _is_epoch(value):
            return date(1970, 1, 1)
        with suppress(ValueError):
            return date.fromisoformat(value.strip())
        return datetime.fromisoformat(value.strip()).date()
    if isinstance(value, datetime):
        return value.date()
    raise not_a_value(sql_type, value)


def _timestamp_constant(sql_type: NamedType, value: Scalar) -> datetime:
    if isinstance(value, str):
        if _is_epoch(value):
            return datetime(1970, 1, 1)
        moment = datetime.fromisoformat(value.strip())
        if not moment.utcoffset():  # none, or that of UTC, in which the data's moments stand
            return moment.replace(tzinfo=None)
    elif isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    raise not_a_value(sql_type, value)


def _date_parameter(value: object) -> date | None:
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _timestamp_parameter(value: object) -> datetime | None:
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _day_at(point: Fraction) -> date:
    return date.fromordinal(point.numerator // point.denominator)


def _moment_at(point: Fraction) -> datetime:
    day = point.numerator // point.denominator
    return datetime.fromordinal(day) + timedelta(microseconds=round((point - day) * 86_400 * 10**6))


DATE = TypeFacts(
    spellings=(),
    family="temporal",
    arguments="none",
    postgresql="date",
    engine="date",
    midpoint="timestamp",
    parameters=("date",),
    sqlalchemy="DATE",
    exact=True,
    distinct_as_double=always,
    reads_texts=True,
    step=no_step,
    axis="day",
    written=(1, 20),
    ends=(date.min, date.max),
    doubtful_in_parquet=None,
    bound=_date,
    member=_date,
    constant=_date_constant,
    parameter=_date_parameter,
    read=date.fromisoformat,
    stand_in=lambda index, _: date(2000, 1, 1) + timedelta(days=index),
    at=_day_at,
    stored=StoredForm("day", date, date.isoformat, date.fromisoformat),
)
TIMESTAMP = TypeFacts(
    spellings=("datetime",),
    family="temporal",
    arguments="none",
    postgresql="timestamp",
    engine="timestamp",
    midpoint=None,
    parameters=("timestamp",),
    sqlalchemy="TIMESTAMP",
    exact=True,
    distinct_as_double=never,
    reads_texts=True,
    step=no_step,
    axis="second",
    written=(1, 40),
    ends=(datetime.min, datetime.max),
    doubtful_in_parquet=0,
    bound=_timestamp,
    member=_timestamp,
    constant=_timestamp_constant,
    parameter=_timestamp_parameter,
    read=lambda text: datetime.fromisoformat(_ZONE.sub("", text)),
    stand_in=lambda index, _: datetime(2000, 1, 1) + timedelta(days=index),
    at=_moment_at,
    stored=StoredForm("moment", datetime, datetime.isoformat, datetime.fromisoformat),
)
