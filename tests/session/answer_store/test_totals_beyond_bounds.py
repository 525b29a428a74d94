"""A total that is the sum of groups says which rows are in none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.session import Session, open_session

SCHEMA = """
name = "people"
source = "{source}"
[privacy]
unit = "people.id"
epsilon = 1e9
delta = 1e-6
query_epsilon = 1000
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
year = {{ type = "integer", bounds = [1900, 1910] }}
kind = {{ type = "text", values = ["a", "b"] }}
flag = {{ type = "boolean" }}
"""
BY_YEAR = "SELECT year, COUNT(*) FROM people GROUP BY year"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    source = tmp_path / "people.duckdb"
    with duckdb.connect(source) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN 2001 ELSE 1900 + i % 11 END AS year, "
            "['a', 'b', 'other'][1 + i % 3] AS kind, i % 2 = 0 AS flag FROM range(2000) r(i)"
        )
    (tmp_path / "people.toml").write_text(SCHEMA.format(source=source))
    found = open_session(tmp_path / "people.toml", ledger=tmp_path / "ledger")
    yield found
    found.close()


def says(session: Session, text: str) -> tuple[int, bool]:
    result = session.execute(text)
    return result.rows[0][-1], any("that the schema does not give" in notice for notice in result.notices)


def test_a_total_of_groups_says_which_rows_are_in_none(session: Session) -> None:
    session.execute(BY_YEAR)
    assert says(session, "SELECT COUNT(*) FROM people") == (1600, True)
    assert says(session, "SELECT COUNT(*) FROM people WHERE year > 1905")[1]
    assert not says(session, "SELECT COUNT(*) FROM people WHERE year IN (1903, 1904)")[1]
    assert not says(session, "SELECT COUNT(*) FROM people WHERE year = 1903")[1]
    assert not says(session, "SELECT year, COUNT(*) AS n FROM people GROUP BY year ORDER BY year")[1]
    session.execute("SET dpsql.reuse = off")
    assert says(session, "SELECT COUNT(*) FROM people") == (2000, False)


def test_groups_that_hold_all_rows_say_nothing(session: Session) -> None:
    session.execute("SELECT flag, COUNT(*) FROM people GROUP BY flag")
    assert says(session, "SELECT COUNT(*) FROM people") == (2000, False)
    session.execute("SELECT kind, COUNT(*) FROM people WHERE kind IN ('a', 'b') GROUP BY kind")
    assert not says(session, "SELECT COUNT(*) FROM people WHERE kind IN ('a', 'b')")[1]


def test_both_keys_are_named(session: Session) -> None:
    session.execute("SELECT year, kind, COUNT(*) FROM people GROUP BY year, kind")
    (notice,) = (each for each in session.execute("SELECT COUNT(*) FROM people").notices if "does not give" in each)
    assert "values of kind and year that" in notice
