"""The type names of a schema file and the values of each type."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest

from dpsql.schema import Column, SqlType, fold
from dpsql.schema.numbers import exact
from dpsql.schema.types import ALIASES


@pytest.mark.parametrize("text", sorted(ALIASES))
def test_every_alias_has_a_canonical_text_that_means_itself(text: str) -> None:
    parsed = SqlType.parse(text.upper())
    assert SqlType.parse(str(parsed)) == parsed
    assert parsed.kind == ALIASES[text]


def test_decimals_keep_their_digits() -> None:
    assert SqlType.parse("Decimal( 5 , 2 )") == SqlType("decimal", 5, 2)
    assert SqlType.parse("numeric(9)") == SqlType("decimal", 9, 0)
    assert SqlType.parse("decimal") == SqlType("decimal", 18, 3)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "decimal(39,2)",
            "decimal(3,4)",
            "decimal(0)",
            "decimal(٣,1)",
            "integer(4)",
            "varchar(3,4)",
            "integer[]",
        ),
        *(
            "map(int,int)",
            "enum('a')",
            "int; drop",
            "ｉnteger",
            "",
            "hugeint",
            "ubigint",
            "blob",
            "json",
        ),
        *("timestamp with time zone", "timestamp_ns", "double\x00"),
    ],
)
def test_what_is_no_type_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(ValueError, match="type `"):
        SqlType.parse(text)


def test_types_are_values() -> None:
    assert {SqlType.parse("int"), SqlType.parse("bigint")} == {SqlType("integer")}
    assert (
        SqlType("date").is_temporal
        and SqlType("double").is_numeric
        and not SqlType("text").is_numeric
    )


def test_numbers_are_read_as_written() -> None:
    assert exact(Decimal("1e-6")) == exact(1e-6) == Fraction(1, 10**6)
    for wrong in (
        Decimal("nan"),
        Decimal("inf"),
        float("-inf"),
        True,
        "1",
        None,
        Decimal("1e999999"),
        10**400,
    ):
        with pytest.raises(ValueError, match="must"):
            exact(wrong)


def test_names_fold_in_ascii_alone() -> None:
    assert fold("ABC_x1") == "abc_x1"
    assert fold("\u212a") == "\u212a" and fold("É") == "É"


def test_bounds_are_exact_values_of_the_type() -> None:
    assert Column(type="decimal(5,2)", bounds=[Decimal("0.1"), 3]).bounds == (
        Fraction(1, 10),
        Fraction(3),
    )
    assert Column(type="date", bounds=[date(2020, 1, 1), date(2021, 1, 1)]).bounds == (
        date(2020, 1, 1),
        date(2021, 1, 1),
    )
    stamps = Column(type="timestamp", bounds=[date(2020, 1, 1), datetime(2020, 1, 2, 3)]).bounds
    assert stamps == (datetime(2020, 1, 1), datetime(2020, 1, 2, 3))


@pytest.mark.parametrize(
    ("sql_type", "bounds", "mend"),
    [
        ("integer", [1], "pair"),
        ("integer", "12", "pair"),
        ("integer", [2, 1], "swap"),
        ("integer", [0, 0], "leaves nothing"),
        ("integer", [0, 1.5], "outwards"),
        ("integer", [0, 2**63], "does not fit"),
        ("integer", [False, True], "must be a number"),
        ("decimal(5,2)", [0, 1000], "does not fit"),
        ("double", [0, float("inf")], "finite"),
        ("double", [0, float("nan")], "finite"),
        ("double", ["0", "1"], "without quotes"),
        ("text", [0, 1], "leave `bounds` out"),
        ("boolean", [0, 1], "leave `bounds` out"),
        ("date", [1, 2], "not a date"),
        ("date", [date(2020, 1, 1), datetime(2020, 1, 2)], "not a date"),
        ("timestamp", [datetime(2020, 1, 1).astimezone(), datetime(2020, 1, 2)], "no zone"),
    ],
)
def test_bounds_that_are_none_are_refused(sql_type: str, bounds: object, mend: str) -> None:
    with pytest.raises(ValueError, match=mend):
        Column.model_validate({"type": sql_type, "bounds": bounds})


@pytest.mark.parametrize(
    ("sql_type", "values", "mend"),
    [
        ("text", [], "at least one"),
        ("text", "ab", "must be a list"),
        ("text", ["a", "a"], "twice"),
        ("text", ["a", 1], "not a value"),
        ("text", ["a\x00"], "control character"),
        ("integer", [1, True], "not a value"),
        ("integer", [2**63], "not a value"),
        ("boolean", [0], "not a value"),
        ("decimal(3,1)", [Decimal("0.25")], "not a value"),
        ("double", [1.0], "no key domain"),
        ("date", ["2020-01-01"], "not a date"),
    ],
)
def test_values_of_another_type_are_refused(sql_type: str, values: object, mend: str) -> None:
    with pytest.raises(ValueError, match=mend):
        Column.model_validate({"type": sql_type, "values": values})


def test_values_lie_within_bounds() -> None:
    assert Column(type="integer", bounds=[1, 2], values=[1, 2]).values == (1, 2)
    with pytest.raises(ValueError, match="outside the bounds"):
        Column(type="integer", bounds=[1, 2], values=[1, 3])
