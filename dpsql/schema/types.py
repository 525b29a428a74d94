"""The SQL types that a column may have, the values and bounds of each, and the stored types that are read as them.

How stored values are read is proved in ``docs/proofs/stability.md``.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeAlias

from dpsql.schema.numbers import exact

Kind: TypeAlias = Literal["boolean", "integer", "decimal", "double", "text", "date", "timestamp"]

#: One end of a column's range: exact for numbers, a calendar value for temporal types.
Bound: TypeAlias = Fraction | date | datetime

#: One member of a public key domain.
Value: TypeAlias = bool | int | Decimal | str | date | datetime

ALIASES: dict[str, Kind] = {
    "boolean": "boolean",
    "bool": "boolean",
    "integer": "integer",
    "int": "integer",
    "bigint": "integer",
    "smallint": "integer",
    "tinyint": "integer",
    "utinyint": "integer",
    "usmallint": "integer",
    "uinteger": "integer",
    "decimal": "decimal",
    "numeric": "decimal",
    "double": "double",
    "double precision": "double",
    "float": "double",
    "real": "double",
    "text": "text",
    "varchar": "text",
    "char": "text",
    "string": "text",
    "date": "date",
    "timestamp": "timestamp",
    "datetime": "timestamp",
}

#: Types that are refused with the reason and the mend.
UNSUPPORTED = {
    "hugeint": "is wider than 64 bits; declare it integer",
    "uhugeint": "is wider than 64 bits; store it as BIGINT",
    "ubigint": "does not fit in 64 signed bits; declare it integer",
    "uuid": "is read as text; declare it text",
    "json": "is read as text; declare it text",
    "enum": "is read as text; declare it text, with its members as values if they are public",
    "timestamp with time zone": "is read in UTC; declare it timestamp",
    "timestamptz": "is read in UTC; declare it timestamp",
    "timestamp_s": "has another range; store it as TIMESTAMP",
    "timestamp_ms": "has another range; store it as TIMESTAMP",
    "timestamp_ns": "is read to the microsecond; declare it timestamp",
}

_TYPE = re.compile(r"([a-z_]+(?: [a-z]+)*) ?(?:\( ?(\d{1,9}) ?(?:, ?(\d{1,9}) ?)?\))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SqlType:
    """A column's type: what kind of value it holds and, for decimals, how many digits.

    ``integer`` is any signed integer of up to 64 bits, ``double`` an IEEE 754 number of 64 bits or fewer.

    >>> str(SqlType.parse("NUMERIC(5, 2)")), str(SqlType.parse("bigint")), SqlType.parse("varchar(10)").kind
    ('decimal(5,2)', 'integer', 'text')
    """

    kind: Kind
    precision: int | None = None
    scale: int | None = None

    @classmethod
    def parse(cls, text: str) -> SqlType:
        """The type that the text names; ValueError with the mend where it names none."""
        plain = " ".join(text.lower().split())
        found = _TYPE.fullmatch(plain)
        kind = ALIASES.get(found[1]) if found else None
        if found is None or kind is None:
            reason = UNSUPPORTED.get(plain, f"is not known; use one of {', '.join(sorted(set(ALIASES.values())))}")
            raise ValueError(f"type `{text}` {reason}")
        first, second = found[2], found[3]
        if kind == "decimal":
            precision, scale = (18, 3) if first is None else (int(first), int(second or 0))
            if not 1 <= precision <= 38 or scale > precision:
                raise ValueError(f"type `{text}`: decimal(p,s) needs 1 <= p <= 38 and s <= p")
            return cls(kind, precision, scale)
        if first is not None and (kind != "text" or second is not None):
            raise ValueError(f"type `{text}` takes no such arguments; write `{kind}`")
        return cls(kind)

    @property
    def is_numeric(self) -> bool:
        """Whether sums of it are numbers."""
        return self.kind in ("integer", "decimal", "double")

    @property
    def is_temporal(self) -> bool:
        """Whether it is a date or a timestamp."""
        return self.kind in ("date", "timestamp")

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.kind == "decimal" else self.kind


#: How a stored value becomes one that dpsql reads; the integer is the nearest of 64 bits.
Reading: TypeAlias = Literal["its text", "its moment in UTC", "its microsecond", "the nearest integer"]

_TEXT, _MOMENT, _INTEGER = SqlType("text"), SqlType("timestamp"), SqlType("integer")
_READ: dict[str, tuple[SqlType, Reading]] = {
    "uuid": (_TEXT, "its text"),
    "json": (_TEXT, "its text"),
    "timestamp with time zone": (_MOMENT, "its moment in UTC"),
    "timestamptz": (_MOMENT, "its moment in UTC"),
    "timestamp_ns": (_MOMENT, "its microsecond"),
    "hugeint": (_INTEGER, "the nearest integer"),
    "ubigint": (_INTEGER, "the nearest integer"),
}
#: Readings under which two stored values stay two; only these may tell units, or rows that lead to them, apart.
FAITHFUL: frozenset[Reading] = frozenset({"its text", "its moment in UTC"})


@dataclass(frozen=True)
class Stored:
    """A column's type as dpsql reads it, how it is read where it is stored otherwise, and the members of an ENUM."""

    type: SqlType
    reading: Reading | None = None
    members: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Stored:
        """What the engine's text of a type stands for; ValueError with the mend where dpsql reads no such column.

        >>> Stored.parse("UUID").type, Stored.parse("BIGINT").reading, Stored.parse("ENUM('a', 'it''s')").members
        (SqlType(kind='text', precision=None, scale=None), None, ('a', "it's"))
        """
        plain = " ".join(text.lower().split())
        if plain in _READ:
            return cls(*_READ[plain])
        if plain.startswith("enum("):
            members = tuple(each.replace("''", "'") for each in re.findall(r"'((?:[^']|'')*)'", text))
            return cls(_TEXT, "its text", members)
        return cls(SqlType.parse(text))


INTEGER_LIMIT = 2**63


def bound_of(sql_type: SqlType, value: object) -> Bound:
    """One end of a range as a value of the type; ValueError where it is none."""
    if sql_type.kind == "date":
        return _date(value)
    if sql_type.kind == "timestamp":
        return _timestamp(value)
    if not sql_type.is_numeric:
        raise ValueError(f"a {sql_type} column has no bounds; leave `bounds` out")
    number = exact(value)
    if sql_type.kind == "integer" and number.denominator != 1:
        raise ValueError(f"{value} is not an integer; round the bound outwards")
    if not fits(sql_type, number):
        raise ValueError(f"{value} does not fit in {sql_type}; take a bound that the type can hold")
    return number


def bounds_of(sql_type: SqlType, pair: object) -> tuple[Bound, Bound]:
    """The range [low, high] as values of the type; ValueError where it is not one."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ValueError("must be a pair [low, high]")
    low, high = bound_of(sql_type, pair[0]), bound_of(sql_type, pair[1])
    if low > high:  # type: ignore[operator]
        raise ValueError(f"low {pair[0]} is above high {pair[1]}; swap them")
    if low == high == 0:
        raise ValueError("[0, 0] leaves nothing to measure; take the real range of the column")
    return low, high


def value_of(sql_type: SqlType, value: object) -> Value:
    """One member of a key domain as a value of the type; ValueError where it is none."""
    match sql_type.kind:
        case "text" if isinstance(value, str):
            if any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
                raise ValueError(f"{value!r} has a control character; leave it out of the values")
            return value
        case "boolean" if isinstance(value, bool):
            return value
        case "integer" if isinstance(value, int) and not isinstance(value, bool) and fits(sql_type, Fraction(value)):
            return value
        case "decimal" if isinstance(value, int | Decimal) and not isinstance(value, bool):
            number = exact(value)
            if fits(sql_type, number) and (number * 10 ** (sql_type.scale or 0)).denominator == 1:
                return Decimal(value)
        case "date":
            return _date(value)
        case "timestamp":
            return _timestamp(value)
        case "double":
            raise ValueError("a double column has no key domain; declare it as decimal(p,s) or integer")
    raise ValueError(f"{value!r} is not a value of type {sql_type}")


def fits(sql_type: SqlType, number: Fraction) -> bool:
    """Whether the number lies in the range of the numeric type."""
    if sql_type.kind == "integer":
        return -INTEGER_LIMIT <= number < INTEGER_LIMIT
    if sql_type.kind == "decimal":
        return abs(number) < Fraction(10) ** ((sql_type.precision or 0) - (sql_type.scale or 0))
    return abs(number) <= Fraction(10) ** 300


def _date(value: object) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError(f"{value} is not a date; write it as 2020-01-31 without quotes")
    return value


def _timestamp(value: object) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise ValueError(f"{value} is not a timestamp; write it as 2020-01-31T12:00:00, with no quotes and no zone")
    return value
