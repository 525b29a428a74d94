"""Parameters that are lists, as drivers send them for = ANY, and moments with a time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from dpsql.errors import StatementError
from dpsql.session import Session, open_session

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return open_session(PROJECT / "schemas" / "nafld.toml", ledger=tmp_path / "own.ledger")


@pytest.mark.parametrize(
    ("listed", "written"),
    [
        ("test = ANY(?)", "test IN ('hdl', 'sbp')"),
        ("test = ANY(?::text[])", "test IN ('hdl', 'sbp')"),
        ("test = some(?)", "test IN ('hdl', 'sbp')"),
        ("test <> ALL(?)", "test NOT IN ('hdl', 'sbp')"),
    ],
)
def test_a_list_is_its_members(session: Session, listed: str, written: str) -> None:
    plan = session.plan(f"SELECT COUNT(*) AS n FROM labs WHERE {listed}", (["hdl", "sbp"],))
    assert plan.cores == session.plan(f"SELECT COUNT(*) AS n FROM labs WHERE {written}").cores


def test_lists_are_described_and_read_as_text(session: Session) -> None:
    prepared = session.prepare(
        "SELECT COUNT(*) AS n FROM labs WHERE day = ANY($2) AND test = ANY($1::text[])"
    )
    assert prepared.parameters == ("VARCHAR[]", "BIGINT[]")
    assert prepared.plan((["hdl"], ["1", "-2"])).cores == prepared.plan((["hdl"], [1, -2])).cores


def test_an_empty_list_has_no_member(session: Session) -> None:
    assert session.execute("SELECT name FROM conditions WHERE diagnosis = ANY(?)", ([],)).rows == []
    assert (
        len(
            session.execute(
                "SELECT name FROM conditions WHERE diagnosis = ANY(?)", (["htn", "MI"],)
            ).rows
        )
        == 2
    )


@pytest.mark.parametrize("value", [["hdl"], [["hdl"]], [object()]])
def test_a_list_stands_nowhere_else(session: Session, value: object) -> None:
    where = "test = ?" if value == ["hdl"] else "test = ANY(?)"
    with pytest.raises(StatementError):
        session.plan(f"SELECT COUNT(*) FROM labs WHERE {where}", (value,))


def test_a_moment_with_a_zone_is_its_moment_of_utc(session: Session) -> None:
    statement = "SELECT ? AS moment"
    moment = datetime(2024, 2, 29, 12, tzinfo=timezone(timedelta(hours=2)))
    assert session.execute(statement, (moment,)).rows == [(datetime(2024, 2, 29, 10),)]
    assert session.execute(statement, (datetime(2024, 2, 29, tzinfo=UTC),)).rows == [
        (datetime(2024, 2, 29),)
    ]


def test_the_start_of_a_constant_month_narrows_the_keys(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(_SHOP)
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as engine:
        engine.execute("CREATE TABLE sales AS SELECT 1 AS buyer, TIMESTAMP '2024-02-29' AS at")
    session = open_session(tmp_path / "shop.toml")
    session.set("dpsql.empty_groups", "show")
    rows = session.execute(
        "SELECT DATE_TRUNC('month', at) AS month, COUNT(*) FROM sales WHERE at >= DATE_TRUNC('quarter', "
        "TIMESTAMP '2024-06-15') AND at < DATE_TRUNC('month', DATE '2024-08-15') GROUP BY 1 ORDER BY 1"
    ).rows
    assert [row[0] for row in rows] == [datetime(2024, month, 1) for month in (4, 5, 6, 7)]


_SHOP = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "sales.buyer"
epsilon = 10
delta = 0
query_epsilon = 1
[tables.sales]
max_rows_per_unit = 5
[tables.sales.columns]
buyer = { type = "integer" }
at = { type = "timestamp", bounds = [2020-01-01T00:00:00, 2026-01-01T00:00:00] }
"""
