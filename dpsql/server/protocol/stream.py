"""A socket as a stream of messages, with limits on the size of messages,
their sum over clients, and time.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Sequence

from dpsql.server.protocol.codec import (
    MalformedMessage,
    Message,
    ProtocolPhase,
    from_frontend,
    startup,
)
from dpsql.server.protocol.error_response import WireError


class PartialMessageSpace:
    """A limit of bytes that clients share: they take what they need and give it back."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take so many bytes; False if they are not left."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """Give so many bytes back."""
        with self._lock:
            self._left += size


#: Bytes of a startup packet, of a message before authentication, and of a message after it.
STARTUP_CAP = 10_000
LOGIN_CAP = 64 * 1024
MESSAGE_CAP = 16 * 1024 * 1024
#: Seconds in which the rest of a message comes,
#: and in which what there is no room for is read #: away.
REST = 60.0
READ_AWAY = 5.0
#: Bytes that are gathered before they are sent.
_CHUNK = 32 * 1024
_LENGTH = struct.Struct("!I")


class Disconnected(Exception):
    """The peer has gone, was too slow, or was disconnected."""


class MessageStream:
    """The messages of one client; sent messages are buffered until `flush`.

    A partial message longer than `LOGIN_CAP` takes bytes from ``unfinished`` until the next message
    is received.
    """

    def __init__(self, connection: socket.socket, unfinished: PartialMessageSpace) -> None:
        self._socket = connection
        self._unfinished = unfinished
        self._taken = 0
        self._in = bytearray()
        self._out = bytearray()
        self._deadline: float | None = None

    def limit(self, seconds: float | None) -> None:
        """Limit the time of all reads from now on; None removes the limit."""
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._socket.settimeout(seconds)

    def secure(self, context: ssl.SSLContext) -> None:
        """Switch to TLS; bytes received before the handshake were not protected,
        so they are refused.
        """
        if self._in:
            raise MalformedMessage
        self._socket.settimeout(self._left())
        try:
            self._socket = context.wrap_socket(self._socket, server_side=True)
        except (OSError, ValueError):
            raise Disconnected from None

    @property
    def secured(self) -> bool:
        """Whether the connection uses TLS."""
        return isinstance(self._socket, ssl.SSLSocket)

    def receive_startup(self) -> Message:
        """Receive the first packet, which has no type letter."""
        (length,) = _LENGTH.unpack(self._take(4))
        if not 8 <= length <= STARTUP_CAP:
            raise MalformedMessage
        return startup(_LENGTH.pack(length) + self._take(length - 4))

    def receive(self, stage: ProtocolPhase = ProtocolPhase.READY) -> Message:
        """Receive the next message.

        Raises MalformedMessage if it is not valid or too long for this phase, and WireError (53200)
        if it is long and partial messages of others have used up the shared limit.
        """
        self._give_back()
        head = self._take(5)
        (length,) = _LENGTH.unpack(head[1:])
        if not 4 <= length <= (MESSAGE_CAP if stage is ProtocolPhase.READY else LOGIN_CAP):
            raise MalformedMessage
        if stage is not ProtocolPhase.READY or len(self._in) >= length - 4:
            return from_frontend(head + self._take(length - 4), stage)
        self.limit(REST)
        rest = self._take(length - 4)
        self.limit(None)
        return from_frontend(head + rest, stage)

    @property
    def pending(self) -> bool:
        """Whether received bytes are waiting to be read."""
        return bool(self._in)

    def send(self, *messages: Message) -> None:
        """Send messages, in order."""
        for message in messages:
            self.send_bytes(message.to_wire())

    def send_bytes(self, data: bytes) -> None:
        """Send bytes in wire format."""
        self._out += data
        if len(self._out) >= _CHUNK:
            self.flush()

    def send_all(self, frames: Sequence[bytes]) -> None:
        """Send many frames."""
        for frame in frames:
            self.send_bytes(frame)

    def flush(self) -> None:
        """Send what is buffered."""
        if self._out:
            data = self._out
            self._out = bytearray()
            try:
                self._socket.sendall(data)
            except (OSError, ValueError):
                raise Disconnected from None

    def wake(self) -> None:
        """End reads of other threads as if the peer had closed; writing stays possible."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RD)

    def cut(self) -> None:
        """End reads and writes of other threads."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket; under TLS, announce it,
        so that the peer does not take it for a truncation.
        """
        self._give_back()
        if isinstance(self._socket, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):
                self._socket.settimeout(0)
                self._socket.unwrap()
        with contextlib.suppress(OSError, ValueError):
            self._socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._in) < size:
            data = self._receive(size - len(self._in))
            if not self._has_room(len(self._in) + len(data)):
                self._read_away(size - len(self._in) - len(data))
                raise WireError(
                    "53200", "out of memory for messages that have come in part", "Try again later."
                )
            self._in += data
        taken = bytes(self._in[:size])
        del self._in[:size]
        return taken

    def _receive(self, size: int) -> bytes:
        try:
            if self._deadline is not None:
                self._socket.settimeout(self._left())
            data = self._socket.recv(max(8192, min(size, 262_144)))
        except (OSError, ValueError):
            raise Disconnected from None
        if not data:
            raise Disconnected
        return data

    def _has_room(self, size: int) -> bool:
        """Whether so many bytes of a message may be buffered."""
        more = size - LOGIN_CAP - self._taken
        if more > 0:
            if not self._unfinished.take(more):
                return False
            self._taken += more
        return True

    def _read_away(self, size: int) -> None:
        """Read and discard the rest of a message, so that the peer gets to read the error."""
        self._in.clear()
        self._give_back()
        self.limit(READ_AWAY)
        with contextlib.suppress(Disconnected):
            while size > 0:
                size -= len(self._receive(size))

    def _give_back(self) -> None:
        self._unfinished.give_back(self._taken)
        self._taken = 0

    def _left(self) -> float | None:
        if self._deadline is None:
            return None
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise Disconnected
        return remaining
