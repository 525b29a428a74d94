"""pg8000: PostgreSQL in pure Python, with its own SCRAM and its own reading of every type."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import pg8000.dbapi
import pg8000.native
import pytest
from client_statements import COLUMNS, check_every_type, count, every_type, near
from servers import Server


def arguments(server: Server) -> dict[str, object]:
    return {
        "user": server.user,
        "password": server.password,
        "host": server.host,
        "port": server.port,
        "database": server.database,
    }


@pytest.fixture
def connection(server: Server) -> Iterator[pg8000.dbapi.Connection]:
    connection = pg8000.dbapi.connect(**arguments(server))
    yield connection
    connection.close()


def test_every_type(server: Server, connection: pg8000.dbapi.Connection) -> None:
    cursor = connection.cursor()
    with server.charges(1):
        cursor.execute(every_type(server.fresh()))
        assert {column[0]: column[1] for column in cursor.description} == COLUMNS
        check_every_type([tuple(row) for row in cursor.fetchall()])


def test_parameters(server: Server, connection: pg8000.dbapi.Connection) -> None:
    cursor = connection.cursor()
    with server.charges(1):
        cursor.execute(
            "SELECT COUNT(*) FROM labs WHERE test = %s AND day > %s AND value < %s",
            ("hdl", -8000 - server.fresh(), 250.5),
        )
        assert cursor.fetchone()[0] > 10_000


def test_a_prepared_statement(server: Server) -> None:
    connection = pg8000.native.Connection(**arguments(server))
    with server.charges(0):
        prepared = connection.prepare(
            f"SELECT COUNT(*) AS n FROM patients WHERE age > :age AND age <> -{server.fresh()}"
        )
    with server.charges(2):
        assert near(prepared.run(age=0)[0][0])
        assert prepared.run(age=60)[0][0] < 10_000
    assert [column["name"] for column in prepared.columns] == ["n"]
    connection.close()


def test_transactions(server: Server, connection: pg8000.dbapi.Connection) -> None:
    cursor = connection.cursor()
    with pytest.raises(pg8000.dbapi.DatabaseError) as raised:
        cursor.execute("SELECT COUNT(*) FROM no_such_table")
    assert raised.value.args[0]["C"] == "42P01"
    with pytest.raises(pg8000.dbapi.DatabaseError) as raised:
        cursor.execute(count(server.fresh()))
    assert raised.value.args[0]["C"] == "25P02"
    connection.rollback()
    with server.charges(1):
        cursor.execute(count(server.fresh()))
        assert near(cursor.fetchone()[0])
    connection.commit()


def test_tls_and_a_notice(private: Server) -> None:
    context = ssl.create_default_context(cafile=str(private.authority))
    connection = pg8000.native.Connection(**arguments(private), ssl_context=context)
    assert near(connection.run(count(private.fresh()))[0][0])
    assert len(connection.notices) == 1
    connection.close()
