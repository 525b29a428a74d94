"""Many clients, slow ones and silent ones: caps, deadlines,
and a ledger that agrees with what clients saw.
"""

from __future__ import annotations

import random
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from wire_client import Client, Hung, error, eventually, notices, rows, status

from dpsql.server.listener import ConnectionLimits, Server
from dpsql.server.protocol import codec

CLIENTS, EACH = 32, 12


def test_one_too_many_is_told_so_and_a_place_that_is_left_is_free(
    serve: Callable[..., Server],
) -> None:
    server = serve(limits=ConnectionLimits(connections=2))
    with Client(server.port) as first, Client(server.port) as second, Client(server.port) as third:
        first.start()
        second.start()
        fields = error(third.start())
        assert (fields["S"], fields["C"]) == ("FATAL", "53300")
        first.send(codec.Terminate())
        assert eventually(lambda: server.connected == 1)
        with Client(server.port) as fourth:
            assert status(fourth.start()) == "I"


def test_who_does_not_log_in_in_time_is_let_go(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(login=0.5))
    packet = codec.StartupMessage(params={"user": "ada"}).to_wire()
    with Client(server.port) as silent, Client(server.port) as slow:
        with pytest.raises(Hung):
            for byte in packet:
                slow.send_bytes(bytes([byte]))
                time.sleep(0.05)
                slow.socket.settimeout(0.01)
                try:
                    slow.take(1)
                except TimeoutError:
                    continue
        with pytest.raises(Hung):
            silent.receive()


def test_a_crowd_that_never_logs_in_does_not_keep_others_out(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(arriving=20, login=60))
    idle = [Client(server.port) for _ in range(40)]
    time.sleep(1.2)
    try:
        for _ in range(5):
            with Client(server.port) as client:
                assert status(client.start()) == "I"
    finally:
        for each in idle:
            each.socket.close()


@pytest.mark.parametrize("length", [0, 7, 10_001, 2**31, 2**32 - 1])
def test_the_first_packet_has_a_cap(shared: Server, length: int) -> None:
    with Client(shared.port) as client:
        client.send_bytes(struct.pack("!I", length) + b"\x00\x03\x00\x00user\x00")
        assert error([client.receive()])["C"] == "08P01"


def test_messages_have_a_cap_before_and_after_login(
    serve: Callable[..., Server], shared: Server
) -> None:
    with Client(shared.port) as client:
        client.start()
        client.send_bytes(b"Q" + struct.pack("!I", 16 * 1024 * 1024 + 1))
        assert error([client.receive()])["C"] == "08P01"
    with Client(shared.port) as client:
        client.start()
        fields = error(client.query("SELECT " + "1," * 200_000 + "1"))
        assert fields["C"] == "54000"


def test_five_hundred_at_once_are_served_or_told(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(connections=50, user_connections=50))
    outcomes: Counter[str] = Counter()
    policy, held = threading.Event(), threading.Event()

    def visit(_: int) -> str:
        policy.wait()
        try:
            with Client(server.port, timeout=60) as client:
                answer = client.start()
                if isinstance(answer[-1], codec.ReadyForQuery):
                    held.wait(5)
                    return "in" if rows(client.query("SELECT 1 AS one")) == [[b"1"]] else "wrong"
                return error(answer)["C"]
        except (Hung, ConnectionError):
            return "hung up"

    with ThreadPoolExecutor(500) as pool:
        visits = [pool.submit(visit, number) for number in range(500)]
        policy.set()
        outcomes.update(visited.result() for visited in visits)
    assert set(outcomes) <= {"in", "53300", "hung up"}
    assert outcomes["in"] >= 50
    assert outcomes["hung up"] <= 25
    assert eventually(lambda: server.connected == 0)
    with Client(server.port) as client:
        assert status(client.start()) == "I"


def test_the_ledger_agrees_with_what_many_clients_saw(serve: Callable[..., Server]) -> None:
    server = serve()
    wanted = [
        "SELECT COUNT(*) FROM visits",
        "SELECT nope FROM visits",
        "SELECT 1 AS one",
        "SHOW dpsql.epsilon",
    ]

    def talk(number: int) -> int:
        """The charges that a client was told of."""
        told, dice = 0, random.Random(number)
        with Client(server.port, timeout=60) as client:
            client.start(f"analyst{number}", options=f"-c dpsql.epsilon=0.{2 * number + 101}")
            for turn in range(EACH):
                text = dice.choice(wanted)
                if text == wanted[0]:
                    text += f" WHERE cost < {turn}.{number}"
                if dice.random() < 0.5:
                    answer = client.query(text)
                else:
                    answer = client.extended(
                        codec.Parse(query=text), codec.Describe(), codec.Bind(), codec.Execute()
                    )
                prices = [notice for notice in notices(answer) if "this one took" in notice]
                assert len(prices) == int("COUNT" in text)
                assert len(rows(answer)) == int("nope" not in text)
                told += len(prices)
        return told

    with ThreadPoolExecutor(CLIENTS) as pool:
        told = dict(zip(range(CLIENTS), pool.map(talk, range(CLIENTS)), strict=True))
    written = Counter(entry.analyst for entry in server.database.accountant.ledger.history())
    assert written == {f"analyst{number}": count for number, count in told.items() if count}
    assert server.database.accountant.ledger.verify() == sum(told.values())


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(
    serve: Callable[..., Server],
) -> None:
    server = serve()
    for cut in range(1, 12):
        with Client(server.port) as client:
            client.start()
            client.send_bytes(
                codec.Query(query_string="SELECT COUNT(*) FROM visits").to_wire()[:cut]
            )
    assert eventually(lambda: server.connected == 0)
    assert list(server.database.accountant.ledger.history()) == []
