"""TLS: what it is bound to, what is not read over it, and where it must be."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import trustme
from wire_client import PASSWORD, Client, error, names

from dpsql.errors import InterfaceError
from dpsql.server.authentication.login import LoginPolicy, tls_context
from dpsql.server.listener import Server, require_safe
from dpsql.server.protocol import codec


@dataclass(frozen=True)
class Certificate:
    chain: Path
    key: Path
    authority: Path

    @property
    def policy(self) -> tuple[ssl.SSLContext, str]:
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


def test_tls_is_verified_and_bound_to_the_login(
    serve: Callable[..., Server], users: Path, certificate: Certificate
) -> None:
    server = serve(policy=LoginPolicy(*certificate.policy, users=users))
    with psycopg.connect(
        host="localhost",
        hostaddr="127.0.0.1",
        port=server.port,
        user="ada",
        password=PASSWORD,
        sslmode="verify-full",
        sslrootcert=str(certificate.authority),
        channel_binding="require",
    ) as connection:
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
    server = serve(policy=LoginPolicy(*certificate.policy))
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
    context, pem = certificate.policy
    for policy in (LoginPolicy(), LoginPolicy(users=users), LoginPolicy(context, pem)):
        with pytest.raises(InterfaceError, match="--tls-cert"):
            require_safe("0.0.0.0", policy)
    require_safe("0.0.0.0", LoginPolicy(context, pem, users))
    require_safe("127.0.0.1", LoginPolicy())


def test_where_tls_is_required_nobody_is_asked_for_a_password_without_it(
    serve: Callable[..., Server], users: Path, certificate: Certificate
) -> None:
    server = serve(policy=LoginPolicy(*certificate.policy, users=users, tls_required=True))
    with Client(server.port) as client:
        assert error(client.log_in("ada", PASSWORD))["C"] == "28000"


def test_certificates_that_are_none_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.pem").write_text("nothing")
    with pytest.raises(InterfaceError, match="no certificate"):
        tls_context(tmp_path / "a.pem", tmp_path / "a.pem")
