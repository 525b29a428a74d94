"""PostgreSQL's ODBC driver through pyodbc: the road of Excel, Power BI's ODBC source,
R and older Tableaus.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_statements import COLUMNS, TESTS, count, counts, every_type, near
from servers import Server

if TYPE_CHECKING:
    import pyodbc

pytestmark = pytest.mark.clients

DRIVER = Path(f"/usr/lib/{platform.machine()}-linux-gnu/odbc/psqlodbcw.so")


def opened(server: Server, **more: object) -> pyodbc.Connection:
    import pyodbc

    assert DRIVER.exists(), (
        "PostgreSQL's ODBC driver is not on this machine; apt-get install odbc-postgresql"
    )
    words = {
        "DRIVER": DRIVER,
        "SERVER": server.host,
        "PORT": server.port,
        "DATABASE": server.database,
        "UID": server.user,
        "PWD": server.password,
        "BoolsAsChar": 0,
        **more,
    }
    if server.authority is not None:
        words["SSLmode"] = "require"
    return pyodbc.connect(
        ";".join(f"{name}={value}" for name, value in words.items()), autocommit=True
    )


@pytest.fixture
def connection(server: Server) -> Iterator[pyodbc.Connection]:
    connection = opened(server)
    yield connection
    connection.close()


def test_every_type(server: Server, connection: pyodbc.Connection) -> None:
    with server.charges(1):
        cursor = connection.execute(every_type(server.fresh()))
        assert [column[0] for column in cursor.description] == list(COLUMNS)
        women, men = cursor.fetchall()
    assert (women.sex, men.sex, women.word, men.word) == (False, True, None, "man")
    assert isinstance(women.n, int) and 8000 < women.n < 9600 and isinstance(women.bmi, Decimal)
    assert women[5:] == (
        date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 30, 0, 250_000),
        datetime(2024, 2, 29, 12, 30),
        7,
        None,
        1.5,
    )


def test_parameters_prepared_by_the_server_and_by_the_driver(server: Server) -> None:
    for server_side in (1, 0):
        connection = opened(server, UseServerSidePrepare=server_side)
        with server.charges(1):
            (n,) = connection.execute(
                f"SELECT COUNT(*) FROM labs WHERE test = ? AND day > ? AND value < ? AND day <> {server.fresh()}",
                "hdl",
                -7300,
                250.5,
            ).fetchone()
        assert 30_000 < n < 200_000
        connection.close()


def test_rows_are_fetched_in_parts(server: Server) -> None:
    connection = opened(server, UseDeclareFetch=1, Fetch=1)
    with server.charges(1):
        assert [row.test for row in connection.execute(counts(server.fresh()))] == list(TESTS)
    connection.close()


def test_transactions_and_errors(server: Server, connection: pyodbc.Connection) -> None:
    import pyodbc

    connection.autocommit = False
    with pytest.raises(pyodbc.ProgrammingError) as raised:
        connection.execute("SELECT COUNT(*) FROM no_such_table")
    assert "no_such_table" in str(raised.value)
    connection.rollback()
    with server.charges(1):
        assert near(connection.execute(count(server.fresh())).fetchone()[0])
    connection.commit()


def test_the_catalogue_functions(server: Server, connection: pyodbc.Connection) -> None:
    with server.charges(0):
        cursor = connection.cursor()
        tables = [row.table_name for row in cursor.tables(schema="public", tableType="TABLE,VIEW")]
        columns = {
            row.column_name: row.type_name
            for row in cursor.columns(table="patients", schema="public")
        }
        keys = [row.column_name for row in cursor.primaryKeys("patients", schema="public")]
        foreign = {
            row.fkcolumn_name: row.pktable_name
            for row in cursor.foreignKeys(foreignTable="diagnoses")
        }
        indexes = {
            row.column_name
            for row in cursor.statistics("patients", schema="public")
            if row.column_name
        }
        cursor.rowIdColumns("patients", schema="public").fetchall()
        kinds = {row.type_name for row in cursor.getTypeInfo()}
        cursor.procedures(schema="public").fetchall()
    assert sorted(tables) == ["conditions", "diagnoses", "labs", "patients"]
    assert (
        columns["age"] == "int8"
        and columns["bmi"] == "numeric"
        and columns["male"] == "bool"
        and len(columns) == 9
    )
    assert keys == ["patient_id"] and indexes == {"patient_id"}
    assert foreign == {"patient_id": "patients", "diagnosis": "conditions"}
    assert {"int4", "text", "numeric", "timestamptz"} <= kinds
