"""Aggregates of what is grouped by are the key itself, and nothing is measured for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.errors import DatabaseError
from dpsql.session.database import PEOPLE, Database, open_database


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


SAME = (
    ("sex", "MIN(sex)", "sex"),
    ("sex", "MAX(sex)", "sex"),
    ("sex", "ANY_VALUE(sex)", "sex"),
    ("sex", "ARBITRARY(sex)", "sex"),
    ("sex", "FIRST(sex)", "sex"),
    ("sex", "LAST(sex)", "sex"),
    ("sex", "MODE(sex)", "sex"),
    ("sex", "MAX(DISTINCT sex)", "sex"),
    ("sex", "upper(MIN(sex))", "upper(sex)"),
    ("sex", "MIN(upper(sex))", "upper(sex)"),
    (
        "sex",
        "CASE WHEN MIN(sex) = MAX(sex) THEN MIN(sex) ELSE '*' END",
        "CASE WHEN sex IS NULL THEN '*' ELSE sex END",
    ),
    ("ward", "MIN(ward)", "ward"),
    ("ward", "MAX(ward * 2 + 1)", "ward * 2 + 1"),
    ("ward", "AVG(ward)", "CAST(ward AS DOUBLE)"),
    ("ward", "MEDIAN(ward)", "CAST(ward AS DOUBLE)"),
    ("ward", "ARG_MAX(ward, patient)", "ward"),
    ("ward", "MIN_BY(ward, patient)", "ward"),
    ("ward % 2", "MAX(ward % 2)", "ward % 2"),
    ("ward + 1, sex", "MIN(ward + 1)", "ward + 1"),
    ("weight > 3", "ANY_VALUE(weight > 3)", "weight > 3"),
    ("sex, ROLLUP (ward)", "MIN(sex)", "sex"),
)


@pytest.mark.parametrize(("keys", "aggregate", "value"), SAME)
def test_an_aggregate_of_a_key_is_the_key(
    database: Database, keys: str, aggregate: str, value: str
) -> None:
    session = database.session("ada", PEOPLE)
    text = f"SELECT {{}} AS v, COUNT(*) AS n FROM patients GROUP BY {keys} ORDER BY ALL"
    measured, plain = (session.plan(text.format(each)) for each in (aggregate, value))
    assert [core.core.aggregates for core in measured.cores] == [
        core.core.aggregates for core in plain.cores
    ]
    assert [column.type for column in measured.columns] == [column.type for column in plain.columns]
    rows, wanted = (session.execute(text.format(each)).rows for each in (aggregate, value))
    assert rows == wanted


def test_a_list_of_aggregates_of_declared_keys_is_free(database: Database) -> None:
    found = database.session("ada").execute(
        "SELECT MIN(sex) AS low, MAX(sex) FROM patients GROUP BY sex ORDER BY 1"
    )
    assert found.price.charged == 0 and found.rows[:2] == [("f", "f"), ("m", "m")]


@pytest.mark.parametrize(
    ("aggregate", "keys"),
    [
        ("MIN(ward)", "sex"),
        ("MAX(ward + weight)", "ward"),
        ("AVG(weight)", "weight > 3"),
        ("MIN(ward)", "ROLLUP (ward)"),
        ("MAX(ward) FILTER (WHERE sex = 'f')", "ward"),
        ("SUM(ward)", "ward"),
        ("STDDEV(ward)", "ward"),
        ("MIN(ward)", "GROUPING SETS ((ward), (sex))"),
    ],
)
def test_what_may_differ_within_a_group_or_be_lacking_is_measured(
    database: Database, aggregate: str, keys: str
) -> None:
    plan = database.session("ada").plan(
        f"SELECT {aggregate}, COUNT(*) FROM patients GROUP BY {keys}"
    )
    assert any(len(core.core.aggregates) > 1 for core in plan.cores)


@pytest.mark.parametrize(
    ("aggregate", "keys"),
    [
        ("MIN(name)", "sex"),
        ("ANY_VALUE(ward)", "sex"),
        ("MIN(sex || name)", "sex"),
        ("FIRST(sex ORDER BY ward)", "sex"),
        ("ARG_MIN(name, ward)", "ward"),
        ("MAX(sex)", "ROLLUP (sex)"),
        ("ARG_MAX(sex, weight)", "sex"),
        ("MIN(COUNT(*))", "sex"),
    ],
)
def test_what_has_no_private_form_is_refused(database: Database, aggregate: str, keys: str) -> None:
    with pytest.raises(DatabaseError):
        database.session("ada").plan(f"SELECT {aggregate}, COUNT(*) FROM patients GROUP BY {keys}")


def test_a_unit_keeps_its_identity_and_its_keys_within_a_subquery(database: Database) -> None:
    session = database.session("ada")
    inner = "SELECT {} AS p, {} AS w, COUNT(*) AS n FROM visits GROUP BY patient, place"
    text = "SELECT w, COUNT(*) FROM patients JOIN ({}) t ON t.p = patients.patient GROUP BY w"
    for person, place in (
        ("MAX(patient)", "MIN(place)"),
        ("ANY_VALUE(patient)", "ANY_VALUE(place)"),
    ):
        asked = session.plan(text.format(inner.format(person, place)))
        plain = session.plan(text.format(inner.format("patient", "place")))
        assert [core.sql for core in asked.cores] == [core.sql for core in plain.cores]


def test_an_aggregate_of_an_aggregate_is_refused_within_a_subquery(database: Database) -> None:
    with pytest.raises(DatabaseError):
        database.session("ada").plan(
            "SELECT AVG(m) FROM (SELECT patient, MAX(COUNT(place)) AS m FROM visits GROUP BY 1)"
        )
