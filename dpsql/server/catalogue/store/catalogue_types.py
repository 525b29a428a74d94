"""PostgreSQL's types and OIDs, the DuckDB types that hold their values,
and values as SQL constants.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from dpsql.errors import DataError
from dpsql.schema import SqlType
from dpsql.server.protocol import postgres_types

#: How DuckDB holds a PostgreSQL type, by PostgreSQL's own name of it;
#: an array's name starts with #: an underscore.
_HELD = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "oid": "BIGINT",
    "xid": "BIGINT",
    "regproc": "BIGINT",
    "regclass": "BIGINT",
    "regtype": "BIGINT",
    "regnamespace": "BIGINT",
    "regrole": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DECIMAL(38, 6)",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "interval": "INTERVAL",
    "int2vector": "SMALLINT[]",
    "oidvector": "BIGINT[]",
    "cardinal_number": "INTEGER",
}

#: The numbers that PostgreSQL gave to its types, those that only the catalogue has among them;
#: those of an array of them stand in `ARRAYS`.
OIDS = {name: kind.oid for name, kind in postgres_types.TYPES.items()} | {
    "inet": 869,
    "aclitem": 1033,
    "anyarray": 2277,
    "void": 2278,
    "pg_lsn": 3220,
}
ARRAYS = {element.name: oid for oid, element in postgres_types.ARRAYS.items()} | {"aclitem": 1034}
#: The domains of the information schema, and the type by which a client sees each.
DOMAINS = {
    "sql_identifier": "name",
    "character_data": "varchar",
    "yes_or_no": "varchar",
    "cardinal_number": "int4",
    "time_stamp": "timestamptz",
}


def duckdb_type(name: str) -> str:
    """The DuckDB type that holds values of a PostgreSQL type.

    >>> duckdb_type("oid"), duckdb_type("_text"), duckdb_type("sql_identifier")
    ('BIGINT', 'VARCHAR[]', 'VARCHAR')
    """
    return f"{duckdb_type(name[1:])}[]" if name.startswith("_") else _HELD.get(name, "VARCHAR")


def type_oid(name: str) -> int:
    """The OID of a PostgreSQL type; that of the base type for a domain,
    of text for an unknown type.

    >>> type_oid("name"), type_oid("_text"), type_oid("yes_or_no")
    (19, 1009, 1043)
    """
    if name.startswith("_"):
        return ARRAYS.get(name[1:], ARRAYS["text"])
    return OIDS.get(DOMAINS.get(name, name), OIDS["text"])


def column_type(declared: SqlType) -> tuple[str, int]:
    """The PostgreSQL type of a declared column, and its modifier (-1 for none).

    >>> column_type(SqlType.parse("decimal(5,2)")), column_type(SqlType.parse("integer"))
    (('numeric', 327686), ('int8', -1))
    """
    column = postgres_types.column("", declared.engine_name.upper())
    return column.type.name, column.modifier


def literal(value: object) -> str:
    """The value as an SQL constant; raises DataError for a type that no catalogue has.

    >>> literal("it's"), literal(["a", None]), literal(True), literal(5)
    ("'it''s'", "['a', NULL]", 'true', '5')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return (
                repr(value)
                if value == value and abs(value) != float("inf")
                else literal(str(value))
            )
        case Decimal():
            return literal(str(value))
        case str() if "\0" in value:
            raise DataError("a text with the character 0 cannot be asked for in the catalogue")
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return literal(value.decode("utf-8", "replace"))
        case datetime() | date():
            return literal(value.isoformat())
        case list() | tuple():
            return "[" + ", ".join(map(literal, value)) + "]"
    raise DataError(
        f"a value of Python's type {type(value).__name__} cannot be asked for in the catalogue"
    )
