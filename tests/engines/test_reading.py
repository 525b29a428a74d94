"""Columns that are stored in types dpsql does not have: read as what they stand for,
and no two units as one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import get_args

import duckdb
import pytest

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.engines.duckdb.tables.views import _SQL
from dpsql.errors import SchemaError
from dpsql.schema import draft, loads
from dpsql.schema.types import FAITHFUL, STORED_TYPES, Reading, Stored
from dpsql.session import Session, open_session

UNITS = 40
SCHEMA = """
name = "stays"
source = "{source}"
[privacy]
unit = "guests.id"
epsilon = 100000
query_epsilon = 200
mechanism = "gaussian"
delta = 1e-6
[tables.guests]
max_rows_per_unit = 1
[tables.guests.columns]
id = {{ type = "text" }}
mood = {{ type = "text", values = ["sad", "it's ok", "happy"], nullable = true }}
[tables.stays]
max_rows_per_unit = 5
references = {{ guest = "guests.id", house = "houses.id" }}
[tables.stays.columns]
guest = {{ type = "text" }}
house = {{ type = "text" }}
since = {{ type = "timestamp", bounds = [2020-01-01T00:00:00, 2030-01-01T00:00:00], nullable = true }}
seen = {{ type = "timestamp", nullable = true }}
paid = {{ type = "integer", bounds = [0, 1000], nullable = true }}
note = {{ type = "text", nullable = true }}
[tables.houses]
public = true
"""


def _database(path: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(str(path))
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.execute("CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy')")
    connection.execute("CREATE TABLE houses (Id UUID, stars UTINYINT, opened TIMESTAMPTZ)")
    connection.execute("CREATE TABLE guests (ID UUID, mood mood)")
    stays = "guest UUID, house UUID, since TIMESTAMPTZ, seen TIMESTAMP_NS, paid HUGEINT, note JSON"
    connection.execute(f"CREATE TABLE stays ({stays})")
    uuid = "('00000000-0000-0000-0000-' || lpad(printf('%x', {}), 12, '0'))::UUID"
    connection.execute(
        f"INSERT INTO houses SELECT {uuid.format('i')}, i, '2020-01-01 00:00:00+00' FROM range(3) r(i)"
    )
    moods = "(['sad', 'it''s ok', 'happy', NULL])[1 + i % 4]::mood"
    connection.execute(
        f"INSERT INTO guests SELECT {uuid.format('i + 100')}, {moods} FROM range({UNITS}) r(i)"
    )
    paid = f"CASE i % 5 WHEN 0 THEN {2**127 - 1}::HUGEINT WHEN 1 THEN {-(10**20)} ELSE i END"
    connection.execute(
        f"INSERT INTO stays SELECT {uuid.format(f'100 + i % {UNITS}')}, {uuid.format('i % 3')}, "
        "'2024-03-10 06:30:00+00'::TIMESTAMPTZ + INTERVAL (i) HOUR, "
        "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS, "
        f"{paid}, CASE WHEN i % 2 = 0 THEN '{{\"a\": 1}}' END FROM range({2 * UNITS}) r(i)"
    )
    return connection


@pytest.fixture(params=["file", "parquet", "process"])
def stays(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Session]:
    monkeypatch.setattr(opening, "OWN_PROCESS", request.param == "process")
    with _database(tmp_path / "stays.duckdb") as connection:
        if request.param == "parquet":
            (tmp_path / "stays").mkdir()
            for table in ("guests", "stays", "houses"):
                connection.execute(f"COPY {table} TO '{tmp_path}/stays/{table}.parquet'")
    source = "stays" if request.param == "parquet" else "stays.duckdb"
    text = SCHEMA.format(source=tmp_path / source)
    if request.param == "parquet":  # which has neither integers of 128 bits nor JSON
        text = text.replace('paid = { type = "integer"', 'paid = { type = "double"')
    session = open_session(loads(text))
    yield session
    session.close()


def test_answers_are_those_on_what_the_columns_stand_for(stays: Session) -> None:
    rows = stays.execute(
        "SELECT mood, COUNT(*) AS n FROM guests GROUP BY mood ORDER BY mood NULLS LAST"
    ).rows
    assert rows == [("happy", 10), ("it's ok", 10), ("sad", 10), (None, 10)]
    times = (
        "COUNT_IF(since < TIMESTAMP '2024-03-10 08:30:00'), COUNT_IF(EXTRACT(hour FROM since) = 7)"
    )
    ((early, late),) = stays.execute(f"SELECT {times} FROM stays").rows
    assert (early, late) == (2, 4)
    ((seen,),) = stays.execute(
        "SELECT COUNT_IF(seen >= TIMESTAMP '2024-01-01 00:00:00.123456') FROM stays"
    ).rows
    assert seen == 2 * UNITS
    ((paid, noted),) = stays.execute("SELECT SUM(paid), COUNT_IF(note LIKE '%a%') FROM stays").rows
    beyond = [0 if i % 5 == 1 else 1000 if i % 5 == 0 else i for i in range(2 * UNITS)]
    assert abs(paid - sum(beyond)) < 100 and noted == UNITS


def test_units_and_public_tables_are_joined_by_what_is_stored(stays: Session) -> None:
    assert stays.execute("SELECT COUNT(DISTINCT id) FROM guests").rows == [(UNITS,)]
    sql = "SELECT h.stars, COUNT(*) FROM stays s JOIN houses h ON h.id = s.house GROUP BY h.stars ORDER BY 1"
    found = stays.execute(sql).rows
    assert [(stars, abs(n - 2 * UNITS / 3) < 2) for stars, n in found] == [
        (0, True),
        (1, True),
        (2, True),
    ]
    ((house, stars, opened),) = stays.execute("SELECT * FROM houses WHERE id LIKE '%2'").rows
    assert (house[-3:], stars, opened) == ("002", 2, datetime(2020, 1, 1))
    one = "id = '00000000-0000-0000-0000-000000000064'"
    assert stays.execute(f"SELECT COUNT(*) FROM guests WHERE {one}").rows == [(1,)]


def test_every_reading_has_its_sql() -> None:
    assert set(_SQL) == set(get_args(Reading)) > FAITHFUL


_TYPES = {
    "UUID": "its text",
    "JSON": "its text",
    "ENUM('a', 'A', 'a ')": "its text",
    "TIMESTAMPTZ": "its moment in UTC",
    "TIMESTAMP_NS": "its microsecond",
    "HUGEINT": "the nearest integer",
    "UBIGINT": "the nearest integer",
}


def test_every_stored_type_that_is_read_is_tried() -> None:
    read = {name for name, stored in STORED_TYPES.items() if stored.read_as is not None}
    assert read - {"timestamp with time zone"} == {
        each.partition("(")[0].lower() for each in _TYPES
    }


@pytest.mark.parametrize("stored", _TYPES)
def test_a_reading_fails_for_no_value_and_a_faithful_one_keeps_two_values_two(stored: str) -> None:
    reading = Stored.parse(stored).reading
    assert reading == _TYPES[stored]
    chance = random.Random(7)
    near = [chance.getrandbits(128) >> chance.choice([0, 60, 120, 126]) for _ in range(2000)]
    values = {
        "UUID": [f"'{each:032x}'" for each in near],
        "JSON": ["'{}'", "'{ }'", "'1'", "'1.0'", "'\"1\"'", "'null'", "'\"\\u0061\"'", "'\"a\"'"],
        "ENUM('a', 'A', 'a ')": ["'a'", "'A'", "'a '"],
        "TIMESTAMPTZ": [f"make_timestamptz({(each >> 66) - 2**61})" for each in near]
        + [
            "'infinity'",
            "'-infinity'",
            "'2024-11-03 01:30:00 America/New_York'",
            "'2024-11-03 01:30:00-05'",
        ],
        "TIMESTAMP_NS": [f"make_timestamp_ns({(each >> 65) - 2**62})" for each in near]
        + ["'infinity'"],
        "HUGEINT": [str(each - 2**127) for each in near],
        "UBIGINT": [str(each >> 64) for each in near] + [str(2**64 - 1)],
    }[stored]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (x {stored})")
        connection.execute(
            f"INSERT INTO t VALUES {', '.join(f'({each})' for each in values)}, (NULL)"
        )
        sql = _SQL[reading].format("x")
        one, two, nulls = connection.execute(
            f"SELECT COUNT(DISTINCT x), COUNT(DISTINCT {sql}), COUNT_IF({sql} IS NULL) FROM t"
        ).fetchone() or (0, 0, 0)
        assert connection.execute(
            f"SELECT DISTINCT {sql} IS NULL FROM t WHERE x IS NULL"
        ).fetchall() == [(True,)]
        if reading in FAITHFUL:
            lost = (
                2 if stored == "TIMESTAMPTZ" else 0
            )  # −∞ and ∞ have no moment: rows of them are nobody's
            assert (two, nulls) == (one - lost, 1 + lost)
        types = connection.execute(
            f"SELECT DISTINCT typeof({sql}) FROM t WHERE x IS NOT NULL"
        ).fetchall()
        assert Stored.parse(types[0][0]) == Stored(Stored.parse(stored).type)


@pytest.mark.parametrize(
    ("stored", "declared"), [("HUGEINT", "integer"), ("TIMESTAMP_NS", "timestamp")]
)
@pytest.mark.parametrize("where", ["unit", "parent", "child", "key"])
def test_what_tells_units_apart_is_not_read_so_that_two_become_one(
    tmp_path: Path, stored: str, declared: str, where: str
) -> None:
    types = dict.fromkeys(
        ("unit", "parent", "child", "key"), "BIGINT" if declared == "integer" else "TIMESTAMP"
    )
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        kinds = types | {where: stored}
        connection.execute(f"CREATE TABLE people (id {kinds['unit']}, card {kinds['parent']})")
        connection.execute(f"CREATE TABLE visits (card {kinds['child']}, nr {kinds['key']})")
    text = f"""
name = "shop"
source = "{path}"
[privacy]
unit = "people.id"
epsilon = 1
delta = 0
[tables.people]
max_rows_per_unit = 1
columns = {{ id = {{ type = "{declared}" }}, card = {{ type = "{declared}" }} }}
[tables.visits]
max_rows_per_unit = 1
key = "nr"
references = {{ card = "people.card" }}
columns = {{ card = {{ type = "{declared}" }}, nr = {{ type = "{declared}" }} }}
"""
    with pytest.raises(SchemaError, match="two could become one; store it as"):
        loads(text).with_catalog(read_catalog(path))


def test_a_draft_reads_them_and_lists_the_members_of_an_enum(tmp_path: Path) -> None:
    _database(tmp_path / "stays.duckdb").close()
    text = draft(read_catalog(tmp_path / "stays.duckdb"))
    assert 'id = { type = "text", nullable = true }' in text and "Left out" not in text
    assert (
        'mood = { type = "text", nullable = true, values = ["sad", "it\'s ok", "happy"] }  # its members'
        in text
    )
    assert 'since = { type = "timestamp"' in text and 'paid = { type = "integer"' in text
