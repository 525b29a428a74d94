"""Types that a source may hold and that no column is declared as: each is read as another type, or not at all.

How stored values are read is proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

#: How a stored value becomes one that dpsql reads. The nearest integer is one of 64 bits; a DOUBLE is read as its whole
#: number where all of them are whole, which is checked when the data are opened.
Reading: TypeAlias = Literal[
    "its text", "its moment in UTC", "its microsecond", "the nearest integer", "its whole number"
]

#: Readings under which two stored values stay two; only these may tell units, or rows that lead to them, apart.
FAITHFUL: frozenset[Reading] = frozenset({"its text", "its moment in UTC", "its whole number"})


@dataclass(frozen=True)
class StoredType:
    """One such type.

    Attributes:
        refusal: What is said, with the mend, to who declares a column of it.
        read_as: The declared type that its values are read as, and how; None where they are not read.
        computed: The declared type as which a column of it is read that a query over public tables computes.
    """

    refusal: str
    read_as: tuple[str, Reading] | None
    computed: str | None = None


_ZONED = StoredType("is read in UTC; declare it timestamp", ("timestamp", "its moment in UTC"))

STORED_TYPES: dict[str, StoredType] = {
    "hugeint": StoredType(
        "is wider than 64 bits; declare it integer", ("integer", "the nearest integer"), "decimal(38,0)"
    ),
    "uhugeint": StoredType("is wider than 64 bits; store it as BIGINT", None),
    "ubigint": StoredType(
        "does not fit in 64 signed bits; declare it integer", ("integer", "the nearest integer"), "decimal(38,0)"
    ),
    "uuid": StoredType("is read as text; declare it text", ("text", "its text")),
    "json": StoredType("is read as text; declare it text", ("text", "its text")),
    "enum": StoredType(
        "is read as text; declare it text, with its members as values if they are public", ("text", "its text")
    ),
    "timestamp with time zone": _ZONED,
    "timestamptz": _ZONED,
    "timestamp_s": StoredType("has another range; store it as TIMESTAMP", None),
    "timestamp_ms": StoredType("has another range; store it as TIMESTAMP", None),
    "timestamp_ns": StoredType("is read to the microsecond; declare it timestamp", ("timestamp", "its microsecond")),
}

#: Types that dpsql does not read, by how their names begin or end, with what an owner can do.
_UNREAD: tuple[tuple[str, str], ...] = (
    (r".*\]", "has many values in one row; store them as a table with a row for each"),
    (r"struct ?\(.*", 'is not read whole; name its fields: column = ["its name", "the field\'s name"]'),
    (r"(map|union) ?\(.*", "is not read; store what is asked for as plain columns"),
    (r"time( with time zone)?|timetz|time_ns", "has no date; store it as TIMESTAMP, or as seconds in an INTEGER"),
    (r"interval", "has months of no fixed length; store it as a number of days or seconds"),
    (r"blob|bytea|varbinary", "holds bytes, of which nothing can be asked; leave it out"),
    (r"bit|bignum|varint|geometry.*|variant", "is not read; store what is asked for as plain columns"),
)


def unread(plain: str) -> StoredType | None:
    """What is said of a type that is known and not read; None for one that is not known."""
    reasons = (reason for pattern, reason in _UNREAD if re.fullmatch(pattern, plain))
    return next((StoredType(reason, None) for reason in reasons), None)
