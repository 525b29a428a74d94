"""Numbers of the schema file, read exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from pydantic import PlainSerializer, PlainValidator

#: Largest power of ten, either way, that a number may have: beyond it lies no double.
MAX_EXPONENT = 308
MAX_DIGITS = 60
#: The most seconds that a setting may ask anybody to wait.
LONGEST = 86_400


def exact(value: object) -> Fraction:
    """The number as it is written, with no rounding; ValueError for what is no finite number.

    A float stands for its shortest decimal form, so that 0.1 is one tenth here too.

    >>> exact(Decimal("0.1")), exact(0.1), exact(3)
    (Fraction(1, 10), Fraction(1, 10), Fraction(3, 1))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"must be a number, not {value!r}; write it without quotes")
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise ValueError(f"must be a finite number, not {value}")
    if abs(number.adjusted()) > MAX_EXPONENT or len(number.as_tuple().digits) > MAX_DIGITS:
        raise ValueError(f"must lie within ±1e{MAX_EXPONENT} and have at most {MAX_DIGITS} digits")
    return Fraction(number)


def _positive(value: object) -> Fraction:
    number = exact(value)
    if number <= 0:
        raise ValueError("must be greater than 0")
    return number


def _probability(value: object) -> Fraction:
    number = exact(value)
    if not 0 <= number < 1:
        raise ValueError("must be at least 0 and less than 1")
    return number


def _inner_probability(value: object) -> Fraction:
    number = exact(value)
    if not 0 < number < 1:
        raise ValueError("must be greater than 0 and less than 1")
    return number


def _seconds(value: object) -> Fraction:
    number = exact(value)
    if not 0 <= number <= LONGEST:
        raise ValueError(f"must be seconds, at least 0 and at most {LONGEST}")
    return number


@dataclass(frozen=True, eq=False)
class _Published:
    """A number's JSON Schema, made anew for each field:
    older pydantic writes the field's default into it.
    """

    limits: Mapping[str, int]

    def __get_pydantic_json_schema__(self, core: object, handler: object) -> dict[str, Any]:
        return {"type": "number", **self.limits}


Positive: TypeAlias = Annotated[
    Fraction,
    PlainValidator(_positive),
    PlainSerializer(float),
    _Published({"exclusiveMinimum": 0}),
]
Probability: TypeAlias = Annotated[
    Fraction,
    PlainValidator(_probability),
    PlainSerializer(float),
    _Published({"minimum": 0, "exclusiveMaximum": 1}),
]
InnerProbability: TypeAlias = Annotated[
    Fraction,
    PlainValidator(_inner_probability),
    PlainSerializer(float),
    _Published({"exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
Seconds: TypeAlias = Annotated[
    Fraction,
    PlainValidator(_seconds),
    PlainSerializer(float),
    _Published({"minimum": 0, "maximum": LONGEST}),
]
