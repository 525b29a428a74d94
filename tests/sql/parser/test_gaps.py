"""Names that look as if something lacked before or behind them are names, and hide no gap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from databases import clinic

from dpsql.errors import StatementError
from dpsql.session import Session
from dpsql.session.database import TOOLS, open_database
from dpsql.sql.parser.parse import parse


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    database = open_database(clinic(tmp_path_factory.mktemp("clinic")))
    yield database.session("ada", TOOLS)
    database.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS values, SUM(ward) AS s FROM patients",
        "SELECT COUNT(*) AS distinct, 1 AS one FROM patients",
        "SELECT values, COUNT(*) AS n FROM (SELECT ward AS values FROM patients) AS t GROUP BY values",
    ],
)
def test_names_that_begin_lists_elsewhere_are_names(session: Session, text: str) -> None:
    assert len(session.plan(text).columns) == 2


#: Statements that look as if something lacked, and are whole.
WHOLE = (
    'SELECT COUNT(*) AS limit, 1 AS "where", 2 AS "then" FROM patients',
    "SELECT COUNT(*) AS n FROM patients WHERE CASE WHEN ward = 1 THEN ward > 0 ELSE ward IN (2, 3) END",
    "SELECT CASE WHEN COUNT(*) > 1 THEN CASE sex WHEN 'f' THEN 1 END ELSE 2 END AS c FROM patients GROUP BY sex",
    "SELECT COUNT(*) AS n FROM visits JOIN patients USING (patient) JOIN places ON places.place = visits.place",
    "SELECT COUNT(*) AS n FROM visits NATURAL JOIN places",
    "SELECT a.n FROM (SELECT COUNT(*) AS n FROM patients) AS a CROSS JOIN (SELECT COUNT(*) AS m FROM visits) AS b",
    "SELECT a.n FROM (SELECT COUNT(*) AS n FROM patients) a, (SELECT COUNT(*) AS m FROM visits) b LIMIT 1 OFFSET 0",
    "WITH a AS (SELECT COUNT(*) AS n FROM patients), b(m) AS MATERIALIZED (SELECT n FROM a) (SELECT m FROM b)",
    "SELECT n FROM (WITH a AS (SELECT COUNT(*) AS n FROM patients) SELECT n FROM a) AS t",
    "SELECT COUNT(*) AS n FROM patients WHERE ward BETWEEN 1 AND 2 AND weight BETWEEN .5 AND 3 AND NOT sex IS NULL",
    "SELECT SUM(COUNT(*)) OVER (ORDER BY sex ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM patients GROUP BY sex",
    "SELECT SUM(COUNT(*)) OVER w AS s FROM patients GROUP BY sex WINDOW w AS (ORDER BY sex)",
    "SELECT sex, COUNT(*) AS n FROM patients GROUP BY ALL ORDER BY ALL LIMIT ALL",
    "SELECT x FROM (VALUES (1), (2)) AS t(x) WHERE x >> 1 > 0 OR x << 1 > 0",
    "SELECT 'p' AS what, COUNT(*) AS n FROM patients UNION ALL (SELECT 'v', COUNT(*) FROM visits) ORDER BY what",
    "SELECT public.patients.sex, COUNT(*) AS n FROM public.patients GROUP BY 1",
    "FROM patients SELECT COUNT(*) AS n, SUM(ward) AS s",
    "SELECT DISTINCT ON (region) region, place FROM places",
)


@pytest.mark.parametrize("text", WHOLE)
def test_a_whole_statement_has_no_gap(session: Session, text: str) -> None:
    assert session.plan(text).columns


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t.case",
        "SELECT t.order, t.all FROM t",
        "SELECT a FROM c.s.table",
        "SELECT m.order.end FROM m.order",
        "SELECT COUNT(*) AS and FROM t",
        "SELECT COUNT(*) AS between, 1 AS x FROM t",
        "SELECT t.and FROM t WHERE t.between",
        "SELECT CASE WHEN t.then THEN 1 END FROM t",
        "SELECT CASE WHEN t.when THEN 1 ELSE t.else END FROM t",
        "SELECT SUM(t.as) FROM t GROUP BY t.as ORDER BY t.as",
        "SELECT 1 AS /* x */ order",
        "SELECT 1 AS -- c\n limit FROM t",
        'SELECT COUNT(*) AS ")" FROM t',
        'SELECT 1 AS ";", \')\' AS "as" FROM t',
        'SELECT "then" FROM "case"',
        "SELECT 1 FROM a NATURAL LEFT JOIN b",
        "SELECT 1 FROM a CROSS JOIN b JOIN c ON a.x = c.x",
        "WITH x AS NOT MATERIALIZED (SELECT 1) SELECT * FROM x",
        "SELECT DISTINCT ON (a) a FROM t",
    ],
)
def test_what_can_be_nothing_but_a_name_is_one(text: str) -> None:
    assert parse(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        'SELECT COUNT(*) FROM a AS "cross" JOIN b',
        "SELECT 1 FROM a AS natural JOIN b c",
        "SELECT 1 FROM a CROSS JOIN b JOIN c",
        "SELECT 1 FROM a NATURAL JOIN b JOIN c q",
        "SELECT DISTINCT ON a, COUNT(*) FROM t",
        "SELECT t.x BETWEEN 1 FROM t",
        "SELECT 1 FROM a, JOIN b ON a.x = b.x",
    ],
)
def test_names_hide_no_gap(text: str) -> None:
    with pytest.raises(StatementError, match="E_PARSE"):
        parse(text)
