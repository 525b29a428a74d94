"""Rows whose report is NULL count like others where their column is not asked for,
or is asked for elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.schema import loads
from dpsql.session import Session, open_session

SCHEMA = """
name = "survey"
source = "{source}"
[privacy]
unit = "people.id"
epsilon = 10
delta = 1e-6
query_epsilon = 1
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
[tables.crowd]
public = true
[tables.crowd.columns]
world = {{ type = "integer", bounds = [0, 2] }}
kind = {{ type = "text", values = ["a", "b", "c"], nullable = true, collected = {kind} }}
coin = {{ type = "boolean", nullable = true, collected = {kind} }}
bits = {{ type = "text", values = ["a", "b"], nullable = true, collected = {bits} }}
"""
ROWS = """
CREATE TABLE people AS SELECT 1 AS id;
CREATE TABLE crowd AS SELECT i % 3 AS world, CASE WHEN i % 2 = 0 THEN ['a', 'b', 'c'][1 + i % 3] END AS kind,
    CASE WHEN i % 5 > 0 THEN i % 3 = 0 END AS coin, CASE WHEN i % 7 > 1 THEN ['10', '01', '11'][1 + i % 3] END AS bits
    FROM range(1000) t(i);
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = Path(tmp_path_factory.mktemp("survey"))
    with duckdb.connect(str(home / "survey.duckdb")) as connection:
        connection.execute(ROWS)
    text = SCHEMA.format(
        source=(home / "survey.duckdb").as_posix(),
        kind='{ mechanism = "randomized_response", epsilon = 1.0 }',
        bits='{ mechanism = "symmetric_unary_encoding", epsilon = 1.0 }',
    )
    opened = open_session(loads(text), ledger=home / "ledger")
    yield opened
    opened.close()


#: What needs no report, beside what does.
EXACT = (("COUNT(*)", "count(*)"), ("SUM(world)", "sum(world)"), ("COUNT(world)", "count(world)"))
BESIDE = (
    "COUNT(*) FILTER (WHERE kind = 'a')",
    "SUM(1) FILTER (WHERE coin)",
    "COUNT(*) FILTER (WHERE bits = 'b')",
    "COUNT(*) FILTER (WHERE kind = 'b' AND coin)",
    "AVG(CASE WHEN coin THEN 1 ELSE 0 END)",
)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize(("item", "plain"), EXACT)
def test_all_rows_count_beside_what_reads_reports(
    session: Session, item: str, plain: str, beside: str
) -> None:
    assert session.schema.source_path is not None
    with duckdb.connect(str(session.schema.source_path), read_only=True) as connection:
        (true,) = connection.execute(f"SELECT {plain} FROM crowd").fetchall()[0]
        by_world = connection.execute(
            f"SELECT world, {plain} FROM crowd GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert float(
        session.execute(f"SELECT {item}, {beside} FROM crowd").rows[0][0]
    ) == pytest.approx(float(true))
    grouped = session.execute(
        f"SELECT world, {item}, {beside} FROM crowd GROUP BY world ORDER BY world"
    ).rows
    assert [(row[0], float(row[1])) for row in grouped] == [
        (key, pytest.approx(float(n))) for key, n in by_world
    ]


def test_rows_that_report_nothing_are_a_group_and_the_groups_add_up(session: Session) -> None:
    rows = session.execute(
        "SELECT kind, COUNT(*), COUNT(*) FILTER (WHERE coin) FROM crowd GROUP BY kind"
    ).rows
    assert {row[0] for row in rows} == {"a", "b", "c", None}
    assert sum(float(row[1]) for row in rows) == pytest.approx(1000, abs=4)  # rounded
    assert next(float(row[1]) for row in rows if row[0] is None) == pytest.approx(500)
