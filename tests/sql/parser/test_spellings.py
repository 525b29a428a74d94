"""Spellings that PostgreSQL's tools use: what they mean,
and that they are refused where two parsers could disagree.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.errors import DatabaseError
from dpsql.session import Session
from dpsql.session.database import TOOLS, open_database
from dpsql.sql.binder.binding_state import PEOPLE, FrontendOptions


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    database = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    yield database.session("ada", TOOLS)
    database.close()


#: A spelling, and the plain one whose private part it must have.
SAME = (
    (
        "SELECT COUNT(*) FROM patients WHERE sex = E'f'",
        "SELECT COUNT(*) FROM patients WHERE sex = 'f'",
    ),
    ("SELECT COUNT(*) FROM public.patients", "SELECT COUNT(*) FROM patients"),
    (
        'SELECT COUNT("public"."patients"."ward") FROM "public"."patients"',
        "SELECT COUNT(ward) FROM patients",
    ),
    (
        "SELECT COUNT(*) FROM main.patients AS p WHERE p.ward::int = 1",
        "SELECT COUNT(*) FROM patients WHERE ward = 1",
    ),
    (
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex FETCH FIRST 1 ROW ONLY",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
    ),
    (
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT ALL",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
    ),
)


@pytest.mark.parametrize(("written", "plain"), SAME)
def test_a_spelling_means_the_plain_one(session: Session, written: str, plain: str) -> None:
    assert session.plan(written).cores == session.plan(plain).cores


@pytest.mark.parametrize(
    "written",
    [
        "STRING_AGG(sex, ', ')",
        "group_concat(sex)",
        "LIST(ward)",
        "array_agg(ward)",
        "version()",
        "approx_count_distinct(ward)",
        "STRING_AGG(upper(sex), ',' ORDER BY sex)",
    ],
)
def test_a_refusal_speaks_of_functions_by_the_names_that_were_written(
    session: Session, written: str
) -> None:
    with pytest.raises(DatabaseError, match=rf"E_(AGG|FUNC) {written.partition('(')[0].upper()} "):
        session.plan(f"SELECT {written}, COUNT(*) FROM patients")


MOMENTS = (
    ("'2024-01-01T10:00:00Z'", "'2024-01-01 10:00:00'"),
    ("'2024-01-01 10:00:00+00'::timestamptz", "'2024-01-01 10:00:00'"),
    ("timestamp '2024-01-02 10:00:00' - interval '1 day'", "'2024-01-01 10:00:00'"),
)


@pytest.mark.parametrize(("written", "plain"), MOMENTS)
def test_moments_of_utc_are_moments(session: Session, written: str, plain: str) -> None:
    text = "SELECT COUNT(*) FROM patients WHERE ward = 1 AND TIMESTAMP '2024-01-01 10:00:00' = {}"
    assert session.plan(text.format(written)).cores == session.plan(text.format(plain)).cores


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM patients WHERE sex = E'\\x66'",
        "SELECT COUNT(*) FROM patients WHERE sex = 'f' E'm'",
        "SELECT COUNT(*) FROM patients WHERE sex = E'f' 'm'",
        "SELECT COUNT(*) FROM patients WHERE sex = X'66'",
        "SELECT COUNT(*) FROM patients WHERE sex = $$f$$",
        "SELECT COUNT(*) FROM patients WHERE sex = $a$f$a$",
        "SELECT COUNT(*) FROM patients WHERE ward = $0",
        "SELECT COUNT(*) FROM patients WHERE ward = $1$2",
        "SELECT COUNT(*) FROM patients WHERE ward = a$1",
        "SELECT COUNT(*) FROM patients WHERE ward = $1a",
        "SELECT COUNT(*) FROM patients WHERE ward = $1 AND ward = ?",
        "SELECT COUNT(*) FROM patients WHERE TIMESTAMP '2024-01-01 10:00:00' = '2024-01-01T10:00:00+02:00'",
    ],
)
def test_spellings_that_mean_different_things_are_refused(session: Session, text: str) -> None:
    with pytest.raises(DatabaseError):
        session.plan(text, (1,) if "$1" in text else ())


@pytest.mark.parametrize("frontend_options", [PEOPLE, TOOLS])
@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("CORR(weight, ward)", "corr"),
        ("corr(weight, ward) FILTER (WHERE ward > 1)", "corr"),
        ("POWER(COUNT(*), 2)", "power"),
        ("MOD(COUNT(*), 2)", "mod"),
        ("COUNT(*) ^ 2", "?column?"),
        ("COUNT(*) % 2", "?column?"),
        ("COUNT(*) > 2 AND COUNT(ward) > 2", "?column?"),
    ],
)
def test_a_function_gives_its_name_to_the_column_and_an_operator_none(
    session: Session, frontend_options: FrontendOptions, written: str, name: str
) -> None:
    session.frontend_options = frontend_options
    assert [column.name for column in session.plan(f"SELECT {written} FROM patients").columns] == [
        name
    ]
