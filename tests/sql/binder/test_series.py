"""GENERATE_SERIES: the rows and names of a real PostgreSQL,
whose lists stand beside private rows as VALUES do.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import duckdb
import psycopg
import pytest
from real_postgresql import real_postgresql
from untouched import planning_session

from dpsql.errors import DatabaseError
from dpsql.session import Session
from dpsql.sql.binder.sources.series import MAX_MEMBERS, with_listed_series
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.parser.parse import parse

ALIKE = (
    "SELECT * FROM generate_series(1, 10)",
    "SELECT * FROM generate_series(1, 10, 3) AS g(x)",
    "SELECT g FROM generate_series(-3, 3, 2) AS g",
    "SELECT * FROM generate_series(3, 1, -1)",
    "SELECT * FROM generate_series(0.5, 2, 0.5) AS h",
    "SELECT generate_series(2, 4)",
    "SELECT generate_series(2, 4) AS a, 5 AS b",
    "SELECT * FROM generate_series(TIMESTAMP '2020-01-31', '2020-06-30', '1 day')",
    "SELECT * FROM generate_series(TIMESTAMP '2020-01-01', TIMESTAMP '2020-06-30', '1 month') AS month",
    "SELECT * FROM generate_series(TIMESTAMP '2020-01-02', TIMESTAMP '2020-01-01', INTERVAL '-90 minutes') AS t(m)",
    "SELECT CAST(generate_series(TIMESTAMP '2020-02-01', TIMESTAMP '2020-03-01', '1 week') AS DATE) AS day",
    "WITH days AS (SELECT generate_series(1, 5) AS day) SELECT day FROM days WHERE day > '2'",
    "SELECT * FROM unnest(ARRAY[1, 2]) AS u(x), generate_series(1, 2) AS g WHERE x = g",
)


@pytest.fixture(scope="module")
def reference() -> Iterator[psycopg.Connection]:
    with real_postgresql() as opened:
        yield opened


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("series") / "series.ledger")


@pytest.mark.parametrize("statement", ALIKE)
def test_rows_and_names_are_those_of_postgresql(
    reference: psycopg.Connection, statement: str
) -> None:
    theirs = reference.execute(statement)
    listed = STATEMENT.write(with_listed_series(parse(statement).tree, ()))
    mine = duckdb.sql(listed)
    assert theirs.description is not None
    assert mine.columns == [column.name for column in theirs.description]
    assert [tuple(map(_plain, row)) for row in mine.fetchall()] == [
        tuple(map(_plain, row)) for row in theirs
    ]


def _plain(value: object) -> object:
    return str(value)


def test_parameters_are_ends_of_a_series(session: Session) -> None:
    session.plan("SELECT * FROM generate_series(?, ?)", (1, 4))
    session.plan(
        "SELECT * FROM generate_series(?, ?, '1 day') AS d", (date(2020, 1, 1), "2020-01-04")
    )


def test_a_series_stands_beside_private_rows(session: Session) -> None:
    """Every day has its count: the days that a left join keeps are those of the series."""
    plan = session.plan(
        "WITH days AS (SELECT generate_series(1, 5) AS day) SELECT days.day, COUNT(labs.patient_id) AS n "
        "FROM days LEFT JOIN labs ON labs.day = days.day GROUP BY days.day ORDER BY 1"
    )
    assert [column.name for column in plan.columns] == ["day", "n"]
    session.plan("SELECT COUNT(*) FROM labs WHERE day IN (SELECT generate_series(1, 3))")


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT * FROM generate_series(1, {MAX_MEMBERS + 1})",
        f"SELECT * FROM generate_series(1, {MAX_MEMBERS // 2 + 1}) AS a, generate_series(1, {MAX_MEMBERS // 2}) AS b",
        "SELECT * FROM generate_series(1, 2, 0)",
        "SELECT * FROM generate_series(2, 1)",
        "SELECT generate_series(1, day) FROM labs",
        "SELECT * FROM labs, generate_series(1, day)",
        "SELECT * FROM generate_series(1, (SELECT MAX(day) FROM labs))",
        "SELECT * FROM generate_series(1, 'x')",
        "SELECT * FROM generate_series(TIMESTAMP '2020-01-01', '2020-02-01', '1 month -1 day')",
        "SELECT * FROM generate_series(TIMESTAMP '2020-01-01', '2020-02-01')",
        "SELECT generate_series(1, 2), generate_series(1, 2)",
        "SELECT SUM(generate_series(1, 2)) FROM labs",
    ],
)
def test_what_is_no_short_series_of_constants_is_refused(session: Session, statement: str) -> None:
    with pytest.raises(DatabaseError):
        session.plan(statement)


def test_a_series_of_as_many_values_as_may_be_is_answered(session: Session) -> None:
    session.plan(f"SELECT * FROM generate_series(1, {MAX_MEMBERS})")
