"""Statements in stages: later cores read what earlier ones have released,
and all is charged at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from untouched import SCHEMAS
from world_session import without_noise

from dpsql.errors import PostProcessingFailed
from dpsql.schema import loads
from dpsql.session import Session, open_session

TOP = """WITH top AS (
    SELECT diagnosis, COUNT(*) AS n, AVG(day) AS d FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 3
) """
MEAN = "(SELECT AVG(age) FROM patients)"
#: Answered without noise and with loose limits as DuckDB answers them.
FAITHFUL = {
    "joined": TOP
    + "SELECT d.diagnosis, COUNT(*), AVG(d.day) FROM diagnoses d JOIN top ON d.diagnosis = top.diagnosis "
    "GROUP BY d.diagnosis",
    "USING": TOP
    + "SELECT diagnosis, COUNT(*) FROM diagnoses JOIN top USING (diagnosis) GROUP BY diagnosis",
    "by a released number": TOP
    + "SELECT COUNT(*) FROM diagnoses d JOIN top ON d.diagnosis = top.diagnosis "
    "WHERE d.day > top.d AND top.n > 7000",
    "left": TOP
    + "SELECT COUNT(top.n), COUNT(*) FROM diagnoses d LEFT JOIN top ON d.diagnosis = top.diagnosis",
    "an average has bounds": TOP + "SELECT SUM(top.d) FROM diagnoses JOIN top USING (diagnosis)",
    "three stages": TOP
    + ", next AS (SELECT p.male, COUNT(*) AS m FROM diagnoses d JOIN top USING (diagnosis) JOIN "
    "patients p USING (patient_id) GROUP BY p.male ORDER BY m DESC LIMIT 1) SELECT COUNT(*), AVG(age) FROM patients p "
    "JOIN next ON p.male = next.male",
    "public groups": "SELECT chapter, COUNT(*) FROM diagnoses JOIN (SELECT chapter, MIN(diagnosis) AS first FROM "
    "conditions GROUP BY chapter) c ON diagnosis = c.first GROUP BY chapter",
    "constants": "SELECT COUNT(*) FROM diagnoses d JOIN (SELECT 'htn' AS diagnosis, 1 AS w UNION ALL SELECT "
    "'afib', 2) v ON d.diagnosis = v.diagnosis WHERE w < 3 AND d.day > w",
    "a value": "SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients)",
    "a value in an argument": "SELECT SUM(age - (SELECT AVG(age) FROM patients WHERE male)) FROM patients",
    "a value of a released table": TOP
    + "SELECT COUNT(*) FROM diagnoses WHERE day > (SELECT MIN(d) FROM top)",
    "a value of one group": "SELECT COUNT(*) FROM diagnoses WHERE day > (SELECT AVG(day) FROM diagnoses WHERE "
    "diagnosis = 'htn' GROUP BY diagnosis)",
    "a value of the first group": TOP + "SELECT COUNT(*) FROM diagnoses WHERE "
    "day > (SELECT d FROM top ORDER BY n LIMIT 1)",
    "a value in a group's condition": "SELECT COUNT(*) FROM (SELECT patient_id FROM diagnoses GROUP BY patient_id "
    "HAVING AVG(day) > (SELECT AVG(day) FROM diagnoses)) AS late",
    "a value by key": "SELECT male, COUNT(*) FROM patients p WHERE age > (SELECT AVG(age) FROM patients q "
    "WHERE q.male = p.male) GROUP BY male",
    "a count by key": "SELECT COUNT(*) FROM diagnoses d WHERE (SELECT COUNT(*) FROM diagnoses e WHERE "
    "e.diagnosis = d.diagnosis AND e.day > 5000) < 500",
    "no rows": "SELECT COUNT(*) FROM diagnoses d WHERE (SELECT COALESCE(SUM(day), -1) FROM diagnoses e WHERE "
    "e.diagnosis = d.diagnosis || '?') = -1",
    "by a public key": "SELECT c.chapter, COUNT(*) FROM diagnoses d JOIN conditions c ON d.diagnosis = c.diagnosis "
    "WHERE d.day > (SELECT AVG(e.day) FROM diagnoses e WHERE e.diagnosis = c.diagnosis) GROUP BY c.chapter",
    "IN": TOP + "SELECT COUNT(*) FROM diagnoses WHERE diagnosis IN (SELECT diagnosis FROM top)",
    "NOT IN": TOP
    + "SELECT COUNT(*) FROM diagnoses WHERE diagnosis NOT IN (SELECT diagnosis FROM top WHERE n > 9000)",
    "EXISTS": TOP + "SELECT COUNT(*) FROM diagnoses d WHERE EXISTS (SELECT 1 FROM top t WHERE "
    "t.diagnosis = d.diagnosis AND t.d < d.day)",
    "in a public query": "SELECT name, (SELECT COUNT(*) FROM diagnoses d WHERE d.diagnosis = c.diagnosis) AS n FROM "
    "conditions c WHERE (SELECT AVG(day) FROM diagnoses d WHERE d.diagnosis = c.diagnosis AND day > 0) > 100",
    "in a released query": "SELECT male, COUNT(*), (SELECT AVG(age) FROM patients q WHERE q.male = p.male AND died) AS "
    "m FROM patients p GROUP BY male",
    "used twice": TOP
    + ", again AS (SELECT d.diagnosis, COUNT(*) AS n FROM diagnoses d JOIN top USING (diagnosis) "
    "GROUP BY d.diagnosis) SELECT top.diagnosis, top.n, again.n FROM top JOIN again USING (diagnosis)",
}


@pytest.fixture(scope="module")
def session(nafld_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    text = (SCHEMAS / "nafld.toml").read_text(encoding="utf-8")
    text = re.sub(
        r"^source = .*$", f'source = "{nafld_folder.as_posix()}"', text, flags=re.MULTILINE
    )
    text = text.replace("bounds = [-7300, 7300]", "bounds = [-100000, 100000]")
    text = re.sub(r"^max_groups_per_unit = .*$", "", text, flags=re.MULTILINE)
    text = re.sub(
        r"^max_rows_per_unit = (?!1$).*$", "max_rows_per_unit = 1000", text, flags=re.MULTILINE
    )
    opened = open_session(loads(text), ledger=tmp_path_factory.mktemp("ledger") / "nafld.ledger")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def plain(nafld_folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for file in nafld_folder.glob("*.parquet"):
            connection.execute(f"CREATE VIEW \"{file.stem}\" AS FROM read_parquet('{file}')")
        yield connection


def _spelt(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(
        repr(
            [
                float(f"{float(each):.6g}") if isinstance(each, int | float | Decimal) else each
                for each in row
            ]
        )
        for row in rows
    )


@pytest.mark.parametrize("name", FAITHFUL)
def test_without_noise_the_answer_is_that_of_duckdb(
    name: str, session: Session, plain: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    rows = session.execute(FAITHFUL[name]).rows
    assert rows and _spelt(rows) == _spelt(plain.execute(FAITHFUL[name]).fetchall())


def test_the_value_of_one_group_has_the_bounds_of_what_is_aggregated(session: Session) -> None:
    average = "(SELECT AVG(age) FROM patients GROUP BY male ORDER BY 1 LIMIT 1)"
    first, other = (
        session.plan(f"SELECT SUM(age - {each}) FROM patients").cores[-1]
        for each in (average, MEAN)
    )
    assert [cell.contribution.limit for cell in first.cells] == [
        cell.contribution.limit for cell in other.cells
    ]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients GROUP BY male)",
        TOP + "SELECT COUNT(*) FROM diagnoses WHERE day > (SELECT d FROM top)",
    ],
)
def test_a_subquery_of_several_released_rows_is_no_value(
    text: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    with pytest.raises(PostProcessingFailed, match="stands for one value gives several rows"):
        session.execute(text)


def test_stages_follow_what_is_needed(session: Session) -> None:
    def sizes(name: str) -> list[int]:
        return [len(stage.cores) for stage in session.plan(FAITHFUL[name]).stages]

    assert (sizes("joined"), sizes("three stages"), sizes("public groups")) == (
        [1, 1],
        [1, 1, 1],
        [1],
    )
    plan = session.plan(FAITHFUL["three stages"])
    assert [[table.cores for table in stage.derived] for stage in plan.stages] == [[], [1], [2]]


def test_the_explanation_shows_the_tables_between_the_stages(session: Session) -> None:
    said = str(session.explain(FAITHFUL["three stages"]))
    assert "derived1, made of released rows:\nSELECT" in said and said.count("engine SQL:") == 3


def test_a_plan_is_the_same_whatever_is_released(session: Session) -> None:
    plan = session.plan(FAITHFUL["three stages"])
    session.answer(plan)
    assert session.plan(FAITHFUL["three stages"]) == plan


def test_all_stages_are_charged_together(session: Session) -> None:
    before, usual = session.remaining.spent.rho, session.epsilon
    session.epsilon = Fraction(7, 64)  # a price of its own, so that no answer is kept under it
    plan = session.plan(FAITHFUL["three stages"])
    session.answer(plan)
    session.epsilon = usual
    assert session.remaining.spent.rho - before == plan.cost.rho == Fraction(7, 64) ** 2 / 2


def test_nothing_stays_in_the_engine(session: Session) -> None:
    session.execute(FAITHFUL["joined"])
    tables = "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'derived'"
    assert session._execution.engine._data.connection.execute(tables).fetchone() == (0,)  # type: ignore[attr-defined]
