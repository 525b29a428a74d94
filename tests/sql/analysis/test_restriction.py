"""Rows that are left out because what their key is made of is beyond the schema's bounds and
values.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from untouched import UntouchedEngine

from dpsql.schema import loads
from dpsql.session import Session, open_accountant
from dpsql.sql.analysis.key_domain.restriction import may_be_beyond, within_domain
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.scalar import native
from dpsql.sql.ir.expression import conjunction, conjuncts
from dpsql.sql.ir.relation import Filter, Scan

SCHEMA = """
name = "people"
source = "x.duckdb"
[privacy]
unit = "people.id"
epsilon = 1
delta = 1e-6
query_epsilon = 0.1
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
age = { type = "integer", bounds = [1, 3] }
size = { type = "integer", bounds = [1, 3], nullable = true }
kind = { type = "text", values = ["a", "b"] }
day = { type = "date", bounds = [2024-01-02, 2024-01-03] }
seen = { type = "timestamp", bounds = [2024-01-02, 2024-01-03] }
flag = { type = "boolean" }
free = { type = "integer" }
"""
#: One row within all bounds, and one beyond each.
ROWS = {
    "age": (2, 0, 1, 3, 4, None),
    "size": (2, 0, 1, 3, 4, None),
    "kind": ("a", "b", "c", None),
    "day": ("2024-01-02", "2024-01-01", "2024-01-03", "2024-01-04", None),
    "seen": (
        "2024-01-02 00:00:00",
        "2024-01-01 23:59:59",
        "2024-01-03 23:59:59",
        "2024-01-04 00:00:00",
        None,
    ),
    "flag": (True, False, None),
    "free": (7, None),
}
#: Keys, the column whose values are tried, and those of them that are left out;
#: None if no row can #: be beyond.
KEYS: tuple[tuple[str, str, tuple[object, ...] | None], ...] = (
    ("age", "age", (0, 4, None)),
    ("age + 1", "age", (0, 4, None)),
    ("age // 2", "age", (4, None)),  # of 0 to 1
    ("size", "size", (0, 4)),
    ("kind", "kind", ("c", None)),
    ("UPPER(kind)", "kind", ("c", None)),
    ("day", "day", ("2024-01-01", "2024-01-04", None)),
    ("DATE_TRUNC('day', seen)", "seen", ("2024-01-01 23:59:59", "2024-01-04 00:00:00", None)),
    ("CAST(seen AS DATE)", "seen", ("2024-01-01 23:59:59", "2024-01-04 00:00:00", None)),
    ("EXTRACT(DOW FROM day)", "day", (None,)),  # any day has one of seven
    ("EXTRACT(DOW FROM day), DATE_TRUNC('month', day)", "day", ("2024-01-01", "2024-01-04", None)),
    (
        "EXTRACT(DOW FROM seen), EXTRACT(DAY FROM seen)",
        "seen",
        ("2024-01-01 23:59:59", "2024-01-04 00:00:00", None),
    ),
    ("age + size", "age", ()),  # of 2 to 6
    ("flag", "flag", None),
    ("CASE WHEN age > 2 THEN 'old' ELSE 'young' END", "age", None),
    ("CASE WHEN flag THEN kind ELSE 'none' END", "kind", ("c", None)),
    ("free", "free", None),
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    schema = loads(SCHEMA)
    ledger = open_accountant(schema, tmp_path_factory.mktemp("people") / "ledger")
    return Session(schema, UntouchedEngine(), ledger, "ada")


@pytest.fixture(scope="module")
def rows() -> Iterator[duckdb.DuckDBPyConnection]:
    """A table in which one column at a time has the values that are tried."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people (tried TEXT, age INT, size INT, kind TEXT, day DATE, seen TIMESTAMP, flag BOOLEAN, "
            "free INT)"
        )
        for column, values in ROWS.items():
            for value in values:
                row = {
                    name: value if name == column else others[0] for name, others in ROWS.items()
                }
                connection.execute(
                    "INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [column, *row.values()]
                )
        yield connection


@pytest.mark.parametrize(("key", "column", "beyond"), KEYS)
def test_rows_whose_key_is_beyond_are_left_out(
    key: str,
    column: str,
    beyond: tuple[object, ...] | None,
    session: Session,
    rows: duckdb.DuckDBPyConnection,
) -> None:
    (core,) = session.plan(f"SELECT {key}, COUNT(*) FROM people GROUP BY ALL").cores
    relation, keys = core.core.relation, core.core.keys
    assert isinstance(relation, Scan)
    within = within_domain(relation, keys)
    assert may_be_beyond(relation, keys[0]) == (beyond is not None)
    if beyond is None:
        assert within is relation
        return
    assert isinstance(within, Filter) and within.child is relation
    condition = native(DUCKDB, within.condition).sql("duckdb")
    found = rows.execute(
        f'SELECT CAST({column} AS TEXT) FROM people "{relation.alias}" WHERE tried = ? AND ({condition}) IS NOT TRUE',
        [column],
    ).fetchall()
    assert {value for (value,) in found} == {
        None if value is None else str(value) for value in beyond
    }


def test_rows_that_the_statement_itself_keeps_are_not_beyond(session: Session) -> None:
    (core,) = session.plan(
        "SELECT age, COUNT(*) FROM people WHERE age BETWEEN 1 AND 2 GROUP BY age"
    ).cores
    assert not may_be_beyond(core.core.relation, core.core.keys[0])


def test_each_key_is_asked(session: Session) -> None:
    """The conditions of several keys stand together,
    and those of columns that no key reads are none.
    """
    (core,) = session.plan("SELECT age, kind, flag, COUNT(size) FROM people GROUP BY 1, 2, 3").cores
    within = within_domain(core.core.relation, core.core.keys)
    assert isinstance(within, Filter)
    alone = [within_domain(core.core.relation, [key]) for key in core.core.keys]
    parts = [
        part for each in alone if isinstance(each, Filter) for part in conjuncts(each.condition)
    ]
    assert conjunction(parts) == within.condition and len(parts) == 3
