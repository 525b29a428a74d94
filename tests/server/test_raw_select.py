"""What a SELECT of single rows gives is a setting of the connection,
for tools that end their work at a refusal.
"""

from __future__ import annotations

from collections.abc import Callable

from wire_client import Client, error, notices, rows, tags

from dpsql.server.listener import Server

ALL, ONE = "SELECT * FROM visits", "SELECT * FROM visits LIMIT 1"


def test_the_setting_is_probe_until_it_is_changed(client: Client, spent: Callable[[], int]) -> None:
    before = spent()
    assert rows(client.query("SHOW dpsql.raw_select")) == [[b"probe"]]
    assert error(client.query(ALL))["C"] == "42501"
    assert tags(client.query(ONE)) == ["SELECT 0"]
    client.query("SET dpsql.raw_select = empty")
    answer = client.query(ALL)
    assert tags(answer) == ["SELECT 0"]
    assert any("no rows are shown" in notice for notice in notices(answer))
    assert (
        error(
            client.query("SELECT COUNT(*) FROM patients WHERE NOT EXISTS (SELECT cost FROM visits)")
        )["C"]
        == "42501"
    )
    client.query("SET dpsql.raw_select TO 'ERROR'")
    assert error(client.query(ONE))["C"] == "42501"
    client.query("RESET ALL")
    assert tags(client.query(ONE)) == ["SELECT 0"] and error(client.query(ALL))["C"] == "42501"
    assert spent() == before


def test_a_rollback_and_discard_take_it_back(client: Client) -> None:
    client.query("BEGIN; SET dpsql.raw_select = empty")
    assert tags(client.query(ALL)) == ["SELECT 0"]
    client.query("ROLLBACK")
    assert error(client.query(ALL))["C"] == "42501"
    client.query("SET dpsql.raw_select = empty")
    client.query("DISCARD ALL")
    assert error(client.query(ALL))["C"] == "42501"


def test_what_it_may_be_is_said(client: Client) -> None:
    fields = error(client.query("SET dpsql.raw_select = rows"))
    assert fields["C"] == "22023" and fields["H"] == "Here it is error or probe or empty."


def test_a_connection_string_sets_it(serve: Callable[..., Server]) -> None:
    with Client(serve().port) as client:
        client.start(options="-c dpsql.raw_select=empty")
        assert tags(client.query(ALL)) == ["SELECT 0"]
        client.query("SET dpsql.raw_select = error; RESET dpsql.raw_select")
        assert tags(client.query(ALL)) == ["SELECT 0"]
