"""Bounds, values and sizes of public tables are those of the public rows;
none is ever read of a private one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.audit import AuditRequest, audit
from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.errors import ExecutionFailed, Refused
from dpsql.session import Session, open_session, public_sizes
from dpsql.sql.ir.expression import Subquery

SCHEMA = """
name = "shop"
source = "shop.duckdb"
ledger = "x.ledger"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 0
query_epsilon = 50
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
age = { type = "integer" }
[tables.visits]
max_rows_per_unit = 2
references = { person = "people.id", item = "items.id" }
[tables.visits.columns]
person = { type = "integer" }
item = { type = "integer" }
[tables.items]
public = true
"""
AVERAGE = (
    "SELECT AVG(i.list_price) AS p FROM visits v JOIN items i ON i.id = v.item WHERE v.person < 300"
)


@pytest.fixture(params=[False, True])
def schema(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(opening, "OWN_PROCESS", request.param)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, 17 + i % 70 AS age FROM range(500) r(i)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT i % 500 AS person, i % 10 AS item FROM range(1000) r(i)"
        )
        connection.execute("""
            CREATE TABLE items AS
            SELECT i AS id, (5 + i)::DECIMAL(7,2) AS list_price, DATE '2020-01-01' + i::INTEGER AS since,
                CASE i WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE ELSE i::DOUBLE END AS w,
                NULL::INTEGER AS none, 0 AS nought, 'x' AS name
            FROM range(10) r(i)
        """)
    (tmp_path / "shop.toml").write_text(SCHEMA)
    return tmp_path / "shop.toml"


@pytest.fixture
def session(schema: Path) -> Iterator[Session]:
    with closing(open_session(schema)) as opened:
        yield opened


def test_public_columns_have_bounds_and_private_ones_those_of_their_owner(
    session: Session,
) -> None:
    items, people = session.schema.tables["items"].columns, session.schema.tables["people"].columns
    assert items["list_price"].bounds == (5, 14) and items["w"].bounds == (2, 9)
    assert items["since"].bounds == (date(2020, 1, 1), date(2020, 1, 10))
    assert [items[name].bounds for name in ("none", "nought", "name")] == [None, None, None]
    assert [column.bounds for column in people.values()] == [None, None]
    assert all(column.bounds is None for column in session.schema.tables["visits"].columns.values())


def test_a_public_price_is_averaged_over_private_rows(session: Session) -> None:
    (row,) = session.execute(AVERAGE).rows
    assert abs(float(str(row[0])) - 9.5) < 1


def test_the_audit_sees_that_a_unit_changes_no_more_than_is_claimed(schema: Path) -> None:
    report = audit(
        schema, AuditRequest(statements=[AVERAGE], units=20, minutes=3, draws=1000, choices=100)
    )
    verdicts = {
        check.verdict
        for group in report.groups
        if group.name == "sensitivity"
        for check in group.checks
    }
    assert verdicts and "failed" not in verdicts


def test_a_row_of_a_private_table_is_not_told(session: Session) -> None:
    engine = session._execution.engine
    assert isinstance(engine, DuckDBEngine)
    sql = 'SELECT max("t0"."{}") FROM "source"."main"."{}" AS "t0"'
    assert engine.public_row(sql.format("id", "items"), frozenset({"items"})) == (9,)
    with pytest.raises(ExecutionFailed):
        engine.public_row(sql.format("age", "people"), frozenset({"people"}))


def test_declared_bounds_stay(schema: Path) -> None:
    schema.write_text(
        SCHEMA + '[tables.items.columns]\nid = { type = "integer" }\n'
        'list_price = { type = "decimal(7,2)", bounds = [0, 100.5] }\n'
    )
    with closing(open_session(schema)) as opened:
        assert opened.schema.tables["items"].columns["list_price"].bounds == (0, Fraction(201, 2))


#: What is answered with the values of a column of a public table, and how many values it shows.
LISTED = {
    "SELECT HISTOGRAM(i.kind) FROM visits v JOIN items i ON i.id = v.item": {"k0", "k1", "k2"},
    "SELECT HISTOGRAM(i.grade) FROM visits v JOIN items i ON i.id = v.item": {10, 20},
    "SELECT HISTOGRAM(i.since) FROM visits v JOIN items i ON i.id = v.item": {
        date(2020, 1, day) for day in range(1, 11)
    },
}


#: What is grouped by them, and the keys that have rows.
GROUPED = {
    "SELECT i.kind, COUNT(*) AS n FROM visits v LEFT JOIN items i ON i.id = v.item GROUP BY i.kind": {
        "k0",
        "k1",
        "k2",
        None,
    },
    "SELECT (SELECT i.kind FROM items i WHERE i.id = v.item) AS k, COUNT(*) AS n FROM visits v GROUP BY k": {
        "k0",
        "k1",
        "k2",
        None,
    },
    "SELECT k, COUNT(*) FROM (SELECT v.person, MAX(i.kind) AS k FROM visits v JOIN items i ON i.id = v.item "
    "GROUP BY v.person) AS t WHERE k < 'k2' GROUP BY k": {"k0", "k1"},
}


@pytest.fixture
def kinds(schema: Path) -> Path:
    with duckdb.connect(str(schema.with_name("shop.duckdb"))) as connection:
        connection.execute(
            "ALTER TABLE items ADD COLUMN kind TEXT; ALTER TABLE items ADD COLUMN grade INTEGER"
        )
        connection.execute("UPDATE items SET kind = 'k' || (id % 3), grade = 10 * (1 + id % 2)")
        connection.execute("UPDATE items SET kind = NULL WHERE id = 9")
    return schema


def test_values_of_public_columns_are_read(kinds: Path) -> None:
    with closing(open_session(kinds)) as session:
        for text, wanted in LISTED.items():
            assert set(session.execute(text).rows[0][0]) == wanted  # type: ignore[call-overload]
        joined = (
            "SELECT STRING_AGG(DISTINCT i.kind, '+') FROM visits v JOIN items i ON i.id = v.item"
        )
        assert session.execute(joined).rows == [("k0+k1+k2",)]
        for groups, rows in GROUPED.items():
            core = session.plan(groups).cores[0].core
            assert core.domain is not None and not all(
                core.domain.declared
            )  # shown where the evidence tells of rows
            assert {row[0] for row in session.execute(groups).rows} == rows


def test_a_column_of_a_private_table_or_with_many_values_is_not_listed(
    kinds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = next(iter(LISTED))
    with closing(open_session(kinds)) as session:
        with pytest.raises(Refused, match="E_KEY"):
            session.plan("SELECT HISTOGRAM(age) FROM people")
        with pytest.raises(Refused, match="E_KEY"):
            session.plan(
                "SELECT p.age, COUNT(*) FROM visits v LEFT JOIN people p ON p.id = v.person GROUP BY p.age"
            )
    for limit in ("MOST_ROWS", "MOST_VALUES"):
        with monkeypatch.context() as patch, closing(open_session(kinds)) as session:
            patch.setattr(public_sizes, limit, 2)
            with pytest.raises(Refused, match="E_KEY"):
                session.plan(asked)


def test_rows_of_a_public_table_that_one_key_meets_bound_what_is_counted_of_them(
    session: Session,
) -> None:
    asked = "SELECT SUM((SELECT COUNT(*) FROM items i WHERE i.nought = v.item)) AS n FROM visits v"
    assert abs(float(str(session.execute(asked).rows[0][0])) - 1000) < 20
    (core,) = session.plan(asked).cores
    (argument,) = (each.argument for each in core.core.aggregates)
    assert isinstance(argument, Subquery) and argument.bounds == (0, 10)


def test_values_are_those_of_the_version_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop.toml").write_text(SCHEMA.replace("shop.duckdb", "shop"))

    def write(name: str, sql: str) -> None:
        duckdb.sql(sql).write_parquet(str(tmp_path / "new"))
        (tmp_path / "new").replace(tmp_path / "shop" / f"{name}.parquet")

    write("people", "SELECT i AS id, 30 AS age FROM range(100) r(i)")
    write("visits", "SELECT i AS person, i % 10 AS item FROM range(100) r(i)")
    write("items", "SELECT i AS id, 'k' || (i % 3) AS kind FROM range(10) r(i)")
    with closing(open_session(tmp_path / "shop.toml")) as session:
        asked = next(iter(LISTED))
        assert set(session.execute(asked).rows[0][0]) == {"k0", "k1", "k2"}  # type: ignore[call-overload]
        write("items", "SELECT i AS id, 'k' || (i % 4) AS kind FROM range(10) r(i)")
        assert set(session.execute(asked).rows[0][0]) == {"k0", "k1", "k2", "k3"}  # type: ignore[call-overload]
