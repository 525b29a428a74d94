"""Prepared statements: types before values, values by their types,
and plans that are those of the plain statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import pytest
from databases import clinic

from dpsql.errors import DatabaseError, DataError, InvalidText, StatementError
from dpsql.session import Session
from dpsql.session.database import Database, open_database


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


@pytest.fixture
def session(database: Database) -> Session:
    return database.session("ada")


TYPES = (
    ("SELECT COUNT(*) FROM patients WHERE ward = $1", ["BIGINT"]),
    ("SELECT COUNT(*) FROM patients WHERE $1 < weight", ["DOUBLE"]),
    ("SELECT COUNT(*) FROM patients WHERE sex = ? AND ward > ?", ["VARCHAR", "BIGINT"]),
    (
        "SELECT COUNT(*) FROM visits v WHERE v.cost BETWEEN $1 AND $2",
        ["DECIMAL(12,2)", "DECIMAL(12,2)"],
    ),
    ("SELECT COUNT(*) FROM public.patients WHERE ward IN ($1, $2, 3)", ["BIGINT", "BIGINT"]),
    (
        "SELECT COUNT(*) FROM patients WHERE ward IN ($2,$1) AND sex IN ($3,'m')",
        ["BIGINT", "BIGINT", "VARCHAR"],
    ),
    ("SELECT COUNT(*) FROM patients WHERE sex LIKE $1", ["VARCHAR"]),
    ("SELECT COUNT(*) FROM patients WHERE ward + $1 > 2", ["BIGINT"]),
    ("SELECT COUNT(*) FROM patients WHERE DATE '2020-01-01' < $1", ["DATE"]),
    (
        "SELECT COUNT(*) FROM patients WHERE $1::timestamp > DATE '2020-01-01' + $2",
        ["TIMESTAMP", "BIGINT"],
    ),
    ("SELECT COUNT(*) FROM patients WHERE CAST($1 AS boolean)", ["BOOLEAN"]),
    ("SELECT COUNT(*) FROM patients WHERE ward = 1 AND $1", ["BOOLEAN"]),
    ("SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT $1 OFFSET $2", ["BIGINT", "BIGINT"]),
    ("SELECT COUNT(*) FROM patients WHERE ward = $2 AND sex = $1", ["VARCHAR", "BIGINT"]),
    ("SELECT COUNT(*) FROM patients WHERE ward > $1 OR ward < -$1", ["BIGINT"]),
    ("SELECT COUNT(*) FROM patients WHERE ward > $1 OR weight < $1", ["DOUBLE"]),
    (
        "SELECT sex FROM (SELECT sex, AVG(weight) AS w FROM patients GROUP BY sex) t WHERE w > $1",
        ["DOUBLE"],
    ),
    ("SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > $1", ["BIGINT"]),
    ("SELECT region FROM places WHERE place = $1", ["VARCHAR"]),
    ("SELECT COUNT(*) FROM patients WHERE COALESCE(ward, $1) = 2", ["BIGINT"]),
    (
        "SELECT COUNT(*) FROM patients WHERE CASE WHEN sex = 'f' THEN ward ELSE $1 END = 2",
        ["BIGINT"],
    ),
    ("SELECT $1", ["VARCHAR"]),
    ("SELECT COUNT(*) FROM patients", []),
)


@pytest.mark.parametrize(("text", "types"), TYPES)
def test_types_are_known_without_values(session: Session, text: str, types: list[str]) -> None:
    before = session.remaining
    prepared = session.prepare(text)
    assert list(prepared.parameters) == types and prepared.columns
    assert session.remaining == before


def test_types_that_the_client_declares_count(session: Session) -> None:
    text = "SELECT COUNT(*) FROM patients WHERE weight > $1 AND ward = $2"
    assert session.prepare(text, ["BIGINT", None]).parameters == ("BIGINT", "BIGINT")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM patients WHERE sex = $1 AND ward = $1",
        "SELECT COUNT(*) FROM patients WHERE ward = $1 AND ?",
    ],
)
def test_uses_that_do_not_agree_are_refused(session: Session, text: str) -> None:
    with pytest.raises(StatementError, match="E_PARAM"):
        session.prepare(text)


VALUES = (
    ("SELECT COUNT(*) FROM patients WHERE ward = $1", ["3"], [3]),
    ("SELECT COUNT(*) FROM patients WHERE weight > $1", ["2.5e0"], [2.5]),
    ("SELECT COUNT(*) FROM visits WHERE cost > $1", ["12.345"], [Decimal("12.345")]),
    (
        "SELECT COUNT(*) FROM patients WHERE $1 > DATE '2020-01-01'",
        [" 2021-02-03 "],
        [date(2021, 2, 3)],
    ),
    (
        "SELECT COUNT(*) FROM patients WHERE $1 > TIMESTAMP '2020-01-01 00:00:00'",
        ["2021-02-03 04:05:06Z"],
        [datetime(2021, 2, 3, 4, 5, 6)],
    ),
    ("SELECT COUNT(*) FROM patients WHERE ward = 1 AND $1", ["on"], [True]),
    ("SELECT COUNT(*) FROM patients WHERE sex = $1", ["7"], ["7"]),
    ("SELECT COUNT(*) FROM patients WHERE ward = $1", [None], [None]),
)


@pytest.mark.parametrize(("text", "texts", "values"), VALUES)
def test_texts_are_read_by_their_types(
    session: Session, text: str, texts: list[object], values: list[object]
) -> None:
    assert session.prepare(text).plan(texts).cores == session.plan(text, values).cores


@pytest.mark.parametrize(
    "wrong", ["ten", "", "1.5", "0x10", "1 2", "99999999999999999999", "'1'", "١"]
)
def test_a_text_of_another_type_is_an_error_of_its_own(session: Session, wrong: str) -> None:
    prepared = session.prepare("SELECT COUNT(*) FROM patients WHERE ward = $1")
    with pytest.raises(InvalidText, match="invalid input syntax for type bigint") as raised:
        prepared.plan([wrong])
    assert raised.value.sqlstate == "22P02" and isinstance(raised.value, DataError)


@pytest.mark.parametrize("values", [[], [1, 2]])
def test_there_is_one_value_for_each_parameter(session: Session, values: list[object]) -> None:
    prepared = session.prepare("SELECT COUNT(*) FROM patients WHERE ward = $1")
    with pytest.raises(StatementError, match="E_PARAM"):
        prepared.plan(values)


def test_columns_are_those_of_the_plans(session: Session) -> None:
    prepared = session.prepare(
        "SELECT sex, AVG(weight) AS w, COUNT(*) + $1 AS n FROM patients WHERE ward < $2 GROUP BY sex"
    )
    plan = prepared.plan([5, 3])
    assert [(each.name, each.type) for each in prepared.columns] == [
        (each.name, each.type) for each in plan.columns
    ]


def test_the_name_of_a_unit_may_be_a_parameter(session: Session) -> None:
    prepared = session.prepare("SELECT date_trunc($1, DATE '2020-02-03') AS d FROM places")
    assert prepared.parameters == ("VARCHAR",) and prepared.columns[0].name == "d"


def test_what_is_refused_is_refused_when_it_is_prepared(session: Session) -> None:
    for text in (
        "SELECT name FROM patients WHERE ward = $1",
        "SELECT nope FROM patients WHERE ward = $1",
    ):
        with pytest.raises(DatabaseError) as raised:
            session.prepare(text)
        assert raised.value.sqlstate in ("42501", "42703")


def test_only_the_answer_is_paid_for(session: Session) -> None:
    before = session.remaining.spent.rho
    prepared = session.prepare("SELECT COUNT(*) FROM patients WHERE ward > $1 AND sex = 'm'")
    plans = [prepared.plan([value]) for value in (0, 1)]
    assert session.remaining.spent.rho == before
    for plan in plans:
        session.answer(plan)
    assert session.remaining.spent.rho == before + sum(plan.cost.rho for plan in plans)


NAMES = (
    (
        "SELECT COUNT(*) AS $1, $1 FROM patients",
        "E_PARAM a parameter stands for a value, never for a name",
    ),
    (
        "SELECT COUNT(*) FROM patients $1 WHERE ward = $1",
        "E_PARAM a parameter stands for a value, never for a name",
    ),
    ("SELECT COUNT(*) FROM patients WHERE sex = $1 $2", "E_PARSE two values stand side by side"),
    ("SELECT COUNT(*) FROM patients WHERE sex = 'f' ?", "E_PARSE two values stand side by side"),
)


@pytest.mark.parametrize(("text", "says"), NAMES)
def test_a_parameter_is_a_value_of_its_own(session: Session, text: str, says: str) -> None:
    with pytest.raises(StatementError, match=says) as raised:
        session.prepare(text)
    assert "\0" not in str(raised.value)
