"""Columns that an engine stores in a type that dpsql does not have, and the type as which they are read.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dpsql.schema.types import SqlType

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
