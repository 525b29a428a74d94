"""The conversation, message by message: what comes back, in which order,
and what is charged for it.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Callable

import pytest
from wire_client import Client, error, names, notices, rows, status, tags

from dpsql.server.listener import Server
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import Bind, Close, Describe, Execute, Flush, Parse, Sync

_NEW = itertools.count()
CHARGED = ["dpsql: this one took 1/1,585"]


def count() -> str:
    """A statement that nobody has paid for."""
    return f"SELECT sex, COUNT(*) AS n FROM patients WHERE weight < {next(_NEW)}.125 GROUP BY sex ORDER BY sex"


def prices(messages: list[codec.Message]) -> list[str]:
    return [
        notice.partition(";")[0] for notice in notices(messages) if notice.startswith("dpsql: ")
    ]


def test_a_start_tells_settings_key_and_state(client: Client) -> None:
    assert client.parameters["server_version"].startswith("15.")
    assert client.parameters["client_encoding"] == "UTF8"
    assert client.parameters["standard_conforming_strings"] == "on"
    assert client.parameters["session_authorization"] == "ada"
    assert client.process > 0
    assert len(client.secret) == 4


def test_a_simple_query_is_charged_once_and_says_so(
    client: Client, spent: Callable[[], int]
) -> None:
    answer = client.query(count())
    assert names(answer) == "RowDescription DataRow DataRow DataRow CommandComplete ReadyForQuery"
    assert [row[0] for row in rows(answer)] == [b"f", b"m", None]
    assert tags(answer) == ["SELECT 3"]
    left_out, price = notices(answer)
    assert left_out == "rows with other values of sex than the schema lists are in no group"
    assert price.startswith("dpsql: this one took 1/1,585; 1,5")
    assert re.search(r"; error with 95 %: n ± [\d.]+( to [\d.]+)?$", price)
    assert spent() == 1


def test_an_answer_that_was_paid_for_is_free(client: Client, spent: Callable[[], int]) -> None:
    text = count()
    first, again = client.query(text), client.extended(Parse(query=text), Bind(), Execute())
    assert rows(first) == rows(again)
    assert re.match(
        "dpsql: free: answered before, and paid for once; error with 95 %: n ± ", notices(again)[1]
    )
    assert notices(again)[1].partition("; error")[2] == notices(first)[1].partition("; error")[2]
    assert spent() == 1


def test_statements_of_one_text_are_answered_one_by_one_up_to_the_first_error(
    client: Client,
) -> None:
    answer = client.query("SELECT 1 AS a; ; SELECT 2 AS b; SELECT nope FROM patients; SELECT 3")
    assert names(answer).count("RowDescription") == 2
    assert error(answer)["C"] == "42703"
    assert error(answer)["P"] == str(len("SELECT 1 AS a; ; SELECT 2 AS b; SELECT ") + 1)
    assert status(answer) == "I"


def test_an_empty_text_has_an_answer_of_its_own(client: Client) -> None:
    for text in ("", "  ", ";", "-- nothing\n;; /* at /* all */ */"):
        assert names(client.query(text)) == "EmptyQueryResponse ReadyForQuery"
    answer = client.extended(Parse(query=""), Bind(), Describe(kind="P"), Execute())
    assert names(answer) == "ParseComplete BindComplete NoData EmptyQueryResponse ReadyForQuery"


def test_describing_costs_nothing_and_executing_costs_once(
    client: Client, spent: Callable[[], int]
) -> None:
    asked = [
        Parse(statement="s", query="SELECT COUNT(*) FROM patients WHERE ward > $1"),
        Describe(kind="S", name="s"),
    ]
    answer = client.extended(*asked)
    assert names(answer) == "ParseComplete ParameterDescription RowDescription ReadyForQuery"
    (described,) = [
        message for message in answer if isinstance(message, codec.ParameterDescription)
    ]
    assert described.type_oids == [20]
    client.extended(Parse(query=count()), Describe(), Bind(), Describe(kind="P"))
    assert spent() == 0
    client.query("BEGIN")
    answer = client.extended(
        Bind(portal="p", statement="s", param_values=[b"1"]), Describe(kind="P", name="p")
    )
    assert names(answer) == "BindComplete RowDescription ReadyForQuery"
    assert spent() == 0
    answer = client.extended(Execute(portal="p"))
    assert (len(rows(answer)), prices(answer), spent()) == (1, CHARGED, 1)
    answer = client.extended(Execute(portal="p"))
    assert (len(rows(answer)), prices(answer), spent()) == (0, [], 1)


def test_a_portal_is_read_in_parts_and_paid_once(client: Client, spent: Callable[[], int]) -> None:
    client.query("BEGIN")
    answer = client.extended(
        Parse(query=count()), Bind(portal="p"), Execute(portal="p", max_rows=2)
    )
    assert (
        names(answer) == "ParseComplete BindComplete DataRow DataRow PortalSuspended ReadyForQuery"
    )
    answer = client.extended(Execute(portal="p", max_rows=2))
    assert (names(answer), tags(answer)) == ("DataRow CommandComplete ReadyForQuery", ["SELECT 1"])
    assert spent() == 1
    client.query("COMMIT")
    assert error(client.extended(Execute(portal="p")))["C"] == "34000"


def test_a_portal_ends_with_its_cycle_outside_a_transaction(client: Client) -> None:
    client.extended(Parse(query="SELECT 1"), Bind(portal="p"))
    assert error(client.extended(Execute(portal="p")))["C"] == "34000"


def test_after_an_error_everything_is_skipped_until_sync(
    client: Client, spent: Callable[[], int]
) -> None:
    answer = client.extended(
        Parse(query="SELECT nope FROM patients"), Bind(), Execute(), Parse(query=count()), Execute()
    )
    assert names(answer) == "ErrorResponse ReadyForQuery"
    assert names(client.query("SELECT 1")) == "RowDescription DataRow CommandComplete ReadyForQuery"
    assert spent() == 0


def test_pipelines_are_answered_cycle_by_cycle(client: Client) -> None:
    client.send(Parse(query="SELECT 1 AS a"), Bind(), Execute(), Sync())
    client.send(Parse(query="SELECT nope FROM patients"), Bind(), Sync())
    client.send(Parse(query="SELECT 2 AS b"), Bind(), Execute(), Sync())
    first, second, third = (client.until(codec.ReadyForQuery) for _ in range(3))
    assert (rows(first), error(second)["C"], rows(third)) == ([[b"1"]], "42703", [[b"2"]])


def test_flush_sends_what_there_is(client: Client) -> None:
    client.send(Parse(query="SELECT 1"), Flush())
    assert names([client.receive()]) == "ParseComplete"
    client.extended()


def test_binary_values_in_and_out(client: Client) -> None:
    answer = client.extended(
        Parse(
            query="SELECT COUNT(*) AS n, SUM(CAST(cost AS DOUBLE)) AS a FROM visits WHERE cost < $1",
            param_types=[701],
        ),
        Bind(param_formats=[1], param_values=[struct.pack("!d", 3.5)], result_formats=[1]),
        Describe(kind="P"),
        Execute(),
    )
    (described,) = [message for message in answer if isinstance(message, codec.RowDescription)]
    assert [(field.type_oid, field.format_code) for field in described.fields] == [
        (20, 1),
        (701, 1),
    ]
    ((number, total),) = rows(answer)
    assert number is not None and total is not None
    assert abs(struct.unpack("!q", number)[0]) < 100
    assert abs(struct.unpack("!d", total)[0]) < 50_000


@pytest.mark.parametrize(
    ("values", "formats", "code"),
    [
        ([b"abc"], [], "22P02"),
        ([b"\x00"], [1], "22P03"),
        ([b"\xff"], [], "22021"),
        ([], [], "08P01"),
        ([b"1"], [7], "08P01"),
    ],
)
def test_values_that_are_none_are_refused_at_bind(
    client: Client, spent: Callable[[], int], values: list[bytes], formats: list[int], code: str
) -> None:
    query = Parse(query="SELECT COUNT(*) FROM patients WHERE ward > $1", param_types=[20])
    answer = client.extended(query, Bind(param_values=values, param_formats=formats), Execute())
    assert error(answer)["C"] == code
    assert spent() == 0


def test_names_of_statements_and_portals(client: Client) -> None:
    twice = client.extended(
        Parse(statement="s", query="SELECT 1"), Parse(statement="s", query="SELECT 2")
    )
    assert error(twice)["C"] == "42P05"
    assert error(client.extended(Bind(statement="unknown")))["C"] == "26000"
    assert error(client.extended(Describe(kind="S", name="unknown")))["C"] == "26000"
    assert error(client.extended(Parse(query="SELECT 1; SELECT 2")))["C"] == "42601"
    assert (
        names(client.extended(Close(kind="S", name="s"), Close(kind="P", name="none"))).count(
            "CloseComplete"
        )
        == 2
    )
    client.extended(Parse(statement="t", query="SELECT 1"))
    assert tags(client.query("DEALLOCATE t")) == ["DEALLOCATE"]
    assert error(client.query("DEALLOCATE t"))["C"] == "26000"
    assert tags(client.query("DISCARD ALL")) == ["DISCARD ALL"]


def test_a_refusal_says_where_why_and_what_to_write(client: Client) -> None:
    fields = error(client.query("SELECT COUNT(*),\n  AVG(wieght) FROM patients"))
    assert fields["S"] == fields["V"] == "ERROR"
    assert fields["C"] == "42703"
    assert fields["H"].startswith("Write instead: SELECT")
    assert fields["D"].startswith("E_")
    position = int(fields["P"])
    assert "SELECT COUNT(*),\n  AVG(wieght) FROM patients"[position - 1 :].startswith("wieght")


def test_the_words_of_the_engine_inside_stay_inside(client: Client) -> None:
    fields = error(
        client.query("SELECT COUNT(*) AS n FROM patients HAVING array_position(COUNT(*), 1) > 0")
    )
    assert fields["D"].startswith("E_SHELL")
    assert fields["C"] == "42883"
    assert fields["M"] == "function array_position(BIGINT, INTEGER) does not exist; a CAST may help"
    fields = error(client.query("SELECT CAST('x' || COUNT(*) AS INTEGER) FROM patients"))
    assert fields["C"] == "22P02"
    assert fields["M"].startswith("over the released rows: a value cannot be converted")
    assert fields["D"].startswith("E_SHELL")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("INSERT INTO patients VALUES (1)", "INSERT"),
        ("update patients set ward = 1", "UPDATE"),
        ("CREATE TEMP TABLE x (a int)", "CREATE TABLE"),
        ("DROP TABLE patients", "DROP TABLE"),
        ("COPY patients FROM STDIN", "COPY FROM"),
        ("TRUNCATE patients", "TRUNCATE TABLE"),
    ],
)
def test_nothing_is_written(client: Client, statement: str, said: str) -> None:
    fields = error(client.query(statement))
    assert (fields["C"], fields["M"]) == (
        "25006",
        f"cannot execute {said} in a read-only transaction",
    )


def test_files_and_programs_are_out_of_reach(client: Client) -> None:
    for statement in (
        "COPY (SELECT 1) TO '/tmp/x'",
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "LOAD 'x'",
        "LISTEN x",
    ):
        assert error(client.query(statement))["C"] == "0A000"


def test_an_exhausted_budget_is_53400(serve: Callable[..., Server]) -> None:
    with Client(serve().port) as client:
        client.start()
        client.query("SET dpsql.epsilon = 999")
        client.query(count())
        fields = error(client.query("SELECT COUNT(*) FROM visits"))
    assert fields["C"] == "53400"


def test_a_fault_is_one_constant_message(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("CANARY_7f3a")

    monkeypatch.setattr("dpsql.session.Session.answer", broken)
    fields = error(client.query(count()))
    assert fields["C"] == "XX000"
    assert "CANARY" not in str(fields)
    monkeypatch.undo()
    assert len(rows(client.query(count()))) == 3


def test_explain_is_the_price_and_costs_nothing(client: Client, spent: Callable[[], int]) -> None:
    answer = client.query(f"EXPLAIN {count()}")
    assert tags(answer) == ["EXPLAIN"]
    first = rows(answer)[0][0]
    assert first is not None
    assert b"cost=" in first
    answer = client.extended(
        Parse(query="EXPLAIN SELECT COUNT(*) FROM patients WHERE ward > $1"),
        Describe(),
        Bind(param_values=[b"1"]),
        Execute(),
    )
    assert names(answer).startswith(
        "ParseComplete ParameterDescription RowDescription BindComplete DataRow"
    )
    (described,) = [message for message in answer if isinstance(message, codec.RowDescription)]
    assert [field.name for field in described.fields] == ["QUERY PLAN"]
    assert rows(client.query(f"EXPLAIN PRIVACY {count()}"))
    assert rows(client.query("SELECT * FROM dpsql.budget"))
    assert spent() == 0


def test_probes_give_columns_without_rows_and_cost_nothing(
    client: Client, spent: Callable[[], int]
) -> None:
    for text in (
        "SELECT * FROM visits LIMIT 0",
        "SELECT * FROM visits WHERE 1 = 0",
        "SELECT cost FROM visits LIMIT 1",
    ):
        answer = client.query(text)
        assert names(answer) == "RowDescription CommandComplete ReadyForQuery"
    assert len(notices(answer)) == 1 and "rows" in notices(answer)[0]
    assert spent() == 0


def test_it_is_told_that_a_number_made_of_released_rows_has_no_interval(client: Client) -> None:
    answer = client.query(
        "SELECT COUNT(*) AS n FROM patients WHERE weight > (SELECT AVG(weight) FROM patients)"
    )
    assert notices(answer)[0].startswith(
        "no interval of n: a private part reads the released rows of a subquery"
    )


def test_a_time_limit_that_no_clock_has_is_refused(client: Client) -> None:
    assert error(client.query("SET statement_timeout = '999999999d'"))["C"] == "22023"
    client.query("SET statement_timeout = 2147483647")
    assert rows(client.query("SELECT 1 AS one")) == [[b"1"]]


def test_columns_without_names_have_those_of_postgres(client: Client) -> None:
    answer = client.query(
        "SELECT COUNT(*), AVG(cost), 1 + 1, CASE WHEN true THEN 1 END FROM visits"
    )
    (described,) = [message for message in answer if isinstance(message, codec.RowDescription)]
    assert [field.name for field in described.fields] == ["count", "avg", "?column?", "case"]


def test_cursors_hold_no_more_than_a_connection_may(
    client: Client, spent: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that does not fit is refused before it is charged,
    and is answered when there is room.
    """
    monkeypatch.setattr("dpsql.server.executor.MOST_HELD", 3)
    client.query("BEGIN")
    client.query("DECLARE a CURSOR FOR SELECT x, x FROM (VALUES (1), (2)) t(x)")
    client.query(f"DECLARE b CURSOR FOR {count()}")
    assert len(rows(client.query("FETCH 1 FROM a"))) == 1
    client.query("SAVEPOINT s")
    assert error(client.query("FETCH ALL FROM b"))["C"] == "54000" and spent() == 0
    client.query("ROLLBACK TO s")
    assert len(rows(client.query("FETCH ALL FROM a"))) == 1
    client.query("CLOSE a")
    assert len(rows(client.query("FETCH ALL FROM b"))) == 3 and spent() == 1


def test_values_that_no_statement_needs_are_not_held(client: Client) -> None:
    answer = client.extended(
        Parse(query="SELECT $1 AS x"), Bind(param_values=[b"x" * (1024 * 1024 + 1)]), Execute()
    )
    assert error(answer)["C"] == "54000"
    assert rows(client.query("SELECT 1 AS one")) == [[b"1"]]
