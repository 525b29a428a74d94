"""A socket as a stream: which lengths a message may have, what its parts may take,
and when a peer is gone.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator

import pytest

from dpsql.server.protocol import stream
from dpsql.server.protocol.codec import (
    CopyData,
    MalformedMessage,
    ProtocolPhase,
    Query,
    ReadyForQuery,
    StartupMessage,
    Sync,
    Terminate,
    TransactionStatus,
)
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.stream import (
    LOGIN_CAP,
    MESSAGE_CAP,
    STARTUP_CAP,
    Disconnected,
    MessageStream,
    PartialMessageSpace,
)

SPACE = 1000


class Ends:
    """Both ends of a connection; clients share a little room for messages that come in part."""

    def __init__(self) -> None:
        here, self.peer = socket.socketpair()
        self.space = PartialMessageSpace(SPACE)
        self.stream = MessageStream(here, self.space)
        for end in (here, self.peer):
            end.settimeout(5)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)

    def left(self) -> int:
        """How much of the shared room is left."""
        least, most = 0, SPACE
        while least < most:
            middle = (least + most + 1) // 2
            fits = self.space.take(middle)
            self.space.give_back(middle if fits else 0)
            least, most = (middle, most) if fits else (least, middle - 1)
        return least


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.stream.close()
    made.peer.close()


def frame(letter: bytes, length: int, body: int) -> bytes:
    """A message that says one length and has so many bytes behind it."""
    return letter + struct.pack("!I", length) + bytes(body)


def test_messages_are_read_one_by_one_in_whatever_parts_they_come(ends: Ends) -> None:
    ends.peer.sendall(Query(query_string="SELECT 1").to_wire() + Sync().to_wire()[:3])
    assert ends.stream.receive() == Query(query_string="SELECT 1") and ends.stream.pending
    ends.peer.sendall(Sync().to_wire()[3:] + Terminate().to_wire())
    assert isinstance(ends.stream.receive(), Sync) and isinstance(ends.stream.receive(), Terminate)
    assert not ends.stream.pending


@pytest.mark.parametrize(
    ("length", "phase", "fits"),
    [
        (3, ProtocolPhase.READY, False),
        (4, ProtocolPhase.READY, True),
        (MESSAGE_CAP + 1, ProtocolPhase.READY, False),
        (3, ProtocolPhase.SASL_NEXT, False),
        (LOGIN_CAP, ProtocolPhase.SASL_NEXT, True),
        (LOGIN_CAP + 1, ProtocolPhase.SASL_NEXT, False),
    ],
)
def test_a_message_has_the_length_of_its_phase(
    ends: Ends, length: int, phase: ProtocolPhase, fits: bool
) -> None:
    letter = b"d" if phase is ProtocolPhase.READY else b"p"
    ends.peer.sendall(frame(letter, length, length - 4 if fits else 0))
    if fits:
        assert ends.stream.receive(phase)
    else:
        with pytest.raises(MalformedMessage):
            ends.stream.receive(phase)


@pytest.mark.parametrize(
    ("length", "fits"), [(7, False), (8, True), (STARTUP_CAP, True), (STARTUP_CAP + 1, False)]
)
def test_a_startup_packet_has_from_8_to_10000_bytes(ends: Ends, length: int, fits: bool) -> None:
    named = b"user\0ada\0a\0" + b"x" * (length - 21) + b"\0\0" if length > 21 else b""
    ends.peer.sendall(struct.pack("!II", length, 3 << 16) + named)
    if fits:
        message = ends.stream.receive_startup()
        assert isinstance(message, StartupMessage) and message.params.get("user") == (
            "ada" if named else None
        )
    else:
        with pytest.raises(MalformedMessage):
            ends.stream.receive_startup()


@pytest.mark.parametrize(("more", "fits"), [(0, True), (SPACE, True), (SPACE + 1, False)])
def test_long_messages_of_all_clients_share_one_room(ends: Ends, more: int, fits: bool) -> None:
    body = LOGIN_CAP + more
    ends.peer.sendall(frame(b"d", 4 + body, body))
    if fits:
        assert isinstance(ends.stream.receive(), CopyData) and ends.left() == SPACE - more
    else:
        with pytest.raises(WireError) as raised:
            ends.stream.receive()
        assert raised.value.sqlstate == "53200" and not ends.stream.pending
    ends.peer.sendall(Sync().to_wire())
    assert isinstance(ends.stream.receive(), Sync) and ends.left() == SPACE, (
        "it is given back with the next message"
    )


def test_what_there_is_no_room_for_is_read_away_to_its_end(ends: Ends) -> None:
    body = LOGIN_CAP + SPACE + 9000
    ends.peer.sendall(frame(b"d", 4 + body, body) + Sync().to_wire())
    with pytest.raises(WireError):
        ends.stream.receive()
    assert isinstance(ends.stream.receive(), Sync), "the message behind it was left"


def test_room_is_given_back_by_a_client_that_leaves(ends: Ends) -> None:
    body = LOGIN_CAP + 10
    ends.peer.sendall(frame(b"d", 4 + body, body))
    ends.stream.receive()
    assert ends.left() == SPACE - 10
    ends.stream.close()
    assert ends.left() == SPACE


def test_what_is_sent_is_gathered_up_to_32_kib(ends: Ends) -> None:
    ends.peer.setblocking(False)
    ready = ReadyForQuery(status=TransactionStatus.IDLE)
    ends.stream.send(ready, ready)
    ends.stream.send_all([bytes(32 * 1024 - 13)])
    with pytest.raises(BlockingIOError):
        ends.peer.recv(1)
    ends.stream.send_bytes(b"!")
    assert ends.peer.recv(1 << 20) == ready.to_wire() * 2 + bytes(32 * 1024 - 13) + b"!"
    ends.stream.send_bytes(b"?")
    ends.stream.flush()
    assert ends.peer.recv(1 << 20) == b"?"


def test_a_peer_that_is_gone_or_late_is_disconnected(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends.stream.limit(0.01)
    with pytest.raises(Disconnected):
        ends.stream.receive()
    now = [0.0]
    monkeypatch.setattr(stream.time, "monotonic", lambda: now[0])
    ends.peer.sendall(Sync().to_wire() * 2)
    ends.stream.limit(5)
    now[0] = 4.9
    assert isinstance(ends.stream.receive(), Sync)
    now[0] = 5.0
    assert isinstance(ends.stream.receive(), Sync), "it was read already"
    with pytest.raises(Disconnected):
        ends.stream.receive()
    ends.stream.limit(None)
    ends.peer.close()
    with pytest.raises(Disconnected):
        ends.stream.receive()


def test_the_rest_of_a_message_has_a_minute_and_the_next_one_any_time(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float | None] = []
    limit = ends.stream.limit
    monkeypatch.setattr(
        ends.stream, "limit", lambda seconds: (limits.append(seconds), limit(seconds))
    )
    ends.peer.sendall(Sync().to_wire())
    ends.stream.receive()
    assert limits == []
    body = 9000
    ends.peer.sendall(frame(b"d", 4 + body, body))
    ends.stream.receive()
    assert limits == [60.0, None]


def test_bytes_before_a_handshake_are_refused_and_a_socket_alone_is_not_secure(ends: Ends) -> None:
    assert not ends.stream.secured
    ends.peer.sendall(Sync().to_wire() + b"\x16")
    ends.stream.receive()
    with pytest.raises(MalformedMessage):
        ends.stream.secure(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
