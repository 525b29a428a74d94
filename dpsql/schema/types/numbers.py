"""The types of numbers: integers, decimals and doubles."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import NoReturn

from dpsql.schema.numbers import exact
from dpsql.schema.types.facts import (
    NamedType,
    Scalar,
    StoredForm,
    TypeFacts,
    itself,
    never,
    no_step,
    not_a_value,
)

INTEGER_LIMIT = 2**63
#: The powers of ten between which the constants of a statement lie.
MAX_EXPONENT = 300
#: Decimals of so many digits stay different as doubles.
DOUBLE_DIGITS = 15

_WHOLE = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_NUMBER = re.compile(
    r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?", re.ASCII
)


def _fits_integer(number: Fraction) -> bool:
    return -INTEGER_LIMIT <= number < INTEGER_LIMIT


def _fits_decimal(sql_type: NamedType, number: Fraction) -> bool:
    return abs(number) < Fraction(10) ** ((sql_type.precision or 0) - (sql_type.scale or 0))


def _checked(sql_type: NamedType, value: object, number: Fraction, fits: bool) -> Fraction:
    if not fits:
        raise ValueError(f"{value} does not fit in {sql_type}; take a bound that the type can hold")
    return number


def _integer_bound(sql_type: NamedType, value: object) -> Fraction:
    number = exact(value)
    if number.denominator != 1:
        raise ValueError(f"{value} is not an integer; round the bound outwards")
    return _checked(sql_type, value, number, _fits_integer(number))


def _decimal_bound(sql_type: NamedType, value: object) -> Fraction:
    number = exact(value)
    return _checked(sql_type, value, number, _fits_decimal(sql_type, number))


def _double_bound(sql_type: NamedType, value: object) -> Fraction:
    number = exact(value)
    return _checked(sql_type, value, number, abs(number) <= Fraction(10) ** MAX_EXPONENT)


def _integer_member(sql_type: NamedType, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and _fits_integer(Fraction(value)):
        return value
    raise not_a_value(sql_type, value)


def _decimal_member(sql_type: NamedType, value: object) -> Decimal:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = exact(value)
        if _fits_decimal(sql_type, number) and (number / _decimal_step(sql_type)).denominator == 1:
            return Decimal(value)
    raise not_a_value(sql_type, value)


def _no_member(*_: object) -> NoReturn:
    raise ValueError(
        "a double column has no key domain; declare it as integer where its values are whole numbers, stored as "
        "DOUBLE too, or as decimal(p,s)"
    )


def _integer_constant(sql_type: NamedType, value: Scalar) -> int:
    if isinstance(value, int | Decimal | float | str):
        integer = (
            round(value)
            if isinstance(value, float)
            else int(Decimal(value).to_integral_value(ROUND_HALF_UP))
        )
        if abs(integer) < INTEGER_LIMIT:
            return integer
    raise not_a_value(sql_type, value)


def _decimal_constant(sql_type: NamedType, value: Scalar) -> Decimal:
    if isinstance(value, int | Decimal | float | str):
        return Decimal(value).quantize(Decimal(1).scaleb(-(sql_type.scale or 0)))
    raise not_a_value(sql_type, value)


def _double_constant(sql_type: NamedType, value: Scalar) -> float:
    if isinstance(value, int | Decimal | str):
        number = float(value)
        if number - number == 0:
            return number
    raise not_a_value(sql_type, value)


def _integer_parameter(value: object) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < INTEGER_LIMIT
        else None
    )


def _decimal_parameter(value: object) -> Decimal | None:
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    return value if not value or abs(value.adjusted()) <= MAX_EXPONENT else None


def _double_parameter(value: object) -> float | None:
    return value if isinstance(value, float) and value - value == 0 else None


def _whole(text: str) -> int:
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(text)
    return int(text)


def _plain(text: str) -> str:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    return text


def _decimal_step(sql_type: NamedType) -> Fraction:
    return Fraction(1, 10 ** (sql_type.scale or 0))


INTEGER = TypeFacts(
    spellings=("int", "bigint", "smallint", "tinyint", "utinyint", "usmallint", "uinteger"),
    family="number",
    arguments="none",
    postgresql="bigint",
    engine="bigint",
    midpoint="double",
    parameters=("int2", "int4", "int8"),
    sqlalchemy="BIGINT",
    exact=True,
    distinct_as_double=never,
    reads_texts=False,
    step=lambda _: Fraction(1),
    axis="number",
    written=(1, 20),
    ends=None,
    doubtful_in_parquet=None,
    bound=_integer_bound,
    member=_integer_member,
    constant=_integer_constant,
    parameter=_integer_parameter,
    read=_whole,
    stand_in=lambda index, _: index,
    at=itself,
    stored=None,
)
DECIMAL = TypeFacts(
    spellings=("numeric",),
    family="number",
    arguments="digits",
    postgresql="numeric",
    engine="decimal",
    midpoint=None,
    parameters=(),  # the statement tells more of its digits than a client does
    sqlalchemy="NUMERIC",
    exact=False,
    distinct_as_double=lambda sql_type: (
        sql_type.precision is not None and sql_type.precision <= DOUBLE_DIGITS
    ),
    reads_texts=False,
    step=_decimal_step,
    axis="number",
    written=(1, 41),
    ends=None,
    doubtful_in_parquet=None,
    bound=_decimal_bound,
    member=_decimal_member,
    constant=_decimal_constant,
    parameter=_decimal_parameter,
    read=lambda text: Decimal(_plain(text)),
    stand_in=lambda index, _: Decimal(index),
    at=itself,
    stored=StoredForm("decimal", Decimal, str, Decimal),
)
DOUBLE = TypeFacts(
    spellings=("double precision", "float", "real"),
    family="number",
    arguments="none",
    postgresql="double precision",
    engine="double",
    midpoint=None,
    parameters=("float4", "float8"),
    sqlalchemy="DOUBLE_PRECISION",
    exact=False,
    distinct_as_double=never,
    reads_texts=False,
    step=no_step,
    axis="number",
    written=(1, 25),
    ends=None,
    doubtful_in_parquet=None,
    bound=_double_bound,
    member=_no_member,
    constant=_double_constant,
    parameter=_double_parameter,
    read=lambda text: float(_plain(text)),
    stand_in=lambda index, _: float(index),
    at=itself,
    stored=None,
)
