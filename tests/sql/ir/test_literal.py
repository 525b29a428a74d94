"""Constants of a statement have exact values and the narrowest types;
calendars are the standard library's.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice

import pytest
from sqlglot import exp

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.schema import SqlType
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import (
    DATE,
    DOUBLE,
    INTEGER,
    TEXT,
    TIMESTAMP,
    Call,
    Expression,
    Literal,
)

NODE = exp.Literal.number(1)


def decimal(places: int) -> SqlType:
    return SqlType("decimal", 18, places)


def refused(code: str, said: str, *arguments: object) -> None:
    function, *rest = arguments
    with pytest.raises(DatabaseError) as caught:
        function(*rest, NODE)  # type: ignore[operator]
    assert isinstance(caught.value, Refused | StatementError)
    assert caught.value.code == code and said in caught.value.reason


@pytest.mark.parametrize(
    ("text", "value", "sql_type"),
    [
        ("7", 7, INTEGER),
        ("0", 0, INTEGER),
        ("9223372036854775807", 2**63 - 1, INTEGER),
        ("1.50", Decimal("1.50"), decimal(2)),
        (".5", Decimal("0.5"), decimal(1)),
        ("5.", 5, INTEGER),
        ("9223372036854775808", 2.0**63, DOUBLE),
        ("0.000000000000000001", Decimal("1e-18"), decimal(18)),
        ("0.0000000000000000001", 1e-19, DOUBLE),
        ("1234567890.12345678", Decimal("1234567890.12345678"), decimal(8)),
        ("1234567890.123456789", 1234567890.123456789, DOUBLE),
        ("1e2", 100.0, DOUBLE),
        ("12E-1", Decimal("1.2"), decimal(1)),
        ("1e300", 1e300, DOUBLE),
        ("0e999", 0.0, DOUBLE),
    ],
)
def test_a_number_has_the_narrowest_type_that_holds_it(
    text: str, value: object, sql_type: SqlType
) -> None:
    found = literal.number(text, NODE)
    assert (found.value, type(found.value), found.type) == (value, type(value), sql_type)


@pytest.mark.parametrize("text", ["", ".", "1_000", "0x1F", "1e99999", "١", "+1", "1 "])
def test_other_digits_are_refused(text: str) -> None:
    refused("E_TYPE", "write plain digits", literal.number, text)


@pytest.mark.parametrize("text", ["1e301", "1e-301", "10e300", "0.1e-300"])
def test_numbers_out_of_reach_are_refused(text: str) -> None:
    refused("E_TYPE", "must lie within", literal.number, text)


@pytest.mark.parametrize("text", ["a\x00", "\x1f", "\n", "\x7f", "\ud800", "\udfff"])
def test_texts_with_characters_that_engines_read_differently_are_refused(text: str) -> None:
    refused("E_CHARSET", "control characters", literal.text, text)


@pytest.mark.parametrize("text", ["", " ", "~", "\x80", "\ud7ff", "\ue000", "naïve 語"])
def test_other_texts_are_kept(text: str) -> None:
    assert literal.text(text, NODE) == Literal(text, TEXT)
    assert (
        literal.quoted(text, NODE).value == text
        and literal.quoted(text, NODE).quoted_at is not None
    )


MOMENT = datetime(2024, 2, 29, 13, 14, 15, 16)


@pytest.mark.parametrize(
    ("value", "unit", "amount", "found"),
    [
        (date(2024, 1, 31), "month", 1, date(2024, 2, 29)),
        (date(2024, 1, 31), "month", -2, date(2023, 11, 30)),
        (date(2024, 2, 29), "year", 1, date(2025, 2, 28)),
        (date(2024, 2, 29), "year", -4, date(2020, 2, 29)),
        (date(2024, 12, 31), "month", 12, date(2025, 12, 31)),
        (date(2024, 2, 28), "day", 2, date(2024, 3, 1)),
        (date(2024, 2, 28), "week", -1, date(2024, 2, 21)),
        (MOMENT, "month", 1, MOMENT.replace(month=3)),
        (MOMENT, "hour", 11, datetime(2024, 3, 1, 0, 14, 15, 16)),
        (MOMENT, "microsecond", -17, MOMENT - timedelta(microseconds=17)),
        (date(2024, 2, 29), "minute", 90, datetime(2024, 2, 29, 1, 30)),
        (date(1, 1, 31), "month", 1, date(1, 2, 28)),
    ],
)
def test_a_moment_is_moved_by_the_calendar(
    value: date, unit: str, amount: int, found: date
) -> None:
    own = TIMESTAMP if isinstance(value, datetime) else DATE
    moved = literal.shifted(Literal(value, own), unit, amount, NODE)
    assert moved == Literal(found, TIMESTAMP if isinstance(found, datetime) else DATE)


@pytest.mark.parametrize(
    ("value", "unit", "amount"),
    [
        (date(9999, 12, 31), "day", 1),
        (date(1, 1, 1), "month", -1),
        (date(9999, 1, 1), "year", 1),
        (date(1, 1, 1), "hour", -1),
    ],
)
def test_no_moment_leaves_the_calendar(value: date, unit: str, amount: int) -> None:
    refused("E_TYPE", "outside the calendar", literal.shifted, Literal(value, DATE), unit, amount)
    refused(
        "E_TYPE", "dates and timestamps only", literal.shifted, Literal(3, INTEGER), unit, amount
    )


def ints(*values: object) -> tuple[Expression, ...]:
    return tuple(Literal(value, INTEGER) for value in values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        ("+", (Decimal("0.06"), Decimal("0.01")), Decimal("0.07")),
        ("-", (3, 5), -2),
        ("*", (Decimal("1.5"), 4), Decimal("6.0")),
        ("negate", (7,), -7),
        ("+", (2**62, 2**62), float(2**63)),
        ("*", (10**17 + 1, 10**17 + 1), float((10**17 + 1) ** 2)),
    ],
)
def test_exact_numbers_are_computed_exactly(
    function: str, arguments: tuple[object, ...], value: object
) -> None:
    found = literal.folded(Call(function, ints(*arguments), INTEGER))
    assert isinstance(found, Literal) and (found.value, type(found.value)) == (value, type(value))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("/", (6, 3)),
        ("+", (1.5, 2)),
        ("+", (None, 2)),
        ("+", (True, 2)),
        ("floor", (Decimal("1.5"),)),
    ],
)
def test_all_else_is_left_to_the_engine(function: str, arguments: tuple[object, ...]) -> None:
    call = Call(function, ints(*arguments), INTEGER)
    assert literal.folded(call) is call


@pytest.mark.parametrize(
    ("moment", "unit", "found"),
    [
        (datetime(2024, 2, 29, 13, 14, 15), "year", ["2024-01-01", "2025-01-01"]),
        (datetime(2024, 12, 31, 13), "quarter", ["2024-10-01", "2025-01-01", "2025-04-01"]),
        (datetime(2024, 11, 30), "month", ["2024-11-01", "2024-12-01", "2025-01-01"]),
        (datetime(2024, 2, 29, 13), "week", ["2024-02-26", "2024-03-04"]),
        (datetime(2024, 2, 26), "week", ["2024-02-26"]),
        (datetime(1, 1, 1), "week", ["0001-01-01", "0001-01-08"]),
        (datetime(1, 5, 9), "week", ["0001-05-09"]),
        (datetime(2, 1, 3), "week", ["0001-12-31", "0002-01-07"]),
        (datetime(2024, 2, 28, 23, 59), "day", ["2024-02-28", "2024-02-29"]),
        (datetime(2024, 2, 29, 23, 14, 15, 16), "hour", ["2024-02-29T23:00", "2024-03-01T00:00"]),
        (datetime(2024, 2, 29, 23, 59, 15, 16), "minute", ["2024-02-29T23:59", "2024-03-01T00:00"]),
    ],
)
def test_units_begin_where_the_calendar_says(moment: datetime, unit: str, found: list[str]) -> None:
    assert list(islice(literal.starts(moment, unit), len(found))) == list(
        map(datetime.fromisoformat, found)
    )


@pytest.mark.parametrize(
    ("moment", "unit", "last"),
    [
        (datetime(9998, 5, 1), "year", "9999-01-01"),
        (datetime(9999, 11, 1), "month", "9999-12-01"),
        (datetime(9999, 8, 1), "quarter", "9999-10-01"),
        (datetime(9999, 12, 1), "day", "9999-12-24"),
        (datetime(9999, 12, 1), "week", "9999-12-27"),
    ],
)
def test_units_end_with_the_calendar(moment: datetime, unit: str, last: str) -> None:
    assert list(literal.starts(moment, unit))[-1] == datetime.fromisoformat(last)


@pytest.mark.parametrize(
    ("value", "found", "kind"),
    [
        (True, True, "boolean"),
        (7, 7, "integer"),
        (Decimal("1.50"), Decimal("1.50"), "decimal"),
        (1.5, 1.5, "double"),
        ("x", "x", "text"),
        (date(2024, 2, 29), date(2024, 2, 29), "date"),
        (MOMENT, MOMENT, "timestamp"),
    ],
)
def test_a_bound_parameter_has_the_type_of_its_value(
    value: object, found: object, kind: str
) -> None:
    bound = literal.parameter(value, NODE)
    assert (bound.value, bound.type.kind, bound.quoted_at is not None) == (
        found,
        kind,
        kind == "text",
    )


def test_null_has_any_type_and_other_objects_have_none() -> None:
    assert literal.parameter(None, NODE) == literal.NULL
    refused(
        "E_PARAM",
        "a parameter of type object with this value has no SQL form",
        literal.parameter,
        object(),
    )
    refused("E_CHARSET", "control characters", literal.parameter, "a\x00")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, 7),
        (1.5, 1.5),
        (Decimal("0.5"), 0.5),
        (True, None),
        ("7", None),
        (None, None),
        (date(2024, 2, 29), None),
    ],
)
def test_a_number_is_an_exact_fraction_and_nothing_else_is(
    value: object, number: float | None
) -> None:
    assert literal.exact(Literal(value, INTEGER)) == number  # type: ignore[arg-type]
