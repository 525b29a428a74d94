"""Bounds of public columns are those of the public rows; none is ever read of a private one."""

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
from dpsql.errors import ExecutionFailed
from dpsql.session import Session, open_session

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
AVERAGE = "SELECT AVG(i.list_price) AS p FROM visits v JOIN items i ON i.id = v.item WHERE v.person < 300"


@pytest.fixture(params=[False, True])
def schema(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(opening, "OWN_PROCESS", request.param)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, 17 + i % 70 AS age FROM range(500) r(i)")
        connection.execute("CREATE TABLE visits AS SELECT i % 500 AS person, i % 10 AS item FROM range(1000) r(i)")
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
    report = audit(schema, AuditRequest(statements=[AVERAGE], units=20, minutes=3, draws=1000, choices=100))
    verdicts = {check.verdict for group in report.groups if group.name == "sensitivity" for check in group.checks}
    assert verdicts and "failed" not in verdicts


def test_a_row_of_a_private_table_is_not_told(session: Session) -> None:
    engine = session._execution.engine
    assert isinstance(engine, DuckDBEngine)
    sql = 'SELECT max("t0"."{}") FROM "source"."main"."{}" AS "t0"'
    assert engine.public_row(sql.format("id", "items"), frozenset({"items"})) == (9,)
    with pytest.raises(ExecutionFailed):
        engine.public_row(sql.format("age", "people"), frozenset({"people"}))


def test_declared_bounds_stay(schema: Path) -> None:
    schema.write_text(SCHEMA + '[tables.items.columns]\nid = { type = "integer" }\n'
                      'list_price = { type = "decimal(7,2)", bounds = [0, 100.5] }\n')  # fmt: skip
    with closing(open_session(schema)) as opened:
        assert opened.schema.tables["items"].columns["list_price"].bounds == (0, Fraction(201, 2))
