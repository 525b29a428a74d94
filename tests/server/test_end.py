"""Statements that are ended: by their user, by the clock, by the end of the server.

What was charged stays charged.
"""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from databases import clinic
from wire_client import Client, Hung, charges, error, eventually, rows, status

from dpsql.server.listener import ConnectionLimits, Server
from dpsql.server.protocol import codec
from dpsql.session.database import open_database

_NAMES = [f"p{place}" for place in range(22)]
#: A shell over very many rows of a public table; the private count beside it is charged.
ENDLESS = (
    f"SELECT SUM(length({' || '.join(f'{name}.place' for name in _NAMES)}) * n) "
    f"FROM (SELECT COUNT(*) AS n FROM patients), {', '.join(f'places {name}' for name in _NAMES)}"
)


def cancel(port: int, process: int, secret: bytes) -> None:
    with Client(port) as other:
        other.send(codec.CancelRequest(process_id=process, secret_key=secret))
        with pytest.raises(Hung):
            other.receive()


def test_a_statement_is_cancelled_and_its_charge_stays(
    client: Client, shared: Server, spent: Callable[[], int]
) -> None:
    client.send(codec.Query(query_string=ENDLESS))
    assert eventually(lambda: spent() == 1)
    cancel(shared.port, client.process, client.secret)
    answer = client.until(codec.ReadyForQuery)
    assert (error(answer)["C"], error(answer)["M"]) == (
        "57014",
        "canceling statement due to user request",
    )
    assert spent() == 1
    assert rows(client.query("SELECT 1 AS one")) == [[b"1"]]


def test_a_key_that_is_wrong_and_a_statement_that_is_over_are_left_alone(
    client: Client, shared: Server
) -> None:
    cancel(shared.port, client.process, b"\0\0\0\0")
    cancel(shared.port, client.process, b"")
    cancel(shared.port, client.process + 1, client.secret)
    cancel(shared.port, client.process, client.secret)
    assert rows(client.query("SELECT 1 AS one")) == [[b"1"]]


def test_a_statement_may_take_its_time_and_no_more(client: Client) -> None:
    client.query("SET statement_timeout = '300ms'")
    answer = client.query(ENDLESS)
    assert (error(answer)["C"], error(answer)["M"]) == (
        "57014",
        "canceling statement due to statement timeout",
    )
    answer = client.query(
        "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c, pg_class d"
    )
    assert (error(answer)["C"], error(answer)["M"]) == (
        "57014",
        "canceling statement due to statement timeout",
    )
    client.query("SET statement_timeout = 0")
    assert rows(client.query("SELECT 1 AS one")) == [[b"1"]]


def test_psycopg_cancels(shared: Server) -> None:
    with psycopg.connect(host="127.0.0.1", port=shared.port, user="ada") as connection:
        clock = threading.Timer(1.0, connection.cancel_safe)
        clock.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(ENDLESS)


def test_the_end_tells_idle_clients_and_lets_statements_end(serve: Callable[..., Server]) -> None:
    server = serve(limits=ConnectionLimits(grace=5))
    with Client(server.port) as idle, Client(server.port) as busy, Client(server.port) as arriving:
        idle.start()
        busy.start()
        busy.send(codec.Query(query_string="SELECT COUNT(*) FROM visits"))
        time.sleep(0.05)
        server.close()
        assert error([idle.receive()])["C"] == "57P01"
        answer = busy.until(codec.ErrorResponse)
        assert error(answer)["C"] == "57P01"
        charged = len(list(server.database.accountant.ledger.history()))
        assert len(rows(answer)) == charged
        with pytest.raises(Hung):
            arriving.receive()
        for each in (idle, busy):
            with pytest.raises(Hung):
                each.receive()
    with pytest.raises(ConnectionRefusedError):
        Client(server.port)


def test_the_end_does_not_wait_for_ever(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.postprocessing.sandbox.TIME_LIMIT", 600)  # nothing else ends it
    server = serve(limits=ConnectionLimits(grace=0.5))
    with Client(server.port) as client:
        client.start()
        client.send(codec.Query(query_string=ENDLESS))
        assert eventually(lambda: charges(server.database) == 1)
        server.close()
        assert error(client.until(codec.ErrorResponse))["C"] in ("57014", "57P01")
    assert charges(server.database) == 1


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_process_ends_by_a_signal_without_losing_a_charge(
    tmp_path: Path, sign: signal.Signals
) -> None:
    schema = clinic(tmp_path)
    command = [
        sys.executable,
        "-c",
        "from dpsql.cli import main; main()",
        "serve",
        str(schema),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"port (\d+)", said)
        assert found, said
        told = 0
        with Client(int(found[1])) as client:
            client.start()
            assert status(client.query("SELECT COUNT(*) FROM visits")) == "I"
            told += 1
            client.send(codec.Query(query_string="SELECT SUM(cost) FROM visits"))
            process.send_signal(sign)
            with contextlib.suppress(Hung):
                told += len(rows(client.until(codec.ReadyForQuery)))
        process.wait(30)
        log = process.stderr.read()
    assert process.returncode == (-sign if sign is signal.SIGKILL else 0), log
    assert "SELECT" not in log
    database = open_database(schema)
    assert database.accountant.ledger.verify() in (told, told + 1)
    database.close()
