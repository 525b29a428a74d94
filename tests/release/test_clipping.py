"""SET dpsql.clipping = report: what an answer leaves out is counted beside it,
for a tenth of its price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

import duckdb
import pytest
from exact_rows import exact_rows

from dpsql.audit.sensitivity.claims import compare
from dpsql.engines.duckdb.in_memory import CAREFUL
from dpsql.errors import Refused
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
[tables.stays]
references = {{ id = "people.id" }}
max_groups_per_unit = 4
max_rows_per_group = 2
[tables.stays.columns]
id = {{ type = "integer" }}
w = {{ type = "integer", values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }}
v = {{ type = "integer", nullable = true }}
x = {{ type = "integer", bounds = [0, 100] }}
[tables.orders]
references = {{ id = "people.id" }}
max_rows_per_unit = 6
max_groups_per_unit = 2
[tables.orders.columns]
id = {{ type = "integer" }}
w = {{ type = "integer" }}
"""
#: Of 3,000 people some stay more often and in more places than others;
#: a few have rows of one group #: alone.
STAYS = """SELECT i AS id, j % (1 + i % 10) AS w, CASE WHEN j > 2 THEN j END AS v, j * 10 AS x
    FROM range(3000) a(i), range(12) b(j) WHERE j <= i % 12"""
TABLES = {
    "people": "SELECT i AS id, i % 3 AS g FROM range(3000) t(i)",
    "visits": """SELECT i % 3000 AS id, i % 7 AS k,
                   CASE WHEN i % 50 = 0 THEN 150.0 WHEN i % 50 = 1 THEN NULL ELSE i % 100 END::DOUBLE AS x
                 FROM range(9000) t(i) UNION ALL SELECT n, 11, -1.0::DOUBLE FROM range(200) t(n)""",
    "stays": STAYS,
    "orders": f"SELECT id, w FROM ({STAYS})",
}


@pytest.fixture(scope="module", params=["delta = 0", "delta = 1e-6"])
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("clipping")
    folder = home / "data"
    folder.mkdir()
    with duckdb.connect() as connection:
        for table, rows in TABLES.items():
            connection.execute(f"COPY ({rows}) TO '{folder}/{table}.parquet'")
    (home / "visits.toml").write_text(
        SCHEMA.format(folder=folder, delta=request.param), encoding="utf-8"
    )
    opened = open_session(home / "visits.toml", ledger=home / "ledger")
    opened.epsilon = Fraction(100)
    opened.set("dpsql.clipping", "report")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def source() -> Iterator[duckdb.DuckDBPyConnection]:
    """The same rows, for plain SQL and under the names that engine SQL reads."""
    with duckdb.connect(config=dict(CAREFUL)) as connection:
        connection.execute("ATTACH ':memory:' AS source; USE source")
        for table, rows in TABLES.items():
            connection.execute(f"CREATE TABLE {table} AS {rows}")
        yield connection


COUNTED = {
    "SELECT g, SUM(x) FROM visits JOIN people USING (id) GROUP BY g": (
        "x outside of 0 to 100",
        380,
    ),
    "SELECT AVG(x), COUNT(*) FROM visits WHERE x > 5": ("x outside of 0 to 100", 180),
    "SELECT SUM(x) FILTER (WHERE k > 10) FROM visits": ("x outside of 0 to 100", 200),
    "SELECT MEDIAN(k) FROM visits": ("k outside of 0 to 10", 200),
    "SELECT CORR(x, k) FROM visits": ("x outside of 0 to 100", 380),
    "SELECT SUM(x * 2) FROM visits": ("what is added up outside of 0 to 200", 380),
    "SELECT COUNT(*) FROM visits": ("have more than 3 rows", 200),
}


@pytest.mark.parametrize("text", COUNTED)
def test_what_lies_beyond_is_counted(text: str, session: Session) -> None:
    words, number = COUNTED[text]
    (said,) = [notice for notice in session.execute(text).notices if words in notice]
    told = int(said.split()[1].replace(",", ""))
    assert abs(told - number) <= 30 and "±" in said


def test_where_there_is_nothing_it_says_how_much_there_may_be(session: Session) -> None:
    said = " ".join(session.execute("SELECT COUNT(*) FROM people").notices)
    assert (
        said.startswith("no sign that units have more than 1 row and") and "at most about" in said
    )
    assert (
        session.execute(
            "SELECT AVG(a) FROM (SELECT id, COUNT(*) AS a FROM visits GROUP BY id) AS t"
        ).notices[1:]
        == ()
    )


def test_it_is_never_told_unless_it_is_asked_for(session: Session) -> None:
    text = "SELECT SUM(k) FROM visits"
    asked = session.plan(text)
    session.set("dpsql.clipping", None)
    plain = session.plan(text)
    bounds = "clamped: k to 0 … 10; SET dpsql.clipping = report counts the values beyond"
    assert session.settings.clipping == "silent" and len(plain.cores) == 1
    assert session.answer(plain).notices == (bounds,)
    session.set("dpsql.clipping", "report")
    assert len(asked.cores) == 4
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
    assert 0 <= session.execute("SELECT SUM(x), COUNT(*) FROM visits").price.charged <= 100, (
        "some of it may be known"
    )


def test_public_statements_and_probes_have_nothing_beside_them(session: Session) -> None:
    assert (
        session.execute("SELECT 1").notices == ()
        and session.plan("SELECT SUM(x) FROM visits LIMIT 0").cores == ()
    )


#: For each statement what is counted, by plain SQL over the rows: above a limit, and of all.
ABOVE = {
    (
        "SELECT w, SUM(x) FROM stays GROUP BY w",
        "row",
        "rows",
    ): "SELECT id, COUNT(*) > {held} FROM stays GROUP BY id",
    (
        "SELECT w, COUNT(DISTINCT id) FROM stays GROUP BY w",
        "4 groups",
        "groups",
    ): "SELECT id, COUNT(DISTINCT w) > 4 FROM stays GROUP BY id",
    (
        "SELECT COUNT(DISTINCT v) FROM stays",
        "4 different values of v",
        "values",
    ): "SELECT id, COUNT(DISTINCT v) > 4 FROM stays WHERE v IS NOT NULL GROUP BY id",
    (
        "SELECT w, COUNT(DISTINCT v) FROM stays WHERE x > 10 GROUP BY w",
        "4 different values of v",
        "pairs",
    ): "SELECT id, COUNT(DISTINCT (w, v)) > 4 FROM stays WHERE x > 10 AND v IS NOT NULL GROUP BY id",
    (
        "SELECT COUNT(*) FROM orders",
        "6 rows",
        "rows of all",
    ): "SELECT id, COUNT(*) > 6 FROM orders GROUP BY id",
    (
        "SELECT COUNT(DISTINCT w) FROM orders",
        "2 different values of w",
        "values of few",
    ): "SELECT id, COUNT(DISTINCT w) > 2 FROM orders GROUP BY id",
}


@pytest.mark.parametrize("asked", ABOVE, ids=lambda asked: asked[2])
def test_units_above_each_limit_are_counted(
    asked: tuple[str, str, str], session: Session, source: duckdb.DuckDBPyConnection
) -> None:
    """Rows in at most 4 groups of at most 2 are 8 under the L1 norm,
    and √(4·2²) = 4 under the L2 norm.
    """
    text, words, _ = asked
    held = 4 if session.schema.privacy.delta else 8
    words = f"{held} rows" if words == "row" else words
    plain = source.execute(ABOVE[asked].format(held=held)).fetchall()
    above, whole = sum(more for _, more in plain), len(plain)
    (said,) = [
        notice for notice in session.execute(text).notices if f"more than {words} " in notice
    ]
    told = re.fullmatch(
        r"about ([\d,]+) ± \d+ of about ([\d,]+) units \(([\d.]+) %\) .* count in part; .*", said
    )
    assert told is not None, said
    numbers = [int(each.replace(",", "")) for each in told.groups()[:2]]
    assert abs(numbers[0] - above) <= 40 and abs(numbers[1] - whole) <= 40
    assert float(told[3]) == pytest.approx(100 * numbers[0] / numbers[1], rel=0.06)


def test_keys_that_are_not_declared_say_how_many_stand_in_too_many_groups(session: Session) -> None:
    text = "SELECT w, COUNT(*) FROM orders GROUP BY w"
    if not session.schema.privacy.delta:
        with pytest.raises(Refused):
            session.execute(text)
        return
    (said,) = [notice for notice in session.execute(text).notices if "2 groups" in notice]
    assert re.match(
        r"about 2,[\d]{3} ± \d+ of about [\d,]+ units \(\d\d %\) are in more than 2 groups and may",
        said,
    ), said


def test_what_is_counted_beside_keeps_its_claims(
    session: Session, source: duckdb.DuckDBPyConnection
) -> None:
    """Drop a person: no count beside an answer moves by more than its noise is made for."""
    texts = [*COUNTED, *(text for text, _, _ in ABOVE)]
    beside = [core for text in texts for core in session.plan(text).cores[1:]]
    whole = [exact_rows(source, core) for core in beside]
    for person in (0, 7, 11, 59, 119, 2999):
        source.execute("BEGIN")
        for table in TABLES:
            source.execute(f"DELETE FROM {table} WHERE id = {person}")
        for core, rows in zip(beside, whole, strict=True):
            uses = compare(core, rows, exact_rows(source, core))
            assert not uses.wrong and not any(use.broken for use in uses.uses), core.sql
        source.execute("ROLLBACK")
