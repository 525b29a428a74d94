"""SET dpsql.clipping = report: what an answer leaves out is counted beside it, for a tenth of its price."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import duckdb
import pytest

from dpsql.session import Session, open_session

SCHEMA = """
name = "visits"
source = "{folder}"
[privacy]
unit = "people.id"
epsilon = 100000
{delta}
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
g = {{ type = "integer", values = [0, 1, 2] }}
[tables.visits]
references = {{ id = "people.id" }}
max_rows_per_unit = 3
[tables.visits.columns]
id = {{ type = "integer" }}
x = {{ type = "double", bounds = [0, 100], nullable = true }}
k = {{ type = "integer", bounds = [0, 10] }}
"""


@pytest.fixture(scope="module", params=["delta = 0", "delta = 1e-6"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("clipping")
    folder = home / "data"
    folder.mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT i AS id, i % 3 AS g FROM range(3000) t(i)) TO '{folder}/people.parquet'")
        connection.execute(
            f"""COPY (SELECT i % 3000 AS id, i % 7 AS k,
                  CASE WHEN i % 50 = 0 THEN 150.0 WHEN i % 50 = 1 THEN NULL ELSE i % 100 END::DOUBLE AS x
                FROM range(9000) t(i) UNION ALL
                SELECT n, 11, -1.0::DOUBLE FROM range(200) t(n)) TO '{folder}/visits.parquet'"""
        )
    (home / "visits.toml").write_text(SCHEMA.format(folder=folder, delta=request.param), encoding="utf-8")
    opened = open_session(home / "visits.toml", ledger=home / "ledger")
    opened.epsilon = Fraction(100)
    opened.set("dpsql.clipping", "report")
    yield opened
    opened.close()


COUNTED = {
    "SELECT g, SUM(x) FROM visits JOIN people USING (id) GROUP BY g": ("x outside of 0 to 100", 380),
    "SELECT AVG(x), COUNT(*) FROM visits WHERE x > 5": ("x outside of 0 to 100", 180),
    "SELECT SUM(x) FILTER (WHERE k > 10) FROM visits": ("x outside of 0 to 100", 200),
    "SELECT MEDIAN(k) FROM visits": ("k outside of 0 to 10", 200),
    "SELECT CORR(x, k) FROM visits": ("x outside of 0 to 100", 380),
    "SELECT SUM(x * 2) FROM visits": ("what is added up outside of 0 to 200", 380),
    "SELECT COUNT(*) FROM visits": ("units have more than 3 rows", 200),
}


@pytest.mark.parametrize("text", COUNTED)
def test_what_lies_beyond_is_counted(text: str, session: Session) -> None:
    words, number = COUNTED[text]
    (said,) = [notice for notice in session.execute(text).notices if words in notice]
    told = int(said.split()[1].replace(",", ""))
    assert abs(told - number) <= 30 and "±" in said


def test_where_there_is_nothing_it_says_how_much_there_may_be(session: Session) -> None:
    said = " ".join(session.execute("SELECT COUNT(*) FROM people").notices)
    assert said.startswith("no sign that units have more than 1 row and") and "at most about" in said
    assert (
        session.execute("SELECT AVG(a) FROM (SELECT id, COUNT(*) AS a FROM visits GROUP BY id) AS t").notices[1:] == ()
    )


def test_it_is_never_told_unless_it_is_asked_for(session: Session) -> None:
    text = "SELECT SUM(k) FROM visits"
    asked = session.plan(text)
    session.set("dpsql.clipping", None)
    plain = session.plan(text)
    assert session.choices.clipping == "silent" and len(plain.cores) == 1 and session.answer(plain).notices == ()
    session.set("dpsql.clipping", "report")
    assert len(asked.cores) == 3
    with pytest.raises(ValueError, match="silent, report"):
        session.set("dpsql.clipping", "loud")


def test_the_price_is_what_was_asked_and_a_tenth_of_it_is_beside(session: Session) -> None:
    plan = session.plan("SELECT SUM(x), COUNT(*) FROM visits")
    beside = sum((core.cost.rho for core in plan.cores[1:]), Fraction(0))
    if session.schema.privacy.delta:
        assert plan.cost.rho == Fraction(100) ** 2 / 2 and beside == plan.cost.rho / 10
    else:
        assert plan.cost.epsilon == 100
        assert sum(core.cost.epsilon or 0 for core in plan.cores[1:]) == 10
    assert session.execute("SELECT SUM(x), COUNT(*) FROM visits").price.charged in (0, 100)


def test_public_statements_and_probes_have_nothing_beside_them(session: Session) -> None:
    assert session.execute("SELECT 1").notices == () and session.plan("SELECT SUM(x) FROM visits LIMIT 0").cores == ()
