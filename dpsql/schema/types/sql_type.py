"""The SQL types that a column may have, and the stored types that are read as them.

Stored types are those of DuckDB, Parquet and CSV.

The SQL of each reading stands in `engines.duckdb.tables.views`.

How stored values are read is proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeAlias, assert_never, get_args

from dpsql.schema.types import booleans, numbers, temporal, texts
from dpsql.schema.types.facts import Bound, NamedType, TypeFacts, Value

#: How a stored value becomes one that dpsql reads. The nearest integer is one of 64 bits; a DOUBLE
#: is read as its whole number where all of them are whole, which is checked when the data are
#: opened.
Reading: TypeAlias = Literal[
    "its text", "its moment in UTC", "its microsecond", "the nearest integer", "its whole number"
]

#: Readings under which two stored values stay two; only these may tell units,
#: or rows that lead to #: them, apart.
FAITHFUL: frozenset[Reading] = frozenset({"its text", "its moment in UTC", "its whole number"})


@dataclass(frozen=True)
class StoredType:
    """One such type.

    Attributes:
        refusal: What is said, with the mend, to who declares a column of it.
        read_as: The declared type that its values are read as, and how;
            None where they are not read.
        computed: The declared type as which a column of it is read that a query over public tables
            computes.
    """

    refusal: str
    read_as: tuple[str, Reading] | None
    computed: str | None = None


_ZONED = StoredType("is read in UTC; declare it timestamp", ("timestamp", "its moment in UTC"))

STORED_TYPES: dict[str, StoredType] = {
    "hugeint": StoredType(
        "is wider than 64 bits; declare it integer",
        ("integer", "the nearest integer"),
        "decimal(38,0)",
    ),
    "uhugeint": StoredType("is wider than 64 bits; store it as BIGINT", None),
    "ubigint": StoredType(
        "does not fit in 64 signed bits; declare it integer",
        ("integer", "the nearest integer"),
        "decimal(38,0)",
    ),
    "uuid": StoredType("is read as text; declare it text", ("text", "its text")),
    "json": StoredType("is read as text; declare it text", ("text", "its text")),
    "enum": StoredType(
        "is read as text; declare it text, with its members as values if they are public",
        ("text", "its text"),
    ),
    "timestamp with time zone": _ZONED,
    "timestamptz": _ZONED,
    "timestamp_s": StoredType("has another range; store it as TIMESTAMP", None),
    "timestamp_ms": StoredType("has another range; store it as TIMESTAMP", None),
    "timestamp_ns": StoredType(
        "is read to the microsecond; declare it timestamp", ("timestamp", "its microsecond")
    ),
}

#: Types that dpsql does not read, by how their names begin or end, with what an owner can do.
_UNREAD: tuple[tuple[str, str], ...] = (
    (r".*\]", "has many values in one row; store them as a table with a row for each"),
    (
        r"struct ?\(.*",
        'is not read whole; name its fields: column = ["its name", "the field\'s name"]',
    ),
    (r"(map|union) ?\(.*", "is not read; store what is asked for as plain columns"),
    (
        r"time( with time zone)?|timetz|time_ns",
        "has no date; store it as TIMESTAMP, or as seconds in an INTEGER",
    ),
    (r"interval", "has months of no fixed length; store it as a number of days or seconds"),
    (r"blob|bytea|varbinary", "holds bytes, of which nothing can be asked; leave it out"),
    (
        r"bit|bignum|varint|geometry.*|variant",
        "is not read; store what is asked for as plain columns",
    ),
)


def unread(plain: str) -> StoredType | None:
    """What is said of a type that is known and not read; None for one that is not known."""
    reasons = (reason for pattern, reason in _UNREAD if re.fullmatch(pattern, plain))
    return next((StoredType(reason, None) for reason in reasons), None)


#: The types that a column may be declared as; in a family the narrowest comes first.
Kind: TypeAlias = Literal["boolean", "integer", "decimal", "double", "text", "date", "timestamp"]


def _facts(kind: Kind) -> TypeFacts:
    match kind:
        case "boolean":
            return booleans.BOOLEAN
        case "integer":
            return numbers.INTEGER
        case "decimal":
            return numbers.DECIMAL
        case "double":
            return numbers.DOUBLE
        case "text":
            return texts.TEXT
        case "date":
            return temporal.DATE
        case "timestamp":
            return temporal.TIMESTAMP
        case _:
            assert_never(kind)


#: What dpsql knows of each type.
TYPES: Mapping[Kind, TypeFacts] = MappingProxyType({kind: _facts(kind) for kind in get_args(Kind)})

#: Each name of a type in a schema file or a statement.
ALIASES: Mapping[str, Kind] = MappingProxyType(
    {name: kind for kind, facts in TYPES.items() for name in (kind, *facts.spellings)}
)

#: The form of each type whose values JSON does not have, in which answers are kept.
STORED_FORMS = tuple(facts.stored for facts in TYPES.values() if facts.stored is not None)

_BY_ENGINE: Mapping[str, Kind] = {facts.engine.upper(): kind for kind, facts in TYPES.items()}
_TYPE = re.compile(r"([a-z_]+(?: [a-z]+)*) ?(?:\( ?(\d{1,9}) ?(?:, ?(\d{1,9}) ?)?\))?", re.ASCII)


def engine_kind(engine_type: str) -> Kind | None:
    """The kind that DuckDB's type in capitals names, whatever its digits; None if no column has it.

    >>> engine_kind("DECIMAL(38,2)"), engine_kind("BIGINT[]")
    ('decimal', None)
    """
    return _BY_ENGINE.get(engine_type.partition("(")[0])


@dataclass(frozen=True, slots=True)
class SqlType(NamedType):
    """A column's type: what kind of value it holds and, for decimals, how many digits.

    ``integer`` is any signed integer of up to 64 bits,
    ``double`` an IEEE 754 number of 64 bits or fewer.

    >>> str(SqlType.parse("NUMERIC(5, 2)")), str(SqlType.parse("bigint")), SqlType.parse("varchar(10)").kind
    ('decimal(5,2)', 'integer', 'text')
    """

    kind: Kind

    @classmethod
    def parse(cls, text: str) -> SqlType:
        """The type that the text names; raises ValueError, with the mend, if it names none."""
        plain = " ".join(text.lower().split())
        match = _TYPE.fullmatch(plain)
        kind = ALIASES.get(match[1]) if match else None
        if match is None or kind is None:
            known = STORED_TYPES.get(plain) or unread(plain)
            reason = (
                f"is not known; use one of {', '.join(sorted(TYPES))}"
                if known is None
                else known.refusal
            )
            raise ValueError(f"type `{text}` {reason}")
        first = match[2]
        second = match[3]
        arguments = TYPES[kind].arguments
        if arguments == "digits":
            precision, scale = (18, 3) if first is None else (int(first), int(second or 0))
            if not 1 <= precision <= 38 or scale > precision:
                raise ValueError(f"type `{text}`: decimal(p,s) needs 1 <= p <= 38 and s <= p")
            return cls(kind, precision, scale)
        if first is not None and (arguments != "length" or second is not None):
            raise ValueError(f"type `{text}` takes no such arguments; write `{kind}`")
        return cls(kind)

    @classmethod
    def computed(cls, text: str) -> SqlType:
        """The type that a computed public column is read as; raises ValueError if it is not read.

        >>> str(SqlType.computed("HUGEINT")), str(SqlType.computed("BIGINT"))
        ('decimal(38,0)', 'integer')
        """
        stored = STORED_TYPES.get(text.lower())
        return cls.parse(text if stored is None or stored.computed is None else stored.computed)

    @property
    def facts(self) -> TypeFacts:
        """What dpsql knows of the type."""
        return TYPES[self.kind]

    @property
    def is_numeric(self) -> bool:
        """Whether sums of it are numbers."""
        return self.facts.family == "number"

    @property
    def is_temporal(self) -> bool:
        """Whether it is a date or a timestamp."""
        return self.facts.family == "temporal"

    @property
    def step(self) -> Fraction | None:
        """What all its values are multiples of; None if there is no such number."""
        return self.facts.step(self)

    @property
    def engine_name(self) -> str:
        """DuckDB's name of the type, with its digits.

        >>> SqlType("integer").engine_name, SqlType("decimal", 5, 2).engine_name
        ('bigint', 'decimal(5,2)')
        """
        return self.named(self.facts.engine)


@dataclass(frozen=True)
class Stored:
    """A column's type as dpsql reads it, its reading from another type, and an ENUM's members."""

    type: SqlType
    reading: Reading | None = None
    members: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Stored:
        """What the engine's text of a type stands for.

        Raises ValueError, with the mend, if dpsql reads no such column.

        >>> Stored.parse("UUID").type, Stored.parse("BIGINT").reading, Stored.parse("ENUM('a', 'it''s')").members
        (SqlType(kind='text', precision=None, scale=None), None, ('a', "it's"))
        """
        plain = " ".join(text.lower().split())
        stored = STORED_TYPES.get("enum" if plain.startswith("enum(") else plain)
        if stored is None or stored.read_as is None or plain == "enum":
            return cls(SqlType.parse(text))
        members = re.findall(r"'((?:[^']|'')*)'", text) if plain.startswith("enum(") else ()
        name, reading = stored.read_as
        return cls(
            SqlType.parse(name), reading, tuple(member.replace("''", "'") for member in members)
        )


def bounds_of(sql_type: SqlType, pair: object) -> tuple[Bound, Bound]:
    """The range [low, high] as values of the type; raises ValueError if it is not one."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ValueError("must be a pair [low, high]")
    low, high = (sql_type.facts.bound(sql_type, end) for end in pair)
    if low > high:  # type: ignore[operator]
        raise ValueError(f"low {pair[0]} is above high {pair[1]}; swap them")
    if low == high == 0:
        raise ValueError("[0, 0] leaves nothing to measure; take the real range of the column")
    return low, high


def value_of(sql_type: SqlType, value: object) -> Value:
    """One member of a key domain as a value of the type; raises ValueError if it is none."""
    return sql_type.facts.member(sql_type, value)
