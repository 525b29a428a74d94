"""How many public rows a subquery counts at most:
an outer join keeps rows for which the other table has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from databases import clinic, without_noise

from dpsql.session.database import Database, open_database

NOTHING = """
[tables.nothing]
public = true
[tables.nothing.columns]
place = { type = "text" }
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    schema = clinic(tmp_path)
    with duckdb.connect(tmp_path / "clinic.duckdb") as connection:
        connection.execute("CREATE TABLE nothing AS SELECT 'a' AS place WHERE false")
    schema.write_text(schema.read_text() + NOTHING)
    opened = open_database(schema)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "join", ["places AS a LEFT JOIN nothing AS b", "places AS a FULL JOIN nothing AS b"]
)
def test_an_outer_join_with_an_empty_public_table_keeps_the_rows_of_the_other(
    join: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    session = database.session("ada")
    counted = f"(SELECT COUNT(*) FROM {join} ON a.place = b.place WHERE a.place = v.place)"
    plan = session.plan(f"SELECT SUM({counted}) AS n FROM visits AS v")
    argument = plan.cores[0].core.aggregates[0].argument
    assert argument is not None and argument.bounds[1] >= Fraction(1)  # type: ignore[union-attr]
    ((found,),) = session.execute(plan.text).rows
    ((wanted,),) = session.execute(
        "SELECT COUNT(*) FROM visits AS v JOIN places USING (place)"
    ).rows
    assert found == wanted > 0
