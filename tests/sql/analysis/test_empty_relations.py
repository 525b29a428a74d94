"""What has no row as it is written costs nothing, and is what SQL gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.session.database import PEOPLE, Database, open_database


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    yield opened
    opened.close()


COUNTS = "COUNT(*), SUM(weight), AVG(ward), MEDIAN(ward), COUNT(DISTINCT patient), STDDEV(weight), MODE(sex)"
NOTHING = (0, None, None, None, 0, None, None)
PAID = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
WITHOUT_ROWS: tuple[tuple[str, list[tuple[object, ...]]], ...] = (
    *(
        (f"SELECT sex, COUNT(*) FROM patients WHERE {condition} GROUP BY sex", [])
        for condition in (
            "FALSE",
            "1 = 0",
            "NULL",
            "ward > 1 AND 2 < 1",
            "1 <> 1 OR 'a' = 'b'",
            "NOT TRUE",
            "ward <> ward",
            "ward < ward",
            "sex IN (SELECT place FROM places WHERE 1 <> 1)",
            "CASE WHEN ward = 1 THEN FALSE END",
            "1 IN (2, 3)",
            "1.5 >= 2",
            "ward = NULL",
            "EXISTS (SELECT 1 FROM visits WHERE visits.patient = patients.patient AND FALSE)",
            "ward > (SELECT AVG(ward) FROM patients) AND FALSE",
        )
    ),
    (f"SELECT {COUNTS} FROM patients WHERE FALSE", [NOTHING]),
    (f"SELECT {COUNTS} FROM patients HAVING FALSE", []),
    ("SELECT name, COUNT(*) FROM patients WHERE FALSE GROUP BY name", []),
    ("SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING 1 = 0 AND COUNT(*) > 3", []),
    ("SELECT sex FROM patients WHERE FALSE GROUP BY sex", []),
    ("SELECT DISTINCT sex FROM patients WHERE FALSE", []),
    (
        "SELECT sex, GROUPING(sex) AS g, COUNT(*) AS n FROM patients WHERE FALSE GROUP BY ROLLUP (sex)",
        [(None, 1, 0)],
    ),
    (
        "SELECT sex, ward, COUNT(*) FROM patients WHERE FALSE GROUP BY GROUPING SETS ((sex), (), (ward), ())",
        [(None, None, 0), (None, None, 0)],
    ),
    (
        "SELECT sex, COUNT(*) FROM patients JOIN visits ON visits.patient = patients.patient AND 1 > 2 GROUP BY sex",
        [],
    ),
    (
        "SELECT region, COUNT(cost) FROM places LEFT JOIN visits USING (place) WHERE FALSE GROUP BY region",
        [],
    ),
    (
        "WITH t AS (SELECT * FROM patients WHERE FALSE) SELECT sex, SUM(ward) FROM t GROUP BY sex",
        [],
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient, SUM(cost) AS s FROM visits WHERE FALSE GROUP BY patient) t",
        [(0,)],
    ),
    (
        (
            "SELECT COUNT(*) FROM (SELECT patient FROM visits WHERE FALSE UNION ALL SELECT "
            "patient FROM patients WHERE 1 > 2)"
        ),
        [(0,)],
    ),
    (f"SELECT SUM(n) FROM ({PAID}) t WHERE FALSE", [(None,)]),
    (f"SELECT sex, SUM(n) FROM ({PAID}) t WHERE 1 = 2 GROUP BY sex", []),
    (f"SELECT COUNT(*) FROM ({PAID} HAVING FALSE) t", [(0,)]),
    ("SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low FROM patients WHERE FALSE", [(0, 0)]),
    ("SELECT DP_CLIP(COUNT(*)), DP_CLIP(SUM(ward)) FROM patients WHERE FALSE", [(0, None)]),
)


@pytest.mark.parametrize(("text", "rows"), WITHOUT_ROWS)
def test_what_has_no_rows_as_it_is_written_is_free_and_what_sql_gives(
    database: Database, text: str, rows: list[object]
) -> None:
    before = list(database.accountant.ledger.history())
    session = database.session("ada", PEOPLE)
    session.set("dpsql.reuse", "off")
    found = session.execute(text)
    assert (found.rows, found.price.charged) == (rows, 0)
    assert list(database.accountant.ledger.history()) == before
    assert [column.type for column in session.plan(text).columns] == [
        column.type for column in found.columns
    ]


def test_columns_without_rows_have_the_types_that_rows_have(database: Database) -> None:
    session = database.session("ada", PEOPLE)
    for keys in ("GROUP BY sex", "GROUP BY CUBE (sex)"):
        paid, free = (
            f"SELECT sex, {COUNTS} FROM patients {where} {keys}" for where in ("", "WHERE FALSE")
        )
        assert [each.type for each in session.plan(free).columns] == [
            each.type for each in session.plan(paid).columns
        ]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sex, COUNT(*) FROM patients WHERE ward = ward OR FALSE GROUP BY sex",
        "SELECT sex, COUNT(*) FROM patients WHERE NOT (ward <> ward) GROUP BY sex",
        "SELECT COUNT(*) FROM patients LEFT JOIN visits ON visits.patient = patients.patient AND FALSE",
        "SELECT COUNT(*) FROM (SELECT patient FROM visits WHERE FALSE UNION ALL SELECT patient FROM patients)",
        "SELECT COUNT(*) FROM (SELECT patient FROM patients EXCEPT SELECT patient FROM visits WHERE FALSE)",
        "SELECT 'a', COUNT(*) FROM patients WHERE FALSE UNION ALL SELECT 'b', COUNT(*) FROM patients",
        "SELECT COUNT(*) FROM patients WHERE NOT EXISTS (SELECT 1 FROM visits WHERE FALSE)",
        "SELECT COUNT(*) FROM patients WHERE 'a' < 'b'",
        "SELECT COUNT(*) FROM patients WHERE 1 <= 1",
        "SELECT COUNT(*) FROM patients WHERE ward >= ward",
        "SELECT COUNT(*) FROM patients HAVING TRUE",
    ],
)
def test_what_may_have_rows_is_measured(database: Database, text: str) -> None:
    assert database.session("ada", PEOPLE).plan(text).cores


@pytest.mark.parametrize(
    "condition",
    [
        "DATE '2020-01-01' = TIMESTAMP '2020-01-01 00:00:00'",
        "DATE '2020-01-01' IN (TIMESTAMP '2020-01-01 00:00:00')",
        "DATE '2020-01-01' < TIMESTAMP '2020-01-01 00:00:01'",
        "0.1 = CAST(0.1 AS DOUBLE)",
        "NOT (0.1 <> CAST(0.1 AS DOUBLE))",
    ],
)
def test_constants_of_two_types_are_compared_by_the_engine(
    database: Database, condition: str
) -> None:
    assert (
        database.session("ada", PEOPLE)
        .plan(f"SELECT COUNT(*) FROM patients WHERE {condition}")
        .cores
    )
