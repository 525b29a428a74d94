"""What is made of MIN and MAX of few rows holds the truth:
their intervals end at a bound that no sample reaches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.session import Session, open_session

SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 1e-6
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
born = { type = "date", bounds = [1980-01-01, 2020-12-31] }
ward = { type = "integer", values = [0, 1, 2] }
age = { type = "integer", bounds = [0, 100] }
"""
WARDS = "(SELECT ward, MIN(born) AS f, MAX(born) AS l, MAX(age) AS a, COUNT(*) AS n FROM people GROUP BY ward) AS t"
MADE = (
    "SELECT MAX(age) * 2 + 1 FROM people",
    "SELECT SQRT(MAX(age)) FROM people",
    "SELECT ROUND(100 - MIN(age)) FROM people",
)
NONE = (
    "SELECT MAX(age) - MIN(age) FROM people",
    "SELECT YEAR(MAX(born)) FROM people",
    "SELECT DATE_DIFF('day', MIN(born), MAX(born)) FROM people",
    "SELECT MAX(age) * COUNT(*) FROM people",
    "SELECT YEAR(MEDIAN(born)) * MAX(age) FROM people",
    "SELECT MAX(age) + MIN(age) + MEDIAN(age) FROM people",
    "SELECT CASE WHEN MAX(born) > DATE '2014-01-01' THEN COUNT(*) ELSE 0 END FROM people",
    f"SELECT AVG(YEAR(l)) FROM {WARDS}",
    f"SELECT SUM(YEAR(l) - YEAR(f)) FROM {WARDS}",
    f"SELECT AVG(a) FROM {WARDS}",
    f"SELECT SUM(a) OVER () + SUM(n) OVER () FROM {WARDS}",
)
OPEN = ("1 / (MEDIAN(age) - 49.5)", "MEDIAN(age) / (AVG(age) * COUNT(*) - 1000)")


@pytest.fixture(scope="module")
def clinic(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Session, duckdb.DuckDBPyConnection]]:
    folder: Path = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, DATE '1990-01-01' + (i * 7919 % 9000)::INTEGER AS born, "
            "i % 3 AS ward, i * 31 % 100 AS age FROM range(30) AS t(i)"
        )
    (folder / "clinic.toml").write_text(SCHEMA)
    opened = open_session(folder / "clinic.toml", ledger=folder / "ledger")
    with duckdb.connect(str(folder / "clinic.duckdb"), read_only=True) as plain:
        yield opened, plain
    opened.close()


@pytest.mark.parametrize("text", MADE)
def test_it_holds_the_truth(clinic: tuple[Session, duckdb.DuckDBPyConnection], text: str) -> None:
    """Of 12 of 95 % fewer than 4 hold with a probability below 1e-9; from samples none would."""
    session, plain = clinic
    ((truth, *_), *_) = plain.execute(text).fetchall()
    held = 0
    for number in range(12):
        session.epsilon = Fraction(1) + Fraction(
            number, 10**6
        )  # so that no answer is one that was paid for
        ends = session.execute(text).intervals[0][0]
        assert ends is not None
        held += ends[0] <= truth <= ends[1]
    assert held >= 4


@pytest.mark.parametrize("text", NONE)
def test_what_else_is_made_of_them_has_no_interval(
    clinic: tuple[Session, duckdb.DuckDBPyConnection], text: str
) -> None:
    clinic[0].epsilon = Fraction(1)
    assert clinic[0].execute(text).intervals[0][0] is None


@pytest.mark.parametrize("item", OPEN)
def test_what_it_is_divided_into_or_by_may_be_infinite(
    clinic: tuple[Session, duckdb.DuckDBPyConnection], item: str
) -> None:
    clinic[0].epsilon = Fraction(10)
    assert clinic[0].execute(f"SELECT {item} FROM people").intervals == [((-math.inf, math.inf),)]
