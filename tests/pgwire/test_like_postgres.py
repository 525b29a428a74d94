"""The same messages to dpsql and to a real PostgreSQL: the same kinds, tags, rows, states and codes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from wire_client import Client, names, rows, status, tags

from dpsql.pgwire import codec
from dpsql.pgwire.codec import Bind, Close, Describe, Execute, Message, Parse

FIVE = "SELECT x FROM (VALUES (1), (2), (3), (4), (5)) AS v(x) ORDER BY x"
CURSOR = f"DECLARE c CURSOR FOR {FIVE}"
WRONG = "SELECT * FROM nowhere"

SIMPLE = {
    "transactions": [
        "BEGIN",
        "SELECT 1 AS a",
        "COMMIT",
        "COMMIT",
        "ROLLBACK",
        "BEGIN",
        "BEGIN",
        "END",
        "START TRANSACTION",
        "ABORT",
        "BEGIN WORK",
        "COMMIT TRANSACTION",
        "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY",
        "ROLLBACK AND CHAIN",
        "COMMIT AND NO CHAIN",
    ],
    "a failed transaction": [
        "BEGIN",
        WRONG,
        "SELECT 1 AS a",
        "SET application_name = 'x'",
        "SHOW application_name",
        "COMMIT",
        "SELECT 1 AS a",
        "BEGIN",
        WRONG,
        "ROLLBACK",
        "BEGIN",
        "FETCH c",
        "END",
    ],
    "savepoints": [
        "SAVEPOINT a",
        "RELEASE a",
        "ROLLBACK TO a",
        "BEGIN",
        "SAVEPOINT a",
        "SAVEPOINT b",
        WRONG,
        "ROLLBACK TO SAVEPOINT a",
        "SELECT 1 AS a",
        "ROLLBACK TO b",
        "ROLLBACK TO a",
        "RELEASE SAVEPOINT a",
        "RELEASE a",
        "ROLLBACK",
    ],
    "several statements": [
        "SELECT 1 AS a; SELECT 2 AS b",
        "BEGIN; SELECT 1 AS a; COMMIT",
        "SELECT 1 AS a; " + WRONG + "; SELECT 2 AS b",
        "BEGIN; " + WRONG,
        "ROLLBACK",
        ";;",
        "",
        f"{CURSOR}; FETCH 2 c; FETCH ALL c",
        "FETCH c",
    ],
    "cursors": [
        CURSOR,
        "BEGIN",
        CURSOR,
        "FETCH c",
        "FETCH 2 c",
        "FETCH PRIOR FROM c",
        "FETCH ALL IN c",
        "FETCH c",
        "FETCH BACKWARD 2 c",
        "FETCH FIRST c",
        "FETCH LAST c",
        "FETCH ABSOLUTE 3 c",
        "FETCH RELATIVE -1 c",
        "FETCH RELATIVE 0 c",
        "FETCH 0 c",
        "FETCH FORWARD 0 c",
        "FETCH ABSOLUTE 0 c",
        "FETCH 0 c",
        "FETCH BACKWARD c",
        "FETCH FORWARD ALL c",
        "FETCH BACKWARD ALL c",
        "FETCH -1 c",
        "FETCH 10 c",
        "FETCH -2 c",
        "FETCH ABSOLUTE -2 c",
        "FETCH ABSOLUTE 9 c",
        "FETCH PRIOR c",
        "MOVE ABSOLUTE 2 c",
        "MOVE 2 c",
        "MOVE ALL c",
        "MOVE BACKWARD ALL c",
        "FETCH NEXT c",
        "CLOSE c",
        "COMMIT",
    ],
    "cursors without way back": [
        "BEGIN",
        CURSOR.replace("CURSOR", "NO SCROLL CURSOR"),
        "FETCH 2 c",
        "FETCH PRIOR c",
        "ROLLBACK",
    ],
    "cursors and their ends": [
        "BEGIN",
        CURSOR.replace("CURSOR", "CURSOR WITH HOLD"),
        "FETCH c",
        "COMMIT",
        "FETCH c",
        "CLOSE ALL",
        "FETCH c",
        "BEGIN",
        CURSOR,
        "COMMIT",
        "BEGIN",
        "FETCH c",
        "ROLLBACK",
        "BEGIN",
        CURSOR,
        CURSOR,
        "ROLLBACK",
        "BEGIN",
        CURSOR,
        "SAVEPOINT s",
        CURSOR.replace(" c ", " d "),
        "ROLLBACK TO s",
        "FETCH c",
        "FETCH d",
        "ROLLBACK",
    ],
    "settings": [
        "SET application_name = 'x'",
        "SHOW application_name",
        "BEGIN",
        "SET application_name TO y",
        "ROLLBACK",
        "SHOW application_name",
        "BEGIN",
        "SET LOCAL application_name = 'z'",
        "SHOW application_name",
        "COMMIT",
        "SHOW application_name",
        "RESET application_name",
        "SHOW application_name",
        "SET nothing = 1",
        "SHOW nothing",
        "SET LOCAL application_name = 'z'",
        "SET application_name = DEFAULT",
        "SET my.own = 'v'",
        "SHOW my.own",
        "SET TIME ZONE 'Europe/Berlin'",
        "SHOW TIME ZONE",
        "SET timezone = 'Nowhere'",
        "RESET ALL",
        "SHOW standard_conforming_strings",
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SHOW transaction_isolation",
        "SHOW TRANSACTION ISOLATION LEVEL",
        "SET server_version = '1'",
        "SET client_encoding = 'UTF8'",
        "SET NAMES 'utf8'",
        "SET client_min_messages TO warning",
        "SET extra_float_digits = 3",
        "SET statement_timeout = '5s'",
        "DISCARD ALL",
        "SET SESSION application_name = 'q'; " + WRONG,
        "SHOW application_name",
    ],
    "what settings are shown as": [
        "SELECT current_setting('nosuch')",
        "SELECT current_setting('nosuch', true)",
        "SET statement_timeout = '5s'",
        "SHOW statement_timeout",
        "SET statement_timeout = 300",
        "SHOW statement_timeout",
        "SET statement_timeout = 90000",
        "SHOW statement_timeout",
        "SET lock_timeout = '2min'",
        "SHOW lock_timeout",
        "RESET statement_timeout",
        "SHOW statement_timeout",
        "SHOW max_connections",
        "SELECT pg_client_encoding()",
        "SET ROLE NONE",
        "SET SESSION AUTHORIZATION DEFAULT",
    ],
    "time zones": [
        text
        for zone in ("2", "-3", "'+02'", "'+02:00'", "'GMT+2'", "'GMT-05:30'", "'EST5'", "'Europe/Berlin'", "UTC")
        for text in (f"SET TIME ZONE {zone}", "SELECT CAST('2020-01-02 03:04:05+00' AS timestamptz) AS a")
    ],
    "names": [
        "SELECT 1 A",
        'SELECT 1 AS Abc, 2 AS "Abc"',
        "SELECT T.Y FROM (SELECT 1 AS Y) T",
        "WITH Q AS (SELECT 1 AS B) SELECT * FROM q",
        "SELECT X AS Y FROM (VALUES (1), (2)) AS v(X) ORDER BY Y",
        "SELECT COUNT(*) AS Total FROM (VALUES (1), (2)) AS v(x)",
        "VALUES (1, 'a'), (2, 'b')",
        "SELECT nope",
        "SELECT nope.x",
        "SELECT x FROM (VALUES (1), (2)) AS v(x) ORDER BY y",
        "SELECT x FROM (VALUES (1), (2)) AS v(x) GROUP BY y",
        "SELECT x FROM (VALUES (1), (2)) AS v(x) WHERE nope = 1",
        "SELECT w.x FROM (VALUES (1), (2)) AS v(x)",
    ],
    "copy": [
        f"COPY ({FIVE}) TO STDOUT",
        f"COPY ({FIVE}) TO STDOUT WITH (FORMAT csv, HEADER)",
        f"COPY ({FIVE}) TO STDOUT (FORMAT binary)",
        f"COPY ({FIVE}) TO STDOUT CSV HEADER",
        f"COPY ({FIVE}) TO STDOUT BINARY",
        "COPY (SELECT 'a''b,\"c\"' AS s, NULL AS n, '' AS e) TO STDOUT (FORMAT csv, NULL 'N', FORCE_QUOTE *)",
        "COPY (SELECT 'a;b' AS s, CAST(NULL AS text) AS n, '' AS e, 'x\\y' AS b, '\t' AS t) TO STDOUT",
        "COPY (SELECT 'a;b' AS s, CAST(NULL AS text) AS n) TO STDOUT (DELIMITER ';', NULL '-')",
        "COPY (SELECT 'a;b\"' AS s, 'q' AS t) TO STDOUT CSV DELIMITER ';' QUOTE '''' FORCE QUOTE t",
        f"COPY ({WRONG}) TO STDOUT",
        f"COPY ({FIVE}) TO STDOUT (FORMAT xml)",
        f"COPY ({FIVE} TO STDOUT",
        f"COPY ({FIVE}) TO STDOUT (FORMAT binary, HEADER)",
        f"COPY ({FIVE}) TO STDOUT (NONSENSE)",
    ],
    "words": [
        "select 1 as a -- c",
        "/* a */ SELECT 1 AS a",
        "FETCH",
        "CLOSE",
        "DECLARE c FOR SELECT 1",
        "SAVEPOINT",
        "SET",
        "SET x",
        "BEGIN WRONG",
        "UNLISTEN *",
        "DEALLOCATE ALL",
        "DEALLOCATE nothing",
        "RESET nothing",
        "DISCARD PLANS",
        "DISCARD x",
        "SELECT 'a;b' AS s; SELECT 'c' AS t",
        'SELECT 1 AS "a;b"',
    ],
}

EXTENDED: dict[str, list[list[Message]]] = {
    "portals": [
        [Parse(query=FIVE), Bind(), Describe(kind="P"), Execute()],
        [Parse(query=FIVE), Bind(), Execute(max_rows=2), Execute(max_rows=2), Execute(max_rows=2), Execute(max_rows=2)],
        [Parse(query=FIVE), Bind(), Execute(max_rows=5), Execute()],
        [Parse(query=FIVE), Bind(), Execute(), Execute()],
        [Execute()],
        [Parse(query=FIVE), Bind(portal="p"), Bind(portal="p")],
        [Execute(portal="p")],
        [Parse(query="BEGIN"), Bind(), Execute(), Execute()],
        [Parse(query="ROLLBACK"), Bind(), Execute()],
        [Parse(query="BEGIN"), Bind(), Execute(), Parse(query=FIVE), Bind(portal="p"), Execute(portal="p", max_rows=1)],
        [Execute(portal="p", max_rows=1)],
        [Close(kind="P", name="p"), Execute(portal="p")],
        [Parse(query="SELECT 1 AS a"), Bind(), Execute()],
        [Parse(query="ROLLBACK"), Bind(), Execute()],
        [Parse(query=f"COPY ({FIVE}) TO STDOUT"), Describe(), Bind(), Describe(kind="P"), Execute()],
    ],
    "statements": [
        [Parse(statement="s", query=FIVE), Describe(kind="S", name="s")],
        [Bind(statement="s"), Execute()],
        [Parse(statement="s", query=FIVE)],
        [Close(kind="S", name="s"), Close(kind="S", name="s")],
        [Bind(statement="s")],
        [Parse(query=""), Describe(), Bind(), Describe(kind="P"), Execute()],
        [Parse(query="SELECT 1 AS a; SELECT 2 AS b")],
        [Parse(query=WRONG), Bind(), Execute()],
        [Parse(query="SHOW application_name"), Describe(), Bind(), Execute()],
        [Parse(query="SET application_name = 'e'"), Describe(), Bind(), Execute()],
        [Describe(kind="P", name="none")],
        [Describe(kind="S", name="none")],
        [Describe(kind="X", name="none")],
    ],
    "values": [
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Describe(), Bind(param_values=[b"7"]), Execute()],
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Bind(param_values=[b"seven"]), Execute()],
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Bind(param_values=[])],
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Bind(param_values=[None]), Execute()],
        [Parse(query=FIVE), Bind(result_formats=[1]), Describe(kind="P"), Execute()],
        [Parse(query=FIVE), Bind(result_formats=[0, 1])],
        *(
            [Parse(query=text), Describe(), Bind(param_values=[b"1", b"2"]), Execute()]
            for text in (
                "SELECT x FROM (VALUES (1), (5)) AS v(x) WHERE x IN ($1,$2)",
                "SELECT x FROM (VALUES (1), (5)) AS v(x) WHERE x IN ($2,$1) AND x BETWEEN $1AND $2",
                "SELECT CAST($1 AS integer)+CAST($2 AS integer) AS a, '$1,$2' AS b",
                "SELECT CAST($1 AS integer),CAST($2 AS integer),CAST($1 AS integer)-- $1,$2",
                "SELECT oid FROM pg_catalog.pg_am WHERE oid IN ($1,$2)",
                "SELECT relname FROM pg_catalog.pg_class WHERE relkind = '$1,$2' AND oid IN ($1,$2)",
            )
        ),
    ],
    "cursors": [
        [Parse(query="BEGIN"), Bind(), Execute(), Parse(query=CURSOR), Bind(), Execute()],
        [Parse(query="FETCH 2 c"), Describe(), Bind(result_formats=[1]), Describe(kind="P"), Execute()],
        [Describe(kind="P", name="c"), Execute(portal="c", max_rows=1)],
        [Parse(statement="f", query="FETCH 1 c"), Bind(statement="f"), Execute(), Bind(statement="f"), Execute()],
        [Parse(query=WRONG), Bind(), Execute()],
        [Parse(query="SELECT 1 AS a")],
        [Parse(query="ROLLBACK"), Bind(), Execute()],
    ],
}


@pytest.fixture(scope="module")
def reference() -> Iterator[Path]:
    with postgres.started() as folder:
        yield folder


def heard(answer: list[Message]) -> tuple[object, ...]:
    """What must be the same: kinds, tags, rows, copied bytes, the state, the codes of errors and warnings."""
    copied = b"".join(message.data for message in answer if isinstance(message, codec.CopyData))
    codes = [message.fields["C"] for message in answer if isinstance(message, codec.ErrorResponse)]
    warned = [message.fields["C"] for message in answer if isinstance(message, codec.NoticeResponse)]
    kinds = [kind for kind in names(answer).split() if kind not in ("CopyData", "RowDescription" if codes else "")]
    described = [
        [(field.name, field.type_oid, field.type_size, field.format_code) for field in message.fields]
        for message in answer
        if isinstance(message, codec.RowDescription) and not codes
    ]
    return kinds, tags(answer), rows(answer), copied, status(answer), codes, warned, described


@pytest.mark.parametrize("script", SIMPLE)
def test_the_simple_protocol(client: Client, reference: Path, script: str) -> None:
    with postgres.PostgresClient(reference) as other:
        for text in SIMPLE[script]:
            assert (text, heard(client.query(text))) == (text, heard(other.query(text)))


@pytest.mark.parametrize("script", EXTENDED)
def test_the_extended_protocol(client: Client, reference: Path, script: str) -> None:
    with postgres.PostgresClient(reference) as other:
        for messages in EXTENDED[script]:
            assert (messages, heard(client.extended(*messages))) == (messages, heard(other.extended(*messages)))
