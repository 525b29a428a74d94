"""Constants in quotes take the types that a real PostgreSQL gives them: the same values,
or the same error there.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import psycopg
import pytest
from ordinary import ROWS, read
from real_postgresql import real_postgresql

from dpsql.errors import StatementError
from dpsql.schema import SqlType
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import native
from dpsql.sql.functions.call import resolved
from dpsql.sql.ir.expression import INTEGER, TEXT, Literal

#: Conditions whose value PostgreSQL has, over columns i and i2 (bigint), x (double),
#: m (numeric), #: s, d, ts and b.
ANSWERED = (
    "i > '3'",
    "'3' < i",
    "i = ' 7 '",
    "i = '-4'",
    "i <> '+3'",
    "i IN ('3', '7')",
    "i IN ('3', 7)",
    "i NOT IN ('3', '12')",
    "i IN ('2.5', 2.5)",
    "i BETWEEN '0' AND '7'",
    "i BETWEEN SYMMETRIC '7' AND 0",
    "COALESCE(i, '9') = 9",
    "NULLIF(i, '3') IS NULL",
    "GREATEST(i, '5') = 7",
    "LEAST('5', i, 6) = 5",
    "i IS NOT DISTINCT FROM '3'",
    "CASE i WHEN '3' THEN true ELSE false END",
    "CASE WHEN b THEN i ELSE '8' END = 8",
    "i + '5' > '10'",
    "'20' - i = 13",
    "i * '2' = 14",
    "i % '2' = '1'",
    "i2 = '20'",
    "i IS NULL OR (i, b) = ('3', 't')",
    "i IS NULL OR (i, s) IN (('3', 'abc'), ('7', 'x'))",
    "x > '2.4'",
    "x = '.125'",
    "x < '1e1'",
    "x IN ('8.75', '9')",
    "POWER(x, '2') > '6'",
    "ABS('-3') = 3",
    "m = '19.99'",
    "m > '19.995'",
    "m BETWEEN '0.29' AND '2.35'",
    "m * '2' = '4.70'",
    "COALESCE(m, '0.5') = '0.5'",
    "s = '3'",
    "s IN ('3', 'abc')",
    "s || '3' = 'abc3'",
    "COALESCE(s, '3') = '3'",
    "d = '2020-02-29'",
    "d >= '2020-02-29 23:00'",
    "d IN ('2020-02-29', '2021-01-01')",
    "d - '2020-01-01' > '29'",
    "d BETWEEN '2020-01-01' AND '2020-12-31'",
    "COALESCE(d, '1999-01-01') = '1999-01-01'",
    "ts > '2020-06-15 12:00:00'",
    "ts >= '2020-06-15'",
    "ts = '2020-02-29T13:14:15.5'",
    "ts < '2020-06-15T12:00:01Z'",
    "EXTRACT(EPOCH FROM ts - '2020-01-01') > '0'",
    "EXTRACT(YEAR FROM d) = '2020'",
    "b = 'true'",
    "b = 't'",
    "b <> 'no'",
    "b IN ('yes', 'off')",
    "b AND 'on'",
    "NOT 'f'",
    "b OR 'of'",
    "b = ' TRUE '",
    "b IS NOT DISTINCT FROM '0'",
    "COALESCE(b, 'f') = 'fal'",
)
#: Those that PostgreSQL refuses; the message, the SQLSTATE and the place are the same.
REFUSED = (
    "i = 'old'",
    "i > '3.5'",
    "i IN (1, 'x')",
    "i = ''",
    "i BETWEEN 1 AND 'x'",
    "COALESCE(i, 'x') = 1",
    "i + 'x' > 1",
    "i = '99999999999999999999'",
    "CASE i WHEN 'x' THEN true END",
    "x > 'x'",
    "m = '1,5'",
    "m > 'ten'",
    "i = '1' AND i = 'x'",
    "d = 'x'",
    "d > '2020-13-45'",
    "ts = 'soon'",
    "ts < '2020-02-30'",
    "b = 'maybe'",
    "b AND 'perhaps'",
    "NOT 'x'",
    "NULLIF(i, 'x') = 1",
    "GREATEST(i, 'x') = 1",
    "(i, s) = ('x', 'y')",
    "d - 'x' > 1",
)
#: Those that are refused by both, in other words: the type is named, so that it is no other.
OF_A_TYPE = (
    "i = CAST('3' AS TEXT)",
    "i = '3' || '4'",
    "b = 1",
    "s = 3",
    "COALESCE(i, CAST('3' AS TEXT)) = 3",
)


@pytest.fixture(scope="module")
def reference() -> Iterator[psycopg.Connection]:
    with real_postgresql() as opened:
        opened.execute(ROWS.replace("i INTEGER", "i BIGINT").replace("DOUBLE", "DOUBLE PRECISION"))
        yield opened


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute(ROWS)
        yield opened


@pytest.mark.parametrize("condition", ANSWERED)
def test_the_values_are_those_of_postgresql(
    reference: psycopg.Connection, engine: duckdb.DuckDBPyConnection, condition: str
) -> None:
    wanted = reference.execute(f"SELECT {condition} FROM t ORDER BY i NULLS LAST").fetchall()
    emitted = native(DUCKDB, read(condition)).sql(dialect="duckdb")
    assert engine.execute(f"SELECT {emitted} FROM t ORDER BY i NULLS LAST").fetchall() == wanted
    assert {True, False} & {value for (value,) in wanted}, (
        "a condition that is NULL for all rows tells nothing"
    )


@pytest.mark.parametrize(
    "width", ["15 minutes", "2 hours", "1 day", "7 days", "90 seconds", "36 hours"]
)
@pytest.mark.parametrize(
    "origin", ["2001-01-01", "2020-02-29 10:20:30.5", "1999-12-31 23:59:59", "2030-01-01"]
)
def test_buckets_are_those_of_postgresql(
    reference: psycopg.Connection, engine: duckdb.DuckDBPyConnection, width: str, origin: str
) -> None:
    for moment in ("ts", "d"):
        bucket = f"DATE_BIN('{width}', {moment}, TIMESTAMP '{origin}')"
        wanted = reference.execute(f"SELECT {bucket} FROM t ORDER BY i NULLS LAST").fetchall()
        emitted = native(DUCKDB, read(bucket)).sql(dialect="duckdb")
        assert engine.execute(f"SELECT {emitted} FROM t ORDER BY i NULLS LAST").fetchall() == wanted


@pytest.mark.parametrize("condition", REFUSED)
def test_the_errors_are_those_of_postgresql(reference: psycopg.Connection, condition: str) -> None:
    with pytest.raises(psycopg.Error) as theirs:
        reference.execute(f"SELECT {condition} FROM t")
    with pytest.raises(StatementError) as mine:
        read(condition)
    diagnosis = theirs.value.diag
    assert (mine.value.reason, mine.value.sqlstate) == (
        diagnosis.message_primary,
        diagnosis.sqlstate,
    )
    assert mine.value.position is not None
    assert str(mine.value.position.column) == diagnosis.statement_position


@pytest.mark.parametrize("condition", OF_A_TYPE)
def test_a_text_with_a_type_is_no_number(reference: psycopg.Connection, condition: str) -> None:
    with pytest.raises(psycopg.Error):
        reference.execute(f"SELECT {condition} FROM t")
    with pytest.raises(StatementError):
        read(condition)


def test_numbers_that_no_interval_holds_and_other_zones_are_refused() -> None:
    """PostgreSQL has NaN and infinity as values, and drops the zone of a timestamp."""
    for condition in (
        "x = 'NaN'",
        "x < 'Infinity'",
        "m < 'NaN'",
        "ts < '2020-06-15T12:00:01+02:00'",
    ):
        with pytest.raises(StatementError):
            read(condition)


def test_what_is_no_quoted_constant_stays_as_it_is() -> None:
    for constant in (Literal("3", TEXT), Literal(3, INTEGER)):
        assert resolved(constant, SqlType("double")) is constant
