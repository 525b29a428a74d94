"""Targets on the wire: EXPLAIN PRIVACY … TO REACH,
and the settings by which statements are priced.
"""

from __future__ import annotations

from collections.abc import Callable

from wire_client import Client, error, notices, rows

from dpsql.server.listener import Server

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE cost < {}.25"


def test_to_reach_costs_nothing(client: Client, spent: Callable[[], int]) -> None:
    for target in ("± 20", "20", "+-20", "5 % OF 400", "n 5 % OF 400"):
        answer = client.query(f"EXPLAIN PRIVACY {COUNT.format(1)} TO REACH {target};")
        lines = [str(line[0], "utf-8") for line in rows(answer) if line[0] is not None]
        assert (
            any(line.startswith("to reach ") and "which gives n ± 2" in line for line in lines)
            or "20" not in target
        )
        assert any("of what is left; SET dpsql.epsilon = " in line for line in lines)
    fields = error(client.query(f"EXPLAIN PRIVACY {COUNT.format(1)} TO REACH soon"))
    assert fields["C"] == "0A000" and "no target" in fields["M"]
    assert spent() == 0


def test_a_target_is_set_shown_and_undone(client: Client) -> None:
    client.query("SET dpsql.target_error = '5 %'")
    assert rows(client.query("SHOW dpsql.target_error")) == [[b"5 %"]]
    client.query("BEGIN")
    client.query("SET LOCAL dpsql.target_error TO 200")
    assert rows(client.query("SHOW dpsql.target_error")) == [["± 200".encode()]]
    client.query("ROLLBACK")
    assert rows(client.query("SHOW dpsql.target_error")) == [[b"5 %"]]
    client.query("RESET dpsql.target_error")
    assert rows(client.query("SHOW dpsql.target_error")) == [[b"off"]]
    fields = error(client.query("SET dpsql.target_error = 'soon'"))
    assert fields["C"] == "22023" and fields["H"].startswith("Write ± 200")
    assert [b"dpsql.target_error", b"off", b""] in rows(client.query("SHOW ALL"))


def test_a_target_prices_the_statements(client: Client, spent: Callable[[], int]) -> None:
    client.query("SET dpsql.target_error = 2")
    said = notices(client.query(COUNT.format(2)))
    assert any("to reach ± 2: n ± " in notice for notice in said)
    assert any("this one took 1/" in notice and "1/1,585;" not in notice for notice in said)
    assert spent() == 1
    client.query("SET dpsql.most_epsilon = 0.01")
    assert error(client.query(COUNT.format(3)))["C"] == "53400"
    assert spent() == 1


def test_a_target_at_the_start(serve: Callable[..., Server]) -> None:
    with Client(serve().port) as client:
        client.start(options="-c dpsql.target_error=3 -c dpsql.most_epsilon=4")
        assert rows(client.query("SHOW dpsql.target_error; SHOW dpsql.most_epsilon")) == [
            ["± 3".encode()],
            [b"4"],
        ]
