"""Subqueries that group by the unit where rows without a unit count:
what is said of the group that SQL has of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dpsql.session import Session, open_session

SCHEMA = """
name = "flights"
source = "{folder}/flights.duckdb"
[privacy]
unit = "planes.plane"
epsilon = 1e9
delta = 1e-6
query_epsilon = 10000
orphans = "each"
[tables.planes]
key = "plane"
max_rows_per_unit = 1
[tables.planes.columns]
plane = {{ type = "integer" }}
owner = {{ type = "integer" }}
[tables.flights]
references = {{ plane = "planes.plane" }}
max_rows_per_unit = 50
[tables.flights.columns]
plane = {{ type = "integer", nullable = true }}
kind = {{ type = "integer", values = [0, 1, 2] }}
pilot = {{ type = "integer" }}
"""
ROWS = (
    "CREATE TABLE planes AS SELECT i AS plane, i // 3 AS owner FROM range(300) t(i)",
    (
        "CREATE TABLE flights AS SELECT CASE WHEN i % 10 > 0 THEN i % 300 END AS plane, i % 3 AS kind, i % 97 AS pilot "
        "FROM range(6000) t(i)"
    ),
)
#: What is said, with the numbers that differ from SQL's, and what is not said.
WITH_NULLS = [
    "SELECT COUNT(*) FROM (SELECT plane, COUNT(*) AS n FROM flights GROUP BY plane) t",
    "SELECT COUNT(*) FROM (SELECT plane, kind FROM flights GROUP BY ALL) t",
    "SELECT COUNT(*) FROM (SELECT DISTINCT plane FROM flights WHERE kind = 1) t",
    "SELECT COUNT(*) FROM (SELECT plane FROM flights WHERE plane > 3 OR kind = 1 GROUP BY 1) t",
]
WITHOUT = [
    "SELECT COUNT(*) FROM (SELECT plane FROM flights WHERE plane IS NOT NULL GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT plane FROM flights WHERE plane > 3 GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT plane FROM flights WHERE plane IN (3, 4, 5) GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT p.plane FROM flights f JOIN planes p ON f.plane = p.plane GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT plane FROM planes GROUP BY plane) t",
]


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Session, duckdb.DuckDBPyConnection]]:
    folder = tmp_path_factory.mktemp("flights")
    source = str(folder / "flights.duckdb")
    with duckdb.connect(source) as connection:
        for statement in ROWS:
            connection.execute(statement)
    (folder / "flights.toml").write_text(SCHEMA.format(folder=folder), encoding="utf-8")
    session = open_session(folder / "flights.toml", ledger=folder / "ledger")
    with duckdb.connect(source, read_only=True) as plain:
        yield session, plain
    session.close()


@pytest.mark.parametrize("text", [*WITH_NULLS, *WITHOUT])
def test_the_group_of_nobody_is_said_where_it_is_missing(
    asked: tuple[Session, duckdb.DuckDBPyConnection], text: str
) -> None:
    session, plain = asked
    result, truth = session.execute(text), plain.execute(text).fetchall()
    said = any(
        "SQL puts them into one, and no interval allows for it" in notice
        for notice in result.notices
    )
    assert (result.rows != truth, said) == (text in WITH_NULLS, text in WITH_NULLS)


def test_a_unit_that_has_one_row_counts_in_one_group_without_a_word(
    asked: tuple[Session, duckdb.DuckDBPyConnection],
) -> None:
    session, plain = asked
    text = "SELECT COUNT(*) FROM (SELECT owner FROM planes GROUP BY 1 HAVING COUNT(*) > 1) t"
    result = session.execute(text)
    assert (result.rows, result.notices) == (plain.execute(text).fetchall(), ())


def test_a_unit_that_may_be_in_more_groups_is_said_to_be_held_to_some(
    asked: tuple[Session, duckdb.DuckDBPyConnection],
) -> None:
    session, _ = asked
    text = "SELECT COUNT(*) FROM (SELECT pilot FROM flights GROUP BY 1 HAVING COUNT(*) > 1) t"
    assert any("each unit counts in at most" in notice for notice in session.execute(text).notices)
