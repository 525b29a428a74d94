"""The types that columns of results may have, by DuckDB's names: one record for each, from which all clients read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

#: The type objects of PEP 249.
TypeCode: TypeAlias = Literal["STRING", "BINARY", "NUMBER", "DATETIME"]


@dataclass(frozen=True)
class Arrow:
    """The function of ``pyarrow`` that makes the type, and its arguments."""

    function: str
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True)
class ResultType:
    """One type of a column of a result.

    Attributes:
        postgresql: PostgreSQL's name of the type that clients of the wire are told.
        code: The type object of PEP 249 that equals its name; None where none does.
        arrow: Its Arrow type; None where it is sent as text, and of decimals, whose digits their name has.
        pandas: The ``dtype`` of a column without NULL.
        pandas_with_null: The ``dtype`` of a column with NULL; None where the values tell it.
        side: The edge along which its values are written in a table.
        has_intervals: Whether its values are numbers, which may have intervals with ends that are doubles.
        ends_as_itself: Whether its values have intervals with ends of the type itself.
    """

    postgresql: str
    code: TypeCode | None
    arrow: Arrow | None
    pandas: str
    pandas_with_null: str | None
    side: Literal["left", "right"]
    has_intervals: bool
    ends_as_itself: bool


def _whole(postgresql: str, arrow: Arrow, pandas: str, pandas_with_null: str) -> ResultType:
    return ResultType(postgresql, "NUMBER", arrow, pandas, pandas_with_null, "right", True, False)


def _floating(postgresql: str, arrow: Arrow | None, pandas: str = "float64") -> ResultType:
    return ResultType(postgresql, "NUMBER", arrow, pandas, pandas, "right", True, False)


def _calendar(postgresql: str, arrow: Arrow | None, *, ends_as_itself: bool = False) -> ResultType:
    moment = "datetime64[us]"
    return ResultType(postgresql, "DATETIME", arrow, moment, moment, "left", False, ends_as_itself)


def _object(
    postgresql: str, code: TypeCode | None, arrow: Arrow | None, side: Literal["left", "right"], pandas: str = "object"
) -> ResultType:
    return ResultType(postgresql, code, arrow, pandas, pandas, side, False, False)


_WIDE = Arrow("decimal128", (38, 0))

#: Each type, by its name without digits and members.
RESULT_TYPES: Mapping[str, ResultType] = MappingProxyType({
    "BOOLEAN": ResultType("bool", "NUMBER", Arrow("bool_"), "bool", "boolean", "left", False, False),
    "TINYINT": _whole("int2", Arrow("int8"), "int8", "Int8"),
    "SMALLINT": _whole("int2", Arrow("int16"), "int16", "Int16"),
    "INTEGER": _whole("int4", Arrow("int32"), "int32", "Int32"),
    "BIGINT": _whole("int8", Arrow("int64"), "int64", "Int64"),
    "UTINYINT": _whole("int2", Arrow("uint8"), "uint8", "UInt8"),
    "USMALLINT": _whole("int4", Arrow("uint16"), "uint16", "UInt16"),
    "UINTEGER": _whole("int8", Arrow("uint32"), "uint32", "UInt32"),
    "UBIGINT": _whole("numeric", Arrow("uint64"), "uint64", "UInt64"),
    "HUGEINT": _floating("numeric", _WIDE),
    "UHUGEINT": _floating("numeric", _WIDE),
    "BIGNUM": _object("numeric", None, None, "right"),
    "DECIMAL": _floating("numeric", None),
    "FLOAT": _floating("float4", Arrow("float32"), "float32"),
    "DOUBLE": _floating("float8", Arrow("float64")),
    "VARCHAR": ResultType("text", "STRING", Arrow("string"), "str", None, "left", False, False),
    "ENUM": _object("text", "STRING", None, "left"),
    "UUID": _object("uuid", "STRING", None, "left"),
    "JSON": _object("json", "STRING", None, "right"),
    "BIT": _object("text", "STRING", None, "right"),
    "BLOB": _object("bytea", "BINARY", Arrow("binary"), "left"),
    "DATE": _calendar("date", Arrow("date32"), ends_as_itself=True),
    "TIME": _object("time", "DATETIME", Arrow("time64", ("us",)), "left"),
    "TIME WITH TIME ZONE": _object("text", "DATETIME", None, "left"),
    "TIMESTAMP": _calendar("timestamp", Arrow("timestamp", ("us",)), ends_as_itself=True),
    "TIMESTAMP_S": _calendar("timestamp", Arrow("timestamp", ("s",))),
    "TIMESTAMP_MS": _calendar("timestamp", Arrow("timestamp", ("ms",))),
    "TIMESTAMP_NS": _calendar("timestamp", Arrow("timestamp", ("ns",))),
    "TIMESTAMP WITH TIME ZONE": _object("timestamptz", "DATETIME", Arrow("timestamp", ("us", "UTC")), "left"),
    "INTERVAL": _object("interval", "DATETIME", Arrow("duration", ("us",)), "right", "timedelta64[us]"),
    "STRUCT": _object("json", None, None, "left"),
    "MAP": _object("json", None, None, "left"),
    "UNION": _object("json", None, None, "right"),
    '"NULL"': _object("text", None, Arrow("null"), "right"),
    "NULL": _object("text", None, Arrow("null"), "right"),
})  # fmt: skip


def result_type(name: str) -> ResultType | None:
    """The record of a type with its digits or members; None of lists and of types that dpsql does not know.

    >>> result_type("DECIMAL(38,2)").postgresql, result_type("BIGINT[]")
    ('numeric', None)
    """
    plain, bracket, rest = name.partition("(")
    return RESULT_TYPES.get(plain) if not bracket or rest.endswith(")") else None


def end_type(name: str) -> str:
    """The type of the ends of a column's intervals.

    >>> end_type("DATE"), end_type("DECIMAL(38,2)")
    ('DATE', 'DOUBLE')
    """
    found = result_type(name)
    return name if found is not None and found.ends_as_itself else "DOUBLE"
