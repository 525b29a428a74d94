"""SCRAM-SHA-256, the server's half; nothing else in dpsql knows scramp."""

from __future__ import annotations

import base64
import re
import secrets
from dataclasses import dataclass

from scramp import ScramException, ScramMechanism
from scramp.core import ScramServer

PLAIN, BOUND = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
#: How often a new password is hashed: the most that JDBC and node-postgres take without being told to.
ITERATIONS = 100_000
#: What RFC 7677 and clients want at least, and what nobody would wait for.
FEWEST, MOST = 4096, 10_000_000
SALT_BYTES = 16
_VERIFIER = re.compile(
    r"SCRAM-SHA-256\$([1-9][0-9]{3,7}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)", re.ASCII
)


class Denied(Exception):
    """The client does not know the password, or does not keep to the protocol."""


@dataclass(frozen=True, repr=False)
class Verifier:
    """What the server keeps of a password: enough to know who has it, not enough to be somebody."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    @classmethod
    def of(cls, password: str, iterations: int = ITERATIONS) -> Verifier:
        """A fresh verifier of a password; ValueError where SASLprep cannot prepare it."""
        try:
            salt, stored, server, _ = ScramMechanism(PLAIN).make_auth_info(
                password, iteration_count=iterations, salt=secrets.token_bytes(SALT_BYTES)
            )
        except ScramException:
            raise ValueError("the password holds characters that cannot be used in one") from None
        return cls(salt, stored, server, iterations)

    @classmethod
    def read(cls, text: str) -> Verifier:
        """The verifier as PostgreSQL writes it; ValueError for another text."""
        found = _VERIFIER.fullmatch(text)
        if found is None:
            raise ValueError("not a SCRAM-SHA-256 verifier")
        salt, stored, server = (base64.b64decode(part, validate=True) for part in found.groups()[1:])
        iterations = int(found[1])
        if len(salt) != SALT_BYTES or len(stored) != 32 or len(server) != 32 or not FEWEST <= iterations <= MOST:
            raise ValueError("not a SCRAM-SHA-256 verifier")
        return cls(salt, stored, server, iterations)

    def __str__(self) -> str:
        salt, stored, server = (
            base64.b64encode(part).decode() for part in (self.salt, self.stored_key, self.server_key)
        )
        return f"{PLAIN}${self.iterations}:{salt}${stored}:{server}"


class Exchange:
    """One login: the client's first message, ours, the client's proof, ours."""

    def __init__(self, mechanism: str, verifier: Verifier, certificate: str | None) -> None:
        if mechanism not in mechanisms(certificate):
            raise Denied
        binding = None if certificate is None else ("tls-server-end-point", certificate)

        def known(_name: str) -> tuple[bytes, bytes, bytes, int]:
            return verifier.salt, verifier.stored_key, verifier.server_key, verifier.iterations

        self._server: ScramServer = ScramMechanism(mechanism).make_server(known, channel_binding=binding)

    def first(self, message: bytes) -> bytes:
        """Our first message. The name in the client's is not read: the startup packet's counts, as in PostgreSQL."""
        try:
            flag, authorization, bare = message.decode("utf-8").split(",", 2)
            named = re.sub(r"^n=(?=,)", "n=x", bare)
            self._server.set_client_first(f"{flag},{authorization},{named}")
            self._server.client_first_bare = bare
            answer: str = self._server.get_server_first()
        except Exception:
            raise Denied from None
        return answer.encode()

    def last(self, message: bytes) -> bytes:
        """Our proof for the client's; Denied where the client has none."""
        try:
            self._server.set_client_final(message.decode("utf-8"))
            answer: str = self._server.get_server_final()
        except Exception:
            raise Denied from None
        if not answer.startswith("v="):
            raise Denied
        return answer.encode()


def mechanisms(certificate: str | None) -> list[str]:
    """What is offered; binding to the channel needs a channel with a certificate."""
    return [PLAIN] if certificate is None else [BOUND, PLAIN]
