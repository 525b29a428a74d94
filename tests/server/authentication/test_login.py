"""Who is let in: passwords by SCRAM, the messages before it, and what a start may ask for."""

from __future__ import annotations

import psycopg
import pytest
from wire_client import PASSWORD, Client, Hung, error, names, rows

from dpsql.server.authentication.scram import AuthenticationFailed, ScramExchange, ScramVerifier
from dpsql.server.listener import Server
from dpsql.server.protocol import codec


def test_the_right_password_lets_in(guarded: Server) -> None:
    with Client(guarded.port) as client:
        assert names(client.log_in("ada", PASSWORD))[-13:] == "ReadyForQuery"
    with psycopg.connect(
        host="127.0.0.1", port=guarded.port, user="zoe.ohara@clinic", password="пароль"
    ) as connection:
        assert connection.info.user == "zoe.ohara@clinic"


def test_the_analyst_is_who_logged_in(guarded: Server) -> None:
    with Client(guarded.port) as client:
        client.log_in("ada", PASSWORD)
        client.query("SELECT COUNT(*) FROM patients")
    assert [entry.analyst for entry in guarded.database.accountant.ledger.history()] == ["ada"]


@pytest.mark.parametrize(
    ("user", "password"),
    [("ada", "wrong"), ("nobody", PASSWORD), ("nobody", "x"), ("ADA", PASSWORD)],
)
def test_wrong_password_and_unknown_user_are_told_the_same(
    guarded: Server, user: str, password: str
) -> None:
    with Client(guarded.port) as client:
        fields = error(client.log_in(user, password))
        assert (fields["S"], fields["C"]) == ("FATAL", "28P01")
        assert fields["M"] == f'password authentication failed for user "{user}"'
        with pytest.raises(Hung):
            client.receive()


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"n,,",
        b"n,,n=,r=",
        b"y,,n=,r=abc",
        b"p=tls-unique,,n=,r=abc",
        b"n,,n=,r=abc,m=x",
        b"\xff\xfe",
        b"n,a=ada,n=,r=abc",
    ],
)
def test_first_messages_that_are_none(guarded: Server, first: bytes) -> None:
    with Client(guarded.port) as client:
        client.send(codec.StartupMessage(params={"user": "ada"}))
        client.receive()
        client.send(codec.SASLInitialResponse(mechanism="SCRAM-SHA-256", data=first))
        answer = client.receive()
        if first.startswith(b"y"):  # in order where nothing can be bound
            assert isinstance(answer, codec.AuthenticationSASLContinue)
        else:
            assert isinstance(answer, codec.ErrorResponse)
            assert answer.fields["C"] in ("28P01", "08P01")


def test_a_mechanism_that_was_not_offered_and_a_proof_of_zeros_do_not_let_in() -> None:
    verifier = ScramVerifier.of(PASSWORD)
    for mechanism in ("SCRAM-SHA-1", "SCRAM-SHA-256-PLUS", "PLAIN", ""):
        with pytest.raises(AuthenticationFailed):
            ScramExchange(mechanism, verifier, None)
    exchange = ScramExchange("SCRAM-SHA-256", verifier, None)
    nonce = exchange.first(b"n,,n=,r=abcdef").decode().split(",")[0]
    with pytest.raises(AuthenticationFailed):
        exchange.last(f"c=biws,{nonce},p={'A' * 43}=".encode())
    with pytest.raises(AuthenticationFailed):
        exchange.last(b"")


def test_messages_out_of_turn_before_login_are_refused(guarded: Server) -> None:
    for message in (
        codec.Query(query_string="SELECT COUNT(*) FROM patients"),
        codec.Sync(),
        codec.Parse(query="SELECT 1"),
    ):
        with Client(guarded.port) as client:
            client.send(codec.StartupMessage(params={"user": "ada"}))
            client.receive()
            client.send(message)
            fields = error([client.receive()])
            assert (fields["S"], fields["C"]) == ("FATAL", "08P01")
    assert list(guarded.database.accountant.ledger.history()) == []


def test_a_start_needs_a_user_and_a_database_that_is_there(shared: Server) -> None:
    with Client(shared.port) as client:
        assert error(client.start(""))["C"] == "28000"
    with Client(shared.port) as client:
        assert error(client.start("a\nb"))["C"] == "28000"
    with Client(shared.port) as client:
        assert error(client.start(database="other"))["C"] == "3D000"
    with Client(shared.port) as client:
        assert error(client.start(replication="database"))["C"] == "0A000"
    with Client(shared.port) as client:
        assert error(client.start(TimeZone="Nowhere/Atall"))["C"] == "22023"
    with Client(shared.port) as client:
        client.start(options="-c dpsql.epsilon=0.5 --application_name=x\\ y", application_name="z")
        assert rows(client.query("SHOW dpsql.epsilon; SHOW application_name")) == [
            [b"0.5"],
            [b"x y"],
        ]


def test_a_newer_protocol_is_negotiated_down(shared: Server) -> None:
    with Client(shared.port) as client:
        client.send(
            codec.StartupMessage(params={"user": "ada", "_pq_.x": "1"}, protocol_version=0x0003270F)
        )
        answer = client.greeted()
        assert isinstance(answer[0], codec.NegotiateProtocolVersion)
        assert answer[0].unrecognized == ["_pq_.x"]
        assert isinstance(answer[-1], codec.ReadyForQuery)
