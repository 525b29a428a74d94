"""The login of a connection: TLS 1.3, the startup packet, and a password if there are users."""

from __future__ import annotations

import math
import secrets
import shlex
import ssl
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from dpsql.errors import InterfaceError, owners_log
from dpsql.server.authentication.failed_logins import FailedLogins, TooManyFailures
from dpsql.server.authentication.scram import AuthenticationFailed, ScramExchange, mechanisms
from dpsql.server.authentication.users import read_users
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import MalformedMessage, ProtocolPhase
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.stream import MessageStream


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """A TLS 1.3 context with a certificate chain and its key (PEM);
    raises InterfaceError if they cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["postgresql"])
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ssl.SSLError, ValueError):
        raise InterfaceError(
            f"{certificate.name} and {key.name}: are no certificate and its key in PEM, without a password"
        ) from None
    return context


def _no_password() -> str:
    raise ValueError


#: The version of the protocol that is spoken, 3.0.
_PROTOCOL = 0x00030000
#: What else a startup packet may hold that is no setting.
_NOT_SETTINGS = ("user", "database", "options", "replication")


@dataclass(frozen=True)
class LoginPolicy:
    """How clients log in: with TLS, with passwords from a file of users,
    or with neither on the loopback.
    """

    tls: ssl.SSLContext | None = None
    certificate: str | None = None
    users: Path | None = None
    tls_required: bool = False


@dataclass(frozen=True)
class LoginResult:
    """The user, database and settings of a client that has logged in."""

    user: str
    database: str
    settings: Mapping[str, str]


@dataclass(frozen=True)
class CancelKey:
    """The secret with which a client cancels a statement of another connection."""

    process: int
    secret: bytes


def greet(wire: MessageStream, policy: LoginPolicy) -> codec.StartupMessage | CancelKey:
    """Receive the startup packet, after TLS if the client asks for it; or a cancel request."""
    asked_tls = asked_gss = False
    while True:
        message = wire.receive_startup()
        match message:
            case codec.SSLRequest() if not asked_tls and not wire.secured:
                asked_tls = True
                wire.send_bytes(b"N" if policy.tls is None else b"S")
                wire.flush()
                if policy.tls is not None:
                    wire.secure(policy.tls)
            case codec.GSSEncRequest() if not asked_gss:
                asked_gss = True
                wire.send_bytes(b"N")
                wire.flush()
            case codec.CancelRequest(process_id=process, secret_key=secret):
                return CancelKey(process, secret)
            case codec.StartupMessage():
                return message
            case _:
                raise MalformedMessage


def admit(
    wire: MessageStream,
    policy: LoginPolicy,
    packet: codec.StartupMessage,
    failed_logins: FailedLogins,
    address: str,
) -> LoginResult:
    """Log in the client at an address, by password if there are users;
    raises WireError (28000, 28P01 …).
    """
    parameters = packet.params
    unknown = [name for name in parameters if name.startswith("_pq_.")]
    if packet.protocol_version != _PROTOCOL or unknown:
        wire.send(codec.NegotiateProtocolVersion(newest_minor=_PROTOCOL, unrecognized=unknown))
    user = parameters.get("user", "")
    if not user:
        raise WireError("28000", "no PostgreSQL user name specified in startup packet")
    if not user.isprintable() or len(user.encode("utf-8", "replace")) > 63:
        raise WireError("28000", "the user name has 1 to 63 bytes of characters that can be seen")
    if policy.tls_required and not wire.secured:
        raise WireError(
            "28000",
            f'no encryption: user "{user}" must connect with TLS',
            "Connect with sslmode=require.",
        )
    if policy.users is not None:
        _authenticate(
            wire, policy, policy.users, user, attempt=lambda: failed_logins.attempt(user, address)
        )
    if parameters.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise WireError("0A000", "replication is not supported")
    return LoginResult(user, parameters.get("database") or user, _settings(parameters))


def _authenticate(
    wire: MessageStream,
    policy: LoginPolicy,
    file: Path,
    user: str,
    attempt: Callable[[], AbstractContextManager[None]],
) -> None:
    """Run SCRAM; known and unknown users get the same messages after the same time."""
    failed = WireError("28P01", f'password authentication failed for user "{user}"')
    try:
        users = read_users(file)
    except InterfaceError as error:
        owners_log.record("reading the users", error)
        raise WireError(
            "28000", "the users cannot be read; the owner finds the reason in the server's log"
        ) from None
    certificate = policy.certificate if wire.secured else None
    wire.send(codec.AuthenticationSASL(mechanisms=mechanisms(certificate)))
    wire.flush()
    first = wire.receive(ProtocolPhase.SASL_FIRST)
    if not isinstance(first, codec.SASLInitialResponse):
        raise MalformedMessage
    try:
        exchange = ScramExchange(first.mechanism, users.verifier(user), certificate)
        wire.send(codec.AuthenticationSASLContinue(data=exchange.first(first.data)))
        wire.flush()
        last = wire.receive(ProtocolPhase.SASL_NEXT)
        if not isinstance(last, codec.SASLResponse):
            raise MalformedMessage
        with attempt():
            proof = exchange.last(last.data)
            if not users.knows(user):
                raise AuthenticationFailed
    except AuthenticationFailed:
        raise failed from None
    except TooManyFailures as error:
        seconds = math.ceil(error.seconds)
        raise WireError(
            "28000", f"too many failed logins; try again in {seconds} seconds"
        ) from None
    wire.send(codec.AuthenticationSASLFinal(data=proof))


def _settings(parameters: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of a startup packet, including those in ``options``:
    ``-c name=value`` and ``--name=value``.
    """
    result = {
        name: value
        for name, value in parameters.items()
        if name not in _NOT_SETTINGS and not name.startswith("_pq_.")
    }
    try:
        words = shlex.split(parameters.get("options", ""))
    except ValueError:
        raise WireError("42601", "the options of the connection cannot be read") from None
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        elif word.startswith("-c"):
            word = word[2:]
        elif word.startswith("--"):
            word = word[2:].replace("-", "_")
        else:
            raise WireError("42601", "options of a connection are written as -c name=value")
        name, equals, value = word.partition("=")
        if not equals:
            raise WireError("42601", "options of a connection are written as -c name=value")
        result[name] = value
    return result


def fresh_key(process: int) -> CancelKey:
    """A random cancel key for a connection."""
    return CancelKey(process, secrets.token_bytes(4))
