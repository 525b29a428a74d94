"""Keys of public tables are counted before the charge: too many are refused,
and many are told of.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.errors import ExecutionFailed, StatementError
from dpsql.schema import loads
from dpsql.session import Session, open_session
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.measurement import key_domain
from dpsql.sql.emit.measurement.key_domain import counting

SCHEMA = """
name = "shops"
source = "{source}"
ledger = "{source}.ledger"
[privacy]
unit = "people.person"
epsilon = 1000
delta = 1e-6
query_epsilon = 1
[tables.shops]
public = true
[tables.shops.columns]
shop = {{ type = "integer" }}
size = {{ type = "integer" }}
[tables.days]
public = true
[tables.days.columns]
day = {{ type = "integer" }}
[tables.people]
key = "person"
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
shop = {{ type = "integer" }}
day = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 99] }}
"""
ALL = (
    "SELECT shops.shop, days.day, COUNT(*) AS n FROM people JOIN shops USING (shop) JOIN days USING (day) {} "
    "GROUP BY 1, 2"
)


@pytest.fixture(name="session")
def _session(tmp_path: Path) -> Iterator[Session]:
    place = tmp_path / "shops.duckdb"
    with duckdb.connect(str(place)) as con:
        con.execute("CREATE TABLE shops AS SELECT range AS shop, range // 2 AS size FROM range(30)")
        con.execute("CREATE TABLE days AS SELECT range AS day FROM range(20) UNION ALL SELECT 1")
        con.execute(
            "CREATE TABLE people AS SELECT range AS person, range % 30 AS shop, range % 20 AS day, "
            "range % 99 AS age FROM range(300)"
        )
    opened = open_session(loads(SCHEMA.format(source=place), place.with_suffix(".toml")))
    opened.set("dpsql.empty_groups", "show")
    yield opened
    opened.close()


def test_keys_are_counted_in_public_tables(session: Session) -> None:
    found = counting(
        DUCKDB, session.plan(ALL.format("WHERE size < 5 AND days.day <> 3")).cores[0].core
    )
    assert found is not None and {table for _, tables in found.queries for table in tables} == {
        "days",
        "shops",
    }
    engine = session._execution.engine
    assert sorted(engine.public_count(*each) for each in found.queries) == [10, 19]


def test_nothing_but_public_tables_is_counted(session: Session) -> None:
    engine, private = (
        session._execution.engine,
        'SELECT COUNT(*) FROM "source"."main"."people" AS "t0"',
    )
    for tables in (frozenset({"people"}), frozenset[str](), frozenset({"days"})):
        with pytest.raises(ExecutionFailed):
            engine.public_count(private, tables)
    assert engine.public_count(private.replace("people", "shops"), frozenset({"shops"})) == 30


def test_too_many_keys_are_refused_before_the_charge(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_domain, "MOST_KEYS", 599)
    before = session.remaining
    with pytest.raises(
        StatementError, match="more than 599 combinations of shop, day in public tables"
    ) as refusal:
        session.execute(ALL.format(""))
    assert refusal.value.code == "E_LIMITS" and session.remaining == before
    # what is said to help does: a condition in WHERE or around, and fewer keys
    assert len(session.execute(ALL.format("WHERE days.day < 19")).rows) == 30 * 19
    assert (
        len(session.execute(f"SELECT * FROM ({ALL.format('')}) WHERE shop IN (1, 2)").rows)
        == 2 * 20
    )
    text = ALL.format("").replace("days.day, ", "").replace("1, 2", "1")
    assert len(session.execute(text).rows) == 30


def test_a_workload_is_refused_before_the_charge(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_domain, "MOST_KEYS", 599)
    before = session.remaining
    workload = session.workload([ALL.format(""), "SELECT COUNT(*) FROM people"])
    with pytest.raises(StatementError, match="more than 599"):
        session.run(workload)
    assert session.remaining == before


def test_many_keys_are_told_of(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_domain, "MANY_KEYS", 500)
    assert any(
        "600 combinations of shop, day" in notice
        for notice in session.execute(ALL.format("")).notices
    )
    few = session.execute(ALL.format("WHERE size = 3"))
    assert not any("combinations" in notice for notice in few.notices)
    monkeypatch.setattr(key_domain, "MANY_KEYS", 100)
    plan = session.plan("SELECT age, COUNT(*) FROM people GROUP BY 1")  # known from the schema
    assert any("100 combinations of age" in notice for notice in plan.notices)
