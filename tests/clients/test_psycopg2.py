"""psycopg2: the simple protocol, named cursors, COPY, notices, cancel;
what Superset is built on.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator

import psycopg2
import psycopg2.errors
import psycopg2.extensions
import psycopg2.extras
import pytest
from client_statements import (
    COLUMNS,
    SLOW,
    TESTS,
    check_every_type,
    count,
    counts,
    every_type,
    near,
)
from servers import POOR, Server


@pytest.fixture
def connection(server: Server) -> Iterator[psycopg2.extensions.connection]:
    connection = psycopg2.connect(server.libpq())
    yield connection
    connection.close()


def test_every_type(server: Server, connection: psycopg2.extensions.connection) -> None:
    with server.charges(1), connection.cursor() as cursor:
        cursor.execute(every_type(server.fresh()))
        assert {column.name: column.type_code for column in cursor.description} == COLUMNS
        check_every_type(cursor.fetchall())
    assert connection.server_version >= 150000


def test_parameters_are_written_into_the_text(
    server: Server, connection: psycopg2.extensions.connection
) -> None:
    with server.charges(1), connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM labs WHERE test = ANY(%s) AND test IN %s AND day > %s AND value < %s",
            (["hdl", "it's"], ("hdl", "\\"), -8000 - server.fresh(), 250.5),
        )
        assert 30_000 < cursor.fetchone()[0] < 200_000


def test_a_named_cursor_is_one_statement(
    server: Server, connection: psycopg2.extensions.connection
) -> None:
    with (
        server.charges(1),
        connection.cursor("named", cursor_factory=psycopg2.extras.RealDictCursor) as cursor,
    ):
        cursor.itersize = 2
        cursor.execute(counts(server.fresh()))
        assert [row["test"] for row in cursor] == list(TESTS)


def test_copy_to_a_file(server: Server, connection: psycopg2.extensions.connection) -> None:
    file = io.StringIO()
    with server.charges(1), connection.cursor() as cursor:
        cursor.copy_expert(f"COPY ({counts(server.fresh())}) TO STDOUT WITH CSV HEADER", file)
    assert [line.split(",")[0] for line in file.getvalue().splitlines()] == ["test", *TESTS]


def test_transactions_and_savepoints(
    server: Server, connection: psycopg2.extensions.connection
) -> None:
    with server.charges(1), connection, connection.cursor() as cursor:
        cursor.execute("SAVEPOINT a")
        with pytest.raises(psycopg2.errors.UndefinedTable):
            cursor.execute("SELECT COUNT(*) FROM no_such_table")
        with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
            cursor.execute(count(server.fresh()))
        cursor.execute("ROLLBACK TO SAVEPOINT a")
        cursor.execute("RELEASE SAVEPOINT a")
        cursor.execute(count(server.fresh()))
        assert near(cursor.fetchone()[0])
    assert connection.get_transaction_status() == psycopg2.extensions.TRANSACTION_STATUS_IDLE
    connection.set_session(isolation_level="SERIALIZABLE", readonly=True, autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("SHOW default_transaction_read_only")
        assert cursor.fetchone() == ("on",)


def test_a_statement_that_is_cancelled(
    server: Server, connection: psycopg2.extensions.connection
) -> None:
    timer = threading.Timer(0.5, connection.cancel)
    timer.start()
    with pytest.raises(psycopg2.errors.QueryCanceled), connection.cursor() as cursor:
        cursor.execute(SLOW)
    timer.join()
    connection.rollback()


def test_an_error_says_where(server: Server, connection: psycopg2.extensions.connection) -> None:
    with pytest.raises(psycopg2.errors.UndefinedColumn) as raised, connection.cursor() as cursor:
        cursor.execute("SELECT AVG(bmy) FROM patients")
    assert 'column "bmy" does not exist' in str(raised.value)
    assert "LINE 1: SELECT AVG(bmy) FROM patients\n                   ^" in str(raised.value)


def test_several_statements_in_one_text(
    server: Server, connection: psycopg2.extensions.connection
) -> None:
    connection.autocommit = True
    with server.charges(2), connection.cursor() as cursor:
        cursor.execute(
            f"{count(server.fresh())}; SET application_name = 'two'; {count(server.fresh())};"
        )
        assert near(cursor.fetchone()[0])


def test_what_every_connection_of_superset_asks(
    server: Server, connection: psycopg2.extensions.connection
) -> None:
    with server.charges(0), connection.cursor() as cursor:
        for statement in (
            "select pg_catalog.version()",
            "select current_schema()",
            "show transaction isolation level",
            "show standard_conforming_strings",
            "SELECT 1",
            'set search_path = "public"',
        ):
            cursor.execute(statement)
        assert psycopg2.extras.HstoreAdapter.get_oids(connection) == ((), ())


def test_the_budget_is_told(private: Server) -> None:
    connection = psycopg2.connect(private.libpq())
    with connection, connection.cursor() as cursor:
        cursor.execute(count(private.fresh()))
    assert len(connection.notices) == 1 and connection.notices[0].startswith("NOTICE:")
    connection.close()
    with pytest.raises(psycopg2.errors.ConfigurationLimitExceeded), private.charges(0):
        psycopg2.connect(private.libpq(POOR)).cursor().execute(count(private.fresh()))


def test_tls(private: Server) -> None:
    connection = psycopg2.connect(
        private.libpq(), sslmode="verify-full", sslrootcert=str(private.authority)
    )
    assert connection.info.ssl_in_use
    connection.close()
