"""psycopg 3: text and binary, prepared statements, server-side cursors, COPY, pipelines,
cancel, notices, errors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
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
from psycopg import pq, sql
from psycopg.rows import dict_row
from servers import POOR, Server


@pytest.fixture
def connection(server: Server) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.libpq()) as connection:
        yield connection


def test_the_version_says_which_postgresql_is_spoken(
    server: Server, connection: psycopg.Connection
) -> None:
    assert connection.info.server_version >= 150000
    assert connection.info.parameter_status("server_encoding") == "UTF8"
    assert connection.info.dbname == server.database


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_every_type(server: Server, connection: psycopg.Connection, binary: bool) -> None:
    with server.charges(1):
        cursor = connection.execute(every_type(server.fresh()), binary=binary)
        assert {column.name: column.type_code for column in cursor.description or ()} == COLUMNS
        check_every_type(cursor.fetchall())


@pytest.mark.parametrize("mode", [pq.Format.TEXT, pq.Format.BINARY], ids=["text", "binary"])
def test_parameters(server: Server, connection: psycopg.Connection, mode: pq.Format) -> None:
    placeholder = "%t" if mode == pq.Format.TEXT else "%b"
    statement = (
        "SELECT COUNT(*) AS n FROM labs "
        "WHERE test = {0} AND day > {0} AND value < {0} AND day <> {1} AND {0} = test".replace(
            "{0}", placeholder
        )
    ).replace("{1}", str(20_000 + server.fresh()))
    with server.charges(1):
        (n,) = connection.execute(statement, ("hdl", -7300, 250.5, "hdl")).fetchone() or ()
    assert 30_000 < n < 200_000


def test_a_prepared_statement_is_charged_when_it_runs_and_not_before(
    server: Server, connection: psycopg.Connection
) -> None:
    statement = (
        f"SELECT COUNT(*) AS n FROM patients WHERE followup_days >= %s AND age > -{server.fresh()}"
    )
    with server.charges(3):
        found = [
            connection.execute(statement, (-each,), prepare=True).fetchone() for each in (1, 2, 3)
        ]
    assert all(near(row[0]) for row in found if row is not None) and len(found) == 3


def test_describe_costs_nothing(server: Server, connection: psycopg.Connection) -> None:
    with server.charges(0):
        connection.pgconn.prepare(b"described", every_type(server.fresh()).encode())
        described = connection.pgconn.describe_prepared(b"described")
    assert [described.fname(each) for each in range(described.nfields)] == [
        name.encode() for name in COLUMNS
    ]
    assert [described.ftype(each) for each in range(described.nfields)] == list(COLUMNS.values())


def test_the_same_statement_is_the_same_answer_at_no_further_price(server: Server) -> None:
    statement = counts(server.fresh())
    with server.charges(1):
        answers = []
        for _ in range(3):
            with psycopg.connect(server.libpq()) as connection:
                answers.append(connection.execute(statement).fetchall())
    assert answers[0] == answers[1] == answers[2]


def test_transactions_and_savepoints(server: Server, connection: psycopg.Connection) -> None:
    with server.charges(1), connection.transaction():
        with pytest.raises(psycopg.errors.UndefinedTable), connection.transaction():
            connection.execute("SELECT COUNT(*) FROM no_such_table")
        assert connection.info.transaction_status == pq.TransactionStatus.INTRANS
        assert near(connection.execute(count(server.fresh())).fetchone()[0])  # type: ignore[index]
    connection.execute("BEGIN")
    with pytest.raises(psycopg.errors.UndefinedColumn):
        connection.execute("SELECT COUNT(no_such_column) FROM patients")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction), server.charges(0):
        connection.execute(count(server.fresh()))
    connection.rollback()
    assert connection.info.transaction_status == pq.TransactionStatus.IDLE


def test_a_cursor_of_the_server_is_one_statement_however_it_is_read(
    server: Server, connection: psycopg.Connection
) -> None:
    with server.charges(1), connection.cursor("named") as cursor:
        cursor.itersize = 1
        cursor.execute(counts(server.fresh()))
        assert [
            cursor.fetchone()[0],
            *(row[0] for row in cursor.fetchmany(2)),
            *(row[0] for row in cursor),
        ] == [*TESTS]  # type: ignore[index]


def test_rows_are_streamed_one_by_one(server: Server, connection: psycopg.Connection) -> None:
    with server.charges(1):
        assert [row[0] for row in connection.cursor().stream(counts(server.fresh()))] == list(TESTS)


def test_dictionaries_and_quoted_names(server: Server, connection: psycopg.Connection) -> None:
    with connection.cursor(row_factory=dict_row) as cursor, server.charges(1):
        cursor.execute(
            sql.SQL('SELECT COUNT(*) AS {} FROM "public"."patients" AS "p" WHERE {} >= -%s').format(
                sql.Identifier("How many?"), sql.Identifier("p", "followup_days")
            ),
            (server.fresh(),),
        )
        row = cursor.fetchone()
    assert row is not None and near(row["How many?"])


def test_unnamed_columns_have_postgresqls_names(
    server: Server, connection: psycopg.Connection
) -> None:
    cursor = connection.execute(
        f"SELECT COUNT(*), AVG(age), 1 + 1, CASE WHEN TRUE THEN 1 END, COALESCE(1, 2), MAX(age) FROM patients "
        f"WHERE age > -{server.fresh()}"
    )
    assert [column.name for column in cursor.description or ()] == [
        "count",
        "avg",
        "?column?",
        "case",
        "coalesce",
        "max",
    ]


@pytest.mark.parametrize("form", ["text", "csv", "csv, header", "binary"])
def test_copy_to_the_client(server: Server, connection: psycopg.Connection, form: str) -> None:
    statement = f"COPY ({counts(server.fresh())}) TO STDOUT (FORMAT {form})"
    with server.charges(1), connection.cursor().copy(statement) as copy:
        if form == "binary":
            copy.set_types(["text", "int8"])
            rows = list(copy.rows())
        else:
            text = b"".join(copy).decode()
            rows = [tuple(line.split("," if "csv" in form else "\t")) for line in text.splitlines()]
    if "header" in form:
        assert rows.pop(0) == ("test", "n")
    assert [row[0] for row in rows] == list(TESTS)
    assert all(int(row[1]) > 1000 for row in rows)


def test_a_pipeline(server: Server, connection: psycopg.Connection) -> None:
    with server.charges(2), connection.pipeline():
        found = [connection.execute(count(server.fresh())) for _ in range(2)]
        assert all(near(cursor.fetchone()[0]) for cursor in found)  # type: ignore[index]


def test_a_statement_that_is_cancelled(server: Server, connection: psycopg.Connection) -> None:
    timer = threading.Timer(0.5, connection.cancel_safe)
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled), server.charges(0):
        connection.execute(SLOW)
    timer.join()
    connection.rollback()
    assert near(connection.execute(count(server.fresh())).fetchone()[0])  # type: ignore[index]


def test_a_statement_that_takes_too_long(server: Server, connection: psycopg.Connection) -> None:
    connection.execute("SET statement_timeout = 300")
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(SLOW)


@pytest.mark.parametrize(
    ("statement", "error", "position"),
    [
        ("SELECT COUNT(*) FROM patience", psycopg.errors.UndefinedTable, 22),
        ("SELECT AVG(bmy)\nFROM patients", psycopg.errors.UndefinedColumn, 12),
        ("SELECT COUNT(* FROM patients", psycopg.errors.SyntaxError, None),
        ("SELECT no_such_function(1)", psycopg.errors.UndefinedFunction, None),
    ],
)
def test_errors_are_postgresqls(
    server: Server,
    connection: psycopg.Connection,
    statement: str,
    error: type[Exception],
    position: int | None,
) -> None:
    with pytest.raises(error) as raised, server.charges(0):
        connection.execute(statement)
    diagnosed = raised.value.diag  # type: ignore[attr-defined]
    assert diagnosed.severity_nonlocalized == "ERROR"
    if position is not None:
        assert int(diagnosed.statement_position) == position
        assert f"LINE {statement.count(chr(10), 0, position) + 1}:" in str(raised.value)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM patients",
        "UPDATE patients SET age = 1",
        "CREATE TABLE x (y integer)",
        "DROP TABLE patients",
        "INSERT INTO conditions VALUES ('a', 'b', 'c')",
        "TRUNCATE patients",
    ],
)
def test_nothing_is_written(server: Server, connection: psycopg.Connection, statement: str) -> None:
    connection.read_only = True
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute(statement)


def test_a_wrong_password_and_a_stranger_are_told_the_same(server: Server) -> None:
    for user, password in ((server.user, "wrong"), ("nobody", server.password), ("nobody", "")):
        with pytest.raises(
            psycopg.OperationalError, match=r"password authentication failed for user|no password"
        ):
            psycopg.connect(
                host=server.host,
                port=server.port,
                dbname=server.database,
                user=user,
                password=password,
            )


def test_the_certificate_is_verified(private: Server) -> None:
    with psycopg.connect(
        private.libpq(), sslmode="verify-full", sslrootcert=str(private.authority)
    ) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_channel_is_bound(private: Server) -> None:
    with psycopg.connect(
        private.libpq(), sslmode="require", channel_binding="require"
    ) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_refusal_says_what_to_write_instead(private: Server) -> None:
    with psycopg.connect(private.libpq()) as connection, private.charges(0):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT age FROM patients WHERE age > 95")
        connection.rollback()
        with pytest.raises(psycopg.errors.UndefinedColumn) as raised:
            connection.execute("SELECT AVG(bmy) FROM patients WHERE age > 95")
        diagnosed = raised.value.diag
        assert diagnosed.message_hint is not None and diagnosed.message_hint.startswith(
            "Write instead: SELECT"
        )
        assert diagnosed.statement_position is not None
        connection.rollback()
        connection.execute(f"EXPLAIN {diagnosed.message_hint.removeprefix('Write instead: ')}")


def test_shapes_of_rows_cost_nothing(private: Server) -> None:
    with psycopg.connect(private.libpq()) as connection, private.charges(0):
        for probe in ("SELECT * FROM patients WHERE 1 = 0", "SELECT * FROM patients LIMIT 0"):
            cursor = connection.execute(probe)
            assert cursor.fetchall() == []
            assert [column.name for column in cursor.description or ()][:3] == [
                "patient_id",
                "age",
                "male",
            ]


def test_names_with_their_database(server: Server) -> None:
    """Tools write the database before the schema."""
    number = server.fresh()
    with psycopg.connect(server.libpq()) as connection, server.charges(1):
        name = f"{server.database}.public.patients"
        for text in (
            f"SELECT COUNT(*) AS n FROM {name} WHERE {name}.followup_days >= -{number}",
            f'SELECT COUNT(*) AS n FROM "{server.database}"."public"."patients" p WHERE p.followup_days >= -{number}',
        ):
            assert near((connection.execute(text).fetchone() or (0,))[0])
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT COUNT(*) FROM other.public.patients")


def test_quoted_numbers(server: Server) -> None:
    """PHP, Grafana and drivers that write values into the text put all of them in quotes."""
    number = server.fresh()
    with psycopg.connect(server.libpq()) as connection, server.charges(1):
        quoted = f"age IN ('50', '60') AND male = 't' AND followup_days >= '-{number}'"
        found = connection.execute(f"SELECT COUNT(*) AS n FROM patients WHERE {quoted}").fetchone()
        assert (found or (0,))[0] > 100
        with pytest.raises(psycopg.errors.InvalidTextRepresentation) as raised:
            connection.execute("SELECT COUNT(*) FROM patients WHERE age > 'old'")
        assert raised.value.diag.message_primary == 'invalid input syntax for type bigint: "old"'
        assert raised.value.diag.statement_position == "43"


def test_the_tables_are_shown(private: Server) -> None:
    with psycopg.connect(private.libpq()) as connection, private.charges(0):
        cursor = connection.execute("SHOW TABLES")
        assert [column.name for column in cursor.description or ()] == ["name"]
        assert cursor.fetchall() == [("conditions",), ("diagnoses",), ("labs",), ("patients",)]


def test_the_budget_is_told(private: Server) -> None:
    with psycopg.connect(private.libpq()) as connection:
        notices: list[str | None] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        statement = count(private.fresh())
        connection.execute(statement)
        assert len(notices) == 1 and "1" in (notices[0] or "")
        connection.execute(statement)
        assert len(notices) == 2
        with private.charges(0):
            assert connection.execute("SHOW dpsql.budget").fetchone() is not None
            assert connection.execute("SELECT * FROM dpsql.budget").fetchone() is not None
            (line, *_) = connection.execute(f"EXPLAIN {count(private.fresh())}").fetchone() or ("",)
            assert "cost=" in line
            connection.execute("SET dpsql.epsilon = 0.5")
            assert connection.execute("SHOW dpsql.epsilon").fetchone() == ("0.5",)


def test_a_spent_budget(private: Server) -> None:
    with psycopg.connect(private.libpq(user=POOR)) as connection, private.charges(0):
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute(count(private.fresh()))
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)
