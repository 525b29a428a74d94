"""The engine's own parser is asked what emitted SQL touches: tampered SQL stops before it runs."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from databases import clinic

from dpsql.engines.duckdb.emitted_sql_check import require_planned
from dpsql.errors import ExecutionFailed
from dpsql.planning.plan import CorePlan
from dpsql.session import Session, open_session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def core(session: Session) -> CorePlan:
    (core,) = session.plan("SELECT sex, COUNT(*), SUM(weight) FROM patients GROUP BY sex").cores
    return core


@pytest.fixture
def cursor() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def test_planned_sql_passes(core: CorePlan, cursor: duckdb.DuckDBPyConnection) -> None:
    require_planned(cursor, core.sql, core.tables)


TAMPERED = {
    "another private table": lambda sql: f"{sql} LIMIT (SELECT count(*) FROM source.main.visits)",
    "a derived table that was not planned": lambda sql: sql.replace(
        ' AS "t0"', ' AS "t0" CROSS JOIN "derived"."main"."derived0" AS "t9"', 1
    ),
    "another private table in the place of the planned one": lambda sql: sql.replace(
        '."patients"', '."visits"'
    ),
    "a table by a shorter name": lambda sql: sql.replace(
        '"source"."main"."patients"', '"patients"'
    ),
    "a table of another catalogue": lambda sql: sql.replace('"source"."main"', '"temp"."main"'),
    "a table of another catalogue by the name of a subquery": lambda sql: sql.replace(
        "WITH ",
        'WITH "patients" AS NOT MATERIALIZED (SELECT "t9"."sex" AS "u" FROM "stored"."main"."patients" AS "t9"), ',
        1,
    ),
    "a catalogue table": lambda sql: f"{sql} UNION ALL SELECT 'a', 1, 1 FROM duckdb_tables()",
    "a function that was not planned": lambda sql: sql.replace(
        '"rows"."u"', 'first("rows"."u")', 1
    ),
    "a sleep": lambda sql: f"{sql} WHERE sleep_ms(1) IS NULL",
    "SQL from a string": lambda sql: (
        f"{sql} UNION ALL FROM query('SELECT name, 1, 1 FROM source.main.patients')"
    ),
    "a file": lambda sql: f"{sql} UNION ALL FROM read_csv('/etc/passwd')",
    "another statement": lambda sql: f"{sql}; SELECT 1",
    "rows of people beside the totals": lambda sql: f"{sql} LIMIT 3",
    "a subquery": lambda sql: sql.replace(' AS "u"', ' + (SELECT 1) AS "u"', 1),
    "change in a CTE": lambda sql: (
        "WITH t AS (UPDATE source.main.patients SET sex = 'f' RETURNING *) SELECT count(*) FROM t"
    ),
    "a star of people": lambda sql: "SELECT * FROM source.main.patients",
    "a sample": lambda sql: "SELECT count(*) FROM source.main.patients TABLESAMPLE 10%",
    "a zero-width space": lambda sql: sql.replace(" FROM ", " FROM\u200b", 1),
    "a word joiner": lambda sql: sql.replace(" ", "\u2060", 1),
    "a no-break space": lambda sql: sql.replace(" ", "\u00a0", 1),
    "NUL": lambda sql: sql + "\x00",
    "a line break": lambda sql: sql + "\n",
    "a PIVOT": lambda sql: "PIVOT source.main.patients ON sex USING count(*)",
    "deletion in a CTE": lambda sql: (
        "WITH t AS (DELETE FROM source.main.patients RETURNING *) SELECT count(*) FROM t"
    ),
    "deletion": lambda sql: "DELETE FROM source.main.patients",
    "no SQL": lambda sql: "SELECT FROM WHERE",
    "nothing": lambda sql: "",
    "SHOW": lambda sql: "SELECT * FROM (SHOW ALL TABLES)",
    "DESCRIBE": lambda sql: "DESCRIBE source.main.patients",
    "a table that was planned and is not read": lambda sql: (
        'SELECT count(*) FROM (VALUES (1)) AS "t"("x")'
    ),
    "a collation": lambda sql: sql.replace('"rows"."u"', '"rows"."u" COLLATE NOCASE', 1),
    "a parameter": lambda sql: sql.replace(" 2048 ", " $1 ", 1),
    "a column by its place": lambda sql: f"{sql} ORDER BY #1",
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_sql_is_stopped(
    core: CorePlan, cursor: duckdb.DuckDBPyConnection, name: str
) -> None:
    tampered = TAMPERED[name](core.sql)
    assert tampered != core.sql
    with pytest.raises(ExecutionFailed):
        require_planned(cursor, tampered, core.tables)
