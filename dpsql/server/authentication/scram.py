"""The server's side of SCRAM-SHA-256; the only module that uses scramp."""

from __future__ import annotations

import base64
import re
import secrets
from dataclasses import dataclass

from scramp import ScramException, ScramMechanism
from scramp.core import ScramServer

PLAIN = "SCRAM-SHA-256"
BOUND = "SCRAM-SHA-256-PLUS"
#: How often a new password is hashed: the most that JDBC and node-postgres take without being told
#: to.
ITERATIONS = 100_000
#: What RFC 7677 and clients want at least, and what nobody would wait for.
FEWEST = 4096
MOST = 10_000_000
SALT_BYTES = 16
_VERIFIER = re.compile(
    r"SCRAM-SHA-256\$([1-9][0-9]{3,7}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)",
    re.ASCII,
)


class AuthenticationFailed(Exception):
    """The client does not know the password, or violates the protocol."""


@dataclass(frozen=True, repr=False)
class ScramVerifier:
    """A SCRAM verifier: with it a server can check a password, but cannot log in elsewhere."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    @classmethod
    def of(cls, password: str, iterations: int = ITERATIONS) -> ScramVerifier:
        """A new verifier of a password; raises ValueError if SASLprep rejects it."""
        try:
            salt, stored, server, _ = ScramMechanism(PLAIN).make_auth_info(
                password, iteration_count=iterations, salt=secrets.token_bytes(SALT_BYTES)
            )
        except ScramException:
            raise ValueError("the password holds characters that cannot be used in one") from None
        return cls(salt, stored, server, iterations)

    @classmethod
    def parse(cls, text: str) -> ScramVerifier:
        """Read a verifier in PostgreSQL's format; raises ValueError for any other text."""
        match = _VERIFIER.fullmatch(text)
        if match is None:
            raise ValueError("not a SCRAM-SHA-256 verifier")
        salt, stored, server = (
            base64.b64decode(group, validate=True) for group in match.groups()[1:]
        )
        iterations = int(match[1])
        if (
            len(salt) != SALT_BYTES
            or len(stored) != 32
            or len(server) != 32
            or not FEWEST <= iterations <= MOST
        ):
            raise ValueError("not a SCRAM-SHA-256 verifier")
        return cls(salt, stored, server, iterations)

    def __str__(self) -> str:
        salt, stored, server = (
            base64.b64encode(key).decode() for key in (self.salt, self.stored_key, self.server_key)
        )
        return f"{PLAIN}${self.iterations}:{salt}${stored}:{server}"


class ScramExchange:
    """One SCRAM exchange: the client's first message, the server's, the client's proof,
    the server's.
    """

    def __init__(self, mechanism: str, verifier: ScramVerifier, certificate: str | None) -> None:
        if mechanism not in mechanisms(certificate):
            raise AuthenticationFailed
        binding = None if certificate is None else ("tls-server-end-point", certificate)

        def known(_name: str) -> tuple[bytes, bytes, bytes, int]:
            return verifier.salt, verifier.stored_key, verifier.server_key, verifier.iterations

        self._server: ScramServer = ScramMechanism(mechanism).make_server(
            known, channel_binding=binding
        )

    def first(self, message: bytes) -> bytes:
        """The server's first message.

        The client's name here is ignored for the startup packet's, as in PostgreSQL.
        """
        try:
            flag, authorization, bare = message.decode("utf-8").split(",", 2)
            named = re.sub(r"^n=(?=,)", "n=x", bare)
            self._server.set_client_first(f"{flag},{authorization},{named}")
            self._server.client_first_bare = bare
            reply: str = self._server.get_server_first()
        except Exception:
            raise AuthenticationFailed from None
        return reply.encode()

    def last(self, message: bytes) -> bytes:
        """The server's proof; raises AuthenticationFailed if the client's is wrong."""
        try:
            self._server.set_client_final(message.decode("utf-8"))
            reply: str = self._server.get_server_final()
        except Exception:
            raise AuthenticationFailed from None
        if not reply.startswith("v="):
            raise AuthenticationFailed
        return reply.encode()


def mechanisms(certificate: str | None) -> list[str]:
    """The mechanisms that are offered; channel binding needs a TLS certificate."""
    return [PLAIN] if certificate is None else [BOUND, PLAIN]
