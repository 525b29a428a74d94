"""Values in PostgreSQL's text and binary formats,
as a real PostgreSQL and psycopg read and write them.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from time import process_time
from uuid import UUID
from zoneinfo import ZoneInfo

import postgres
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import Loader, PyFormat, Transformer
from psycopg.pq import Format
from wire_client import rows

from dpsql.errors import DataError
from dpsql.server.protocol import binary_format, postgres_types, text_format
from dpsql.server.protocol.codec import Bind, Execute, Parse
from dpsql.server.protocol.postgres_types import PostgresType, by_name

_WHOLE = st.integers
_MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))
#: A strategy for the values of each type, as DuckDB gives them to Python.
VALUES = {
    "BOOLEAN": st.booleans(),
    "SMALLINT": _WHOLE(-(2**15), 2**15 - 1),
    "INTEGER": _WHOLE(-(2**31), 2**31 - 1),
    "BIGINT": _WHOLE(-(2**63), 2**63 - 1),
    "HUGEINT": _WHOLE(-(2**127), 2**127 - 1),
    "DOUBLE": st.floats(allow_nan=False),
    "FLOAT": st.floats(width=32, allow_nan=False),
    "DECIMAL(38,9)": st.decimals(-(10**20), 10**20, places=9),
    "DECIMAL(4,4)": st.decimals(Decimal("-0.9999"), Decimal("0.9999"), places=4),
    "VARCHAR": st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
    "BLOB": st.binary(),
    "DATE": st.dates(),
    "TIME": st.times(),
    "TIMESTAMP": _MOMENTS,
    "TIMESTAMP WITH TIME ZONE": _MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC)),
    "INTERVAL": st.timedeltas(timedelta(days=-30000), timedelta(days=30000)),
    "UUID": st.uuids(),
    "INTEGER[]": st.lists(st.none() | _WHOLE(-(2**31), 2**31 - 1), max_size=4),
    "VARCHAR[]": st.lists(st.none() | st.text('abN{}",\\ uUlL\n', max_size=5), max_size=4),
    "DATE[]": st.lists(st.dates(), max_size=3),
}
ANY = st.one_of(*(st.tuples(st.just(name), values) for name, values in VALUES.items()))


def loader(kind: PostgresType, code: Format) -> Loader:
    return Transformer().get_loader(kind.oid, code)


def same(name: str, found: object, value: object) -> bool:
    """Whether the values are equal, at the precision of their type."""
    return (
        struct.pack("!f", found) == struct.pack("!f", value) if name == "FLOAT" else found == value
    )


@given(ANY)
def test_psycopg_reads_what_is_written(case: tuple[str, object]) -> None:
    name, value = case
    kind = by_name(name)
    assert loader(kind, Format.BINARY).load(binary_format.encoder(kind)(value)) == value
    assert same(name, loader(kind, Format.TEXT).load(text_format.encoder(kind)(value)), value)


@given(ANY)
def test_what_is_written_is_read_again(case: tuple[str, object]) -> None:
    name, value = case
    kind = by_name(name)
    assert binary_format.decode(kind, binary_format.encoder(kind)(value)) == value
    assert same(name, text_format.decode(kind, text_format.encoder(kind)(value).decode()), value)


@given(ANY.filter(lambda case: "[]" not in case[0]))
def test_what_psycopg_writes_is_read(case: tuple[str, object]) -> None:
    name, value = case
    kind = by_name(name)
    transformer = Transformer()
    (data,) = transformer.dump_sequence([value], [PyFormat.BINARY])
    assert data is not None and transformer.types is not None
    written = postgres_types.by_oid(transformer.types[0]) or kind
    if written.name in ("int2", "int4", "int8", "numeric", "float8", kind.name):
        assert binary_format.decode(written, bytes(data)) == value


@given(st.sampled_from([by_name(name) for name in VALUES]), st.binary(max_size=40))
def test_any_bytes_are_a_value_or_an_error_of_the_data(kind: PostgresType, data: bytes) -> None:
    for read in (
        lambda: binary_format.decode(kind, data),
        lambda: text_format.decode(kind, data.decode("latin-1")),
    ):
        try:
            read()
        except DataError as error:
            assert error.sqlstate in ("22P02", "22P03", "22003")
        except Exception as error:
            assert type(error).__name__ == "NotSupportedError", error


@pytest.fixture(scope="module")
def reference() -> Iterator[postgres.PostgresClient]:
    with postgres.started() as folder, postgres.PostgresClient(folder) as client:
        yield client


EDGES: dict[str, list[object]] = {
    "BOOLEAN": [True, False],
    "SMALLINT": [-32768],
    "BIGINT": [2**63 - 1, -(2**63)],
    "HUGEINT": [10**38, -(10**37), 0],
    "DOUBLE": [
        0.1,
        1e15,
        1e16,
        123456789012345680.0,
        1e-5,
        0.0001,
        5.0,
        -0.0,
        float("inf"),
        float("-inf"),
        float("nan"),
        1e300,
    ],
    "FLOAT": [
        0.10000000149011612,
        16777216.0,
        1.0000000200408773e20,
        1e-6,
        1e6,
        999999.9375,
        9.999999747378752e-5,
        -0.0,
        0.5,
    ],
    "DECIMAL(38,9)": [
        Decimal("0.000000001"),
        Decimal("12345678901234567890.5"),
        Decimal("-10000"),
        Decimal("1E+3"),
        Decimal("100.00"),
    ],
    "BLOB": [b"", b"\x00\xff'\\"],
    "DATE": [date(1, 1, 1), date(9999, 12, 31), date(2000, 2, 29)],
    "TIME": [time(0), time(23, 59, 59, 999999), time(1, 2, 3, 40000)],
    "TIMESTAMP": [
        datetime(1, 1, 1),
        datetime(1999, 12, 31, 23, 59, 59, 999999),
        datetime(2000, 1, 1, 1, 1, 1, 100000),
    ],
    "TIMESTAMP WITH TIME ZONE": [
        datetime(2024, 7, 1, 12, tzinfo=UTC),
        datetime(1890, 1, 1, tzinfo=UTC),
    ],
    "INTERVAL": [
        timedelta(0),
        timedelta(days=1),
        timedelta(days=-2),
        timedelta(hours=30, microseconds=5),
        timedelta(seconds=-90),
    ],
    "UUID": [UUID(int=5)],
    "VARCHAR[]": [[], ["", "a b", None, "null", '"', "\\", "{}", ",", "x"]],
    "INTEGER[]": [[1, None, -5], [[1, 2], [3, 4]]],
}


_SAID = {
    "DOUBLE": "double precision",
    "FLOAT": "real",
    "HUGEINT": "numeric",
    "BLOB": "bytea",
    "VARCHAR[]": "text[]",
}


@pytest.mark.parametrize("name", [name for name in EDGES if name != "INTERVAL"])
def test_a_real_postgres_writes_the_same(reference: postgres.PostgresClient, name: str) -> None:
    kind = by_name(name)
    reference.query("SET timezone = 'Asia/Kolkata'; SET extra_float_digits = 1")
    said = _SAID.get(name, name.partition("(")[0])
    for value in EDGES[name]:
        binary, text = (
            binary_format.encoder(kind)(value),
            text_format.encoder(kind, ZoneInfo("Asia/Kolkata"))(value),
        )
        query = Parse(query=f"SELECT CAST($1 AS {said}) AS v", param_types=[kind.oid])
        for code, mine in ((0, text), (1, binary)):
            given_back = rows(
                reference.extended(
                    query, Bind(param_values=[text], result_formats=[code]), Execute()
                )
            )
            assert given_back == [[mine]], (value, code)
            given_back = rows(
                reference.extended(
                    query,
                    Bind(param_formats=[1], param_values=[binary], result_formats=[code]),
                    Execute(),
                )
            )
            assert given_back == [[mine]], (value, code)


def test_intervals_have_the_value_that_postgres_reads(reference: postgres.PostgresClient) -> None:
    """Written as microseconds and days here, as hours beyond a day there."""
    dice = random.Random(5)
    for _ in range(50):
        value = timedelta(
            days=dice.randint(-400, 400), microseconds=dice.randint(-(10**11), 10**11)
        )
        binary, text = (
            each.encoder(postgres_types.INTERVAL)(value) for each in (binary_format, text_format)
        )
        query = Parse(
            query="SELECT extract(epoch FROM $1) = extract(epoch FROM $2) AS v",
            param_types=[1186, 1186],
        )
        assert rows(
            reference.extended(
                query, Bind(param_formats=[1, 0], param_values=[binary, text]), Execute()
            )
        ) == [[b"t"]]


def test_what_has_no_type_in_postgres_is_text_or_json() -> None:
    assert by_name("STRUCT(a INTEGER)").name == by_name("MAP(VARCHAR, INTEGER)").name == "json"
    assert text_format.encoder(postgres_types.JSON)({"a": [1, None]}) == b'{"a": [1, null]}'
    inner = {datetime(2024, 7, 1): math.nan}
    keys: dict[object, object] = {date(2024, 7, 1): 1, Decimal("1.5"): inner, True: [-math.inf]}
    told = b'{"2024-07-01": 1, "1.5": {"2024-07-01 00:00:00": null}, "true": [null]}'
    assert (
        text_format.encoder(postgres_types.JSON)(keys)
        == binary_format.encoder(postgres_types.JSON)(keys)
        == told
    )
    assert binary_format.encoder(postgres_types.JSONB)(keys) == b"\x01" + told
    assert by_name("ENUM('a', 'b')").name == by_name("BIT").name == "text"
    assert by_name('"NULL"').name == "text"


def test_lists_that_are_no_arrays_have_no_binary_format() -> None:
    for value in ([[1], [2, 3]], [1, [2]], [[1], 2]):
        with pytest.raises(DataError):
            binary_format.encoder(by_name("INTEGER[]"))(value)


def test_values_that_would_take_minutes_to_read_are_refused_at_once() -> None:
    begun = process_time()
    for text in ('{"' + '\\"' * 100_000, "{" + '"a' * 100_001, "{" * 100_000):
        with pytest.raises(DataError):
            text_format.decode(postgres_types.by_name("VARCHAR[]"), text)
    for count in (32_767, -1):
        with pytest.raises(DataError):
            binary_format.decode(
                postgres_types.NUMERIC,
                struct.pack("!hhHH", count, 4096, 0, 0) + b"\x27\x0f" * 32_767,
            )
    assert process_time() - begun < 2
