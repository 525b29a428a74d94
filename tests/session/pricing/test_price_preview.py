"""EXPLAIN and the table dpsql.budget: what tools are told of prices, at no cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import clinic

from dpsql.errors import DatabaseError, Refused
from dpsql.session import Session
from dpsql.session.database import TOOLS, Database, open_database

COUNT = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"
#: How Superset finds the cost of a statement.
SUPERSET = re.compile(r"cost=([\d\.]+)\.\.([\d\.]+)")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path_factory.mktemp("clinic"), query_epsilon="0.25"))
    yield opened
    opened.close()


@pytest.fixture
def session(database: Database) -> Session:
    return database.session("ada", TOOLS)


@pytest.mark.parametrize(
    "words",
    [
        "EXPLAIN",
        "explain",
        "EXPLAIN VERBOSE",
        "EXPLAIN (FORMAT TEXT)",
        "EXPLAIN (COSTS, VERBOSE off)",
        "/* a tool */ EXPLAIN -- and\n",
        "EXPLAIN (ANALYZE false)",
    ],
)
def test_explain_tells_the_price_where_tools_look_for_it(session: Session, words: str) -> None:
    before = session.remaining
    found = session.execute(f"{words} {COUNT} HAVING COUNT(*) > 7")
    assert [column.name for column in found.columns] == ["QUERY PLAN"]
    cost = SUPERSET.search(str(found.rows[0][0]))
    assert cost is not None and (float(cost[1]), float(cost[2])) == (0, 0.25)
    assert any("price: ε = 0.25" in str(row[0]) for row in found.rows)
    assert session.remaining == before


@pytest.mark.parametrize(
    "words", ["EXPLAIN VERBOSE", "EXPLAIN (VERBOSE)", "EXPLAIN (verbose on, FORMAT text)"]
)
def test_verbose_says_all_that_explain_privacy_does(session: Session, words: str) -> None:
    _, *said = session.execute(f"{words} {COUNT}").rows
    assert said == session.execute(f"EXPLAIN PRIVACY {COUNT}").rows and said[0] == ("engine SQL:",)


def test_explain_in_json(session: Session) -> None:
    ((text,),) = session.execute(f"EXPLAIN (FORMAT JSON) {COUNT}").rows
    (found,) = json.loads(str(text))
    ((whole,),) = session.execute(f"EXPLAIN (VERBOSE, FORMAT JSON) {COUNT}").rows
    assert (
        found["dpsql"][0].startswith("takes: ")
        and "engine SQL:" in json.loads(str(whole))[0]["dpsql"]
    )
    assert found["Plan"]["Total Cost"] == 0.25 and found["Plan"]["Startup Cost"] == 0


def test_what_was_paid_for_is_explained_as_free(session: Session) -> None:
    session.execute("SELECT COUNT(*) FROM visits")
    assert "cost=0.00..0 " in str(session.execute("EXPLAIN SELECT COUNT(*) FROM visits").rows[0][0])
    assert "cost=0.00..0 " in str(session.execute("EXPLAIN SELECT region FROM places").rows[0][0])


@pytest.mark.parametrize(
    "words",
    ["EXPLAIN ANALYZE", "EXPLAIN (ANALYZE)", "explain analyse verbose", "EXPLAIN (ANALYZE true)"],
)
def test_explain_never_runs_a_statement(session: Session, words: str) -> None:
    with pytest.raises(Refused, match="use EXPLAIN"):
        session.execute(f"{words} {COUNT}")


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN (FORMAT XML) SELECT 1",
        "EXPLAIN (NONSENSE) SELECT 1",
        "EXPLAIN () SELECT 1",
        "EXPLAIN DROP TABLE patients",
        "EXPLAIN SELECT name FROM patients",
        "EXPLAIN EXPLAIN SELECT 1",
        "EXPLAIN",
    ],
)
def test_what_explain_does_not_know_is_refused(session: Session, text: str) -> None:
    with pytest.raises(DatabaseError):
        session.execute(text)


@pytest.mark.parametrize(
    "table", ["dpsql.budget", '"dpsql"."budget"', "DPSQL.Budget AS b", "dpsql . budget"]
)
def test_the_budget_is_a_table(session: Session, table: str) -> None:
    entries = len(list(session.accountant.ledger.history()))
    found = session.execute(f"SELECT * FROM {table}")
    assert [column.name for column in found.columns] == [
        "analyst",
        "answers_left",
        "answers_total",
        "epsilon_total",
        "epsilon_left",
        "delta_total",
        "delta_left",
        "share_left",
        "lifetime_epsilon",
        "lifetime_delta",
        "renewed_on",
    ]
    left = session.remaining
    answers = session.ordinary_answers(left)
    assert found.rows == [
        (
            "ada",
            answers.left,
            answers.total,
            1000.0,
            float(left.epsilon),
            1e-6,
            float(left.delta),
            float(left.share),
            1000.0,
            1e-6,
            None,
        )
    ]
    assert len(list(session.accountant.ledger.history())) == entries


def test_the_budget_is_that_of_now(session: Session) -> None:
    text = "SELECT answers_left, epsilon_left / epsilon_total AS share FROM dpsql.budget WHERE analyst = ?"
    prepared = session.prepare(text)
    assert prepared.parameters == ("VARCHAR",)
    before = session.answer(prepared.plan(["ada"])).rows[0][0]
    session.execute("SELECT COUNT(*) FROM patients WHERE ward = 2")
    after = session.answer(prepared.plan(["ada"])).rows[0][0]
    assert isinstance(before, int) and after == before - 1
    assert session.answer(prepared.plan(["bob"])).rows == []


def test_the_budget_is_read_alone(session: Session) -> None:
    for text in (
        "SELECT COUNT(*) FROM patients, dpsql.budget",
        "SELECT * FROM dpsql.budget, places",
    ):
        with pytest.raises(DatabaseError, match="alone"):
            session.execute(text)
    with pytest.raises(DatabaseError):
        session.execute("SELECT * FROM dpsql.entries")


def test_the_table_of_another_name_is_no_budget(tmp_path: Path, session: Session) -> None:
    with pytest.raises(DatabaseError, match="does not exist"):
        session.execute("SELECT * FROM budget")
