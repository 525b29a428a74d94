"""Numbers and sizes of types are PostgreSQL's,
as psycopg and PostgreSQL's own catalogue list them.
"""

from __future__ import annotations

import math

import psycopg
import pytest

from dpsql.server.protocol import postgres_types
from dpsql.server.protocol.postgres_types import (
    ARRAYS,
    TYPES,
    array_of,
    by_name,
    by_oid,
    column,
    json_text,
)

#: ``typlen`` of the types in pg_type.
SIZES = {
    "bool": 1,
    "char": 1,
    "name": 64,
    "int8": 8,
    "int2": 2,
    "int4": 4,
    "regproc": 4,
    "oid": 4,
    "xid": 4,
    "float4": 4,
    "float8": 8,
    "unknown": -2,
    "date": 4,
    "time": 8,
    "timestamp": 8,
    "timestamptz": 8,
    "interval": 16,
    "regclass": 4,
    "regtype": 4,
    "uuid": 16,
    "regnamespace": 4,
    "regrole": 4,
}
#: Types that psycopg does not know: their numbers, and those of their arrays.
OTHERS = {
    "char": (18, 1002),
    "int2vector": (22, 1006),
    "xid": (28, 1011),
    "oidvector": (30, 1013),
    "pg_node_tree": (194, None),
    "unknown": (705, None),
    "regnamespace": (4089, 4090),
    "regrole": (4096, 4097),
    "regproc": (24, 1008),
    "regclass": (2205, 2210),
    "regtype": (2206, 2211),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_number_and_the_size_of_postgresql(name: str) -> None:
    known = psycopg.adapters.types.get(name)
    oid, array = OTHERS[name] if known is None or name in OTHERS else (known.oid, known.array_oid)
    kind = TYPES[name]
    assert (kind.oid, kind.size, kind.element) == (oid, SIZES.get(name, -1), None) and by_oid(
        oid
    ) is kind
    listed = [each for each, element in ARRAYS.items() if element is kind]
    assert listed in ([array], []) and all(by_oid(each) == array_of(kind) for each in listed)
    if listed:
        assert (array_of(kind).name, array_of(kind).size, array_of(kind).element) == (
            f"_{name}",
            -1,
            kind,
        )
    else:
        assert array_of(kind) is postgres_types.TEXT


@pytest.mark.parametrize(
    ("duckdb", "name", "modifier"),
    [
        ("VARCHAR", "text", -1),
        ("DECIMAL(38,9)", "numeric", (38 << 16) + 9 + 4),
        ("DECIMAL(4,4)", "numeric", 262_152),
        ("DECIMAL(10,2)[]", "_numeric", -1),
        ("INTEGER[3]", "_int4", -1),
        ("BIGINT[][]", "_int8", -1),
        ("HUGEINT", "numeric", -1),
        ("STRUCT(a INTEGER)", "json", -1),
        ("BIT", "text", -1),
    ],
)
def test_a_column_of_duckdb_has_the_type_and_the_digits_of_postgresql(
    duckdb: str, name: str, modifier: int
) -> None:
    found = column("x", duckdb)
    assert (found.name, found.type.name, found.modifier) == ("x", name, modifier) and by_name(
        duckdb
    ) == found.type


def test_json_has_no_keys_but_texts_and_no_numbers_that_are_none() -> None:
    assert (
        json_text([math.nan, -math.inf, 1.5, None, (True, "é")])
        == '[null, null, 1.5, null, [true, "é"]]'.encode()
    )
    assert (
        json_text({1: {False: []}}) == b'{"1": {"false": []}}'
        and json_text('{"a":1}') == b'{"a":1}'
    )
