"""The SQL types that a column may have, and the values that belong to each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeAlias

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
