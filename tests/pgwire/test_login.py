"""Who gets in: users and their verifiers, SCRAM, TLS, and what is never told."""

from __future__ import annotations

import json
import os
import ssl
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import psycopg
import pytest
import trustme
from click.testing import CliRunner
from scramp import ScramClient
from wire_client import Client, Hung, error, names, rows

from dpsql.cli import commands
from dpsql.errors import InterfaceError
from dpsql.pgwire import codec
from dpsql.pgwire.login import Gate
from dpsql.pgwire.scram import Denied, Exchange, Verifier
from dpsql.pgwire.server import Server, require_safe
from dpsql.pgwire.tls import tls_context
from dpsql.pgwire.users import add_user, read_users, remove_user

PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class Certificate:
    chain: Path
    key: Path
    authority: Path

    @property
    def gate(self) -> tuple[ssl.SSLContext, str]:
        return tls_context(self.chain, self.key), self.chain.read_text()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    found = Certificate(folder / "chain.pem", folder / "key.pem", folder / "ca.pem")
    for blob in issued.cert_chain_pems:
        blob.write_to_path(found.chain, append=True)
    issued.private_key_pem.write_to_path(found.key)
    authority.cert_pem.write_to_path(found.authority)
    return found


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users.json"
    add_user(file, "ada", PASSWORD)
    add_user(file, "Zoë O'Hara", "пароль")
    return file


@pytest.fixture
def guarded(serve: Callable[..., Server], users: Path) -> Server:
    return serve(gate=Gate(users=users))


def test_the_right_password_lets_in(guarded: Server) -> None:
    with Client(guarded.port) as client:
        assert names(client.log_in("ada", PASSWORD))[-13:] == "ReadyForQuery"
    with psycopg.connect(host="127.0.0.1", port=guarded.port, user="Zoë O'Hara", password="пароль") as connection:
        assert connection.info.user == "Zoë O'Hara"


def test_the_analyst_is_who_logged_in(guarded: Server) -> None:
    with Client(guarded.port) as client:
        client.log_in("ada", PASSWORD)
        client.query("SELECT COUNT(*) FROM patients")
    assert [entry.analyst for entry in guarded.database.accountant.ledger.history()] == ["ada"]


@pytest.mark.parametrize(
    ("user", "password"), [("ada", "wrong"), ("nobody", PASSWORD), ("nobody", "x"), ("ADA", PASSWORD)]
)
def test_wrong_password_and_unknown_user_are_told_the_same(guarded: Server, user: str, password: str) -> None:
    with Client(guarded.port) as client:
        fields = error(client.log_in(user, password))
        assert (fields["S"], fields["C"]) == ("FATAL", "28P01")
        assert fields["M"] == f'password authentication failed for user "{user}"'
        with pytest.raises(Hung):
            client.receive()


def test_an_unknown_user_has_the_same_salt_at_each_try_and_after_a_restart(users: Path) -> None:
    first, again = (read_users(users).verifier("nobody") for _ in range(2))
    other = read_users(users).verifier("nobody2")
    assert str(first) == str(again)
    assert first.salt != other.salt
    assert len(first.salt) == len(read_users(users).verifier("ada").salt)


def test_an_unknown_user_costs_the_same_work(users: Path) -> None:
    """Call by call, from the lookup of the name to the refusal of the proof."""

    def work(user: str) -> list[str]:
        known, called = read_users(users), list[str]()
        client = ScramClient(["SCRAM-SHA-256"], user, "wrong", c_nonce="n" * 24)

        def note(frame: FrameType, event: str, argument: object) -> None:
            if event in ("call", "c_call") and Path(frame.f_code.co_filename).parent.name in ("pgwire", "scramp"):
                called.append(frame.f_code.co_qualname if event == "call" else getattr(argument, "__qualname__", ""))

        hello = client.get_client_first().encode()
        sys.setprofile(note)
        try:
            exchange = Exchange("SCRAM-SHA-256", known.verifier(user), None)
            first = exchange.first(hello)
        finally:
            sys.setprofile(None)
        client.set_server_first(first.decode())
        last = client.get_client_final().encode()
        sys.setprofile(note)
        try:
            with pytest.raises(Denied):
                exchange.last(last)
        finally:
            sys.setprofile(None)
        return called

    work("bob")  # what is remembered from then on, such as patterns
    known, unknown = work("ada"), work("eve")
    assert known == unknown and known.count("Users._drawn") == 3 and "Exchange.last" in known


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
        if isinstance(answer, codec.AuthenticationSASLContinue):  # "y" is in order where nothing can be bound
            assert first.startswith(b"y")
        else:
            assert isinstance(answer, codec.ErrorResponse)
            assert answer.fields["C"] in ("28P01", "08P01")


def test_a_mechanism_that_was_not_offered_and_a_proof_of_zeros_do_not_let_in() -> None:
    verifier = Verifier.of(PASSWORD)
    for mechanism in ("SCRAM-SHA-1", "SCRAM-SHA-256-PLUS", "PLAIN", ""):
        with pytest.raises(Denied):
            Exchange(mechanism, verifier, None)
    exchange = Exchange("SCRAM-SHA-256", verifier, None)
    nonce = exchange.first(b"n,,n=,r=abcdef").decode().split(",")[0]
    with pytest.raises(Denied):
        exchange.last(f"c=biws,{nonce},p={'A' * 43}=".encode())
    with pytest.raises(Denied):
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


def test_the_file_of_users_is_for_its_owner_only(users: Path) -> None:
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    assert PASSWORD not in users.read_text()
    assert json.loads(users.read_text())["users"]["ada"].startswith("SCRAM-SHA-256$4096:")
    users.chmod(0o640)
    with pytest.raises(InterfaceError, match="others may read"):
        read_users(users)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"secret": "AAAA", "users": {}}', '{"secret": 1, "users": []}'])
def test_a_file_that_is_none_is_said(tmp_path: Path, content: str) -> None:
    file = tmp_path / "users.json"
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(InterfaceError, match="is not a file of users"):
        read_users(file)


def test_a_removed_user_is_unknown_from_the_next_connection_on(guarded: Server, users: Path) -> None:
    remove_user(users, "ada")
    with Client(guarded.port) as client:
        assert error(client.log_in("ada", PASSWORD))["C"] == "28P01"
    with pytest.raises(InterfaceError, match="has no user ada"):
        remove_user(users, "ada")


def test_users_that_cannot_be_read_let_nobody_in(guarded: Server, users: Path) -> None:
    users.unlink()
    with Client(guarded.port) as client:
        fields = error(client.log_in("ada", PASSWORD))
    assert fields["C"] == "28000"
    assert str(users.parent) not in str(fields)


@pytest.mark.parametrize(
    ("name", "password"), [("", "x"), ("a" * 64, "x"), ("a\nb", "x"), ("ada", ""), ("ada", "a\x07b")]
)
def test_names_and_passwords_that_cannot_be(tmp_path: Path, name: str, password: str) -> None:
    with pytest.raises(InterfaceError):
        add_user(tmp_path / "users.json", name, password)


def test_users_by_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    runner = CliRunner()
    added = runner.invoke(commands, ["user", "add", "ada", "--users", str(file)], input=f"{PASSWORD}\n{PASSWORD}\n")
    assert added.exit_code == 0, added.output
    assert PASSWORD not in added.output
    assert (
        runner.invoke(commands, ["user", "add", "bob", "--users", str(file), "--password-stdin"], input="b\n").exit_code
        == 0
    )
    assert runner.invoke(commands, ["user", "list", "--users", str(file)]).output == "ada\nbob\n"
    assert runner.invoke(commands, ["user", "remove", "ada", "--users", str(file)]).exit_code == 0
    assert runner.invoke(commands, ["user", "list", "--users", str(file)]).output == "bob\n"
    assert runner.invoke(commands, ["user", "remove", "ada", "--users", str(file)]).exit_code == 2


def test_tls_is_verified_and_bound_to_the_login(
    serve: Callable[..., Server], users: Path, certificate: Certificate
) -> None:
    server = serve(gate=Gate(*certificate.gate, users=users))
    with psycopg.connect(
        host="localhost", hostaddr="127.0.0.1", port=server.port, user="ada", password=PASSWORD, sslmode="verify-full",
        sslrootcert=str(certificate.authority), channel_binding="require",
    ) as connection:  # fmt: skip
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with Client(server.port) as client:
        client.tls(str(certificate.authority))
        assert isinstance(client.socket, ssl.SSLSocket)
        assert client.socket.version() == "TLSv1.3"
        assert names(client.log_in("ada", PASSWORD))[-13:] == "ReadyForQuery"
    old = ssl.create_default_context(cafile=str(certificate.authority))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with Client(server.port) as client:
        client.send(codec.SSLRequest())
        assert client.take(1) == b"S"
        with pytest.raises((ssl.SSLError, ConnectionError)):
            old.wrap_socket(client.socket, server_hostname="localhost")


def test_what_was_sent_before_tls_began_is_not_read_after_it(
    serve: Callable[..., Server], certificate: Certificate
) -> None:
    server = serve(gate=Gate(*certificate.gate))
    with Client(server.port) as client:
        client.send(codec.SSLRequest(), codec.StartupMessage(params={"user": "mallory"}))
        assert client.take(1) == b"S"
        fields = error([client.receive()])
        assert fields["C"] == "08P01"


def test_no_tls_and_no_gss_are_said_with_a_letter(shared: Server) -> None:
    with Client(shared.port) as client:
        client.send(codec.GSSEncRequest())
        assert client.take(1) == b"N"
        client.send(codec.SSLRequest())
        assert client.take(1) == b"N"
        assert names(client.start())[-13:] == "ReadyForQuery"


def test_off_the_loopback_tls_and_users_are_needed(users: Path, certificate: Certificate) -> None:
    context, pem = certificate.gate
    for gate in (Gate(), Gate(users=users), Gate(context, pem)):
        with pytest.raises(InterfaceError, match="--tls-cert"):
            require_safe("0.0.0.0", gate)
    require_safe("0.0.0.0", Gate(context, pem, users))
    require_safe("127.0.0.1", Gate())


def test_where_tls_is_required_nobody_is_asked_for_a_password_without_it(
    serve: Callable[..., Server], users: Path, certificate: Certificate
) -> None:
    server = serve(gate=Gate(*certificate.gate, users=users, tls_required=True))
    with Client(server.port) as client:
        assert error(client.log_in("ada", PASSWORD))["C"] == "28000"


def test_certificates_that_are_none_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.pem").write_text("nothing")
    with pytest.raises(InterfaceError, match="no certificate"):
        tls_context(tmp_path / "a.pem", tmp_path / "a.pem")


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
        assert rows(client.query("SHOW dpsql.epsilon; SHOW application_name")) == [[b"0.5"], [b"x y"]]


def test_a_newer_protocol_is_negotiated_down(shared: Server) -> None:
    with Client(shared.port) as client:
        client.send(codec.StartupMessage(params={"user": "ada", "_pq_.x": "1"}, protocol_version=0x0003270F))
        answer = client.greeted()
        assert isinstance(answer[0], codec.NegotiateProtocolVersion)
        assert answer[0].unrecognized == ["_pq_.x"]
        assert isinstance(answer[-1], codec.ReadyForQuery)


def test_no_lock_or_draft_is_left_readable(users: Path) -> None:
    for file in users.parent.iterdir():
        if file.name.startswith("users"):
            assert stat.S_IMODE(os.stat(file).st_mode) == 0o600  # noqa: PTH116
