"""Groups of a private key that is not the unit, and rows without a unit: without noise,
the numbers are SQL's.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from beside_duckdb import BesideDuckDB, beside_duckdb

SCHEMA = """
name = "town"
source = "{source}"
[privacy]
unit = "people.id"
epsilon = 1e13
delta = 1e-6
query_epsilon = 1e5
orphans = "each"
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
household = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 120] }}
[tables.visits]
references = {{ person = "people.id" }}
max_rows_per_unit = 6
[tables.visits.columns]
person = {{ type = "integer", nullable = true }}
doctor = {{ type = "integer" }}
kind = {{ type = "text", values = ["a", "b"] }}
cost = {{ type = "integer", bounds = [-100, 100], nullable = true }}
"""

#: Households of one to six; one visit in seventeen is of nobody,
#: and one of a person whom nobody #: knows.
ROWS = """
CREATE TABLE people AS SELECT i AS id, hash(i) % 400 AS household, (hash(i, 1) % 100)::INT AS age FROM range(900) t(i);
CREATE TABLE visits AS SELECT CASE WHEN i % 17 = 0 THEN NULL WHEN i % 17 = 1 THEN 5000 + i % 40 ELSE (i % 900)::INT END
    AS person, (hash(i, 2) % 700)::INT AS doctor, ['a', 'b'][1 + (hash(i, 3) % 2)::INT] AS kind,
    CASE WHEN i % 9 = 0 THEN NULL ELSE (hash(i, 4) % 190)::INT - 95 END AS cost FROM range(3000) t(i);
"""
#: A table, its private key and a number of its rows.
SOURCES = (("people", "household", "age"), ("visits", "doctor", "cost"))
INNER = (
    "MAX({})",
    "MIN({})",
    "LEAST(COUNT({}), 4)",
    "LEAST(SUM({}), 90)",
    "LEAST(COUNT(DISTINCT {}), 5)",
)
HAVING = ("", " HAVING COUNT(*) >= 2", " HAVING COUNT(*) = 1", " HAVING COUNT(*) < 5")
OUTER = ("COUNT(*)", "COUNT(m)", "SUM(m)", "COUNT(*), AVG(m)", "COUNT(*) FILTER (WHERE m > 20)")
KEYS = ("", "LEAST(n, 3)", "n > 2", "CASE WHEN m > 10 THEN 'high' ELSE 'low' END")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BesideDuckDB]:
    with beside_duckdb(tmp_path_factory.mktemp("opened"), SCHEMA, ROWS) as both:
        yield both


def statement(seed: int) -> str:
    """An aggregate over the groups of a private key, or over rows of which some have no unit."""
    random = Random(seed)
    table, key, value = random.choice(SOURCES)
    where = random.choice(("", "", f" WHERE {value} > 3"))
    if random.random() < 0.25:
        rows = random.choice(
            ("COUNT(*)", "SUM(cost)", "COUNT(*) FILTER (WHERE person IS NULL)", "COUNT(cost)")
        )
        by = random.choice(("", "kind, "))
        return f"SELECT {by}{rows} FROM visits{where.replace('age', 'cost')}{' GROUP BY 1' if by else ''}"
    inner = random.choice(INNER).format(value)
    groups = f"SELECT {key}, COUNT(*) AS n, {inner} AS m FROM {table}{where} GROUP BY 1{random.choice(HAVING)}"
    outer = random.choice(KEYS)
    shown = f"{outer} AS k, {random.choice(OUTER)}" if outer else random.choice(OUTER)
    return f"SELECT {shown} FROM ({groups}) AS g{random.choice(('', ' WHERE n < 9'))}{' GROUP BY 1' if outer else ''}"


@pytest.mark.parametrize("seed", range(60))
def test_answers_are_those_of_sql(seed: int, opened: BesideDuckDB) -> None:
    session, plain = opened
    text = statement(seed)
    expected = sorted(plain.execute(text).fetchall(), key=repr)
    answer = sorted(session.execute(text).rows, key=repr)
    assert len(answer) == len(expected), text
    for row, true in zip(answer, expected, strict=True):
        for value, number in zip(row, true, strict=True):
            if isinstance(number, int | float) and not isinstance(number, bool):
                assert value == pytest.approx(number, rel=1e-6, abs=0.01), (text, row, true)
            else:
                assert value == number, (text, row, true)


def test_most_statements_read_groups_that_are_not_released(opened: BesideDuckDB) -> None:
    session, _ = opened
    texts = [text for text in map(statement, range(60)) if " AS g" in text]
    released = [text for text in texts if any(core.selection for core in session.plan(text).cores)]
    assert len(texts) >= 35 and len(released) <= len(texts) // 4, released
