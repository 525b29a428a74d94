"""MIN and MAX of groups at a price at which counts are exact: those of SQL,
whatever their type and size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.session import Session, open_session

ROWS = """CREATE TABLE t AS SELECT i AS id, (i * 37) % 90 AS age,
CAST(((i * 7919) % 100000) / 100.0 AS DECIMAL(8, 2)) AS price,
DATE '2020-01-01' + (i * 31 % 1500)::INTEGER AS day,
TIMESTAMP '2020-01-01' + INTERVAL ((i * 7777) % 40000000) SECOND AS moment,
(i * 7919 % 100003) / 97.0 AS ratio, (i * i) % 1000003 AS big,
CASE WHEN i < 1 THEN 'one' WHEN i < 3 THEN 'two' WHEN i < 40 THEN 'few' ELSE 'many' END AS kind FROM range(3000) r(i)"""
SCHEMA = """
name = "ends"
source = "{source}"
[privacy]
unit = "t.id"
epsilon = 1e9
delta = {delta}
query_epsilon = 10000
[tables.t]
max_rows_per_unit = 1
[tables.t.columns]
id = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 120] }}
price = {{ type = "decimal(8,2)", bounds = [0, 5000] }}
day = {{ type = "date", bounds = [1900-01-01, 2100-01-01] }}
moment = {{ type = "timestamp", bounds = [1990-01-01T00:00:00, 2025-12-31T00:00:00] }}
ratio = {{ type = "double", bounds = [-1000, 20000] }}
big = {{ type = "integer", bounds = [-1000000, 900000000] }}
kind = {{ type = "text", values = ["one", "two", "few", "many"] }}
"""


@pytest.fixture(scope="module", params=[0, 1e-6], ids=["L1", "L2"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, Path]]:
    folder = tmp_path_factory.mktemp("ends")
    source = folder / "t.duckdb"
    with duckdb.connect(source) as connection:
        connection.execute(ROWS)
    (folder / "t.toml").write_text(SCHEMA.format(source=source, delta=request.param))
    session = open_session(folder / "t.toml", ledger=folder / "ledger")
    yield session, source
    session.close()


@pytest.mark.parametrize("key", ["kind", "age // 10", "EXTRACT(DOW FROM day)"])
@pytest.mark.parametrize("column", ["age", "price", "day", "moment", "ratio", "big"])
def test_ends_of_groups_are_those_of_sql(
    asked: tuple[Session, Path], key: str, column: str
) -> None:
    """Of each type; 480 cells in all, of which noise may choose none wrongly but with a probability
    below 1e-9.
    """
    session, source = asked
    text = f"SELECT {key} AS k, MIN({column}), MAX({column}), MEDIAN({column}) FROM t GROUP BY 1 ORDER BY 1"
    with duckdb.connect(source, read_only=True) as connection:
        truth = connection.execute(text).fetchall()
    answer = session.execute(text).rows
    assert [row[0] for row in answer] == [row[0] for row in truth]
    for row, wanted in zip(answer, truth, strict=True):
        if column == "ratio":
            assert row[1:3] == pytest.approx(wanted[1:3], rel=1e-6, abs=1e-4)
        else:
            assert tuple(row[1:3]) == tuple(wanted[1:3])


def test_the_median_of_a_difference_is_told_to_the_second(asked: tuple[Session, Path]) -> None:
    """All rows lie in a ten-millionth of the range of differences."""
    session, _ = asked
    text = "SELECT MEDIAN(DATE_DIFF('second', moment, moment + INTERVAL 2 MINUTE)) FROM t"
    for price in (10_000, 0.5):
        session.execute(f"SET dpsql.epsilon = {price}")
        assert session.execute(text).rows == [(120.0,)]
    session.execute("RESET dpsql.epsilon")
