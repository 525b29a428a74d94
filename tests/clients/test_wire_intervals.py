"""``SET dpsql.intervals = on`` over the wire: described as it is sent,
in both protocols and in both formats.
"""

from __future__ import annotations

import asyncio
import warnings

import asyncpg
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa
from psycopg import pq
from servers import Server

NAMES = ["male", "n", "n_low", "n_high", "bmi", "bmi_low", "bmi_high"]
BIGINT, DOUBLE, BOOLEAN = 20, 701, 16


def by_sex(private: Server) -> str:
    where = f"age > -{private.fresh()}"
    return f"SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients WHERE {where} GROUP BY male ORDER BY male"


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_the_extended_protocol_describes_and_sends_them(private: Server, binary: bool) -> None:
    with psycopg.connect(private.libpq()) as connection:
        connection.execute("SET dpsql.intervals = on")
        assert connection.execute("SHOW dpsql.intervals").fetchone() == ("on",)
        statement = by_sex(private)
        with private.charges(0):
            connection.pgconn.prepare(b"described", statement.encode())
            described = connection.pgconn.describe_prepared(b"described")
        names = [described.fname(place) for place in range(described.nfields)]
        kinds = [described.ftype(place) for place in range(described.nfields)]
        assert names == [name.encode() for name in NAMES]
        assert kinds == [BOOLEAN, BIGINT, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE]
        with private.charges(1):
            cursor = connection.execute(statement, binary=binary)
        assert [column.name for column in cursor.description or ()] == NAMES
        for _, n, n_low, n_high, bmi, bmi_low, bmi_high in cursor.fetchall():
            assert n_low < n < n_high and bmi_low < bmi < bmi_high
        with private.charges(0):
            connection.execute("RESET dpsql.intervals")
            assert [column.name for column in connection.execute(statement).description or ()] == [
                "male",
                "n",
                "bmi",
            ]


def test_the_simple_protocol_sends_them(private: Server) -> None:
    with psycopg.connect(private.libpq()) as connection:
        found = connection.pgconn.exec_(f"SET dpsql.intervals = on; {by_sex(private)}".encode())
        assert found.status == pq.ExecStatus.TUPLES_OK, found.error_message
        assert [found.fname(place) for place in range(found.nfields)] == [
            name.encode() for name in NAMES
        ]
        assert all(found.get_value(row, 2) is not None for row in range(found.ntuples))


def test_the_address_may_ask_for_them(private: Server) -> None:
    engine = sa.create_engine(
        private.url("postgresql+psycopg"), connect_args={"options": "-c dpsql.intervals=on"}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = pd.read_sql(sa.text(by_sex(private)), engine)
    assert list(frame.columns) == NAMES and (frame.n_low < frame.n).all()
    engine.dispose()


def test_a_statement_that_was_described_without_them_is_not_charged(private: Server) -> None:
    with psycopg.connect(private.libpq(), autocommit=True) as connection:
        statement = by_sex(private)
        connection.pgconn.prepare(b"old", statement.encode())
        connection.execute("SET dpsql.intervals = on")
        with private.charges(0):
            refused = connection.pgconn.exec_prepared(b"old", [])
        assert refused.error_field(pq.DiagnosticField.SQLSTATE) == b"0A000"
        assert (
            refused.error_field(pq.DiagnosticField.MESSAGE_PRIMARY)
            == b"cached plan must not change result type"
        )
        connection.execute("SET dpsql.intervals = off")
        with private.charges(1):
            assert connection.pgconn.exec_prepared(b"old", []).status == pq.ExecStatus.TUPLES_OK


def test_drivers_that_keep_statements_prepare_them_again(private: Server) -> None:
    async def talk() -> None:
        connection = await asyncpg.connect(private.url())
        try:
            statement = by_sex(private)
            with private.charges(1):
                assert list((await connection.fetch(statement))[0].keys()) == ["male", "n", "bmi"]
                await connection.execute("SET dpsql.intervals = on")
                assert list((await connection.fetch(statement))[0].keys()) == NAMES
        finally:
            await connection.close()

    asyncio.run(talk())
