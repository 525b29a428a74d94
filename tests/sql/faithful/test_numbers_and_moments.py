"""The faithful property for NaN, whole numbers of 63 bits and moments that are numbers of seconds.

Without noise and with loose limits dpsql gives what DuckDB gives for the same statement,
if DuckDB reads NaN as NULL.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from world_session import without_noise

import dpsql
from dpsql.errors import Refused

_ROWS = 600
#: Snowflake ids, of which neighbours are one DOUBLE;
#: sizes whose products have more than 63 bits; #: codes.
_TABLE = f"""
CREATE TABLE t AS SELECT i AS id, 4611686018427387904 + 9007199254740993 + i * 7 AS big,
    -9223372036854775807 + i AS low,
    3037000500 + i AS wide, i % 90 AS age, (i * 1000003) % 401 - 200 AS code,
    CASE i % 7 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN NULL ELSE i % 11 END AS v,
    CASE i % 5 WHEN 0 THEN 'nan'::FLOAT ELSE (i % 8) / 4 END AS f,
    CASE i % 13 WHEN 3 THEN 'inf'::DOUBLE WHEN 4 THEN '-inf'::DOUBLE WHEN 5 THEN 'nan'::DOUBLE ELSE i % 3 END AS e,
    1577836800 + (i * 86399 * 3) % 31000000 AS seconds, (1577836800 + i * 5000) * 1000::BIGINT + 7 AS millis,
    (1577836800 + i * 9000)::BIGINT * 1000000 + 123456 AS micros, 1577836800.25::DOUBLE + i * 7001 AS moment
FROM range({_ROWS}) r(i);
"""
_SCHEMA = """
name = "d"
source = "{folder}/data.duckdb"
ledger = "{folder}/ledger"
[privacy]
unit = "t.id"
epsilon = 1000000
delta = 1e-6
query_epsilon = 1
[tables.t]
max_rows_per_unit = 1
[tables.t.columns]
id = {{ type = "integer" }}
big = {{ type = "integer", bounds = [0, 9000000000000000000] }}
low = {{ type = "integer" }}
wide = {{ type = "integer", bounds = [0, 4000000000] }}
age = {{ type = "integer", bounds = [0, 100] }}
code = {{ type = "integer", bounds = [-200, 200] }}
v = {{ type = "double", bounds = [0, 10] }}
f = {{ type = "double", bounds = [0, 2], nullable = true }}
e = {{ type = "double", bounds = [0, 2] }}
seconds = {{ type = "integer", bounds = [1577836800, 1609459200] }}
millis = {{ type = "integer", bounds = [1577836800000, 1609459200000] }}
micros = {{ type = "integer", bounds = [1577836800000000, 1609459200000000] }}
moment = {{ type = "double", bounds = [1577836800, 1609459200] }}
"""


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faithful")
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.execute(_TABLE)
    (folder / "schema.toml").write_text(_SCHEMA.format(folder=folder), encoding="utf-8")
    return folder


@pytest.fixture(name="plain", scope="module")
def _plain(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB over the same rows, in which NaN is NULL."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        if connection.execute(
            "FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            connection.execute("SET error_on_division_by_zero = false")
        connection.execute(f"ATTACH '{folder}/data.duckdb' AS data (READ_ONLY)")
        known = ", ".join(
            f"CASE WHEN NOT isnan({name}) THEN {name} END AS {name}" for name in "vfe"
        )
        connection.execute(f"CREATE TABLE t AS SELECT * REPLACE ({known}) FROM data.t")
        yield connection


class Statements:
    """Statements with numbers, conditions and keys of NaN, large whole numbers and seconds."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def statement(self) -> str:
        """One statement: aggregates, perhaps by a key, of the rows that fulfil a condition."""
        pick = self._random.choice
        aggregate = pick(
            [
                "COUNT(*)",
                f"COUNT({self.number()})",
                f"COUNT({self.double()})",
                f"SUM(({self.whole()}) % 10)",
                "SUM(v)",
                "AVG(v)",
                "AVG(f)",
                "AVG(v * f)",
                "SUM(f + v)",
                "SUM(COALESCE(v, 3))",
                "VAR_POP(v)",
                "SUM(CASE WHEN v > 3 THEN f END)",
                f"COUNT({self.moment()})",
                "COUNT(v - v)",
                "SUM(wide // 1000000)",
                f"COUNT_IF({self.condition()})",
                "SUM(LEAST(GREATEST(e, 0), 2))",
            ]
        )
        where = pick(["", f" WHERE {self.condition()}", f" WHERE NOT ({self.condition()})"])
        key = pick([None, None, self.key()])
        if key is None:
            return f"SELECT {aggregate} FROM t{where}"
        return f"SELECT {key} AS k, {aggregate} FROM t{where} GROUP BY 1"

    def whole(self) -> str:
        """A whole number that may have 63 bits, and of which every digit counts."""
        pick = self._random.choice
        column, other = (
            pick(["big", "low", "wide", "id", "micros"]),
            pick(["age", "code", "id", "3"]),
        )
        return pick(
            [
                column,
                f"{column} + {other}",
                f"{column} - {other}",
                f"-{column}",
                f"ABS({column})",
                f"{column} // 1000",
                f"wide * {other}",
                f"CASE WHEN {other} > 1 THEN {column} ELSE {other} END",
                f"COALESCE({column}, {other})",
                f"GREATEST({column}, {other})",
                f"({column} + {other}) - {other}",
                f"ROUND({column}, -3)",
                f"CAST({column} AS BIGINT)",
                f"NULLIF({column}, {other})",
                f"{column} & 1023",
            ]
        )

    def number(self) -> str:
        """A whole number or what is made of one."""
        return self._random.choice(
            [self.whole(), f"({self.whole()}) % 7", f"CAST({self.whole()} AS VARCHAR)"]
        )

    def double(self) -> str:
        """A number that may be NaN."""
        return self._random.choice(
            [
                "v",
                "f",
                "v + f",
                "v / (f + 1)",
                "v % (f + 1)",
                "f * 2",
                "SQRT(v)",
                "v - f",
                "NULLIF(v, 3)",
            ]
        )

    def moment(self) -> str:
        """A moment that is a number of some unit."""
        return self._random.choice(
            [
                "TO_TIMESTAMP(seconds)",
                "TIMESTAMP '1970-01-01' + seconds * INTERVAL '1' SECOND",
                "EPOCH_MS(millis)",
                "MAKE_TIMESTAMP(micros)",
                "TIMESTAMP '1970-01-01' + TO_SECONDS(seconds)",
                "TO_TIMESTAMP(moment)",
                "TIMESTAMP '1970-01-01' + INTERVAL (seconds) SECOND",
                "EPOCH_MS(seconds * 1000)",
                "TIMESTAMP '2020-01-01' + code * INTERVAL '1 day 3 hours'",
                "TO_TIMESTAMP(seconds) - age * INTERVAL 1 HOUR",
            ]
        )

    def condition(self) -> str:
        """A condition on one of them."""
        pick = self._random.choice
        return pick(
            [
                f"({self.whole()}) % 2 = 1",
                f"({self.whole()}) % 10 IN (1, 3)",
                f"{self.double()} > 1",
                "v = v",
                f"{self.double()} IS NULL",
                f"{self.double()} BETWEEN 1 AND 3",
                "big + id > 4620693217682128896 + 300",
                "wide * wide > 9223372036854775807 - 5000000000000",
                f"{self.moment()} >= TIMESTAMP '2020-05-01'",
                f"EXTRACT(MONTH FROM {self.moment()}) < 4",
                f"{self.moment()} < DATE '2020-08-01'",
                "v <> f",
                "e > 1",
                "CAST(big AS VARCHAR) LIKE '%1'",
                "low + 1 = -9223372036854775700",
                "big = 4620693217682128917",
            ]
        )

    def key(self) -> str:
        """A key that is listed from the schema."""
        return self._random.choice(
            [
                "big % 5",
                "(low + 3) % 4",
                f"({self.whole()}) % 3",
                f"DATE_TRUNC('month', {self.moment()})",
                f"EXTRACT(HOUR FROM {self.moment()})",
                "v > 3",
                "CAST(v AS INTEGER)",
                "CASE WHEN f < 1 THEN 1 ELSE 2 END",
                f"CAST({self.moment()} AS DATE)",
            ]
        )


def _same(mine: object, theirs: object) -> bool:
    if isinstance(mine, datetime) and isinstance(theirs, datetime):
        return mine.replace(tzinfo=None) == theirs.replace(tzinfo=None)
    if isinstance(mine, bool | str | type(None)) or not isinstance(theirs, int | float):
        return mine == theirs
    return math.isclose(float(mine), float(theirs), rel_tol=1e-4, abs_tol=1e-3)  # type: ignore[arg-type]


@pytest.mark.parametrize("chunk", range(4))
def test_without_noise_numbers_and_moments_are_those_of_duckdb(
    chunk: int, folder: Path, plain: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    compared = 0
    statements = Statements(chunk)
    with dpsql.connect(folder / "schema.toml") as connection:
        for _ in range(60):
            text = statements.statement()
            try:
                theirs = plain.execute(text).fetchall()
                mine = connection.sql(text).rows
            except (duckdb.Error, Refused):
                continue
            keyed = " GROUP BY " in text
            answered = {
                row[0].replace(tzinfo=None) if isinstance(row[0], datetime) else row[0]: row
                for row in mine
            }
            for row in theirs:
                key = row[0].replace(tzinfo=None) if isinstance(row[0], datetime) else row[0]
                own = answered.get(key) if keyed else mine[0]
                assert own is not None, (text, row)
                value, expected = own[-1], row[-1]
                assert _same(value, expected) or expected is None, (text, row, own)
            compared += 1
    assert compared > 40
