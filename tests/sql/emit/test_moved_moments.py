"""Moments that a number of a row moves, and moments that are numbers of seconds: exact,
and never a failure.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from ordinary import read
from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import key, native
from dpsql.sql.functions.datetimes import SHIFTS, farthest_shift
from dpsql.sql.ir.expression import ColumnRef

COLUMNS = {
    "n": ColumnRef("t", "n", SqlType("integer"), True),
    "f": ColumnRef("t", "f", SqlType("double"), True),
    "ts": ColumnRef("t", "ts", SqlType("timestamp"), True),
    "d": ColumnRef("t", "d", SqlType("date"), True),
}
NUMBERS = (
    0,
    1,
    -1,
    1_672_531_200,
    -62_135_596_800,
    253_402_214_399,
    253_402_300_800,
    1_672_531_200_123_456,
    9_007_199_254_740_993,
    2**31,
    2**63 - 1,
    -(2**63),
)
#: Numbers from which moments are made: how dpsql is asked, and how DuckDB says the same in UTC.
MADE = {
    "TO_TIMESTAMP(n)": "TO_TIMESTAMP(n)::TIMESTAMP",
    "TO_TIMESTAMP(f)": "TO_TIMESTAMP(f)::TIMESTAMP",
    "EPOCH_MS(n)": "EPOCH_MS(n)",
    "MAKE_TIMESTAMP(n)": "MAKE_TIMESTAMP(n)",
    "MAKE_TIMESTAMP_MS(n)": "EPOCH_MS(n)",
    "TIMESTAMP '1970-01-01' + n * INTERVAL '1' SECOND": "TO_TIMESTAMP(n)::TIMESTAMP",
    "TIMESTAMP '1970-01-01' + TO_SECONDS(n)": "TO_TIMESTAMP(n)::TIMESTAMP",
    "TIMESTAMP '1970-01-01' + INTERVAL (n) MILLISECOND": "EPOCH_MS(n)",
    "DATE_TRUNC('month', TO_TIMESTAMP(n))": "DATE_TRUNC('month', TO_TIMESTAMP(n)::TIMESTAMP)",
    "EXTRACT(HOUR FROM MAKE_TIMESTAMP(n))": "EXTRACT(HOUR FROM MAKE_TIMESTAMP(n))",
}


@pytest.fixture(name="connection")
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE TABLE t (n BIGINT, f DOUBLE, ts TIMESTAMP, d DATE)")
        for number in NUMBERS:
            for moment in (
                "0001-01-01 00:00:00",
                "2020-02-29 13:14:15.5",
                "9999-12-30 23:59:59.999999",
            ):
                fraction = number / 7
                connection.execute(
                    "INSERT INTO t VALUES (?, ?, ?, ?)", [number, fraction, moment, moment[:10]]
                )
        yield connection


@pytest.mark.parametrize("text", MADE)
def test_a_moment_of_a_number_is_that_of_duckdb(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    emitted = key(DUCKDB, read(text, COLUMNS)).sql(dialect="duckdb")
    values = connection.execute(f"SELECT DISTINCT n, f, {emitted} FROM t").fetchall()
    compared = 0
    for number, fraction, mine in values:
        try:
            row = f"SELECT CASE WHEN YEAR(x::TIMESTAMP) BETWEEN 1 AND 9999 THEN x END FROM (SELECT {MADE[text]} AS x"
            if "EXTRACT" in text:
                row = f"SELECT x FROM (SELECT {MADE[text]} AS x"
            theirs = connection.execute(
                f"{row} FROM (SELECT {number}::BIGINT AS n, {fraction!r}::DOUBLE AS f))"
            ).fetchone()
        except duckdb.Error:
            continue
        compared += mine is not None
        last_day = mine is None and theirs is not None and "9999-12-31" in str(theirs[0])
        assert (mine,) == theirs or last_day or (mine is None and "EXTRACT" in text), (
            text,
            number,
            mine,
            theirs,
        )
    assert compared >= 3


@pytest.mark.parametrize("unit", SHIFTS)
@pytest.mark.parametrize("moment", ["ts", "d"])
def test_no_number_is_tried_that_moves_a_moment_too_far(
    connection: duckdb.DuckDBPyConnection, unit: str, moment: str
) -> None:
    """Every moment is made without TRY: none is left to it, which would take its time."""
    far = farthest_shift(unit)
    connection.execute("INSERT INTO t SELECT ?, 0, ts, d FROM t", [far])
    connection.execute("INSERT INTO t SELECT ?, 0, ts, d FROM t", [-far])
    tree = native(DUCKDB, read(f"{moment} + INTERVAL (n) {unit.upper()}", COLUMNS))
    untried = tree.transform(lambda node: node.this if isinstance(node, exp.Try) else node).sql(
        dialect="duckdb"
    )
    rows = connection.execute(
        f"SELECT n, {untried} IS NULL, {tree.sql(dialect='duckdb')} IS NULL FROM t"
    ).fetchall()
    assert all(
        left_out == tried == (abs(number) > far)
        for number, left_out, tried in rows
        if moment == "ts"
    )
    assert {number for number, left_out, _ in rows if not left_out} >= {0, far, -far}
