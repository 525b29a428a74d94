"""The columns of a result: the sources of their intervals, and their types by DuckDB's names.

All clients read one record for each type. Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

#: The ends of the interval of a number, of a date or a timestamp,
#: or of each element of a list: #: lower ends, upper ends.
CellInterval: TypeAlias = tuple[float, float] | tuple[date, date] | tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class OutputColumn:
    """One column of the result: its name, its type in the sandbox, and the source of its interval.

    ``aggregate`` is the index of the aggregate of ``core`` (or of ``cube``), if the column is one.
    ``computed`` is what the column computes of aggregates of one released row, and ``exact`` tells
    that the interval of this is exact. ``row`` tells which of the numbers at the end of each row of
    post-processing is that row's.
    """

    name: str
    type: str
    aggregate: int | None = None
    computed: str | None = None
    row: int = 0
    core: int = 0
    cube: int | None = None
    exact: bool = False

    @property
    def table(self) -> str:
        """The released table that ``row`` numbers."""
        return f"core{self.core}" if self.cube is None else f"cube{self.cube}"

    @property
    def is_read_off(self) -> bool:
        """Whether the interval is that of one released row, and not one of several samples."""
        return self.aggregate is not None or self.exact


@dataclass(frozen=True)
class IntervalEndColumns:
    """An expression over one row of a released table, with the ends of its interval as columns.

    Post-processing reads these columns. ``aggregate`` is the index of the aggregate, if the
    expression is one; ``type`` is that of the ends.
    """

    table: str
    sql: str
    number: int
    aggregate: int | None = None
    type: str = "DOUBLE"

    @property
    def columns(self) -> tuple[str, str]:
        """The names of the columns of the lower and of the upper end."""
        return f"e{self.number}_low", f"e{self.number}_high"


@dataclass(frozen=True)
class CollectionEnds:
    """The columns of post-processing with the ends of a debiased column's interval.

    The interval accounts for the collection alone.
    """

    column: int
    low: int
    high: int


@dataclass(frozen=True)
class Resampling:
    """Post-processing on many samples of the noise of its ``tables``.

    It gives the intervals of what several released rows make.

    Attributes:
        sql: post-processing on all samples, with the percentiles of its columns;
            empty if no column is wanted.
        wanted: the columns of the result that get an interval so.
        known: those that are the same whatever the noise is, and tell the rows of the result apart.
        tables: the released tables that post-processing reads.
        without: the columns that have no interval because noise chooses what they show.
        of_shown: the wanted columns that are made of several rows of tables which are read without
            some groups.
    """

    sql: str
    wanted: tuple[int, ...]
    known: tuple[int, ...]
    tables: tuple[str, ...]
    without: tuple[int, ...] = ()
    of_shown: frozenset[int] = frozenset()


#: The type objects of PEP 249.
TypeCode: TypeAlias = Literal["STRING", "BINARY", "NUMBER", "DATETIME"]


@dataclass(frozen=True)
class ArrowType:
    """The function of ``pyarrow`` that makes the type, and its arguments."""

    function: str
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True)
class ResultColumnType:
    """One type of a column of a result.

    Attributes:
        postgresql: PostgreSQL's name of the type that clients of the wire are told.
        code: The type object of PEP 249 that equals its name; None if none does.
        arrow: Its Arrow type. None if it is sent as text, and for decimals,
            whose digits their name has.
        pandas: The ``dtype`` of a column without NULL.
        pandas_with_null: The ``dtype`` of a column with NULL; None if the values tell it.
        side: The edge along which its values are written in a table.
        has_intervals: Whether its values are numbers,
            which may have intervals with ends that are doubles.
        ends_as_itself: Whether its values have intervals with ends of the type itself.
    """

    postgresql: str
    code: TypeCode | None
    arrow: ArrowType | None
    pandas: str
    pandas_with_null: str | None
    side: Literal["left", "right"]
    has_intervals: bool
    ends_as_itself: bool


def _integer_type(
    postgresql: str, arrow: ArrowType, pandas: str, pandas_with_null: str
) -> ResultColumnType:
    return ResultColumnType(
        postgresql,
        "NUMBER",
        arrow=arrow,
        pandas=pandas,
        pandas_with_null=pandas_with_null,
        side="right",
        has_intervals=True,
        ends_as_itself=False,
    )


def _floating(
    postgresql: str, arrow: ArrowType | None, pandas: str = "float64"
) -> ResultColumnType:
    return ResultColumnType(
        postgresql,
        "NUMBER",
        arrow=arrow,
        pandas=pandas,
        pandas_with_null=pandas,
        side="right",
        has_intervals=True,
        ends_as_itself=False,
    )


def _calendar(
    postgresql: str, arrow: ArrowType | None, *, ends_as_itself: bool = False
) -> ResultColumnType:
    moment = "datetime64[us]"
    return ResultColumnType(
        postgresql,
        "DATETIME",
        arrow=arrow,
        pandas=moment,
        pandas_with_null=moment,
        side="left",
        has_intervals=False,
        ends_as_itself=ends_as_itself,
    )


def _object(
    postgresql: str,
    code: TypeCode | None,
    arrow: ArrowType | None,
    side: Literal["left", "right"],
    pandas: str = "object",
) -> ResultColumnType:
    return ResultColumnType(
        postgresql,
        code,
        arrow=arrow,
        pandas=pandas,
        pandas_with_null=pandas,
        side=side,
        has_intervals=False,
        ends_as_itself=False,
    )


_WIDE = ArrowType("decimal128", (38, 0))

#: Each type, by its name without digits and members.
RESULT_TYPES: Mapping[str, ResultColumnType] = MappingProxyType(
    {
        "BOOLEAN": ResultColumnType(
            "bool",
            "NUMBER",
            arrow=ArrowType("bool_"),
            pandas="bool",
            pandas_with_null="boolean",
            side="left",
            has_intervals=False,
            ends_as_itself=False,
        ),
        "TINYINT": _integer_type("int2", ArrowType("int8"), "int8", "Int8"),
        "SMALLINT": _integer_type("int2", ArrowType("int16"), "int16", "Int16"),
        "INTEGER": _integer_type("int4", ArrowType("int32"), "int32", "Int32"),
        "BIGINT": _integer_type("int8", ArrowType("int64"), "int64", "Int64"),
        "UTINYINT": _integer_type("int2", ArrowType("uint8"), "uint8", "UInt8"),
        "USMALLINT": _integer_type("int4", ArrowType("uint16"), "uint16", "UInt16"),
        "UINTEGER": _integer_type("int8", ArrowType("uint32"), "uint32", "UInt32"),
        "UBIGINT": _integer_type("numeric", ArrowType("uint64"), "uint64", "UInt64"),
        "HUGEINT": _floating("numeric", _WIDE),
        "UHUGEINT": _floating("numeric", _WIDE),
        "BIGNUM": _object("numeric", None, None, "right"),
        "DECIMAL": _floating("numeric", None),
        "FLOAT": _floating("float4", ArrowType("float32"), "float32"),
        "DOUBLE": _floating("float8", ArrowType("float64")),
        "VARCHAR": ResultColumnType(
            "text",
            "STRING",
            arrow=ArrowType("string"),
            pandas="str",
            pandas_with_null=None,
            side="left",
            has_intervals=False,
            ends_as_itself=False,
        ),
        "ENUM": _object("text", "STRING", None, "left"),
        "UUID": _object("uuid", "STRING", None, "left"),
        "JSON": _object("json", "STRING", None, "right"),
        "BIT": _object("text", "STRING", None, "right"),
        "BLOB": _object("bytea", "BINARY", ArrowType("binary"), "left"),
        "DATE": _calendar("date", ArrowType("date32"), ends_as_itself=True),
        "TIME": _object("time", "DATETIME", ArrowType("time64", ("us",)), "left"),
        "TIME WITH TIME ZONE": _object("text", "DATETIME", None, "left"),
        "TIMESTAMP": _calendar("timestamp", ArrowType("timestamp", ("us",)), ends_as_itself=True),
        "TIMESTAMP_S": _calendar("timestamp", ArrowType("timestamp", ("s",))),
        "TIMESTAMP_MS": _calendar("timestamp", ArrowType("timestamp", ("ms",))),
        "TIMESTAMP_NS": _calendar("timestamp", ArrowType("timestamp", ("ns",))),
        "TIMESTAMP WITH TIME ZONE": _object(
            "timestamptz", "DATETIME", ArrowType("timestamp", ("us", "UTC")), "left"
        ),
        "INTERVAL": _object(
            "interval",
            "DATETIME",
            ArrowType("duration", ("us",)),
            "right",
            pandas="timedelta64[us]",
        ),
        "STRUCT": _object("json", None, None, "left"),
        "MAP": _object("json", None, None, "left"),
        "UNION": _object("json", None, None, "right"),
        '"NULL"': _object("text", None, ArrowType("null"), "right"),
        "NULL": _object("text", None, ArrowType("null"), "right"),
    }
)


def result_type(name: str) -> ResultColumnType | None:
    """The record of a type with its digits or members.

    None for lists and for types that dpsql does not know.

    >>> result_type("DECIMAL(38,2)").postgresql, result_type("BIGINT[]")
    ('numeric', None)
    """
    plain, bracket, rest = name.partition("(")
    return RESULT_TYPES.get(plain) if not bracket or rest.endswith(")") else None


def end_type(name: str) -> str:
    """The type of the ends of a column's intervals.

    >>> end_type("DATE"), end_type("DECIMAL(38,2)"), end_type("BIGINT[]")
    ('DATE', 'DOUBLE', 'DOUBLE[]')
    """
    if name.endswith("[]"):
        return f"{end_type(name.removesuffix('[]'))}[]"
    sql_type = result_type(name)
    return name if sql_type is not None and sql_type.ends_as_itself else "DOUBLE"


def is_number(sql_type: str) -> bool:
    """Whether values of the type may have intervals of numbers.

    >>> is_number("DECIMAL(38,2)"), is_number("BIGINT[]"), is_number("VARCHAR")
    (True, False, False)
    """
    known_type = result_type(sql_type)
    return known_type is not None and known_type.has_intervals


def unused_name(name: str, taken: Sequence[str]) -> str:
    """The name, with a number appended if another column has it already, in whatever case."""
    number = 1
    result = name
    while result.lower() in (other.lower() for other in taken):
        result = f"{name}_{number}"
        number = number + 1
    return result
