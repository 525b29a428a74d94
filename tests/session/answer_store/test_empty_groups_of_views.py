"""Of many groups that an earlier answer tells,
empty ones are no more often shown than if they were bought.
"""

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
epsilon = 1000
delta = 1e-6
query_epsilon = 1
[tables.people]
max_rows_per_unit = 1
references = {{ town = "towns.town" }}
[tables.people.columns]
id = {{ type = "integer" }}
town = {{ type = "integer" }}
flag = {{ type = "boolean" }}
[tables.towns]
public = true
key = "town"
[tables.towns.columns]
town = {{ type = "integer" }}
name = {{ type = "text" }}
"""
TOWNS, INHABITED = 2000, 20


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    source = tmp_path / "people.duckdb"
    with duckdb.connect(source) as connection:
        connection.execute(
            f"CREATE TABLE towns AS SELECT i AS town, 'town ' || i AS name FROM range({TOWNS}) r(i)"
        )
        connection.execute(
            f"CREATE TABLE people AS SELECT i AS id, i % {INHABITED} AS town, i % 2 = 0 AS flag FROM range(2000) r(i)"
        )
    (tmp_path / "people.toml").write_text(SCHEMA.format(source=source))
    found = open_session(tmp_path / "people.toml", ledger=tmp_path / "ledger")
    yield found
    found.close()


def test_no_empty_town_is_shown_because_there_are_many(session: Session) -> None:
    """Noise alone shows a town in one answer of twenty.

    The threshold of one group would show some 100 of 1,980.

    Nine or more by chance: less than once in 10^16 answers.
    """
    by_town = "SELECT name, {}COUNT(*) AS n FROM people JOIN towns USING (town) GROUP BY ALL"
    bought = session.execute(by_town.format("flag, "))
    told = session.execute(by_town.format(""))
    assert not bought.price.stored and told.price.stored, (
        "towns are told by the groups of towns and flags"
    )
    inhabited = {f"town {number}" for number in range(INHABITED)}
    assert inhabited <= {name for name, _ in told.rows}
    assert len(told.rows) < INHABITED + 9
