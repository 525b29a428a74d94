"""Maps DuckDB types to PostgreSQL types, with OIDs, sizes and modifiers;
other values are sent as JSON.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from dpsql.planning.result_columns import RESULT_TYPES


@dataclass(frozen=True)
class PostgresType:
    """A PostgreSQL type: its OID, name and size in bytes (-1 if it varies) and, for an array,
    its element type.
    """

    oid: int
    name: str
    size: int = -1
    element: PostgresType | None = None


BOOL = PostgresType(16, "bool", 1)
BYTEA = PostgresType(17, "bytea")
CHAR = PostgresType(18, "char", 1)
NAME = PostgresType(19, "name", 64)
INT8 = PostgresType(20, "int8", 8)
INT2 = PostgresType(21, "int2", 2)
INT4 = PostgresType(23, "int4", 4)
INT2VECTOR = PostgresType(22, "int2vector")
REGPROC = PostgresType(24, "regproc", 4)
TEXT = PostgresType(25, "text")
OID = PostgresType(26, "oid", 4)
XID = PostgresType(28, "xid", 4)
OIDVECTOR = PostgresType(30, "oidvector")
JSON = PostgresType(114, "json")
NODE_TREE = PostgresType(194, "pg_node_tree")
FLOAT4 = PostgresType(700, "float4", 4)
FLOAT8 = PostgresType(701, "float8", 8)
UNKNOWN = PostgresType(705, "unknown", -2)
BPCHAR = PostgresType(1042, "bpchar")
VARCHAR = PostgresType(1043, "varchar")
DATE = PostgresType(1082, "date", 4)
TIME = PostgresType(1083, "time", 8)
TIMESTAMP = PostgresType(1114, "timestamp", 8)
TIMESTAMPTZ = PostgresType(1184, "timestamptz", 8)
INTERVAL = PostgresType(1186, "interval", 16)
NUMERIC = PostgresType(1700, "numeric")
REGCLASS = PostgresType(2205, "regclass", 4)
REGTYPE = PostgresType(2206, "regtype", 4)
UUID = PostgresType(2950, "uuid", 16)
JSONB = PostgresType(3802, "jsonb")
REGNAMESPACE = PostgresType(4089, "regnamespace", 4)
REGROLE = PostgresType(4096, "regrole", 4)

#: The number of the arrays of each type that has some.
ARRAYS = {
    1000: BOOL,
    1001: BYTEA,
    1002: CHAR,
    1003: NAME,
    1005: INT2,
    1006: INT2VECTOR,
    1007: INT4,
    1009: TEXT,
    1014: BPCHAR,
    1015: VARCHAR,
    1016: INT8,
    1021: FLOAT4,
    1022: FLOAT8,
    1028: OID,
    1115: TIMESTAMP,
    1182: DATE,
    1183: TIME,
    1185: TIMESTAMPTZ,
    1187: INTERVAL,
    1231: NUMERIC,
    199: JSON,
    2951: UUID,
    2210: REGCLASS,
    2211: REGTYPE,
    1008: REGPROC,
    3807: JSONB,
}
_SCALARS = (
    BOOL,
    BYTEA,
    CHAR,
    NAME,
    INT8,
    INT2,
    INT4,
    INT2VECTOR,
    REGPROC,
    TEXT,
    OID,
    XID,
    OIDVECTOR,
    JSON,
    NODE_TREE,
    FLOAT4,
    FLOAT8,
    UNKNOWN,
    BPCHAR,
    VARCHAR,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    INTERVAL,
    NUMERIC,
    REGCLASS,
    REGTYPE,
    UUID,
    JSONB,
    REGNAMESPACE,
    REGROLE,
)
_BY_OID = {scalar.oid: scalar for scalar in _SCALARS} | {
    oid: PostgresType(oid, f"_{element.name}", -1, element) for oid, element in ARRAYS.items()
}
_ARRAY_OF = {element.oid: oid for oid, element in ARRAYS.items()}

#: The scalar types by PostgreSQL's names of them.
TYPES = {scalar.name: scalar for scalar in _SCALARS}
#: PostgreSQL's type for each that a column of a result may have.
_OF_RESULTS = {name: TYPES[result_type.postgresql] for name, result_type in RESULT_TYPES.items()}
_LIST = re.compile(r"(.+)\[\d*\]", re.DOTALL)


@dataclass(frozen=True)
class WireColumn:
    """A column as described to clients; ``modifier`` is -1,
    or PostgreSQL's encoding of a decimal's digits.
    """

    name: str
    type: PostgresType
    modifier: int = -1


#: The type of the names of cursors, which are texts; some clients declare it for any text.
REFCURSOR = 1790


def by_oid(oid: int) -> PostgresType | None:
    """The type with that OID, if dpsql knows it."""
    return _BY_OID.get(oid)


def array_of(element: PostgresType) -> PostgresType:
    """The array type of a type; text if PostgreSQL has none.

    >>> array_of(INT4).oid, array_of(array_of(INT4)).oid
    (1007, 1007)
    """
    if element.element is not None:
        return element
    return _BY_OID[_ARRAY_OF[element.oid]] if element.oid in _ARRAY_OF else TEXT


def by_name(duckdb_type: str) -> PostgresType:
    """The PostgreSQL type of a DuckDB type; text if there is none.

    >>> by_name("DECIMAL(10,2)").name, by_name("INTEGER[]").name, by_name("MAP(VARCHAR, INTEGER)").name
    ('numeric', '_int4', 'json')
    """
    listed = _LIST.fullmatch(duckdb_type)
    if listed is not None:
        return array_of(by_name(listed[1]))
    return _OF_RESULTS.get(duckdb_type.partition("(")[0], TEXT)


def column(name: str, duckdb_type: str) -> WireColumn:
    """A column of a DuckDB type, with the digits of a decimal.

    >>> column("x", "DECIMAL(10,2)").modifier
    655366
    """
    digits = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", duckdb_type)
    modifier = -1 if digits is None else (int(digits[1]) << 16 | int(digits[2])) + 4
    return WireColumn(name, by_name(duckdb_type), modifier)


def json_text(value: object) -> bytes:
    """The value as JSON: types that JSON lacks become texts, and infinities and NaN null.

    A string is taken for JSON already.

    >>> from datetime import date
    >>> json_text({date(2024, 7, 1): [3, math.inf], True: "a"})
    b'{"2024-07-01": [3, null], "true": "a"}'
    """
    return (
        value
        if isinstance(value, str)
        else json.dumps(_json_compatible(value), default=str, ensure_ascii=False)
    ).encode()


def _json_compatible(value: object) -> object:
    match value:
        case dict():
            return {_name(name): _json_compatible(item) for name, item in value.items()}
        case list() | tuple():
            return [_json_compatible(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _name(name: object) -> str:
    return str(name).lower() if isinstance(name, bool) else str(name)
