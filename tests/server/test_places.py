"""Places of one user, and room for messages that have come in part."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

import pytest
from wire_client import Client, Hung, error, eventually, rows, status

from dpsql.server.listener import ConnectionLimits, Server
from dpsql.server.protocol import codec, stream

MEGABYTE = 1024 * 1024


def half(size: int, sent: int) -> bytes:
    """The beginning of a Query of that size."""
    return b"Q" + struct.pack("!I", size) + b" " * sent


def test_one_user_has_so_many_places_and_others_come_in(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(user_connections=2))
    with Client(server.port) as first, Client(server.port) as second, Client(server.port) as third:
        first.start()
        second.start()
        fields = error(third.start())
        assert (fields["S"], fields["C"]) == ("FATAL", "53300")
        assert fields["M"] == 'too many connections for role "ada"'
        with Client(server.port) as other:
            assert status(other.start("bob")) == "I"
        first.send(codec.Terminate())
        assert eventually(lambda: server.connected == 1)
        with Client(server.port) as fourth:
            assert status(fourth.start()) == "I"


def test_halves_of_long_messages_share_a_room(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(unfinished=4 * MEGABYTE))
    clients = [Client(server.port) for _ in range(8)]
    try:
        for client in clients:
            client.start()
        refused = 0
        for client in clients:
            client.send_bytes(half(3 * MEGABYTE, MEGABYTE))
        time.sleep(0.5)
        for client in clients:
            client.socket.settimeout(0.5)
            try:
                client.send_bytes(b" " * (2 * MEGABYTE - 5) + b"\0")
                fields = error([client.receive()])
            except TimeoutError:
                continue
            refused += 1
            assert (fields["S"], fields["C"]) in (("FATAL", "53200"), ("ERROR", "54000"))
        assert refused >= 4
        with Client(server.port) as other:
            other.start()
            assert rows(other.query("SELECT 1 AS one")) == [[b"1"]]
    finally:
        for client in clients:
            client.socket.close()
    assert eventually(lambda: server.connected == 0) and server._unfinished._left == 4 * MEGABYTE


def test_who_finds_no_room_is_told_so_when_the_message_has_come(
    serve: Callable[..., Server],
) -> None:
    server = serve(limits=ConnectionLimits(unfinished=MEGABYTE))
    with Client(server.port) as hoarder, Client(server.port) as client:
        hoarder.start()
        hoarder.send_bytes(half(2 * MEGABYTE, MEGABYTE))
        assert eventually(lambda: server._unfinished._left < MEGABYTE // 4)
        client.start()
        client.send_bytes(half(MEGABYTE, MEGABYTE - 5) + b"\0")
        fields = error([client.receive()])
        assert (fields["S"], fields["C"]) == ("FATAL", "53200")
        with pytest.raises(Hung):
            client.receive()


def test_a_client_that_leaves_gives_its_room_back(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(unfinished=2 * MEGABYTE))
    with Client(server.port) as client:
        client.start()
        client.send_bytes(half(4 * MEGABYTE, MEGABYTE))
        assert eventually(lambda: server._unfinished._left < 3 * MEGABYTE // 2)
    assert eventually(lambda: server.connected == 0) and server._unfinished._left == 2 * MEGABYTE


def test_the_rest_of_a_message_comes_in_time(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "REST", 0.5)
    server = serve()
    with Client(server.port) as client, Client(server.port) as idle:
        client.start()
        idle.start()
        client.send_bytes(half(MEGABYTE, 10))
        with pytest.raises(Hung):
            client.receive()
        assert rows(idle.query("SELECT 1 AS one")) == [[b"1"]]


def test_before_login_messages_are_small(guarded: Server) -> None:
    with Client(guarded.port) as client:
        client.send(codec.StartupMessage(params={"user": "ada"}))
        client.receive()
        client.send_bytes(b"p" + struct.pack("!I", 64 * 1024 + 1))
        assert error([client.receive()])["C"] == "08P01"
