"""What a type is to all of dpsql: one record, whose fields a new type must fill in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NoReturn, TypeAlias

#: One end of a column's range: exact for numbers, a calendar value for temporal types.
Bound: TypeAlias = Fraction | date | datetime

#: One member of a public key domain.
Value: TypeAlias = bool | int | Decimal | str | date | datetime

#: A value that a statement or a key domain can name.
Scalar: TypeAlias = Value | float | None

#: Types whose values are compared with each other, and computed with in the same way.
Family: TypeAlias = Literal["boolean", "number", "text", "temporal"]

#: What quantiles count in.
Axis: TypeAlias = Literal["number", "day", "second"]


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type's name and, for decimals, how many digits a value has and how many of them follow the
    point.
    """

    kind: str
    precision: int | None = None
    scale: int | None = None

    def __str__(self) -> str:
        return self.named(self.kind)

    def named(self, name: str) -> str:
        """The type under another name, with its digits."""
        return name if self.precision is None else f"{name}({self.precision},{self.scale})"


@dataclass(frozen=True)
class StoredForm:
    """A value that JSON does not have, as a text under a tag: for the answers that are kept."""

    tag: str
    python: type
    write: Callable[[Any], str]
    read: Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class TypeFacts:
    """One type that a column may be declared as.

    Attributes:
        spellings: What a schema file or a statement may call it, in addition to its own name.
        family: Which types its values are compared with.
        arguments: What may stand in brackets after the name: nothing, a length,
            or the digits of a decimal.
        postgresql: PostgreSQL's name of it, as its messages have it.
        engine: DuckDB's name of it, which the columns of results and parameters have too;
            without digits.
        midpoint: DuckDB's name of the type in which the middle between two values lies;
            None if it is its own.
        parameters: PostgreSQL's names of the types as which a client may declare a parameter of it.
        sqlalchemy: The class of ``sqlalchemy.types`` that reflection names.
        exact: Whether every engine compares its values exactly,
            so that one may be a unit's and keys may be moved.
        distinct_as_double: Whether different values stay different if they are compared as
            doubles.
        reads_texts: Whether a constant text next to its values is read as one of them.
        step: What all its values are multiples of; None if there is no such number.
        axis: What its quantiles count in; None if it has none.
        written: The fewest and the most characters of a value as a text; None if it is a text.
        ends: The first and the last value that a client has a value for;
            None if a client has all.
        doubtful_in_parquet: The order in which its columns are tried in a Parquet file, which may
            hold what the engine cannot read; None if the engine reads all.
        bound: One end of a range as a value of the type. ValueError if it is none.
        member: One member of a key domain as a value of the type. ValueError if it is none.
        constant: A constant of another type as a value of this one. ValueError, OverflowError or
            DecimalException if it has no such value.
        parameter: A parameter's value as one of this type; None if it is not one.
        read: The value that a text writes. ValueError,
            KeyError or InvalidOperation if it writes none.
        stand_in: A value for the n-th parameter while a statement is described;
            later ones are larger.
        at: The value at a point of the line on which intervals lie (`dpsql.sql.ir.interval`).
        stored: The form in which answers are kept; None if JSON has its values.
    """

    spellings: tuple[str, ...]
    family: Family
    arguments: Literal["none", "length", "digits"]
    postgresql: str
    engine: str
    midpoint: str | None
    parameters: tuple[str, ...]
    sqlalchemy: str
    exact: bool
    distinct_as_double: Callable[[NamedType], bool]
    reads_texts: bool
    step: Callable[[NamedType], Fraction | None]
    axis: Axis | None
    written: tuple[int, int] | None
    ends: tuple[date, date] | None
    doubtful_in_parquet: int | None
    bound: Callable[[NamedType, object], Bound]
    member: Callable[[NamedType, object], Value]
    constant: Callable[[NamedType, Scalar], Scalar]
    parameter: Callable[[object], Scalar]
    read: Callable[[str], Scalar]
    stand_in: Callable[[int, str], Scalar]
    at: Callable[[Fraction], Bound]
    stored: StoredForm | None


def never(_: NamedType) -> bool:
    """For types whose different values may become one double."""
    return False


def always(_: NamedType) -> bool:
    """For types whose different values stay different doubles."""
    return True


def no_step(_: NamedType) -> None:
    """For types whose values are not multiples of one number."""


def itself(point: Fraction) -> Fraction:
    """The point of a number, which is the number."""
    return point


def no_bound(sql_type: NamedType, _: object) -> NoReturn:
    """ValueError: the type has no order that a range could have ends in."""
    raise ValueError(f"a {sql_type} column has no bounds; leave `bounds` out")


def not_a_value(sql_type: NamedType, value: object) -> ValueError:
    """What is said of a value that is none of the type."""
    return ValueError(f"{value!r} is not a value of type {sql_type}")
