"""Grouping sets over keys that some rows have beyond the bounds: all levels count the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from beside_duckdb import BesideDuckDB, beside_duckdb

ROWS = """CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN 2001 ELSE 1900 + i % 11 END AS year,
['a', 'b', 'other'][1 + i % 3] AS kind, ['p', 'q', 'other'][1 + i % 7 % 3] AS place,
DATE '2020-01-01' + (i % 500)::INTEGER AS day, DATE '1990-01-01' + (i * 11 % 20000)::INTEGER AS born, i % 2 = 0 AS flag,
TIMESTAMP '1990-01-01' + INTERVAL (i * 11 % 20000) DAY AS seen,
TIMESTAMP '2020-01-01' + INTERVAL (i * 400) MINUTE AS moment,
CASE WHEN i % 4 > 0 THEN i / 8.0 END AS size FROM range(2000) r(i)"""
SCHEMA = """
name = "people"
source = "{source}"
[privacy]
unit = "people.id"
epsilon = 1e9
delta = 1e-6
query_epsilon = 10000
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
year = {{ type = "integer", bounds = [1900, 1910] }}
kind = {{ type = "text", values = ["a", "b"] }}
place = {{ type = "text", values = ["p", "q"] }}
day = {{ type = "date", bounds = [2020-01-01, 2020-12-31] }}
born = {{ type = "date", bounds = [1990-01-01, 2030-12-31] }}
seen = {{ type = "timestamp", bounds = [1990-01-01T00:00:00, 2030-12-31T00:00:00] }}
moment = {{ type = "timestamp", bounds = [2020-03-01T00:00:00, 2020-12-31T00:00:00] }}
size = {{ type = "double", bounds = [0, 200], nullable = true }}
flag = {{ type = "boolean" }}
"""
#: Keys, and the rows that have a key of the domain.
KEYS = {
    "year": "year BETWEEN 1900 AND 1910",
    "kind = 'a'": "TRUE",
    "year // 10": "year // 10 BETWEEN 190 AND 191",
    "day": "day <= DATE '2020-12-31'",
    "YEAR(born)": "born <= DATE '2030-12-31'",
    "MONTH(day)": "TRUE",
    "YEAR(day)": "YEAR(day) = 2020",
    "YEAR(moment)": "YEAR(moment) = 2020",
    "DATE_TRUNC('month', moment)": "moment >= TIMESTAMP '2020-03-01' AND YEAR(moment) = 2020",
    "FLOOR(size / 50)": "size IS NULL OR size < 250",
    "size > 100": "TRUE",
    "CASE WHEN year < 1905 THEN 'old' ELSE 'new' END": "TRUE",
}
OTHERS = {"flag": "TRUE", "place": "place IN ('p', 'q')"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BesideDuckDB]:
    with beside_duckdb(tmp_path_factory.mktemp("asked"), SCHEMA, ROWS) as both:
        both[0].set("dpsql.reuse", "off")
        yield both


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("other", OTHERS)
def test_every_level_counts_the_rows_with_keys_of_the_domain(
    asked: BesideDuckDB, key: str, other: str
) -> None:
    """As DuckDB does of these rows alone, where noise vanishes;
    a key that no such row has may stand there with 0.
    """
    session, plain = asked
    levels = f"GROUPING({key}) AS g, GROUPING({other}) AS h"
    asked_for = f"SELECT {key} AS k, {other} AS o, {levels}, COUNT(*) AS n, COUNT(DISTINCT id) AS u"
    text = asked_for + " FROM people{} GROUP BY CUBE (1, 2)"
    rows = {row for row in session.execute(text.format("")).rows if row[-2]}
    inside = f" WHERE ({KEYS[key]}) AND ({OTHERS[other]})"
    assert rows == set(plain.execute(text.format(inside)).fetchall())


@pytest.mark.parametrize(
    "keys",
    [
        "YEAR(day), MONTH(day)",
        "YEAR(born), MONTH(born)",
        "YEAR(seen), MONTH(seen)",
        "kind, (kind = 'a')",
        "year // 10, year",
        "MONTH(moment), kind",
    ],
)
def test_levels_of_keys_that_share_a_column_add_up_to_one_number(
    asked: BesideDuckDB, keys: str
) -> None:
    """Counts of rows are added up; people, of whom each has one row, are counted for each level."""
    session, _ = asked
    flags = ", ".join(f"GROUPING({key})" for key in keys.split(", "))
    counts = "COUNT(*) AS n, COUNT(DISTINCT id) AS u"
    rows = session.execute(
        f"SELECT {keys}, {flags}, {counts} FROM people GROUP BY ROLLUP ({keys})"
    ).rows
    levels = {row[2:4] for row in rows}
    rows_of, people_of = (
        {level: sum(row[place] for row in rows if row[2:4] == level) for level in levels}
        for place in (4, 5)
    )
    assert len(levels) == 3 and len({*rows_of.values(), *people_of.values()}) == 1
    assert 0 < rows_of[1, 1] < 2000


def test_a_condition_that_lists_the_keys_is_enough(asked: BesideDuckDB) -> None:
    session, _ = asked
    text = (
        "SELECT kind, COUNT(*) AS n FROM people WHERE kind IN ('a', 'other') GROUP BY ROLLUP (kind)"
    )
    (total,) = (row[1] for row in session.execute(text).rows if row[0] is None)
    groups = sum(row[1] for row in session.execute(text).rows if row[0] is not None)
    assert total == groups
