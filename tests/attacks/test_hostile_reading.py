"""What a hostile reading of the code found, each on the smallest database that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.errors import DatabaseError
from dpsql.session import Session, open_session

SCHEMA = """
name = "small"
source = "small.duckdb"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 1e-3
query_epsilon = 10
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "decimal(20,0)" }
born = { type = "date" }
big = { type = "integer", bounds = [0, 4294967296] }
[tables.visits]
references = { id = "people.id" }
max_rows_per_unit = 10
[tables.visits.columns]
id = { type = "decimal(20,0)" }
visit = { type = "integer" }
kind = { type = "integer", bounds = [0, 1] }
[tables.tests]
references = { visit = "visits.visit" }
max_rows_per_unit = 20
[tables.tests.columns]
visit = { type = "integer" }
test = { type = "integer" }
[tables.sizes]
references = { test = "tests.test" }
max_rows_per_unit = 1048576
[tables.sizes.columns]
test = { type = "integer" }
size = { type = "integer", bounds = [0, 4294967296] }
"""
#: Units that are one and the same as doubles, of whom the last alone has visits, tests and values.
DATA = """
CREATE TABLE people AS SELECT (1152921504606846976 + i)::DECIMAL(20,0) AS id, DATE '2000-01-01' AS born, 1 AS big
FROM range(100) t(i);
UPDATE people SET born = DATE '290000-01-01' WHERE id = 1152921504606846976 + 7;
UPDATE people SET born = DATE '5877642-06-25 (BC)' WHERE id = 1152921504606846976 + 8;
CREATE TABLE visits AS SELECT (1152921504606846976 + 99)::DECIMAL(20,0) AS id, i::INT AS visit, (i % 2)::INT AS kind
FROM range(10) t(i);
CREATE TABLE tests AS SELECT i::INT AS visit, (2 * i)::INT AS test FROM range(10) t(i);
CREATE TABLE sizes AS SELECT (2 * i)::INT AS test, 4294967296 AS size FROM range(10) t(i);
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("small")
    with duckdb.connect(str(folder / "small.duckdb")) as connection:
        connection.execute(DATA)
    (folder / "small.toml").write_text(SCHEMA, encoding="utf-8")
    session = open_session(folder / "small.toml", ledger=folder / "ledger")
    yield session
    session.close()


def noisy_count(session: Session, text: str, *parameters: object) -> float:
    """The answer at a price at which its noise is below 10,
    but for one draw in 10^9 of the widest of these counts.
    """
    (row,) = session.execute(text, parameters).rows
    assert isinstance(row[0], int)
    return row[0]


def test_units_that_are_equal_as_doubles_are_not_joined(session: Session) -> None:
    """As doubles every person would have the visits of the last:
    1,000 rows that one person moves.
    """
    core = session.plan("SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.id").cores[0]
    assert "DOUBLE" not in core.sql.split("AS MATERIALIZED", 1)[1].split("sums_suspects", 1)[0]
    assert (
        abs(noisy_count(session, "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.id") - 10)
        < 20
    )


def test_a_chain_of_joined_parents_keeps_its_unit(session: Session) -> None:
    chain = "sizes x JOIN tests t ON x.test = t.test JOIN visits v ON t.visit = v.visit"
    for joins in (chain, f"{chain} JOIN people p ON p.id = v.id"):
        assert len(session.execute(f"SELECT COUNT(*) FROM {joins} WHERE v.kind = 1").rows) == 1


def test_a_limit_that_the_clamp_before_the_norm_would_reach_is_refused(session: Session) -> None:
    """2^32 times 2^20 is 2^52: more rows of one unit, clamped to 2^52, would not be above it."""
    with pytest.raises(DatabaseError, match="E_LIMITS"):
        session.plan("SELECT SUM(size) FROM sizes")
    session.plan("SELECT SUM(size - 1) FROM sizes WHERE size > 0")


def test_a_subquery_per_unit_and_key_may_give_several_rows(session: Session) -> None:
    text = "SELECT SUM(n) FROM (SELECT id, visit, COUNT(*) AS n FROM visits GROUP BY id, visit) q"
    cell = session.plan(text).cores[0].cells[0].contribution
    assert cell.rows == 10


def test_no_date_of_one_person_fails_a_statement(session: Session) -> None:
    for key in (
        "born",
        "born + INTERVAL '9000' YEAR",
        "DATE_TRUNC('month', born)",
        "EXTRACT(week FROM born)",
    ):
        session.execute(f"SELECT {key}, COUNT(*) FROM people GROUP BY 1")
        assert len(session.execute(f"SELECT COUNT(DISTINCT {key}) FROM people").rows) == 1


def test_texts_do_not_grow_by_what_a_row_holds(session: Session) -> None:
    grown = "CASE WHEN id = 1 THEN 'a' ELSE '' END"
    for _ in range(4):
        grown = f"REPLACE({grown}, 'a', '{'a' * 1000}')"
    with pytest.raises(DatabaseError, match="E_FUNC"):
        session.plan(f"SELECT COUNT(*) FROM people WHERE LENGTH({grown}) > 0")
    session.plan(
        "SELECT COUNT(*) FROM people WHERE LENGTH(REPLACE(CAST(id AS TEXT), '11', 'x')) > 0"
    )


def test_expressions_do_not_double_with_each_subquery(session: Session) -> None:
    source = "people"
    for _ in range(20):
        source = f"(SELECT big + big AS big FROM {source})"
    with pytest.raises(DatabaseError, match="E_LIMITS"):
        session.plan(f"SELECT COUNT(*) FROM {source} WHERE big > 1")


def test_a_parameter_has_the_value_of_its_place_in_the_text(session: Session) -> None:
    """The tree of this statement has its ? in another order than its text."""
    text = "SELECT COUNT(*) FILTER (WHERE visit = ?), SUM(kind + ?) FROM visits WHERE visit < ? AND visit > ? LIMIT ?"
    plan = session.plan(text, (101, 102, 103, 104, 105))
    sql = plan.cores[0].sql.replace("(", "").replace(")", "")
    assert [said for said in ("= 101", "102.0", "< 103", "> 104") if said not in sql] == []
    assert "LIMIT 105" in plan.postprocessing
    with pytest.raises(DatabaseError, match="E_PARAM"):
        session.plan("SELECT COUNT(*) FROM visits WHERE visit = :place")


@pytest.mark.parametrize(
    "text",
    [
        "SHOW ALL",
        "SELECT id JOIN visits v ON true",
        "SELECT COUNT(*) FROM visits v JOIN (SELECT 1 AS id) q ON v.kind = q.id",
        "SELECT kind, (*) FROM visits GROUP BY kind",
    ],
)
def test_what_made_planning_stumble_is_refused(session: Session, text: str) -> None:
    with pytest.raises(DatabaseError):
        session.plan(text)


def test_an_epsilon_is_a_number(session: Session) -> None:
    before = session.epsilon
    for wrong in (float("nan"), True, -1, 0, 10**9):
        with pytest.raises(DatabaseError):
            session.epsilon = wrong  # type: ignore[assignment]
    assert session.epsilon == before


def test_an_answer_is_no_larger_than_can_be_held(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement over constants is free, and may not fill the memory that all share."""
    monkeypatch.setattr("dpsql.postprocessing.sandbox.MOST_VALUES", 100_000)
    values = ", ".join(f"({number})" for number in range(100))
    many = ", ".join(f"(VALUES {values}) t{place}(x)" for place in range(4))
    with pytest.raises(DatabaseError, match="E_LIMITS"):
        session.execute(f"SELECT t0.x FROM {many}")
    assert len(session.execute(f"SELECT x FROM (VALUES {values}) t(x)").rows) == 100
