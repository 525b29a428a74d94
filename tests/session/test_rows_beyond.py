"""An answer under a limit that leaves out a part of a table's rows says so,
as far as the schema tells it.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dpsql.schema import loads
from dpsql.session import Session, open_session

SCHEMA = """
name = "players"
source = "{source}"
ledger = "{ledger}"
[privacy]
unit = "people.id"
epsilon = 1000000
delta = 1e-6
query_epsilon = 100
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
[tables.awards]
max_rows_per_unit = 6
rows_beyond_limit = 0.7
references = {{ person = "people.id", kind = "kinds.kind" }}
[tables.awards.columns]
person = {{ type = "integer" }}
kind = {{ type = "text", values = ["a", "b"] }}
points = {{ type = "integer", bounds = [0, 10] }}
[tables.games]
max_rows_per_unit = 2
rows_beyond_limit = 0.009
references = {{ person = "people.id" }}
[tables.games.columns]
person = {{ type = "integer" }}
[tables.calls]
max_rows_per_unit = 2
rows_beyond_limit = 0.002
rows_beyond_limit_at_most = 0.45
references = {{ person = "people.id" }}
[tables.calls.columns]
person = {{ type = "integer" }}
[tables.mails]
max_rows_per_unit = 2
rows_beyond_limit = 0.03
rows_beyond_limit_at_most = 0.1
references = {{ person = "people.id" }}
[tables.mails.columns]
person = {{ type = "integer" }}
[tables.kinds]
public = true
[tables.kinds.columns]
kind = {{ type = "text" }}
"""
MAY = (
    "limits may leave out up to about 45 % of the rows of calls: so much would not have shown when it was found",
)
ALL = ("limits leave out about 70 % of the rows of awards",)
SOME = ("limits leave out up to about 70 % of the rows of awards",)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("players")
    with duckdb.connect(str(folder / "players.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id FROM range(300) t(i)")
        connection.execute(
            "CREATE TABLE awards AS SELECT i % 300 AS person, chr((97 + i % 2)::INTEGER) AS kind, i % 7 AS points "
            "FROM range(6000) t(i)"
        )
        connection.execute("CREATE TABLE games AS SELECT i % 300 AS person FROM range(600) t(i)")
        connection.execute("CREATE TABLE calls AS FROM games")
        connection.execute("CREATE TABLE mails AS FROM games")
        connection.execute("CREATE TABLE kinds AS SELECT unnest(['a', 'b']) AS kind")
    opened = open_session(
        loads(SCHEMA.format(source=folder / "players.duckdb", ledger=folder / "x.ledger"))
    )
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT COUNT(*) FROM awards", ALL),
        ("SELECT SUM(points), AVG(points) FROM awards", ALL),
        ("SELECT MEDIAN(points) FROM awards", ALL),
        ("SELECT COUNT(*) FROM awards WHERE points > 3", SOME),
        ("SELECT kind, COUNT(*) FROM awards GROUP BY kind", SOME),
        ("SELECT COUNT(*) FROM people JOIN awards ON id = person", SOME),
        ("SELECT COUNT(*) FROM awards JOIN kinds USING (kind)", SOME),
        (
            "SELECT COUNT(*) FROM (SELECT person, kind FROM awards UNION ALL SELECT person, kind FROM awards) t",
            SOME,
        ),
        ("SELECT COUNT(*), (SELECT COUNT(*) FROM people) FROM awards", ALL),
        ("SELECT COUNT(DISTINCT person) FROM awards", ()),
        (
            "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM awards GROUP BY person) t WHERE n > 9",
            SOME,
        ),
        ("SELECT DP_CLIP(COUNT(*)) FROM awards", ()),
        ("SELECT COUNT(*) FROM games", ()),
        ("SELECT COUNT(*) FROM calls", MAY),
        ("SELECT COUNT(*) FROM calls WHERE person > 3", MAY),
        (
            "SELECT COUNT(*) FROM mails",
            ("limits leave out about 3 % of the rows of mails (at most 10 %)",),
        ),
        ("SELECT COUNT(DISTINCT person) FROM calls", ()),
        ("SELECT COUNT(*) FROM people", ()),
        ("SELECT COUNT(*) FROM kinds", ()),
    ],
)
def test_what_limits_leave_out_is_said(
    session: Session, statement: str, said: tuple[str, ...]
) -> None:
    for _ in range(2):  # of an answer that is given again too
        notices = session.execute(statement).notices
        assert tuple(notice for notice in notices if notice.startswith("limits")) == said
    explained = str(session.explain(statement))
    assert all(notice in explained for notice in said) and ("leave out" in explained) == bool(said)
