"""A total that is the sum of groups says which rows are in none of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
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
score = {{ type = "integer", bounds = [0, 20] }}
"""
BY_YEAR = "SELECT year, COUNT(*) FROM people GROUP BY year"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    source = tmp_path / "people.duckdb"
    with duckdb.connect(source) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN 2001 ELSE 1900 + i % 11 END AS year, "
            "['a', 'b', 'other'][1 + i % 3] AS kind, i % 2 = 0 AS flag, 10 AS score FROM range(2000) r(i)"
        )
    (tmp_path / "people.toml").write_text(SCHEMA.format(source=source))
    found = open_session(tmp_path / "people.toml", ledger=tmp_path / "ledger")
    yield found
    found.close()


def says(session: Session, text: str) -> tuple[int, bool]:
    result = session.execute(text)
    return result.rows[0][-1], any(
        "that the schema does not give" in notice for notice in result.notices
    )


def test_a_total_of_groups_says_which_rows_are_in_none(session: Session) -> None:
    session.execute(BY_YEAR)
    assert says(session, "SELECT COUNT(*) FROM people") == (1600, True)
    assert says(session, "SELECT COUNT(*) FROM people WHERE year > 1905")[1]
    assert not says(session, "SELECT COUNT(*) FROM people WHERE year IN (1903, 1904)")[1]
    assert not says(session, "SELECT COUNT(*) FROM people WHERE year = 1903")[1]
    assert not says(session, "SELECT year, COUNT(*) AS n FROM people GROUP BY year ORDER BY year")[
        1
    ]
    session.execute("SET dpsql.reuse = off")
    assert says(session, "SELECT COUNT(*) FROM people") == (2000, False)


def test_groups_that_hold_all_rows_say_nothing(session: Session) -> None:
    session.execute("SELECT flag, COUNT(*) FROM people GROUP BY flag")
    assert says(session, "SELECT COUNT(*) FROM people") == (2000, False)
    session.execute("SELECT kind, COUNT(*) FROM people WHERE kind IN ('a', 'b') GROUP BY kind")
    assert not says(session, "SELECT COUNT(*) FROM people WHERE kind IN ('a', 'b')")[1]


def test_both_keys_are_named(session: Session) -> None:
    session.execute("SELECT year, kind, COUNT(*) FROM people GROUP BY year, kind")
    (notice,) = (
        each
        for each in session.execute("SELECT COUNT(*) FROM people").notices
        if "does not give" in each
    )
    assert "values of kind and year that" in notice


def test_a_total_is_one_of_all_rows_or_one_of_rows_in_groups_and_never_between(
    session: Session,
) -> None:
    """The sum of groups is more exact than the total, which would be weighed with it,
    or not bought at all.
    """
    session.execute(BY_YEAR)
    session.epsilon = Fraction(20)
    total = "SELECT COUNT(*) FROM people"
    assert says(session, total)[0] == pytest.approx(1600, abs=20)
    assert says(session, f"REFINE {total}")[0] == pytest.approx(2000, abs=20), "it buys the whole"
    assert says(session, f"REFINE {total}") == says(session, total)
    assert not says(session, total)[1]


def test_an_average_has_its_sum_and_its_count_of_the_same_rows(session: Session) -> None:
    """The count of all rows is known, and sums of years alone."""
    session.execute("SELECT flag, COUNT(*) FROM people GROUP BY flag")
    session.execute("SELECT year, SUM(score) AS s, COUNT(*) AS n FROM people GROUP BY year")
    result = session.execute("SELECT COUNT(*) AS n, SUM(score) AS s FROM people")
    ((rows, scores),) = result.rows
    assert scores == pytest.approx(10 * rows, rel=0.01), "all have 10"
    assert round(rows, -1) == 1600 and any("does not give" in notice for notice in result.notices)


def test_what_is_bought_in_part_is_of_all_rows(session: Session) -> None:
    session.execute("SELECT year, SUM(score) AS s FROM people GROUP BY year")
    text = "SELECT COUNT(*) FILTER (WHERE flag) AS n, SUM(score) AS s FROM people"
    ((rows, scores),) = session.execute(text).rows
    assert round(rows, -1) == 1000 and scores == pytest.approx(20_000, rel=0.01)
