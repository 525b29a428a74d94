"""A client that says exactly what a test wants it to say, message by message."""

from __future__ import annotations

import socket
import ssl
import struct
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from scramp import ScramClient

from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import Message, from_backend
from dpsql.session.database import Database

#: What ada logs in with.
PASSWORD = "correct horse battery staple"


class Hung(Exception):
    """The server has closed the connection."""


class Client:
    """A connection to a server on this machine."""

    def __init__(self, port: int, *, timeout: float = 20, source: str = "127.0.0.1") -> None:
        self.socket: socket.socket = socket.create_connection(
            ("127.0.0.1", port), timeout=timeout, source_address=(source, 0)
        )
        self._in = bytearray()
        self.process, self.secret = 0, b""
        self.parameters: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()

    def send(self, *messages: Message) -> None:
        self.socket.sendall(b"".join(message.to_wire() for message in messages))

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendall(data)

    def take(self, size: int) -> bytes:
        while len(self._in) < size:
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                raise Hung from None
            if not data:
                raise Hung
            self._in += data
        taken = bytes(self._in[:size])
        del self._in[:size]
        return taken

    def receive(self) -> Message:
        head = self.take(5)
        (length,) = struct.unpack("!I", head[1:])
        return from_backend(head + self.take(length - 4))

    def until(self, last: type[Message]) -> list[Message]:
        """Messages up to one of that kind, which is the last of them."""
        found = [self.receive()]
        while not isinstance(found[-1], last):
            found.append(self.receive())
        return found

    def tls(self, authority: str | None = None) -> None:
        self.send(codec.SSLRequest())
        assert self.take(1) == b"S"
        context = ssl.create_default_context(cafile=authority)
        if authority is None:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")

    def start(self, user: str = "ada", **parameters: str) -> list[Message]:
        """Log in without a password; everything up to ReadyForQuery or an error."""
        self.send(codec.StartupMessage(params={"user": user, **parameters}))
        return self.greeted()

    def greeted(self) -> list[Message]:
        found: list[Message] = []
        while not found or not isinstance(found[-1], codec.ReadyForQuery | codec.ErrorResponse):
            found.append(self.receive())
            match found[-1]:
                case codec.BackendKeyData(process_id=process, secret_key=secret):
                    self.process, self.secret = process, secret
                case codec.ParameterStatus(name=name, value=value):
                    self.parameters[name] = value
        return found

    def log_in(self, user: str, password: str, **parameters: str) -> list[Message]:
        """Log in with SCRAM-SHA-256; everything after the exchange."""
        self.send(codec.StartupMessage(params={"user": user, **parameters}))
        offered = self.receive()
        if not isinstance(offered, codec.AuthenticationSASL):
            return [offered]
        scram = ScramClient(["SCRAM-SHA-256"], user, password)
        first = scram.get_client_first().encode()
        self.send(codec.SASLInitialResponse(mechanism="SCRAM-SHA-256", data=first))
        answer = self.receive()
        assert isinstance(answer, codec.AuthenticationSASLContinue), answer
        scram.set_server_first(answer.data.decode())
        self.send(codec.SASLResponse(data=scram.get_client_final().encode()))
        final = self.receive()
        if isinstance(final, codec.AuthenticationSASLFinal):
            scram.set_server_final(final.data.decode())
            return self.greeted()
        return [final]

    def query(self, text: str) -> list[Message]:
        """The simple protocol."""
        self.send(codec.Query(query_string=text))
        return self.until(codec.ReadyForQuery)

    def extended(self, *messages: Message) -> list[Message]:
        """The messages and a Sync."""
        self.send(*messages, codec.Sync())
        return self.until(codec.ReadyForQuery)


def names(messages: list[Message]) -> str:
    """The kinds of the messages with blanks between them, notices and settings left out."""
    left_out = codec.NoticeResponse | codec.ParameterStatus
    return " ".join(
        type(message).__name__ for message in messages if not isinstance(message, left_out)
    )


def rows(messages: list[Message]) -> list[list[bytes | None]]:
    return [message.columns for message in messages if isinstance(message, codec.DataRow)]


def error(messages: list[Message]) -> dict[str, str]:
    """The fields of the one error."""
    (found,) = [message for message in messages if isinstance(message, codec.ErrorResponse)]
    return found.fields


def notices(messages: list[Message]) -> list[str]:
    return [message.message for message in messages if isinstance(message, codec.NoticeResponse)]


def tags(messages: list[Message]) -> list[str]:
    return [message.tag for message in messages if isinstance(message, codec.CommandComplete)]


def status(messages: list[Message]) -> str:
    last = messages[-1]
    assert isinstance(last, codec.ReadyForQuery)
    return last.status.value


def charges(database: Database) -> int:
    """How many charges the ledger holds."""
    return sum(1 for _ in database.accountant.ledger.history())


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether the condition comes to hold in that time."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()
