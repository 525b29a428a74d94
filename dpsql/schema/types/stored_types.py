"""Types that a source may hold and that no column is declared as: each is read as another type, or not at all.

How stored values are read is proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: How a stored value becomes one that dpsql reads; the integer is the nearest of 64 bits.
Reading: TypeAlias = Literal["its text", "its moment in UTC", "its microsecond", "the nearest integer"]

#: Readings under which two stored values stay two; only these may tell units, or rows that lead to them, apart.
FAITHFUL: frozenset[Reading] = frozenset({"its text", "its moment in UTC"})


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
