"""Conditions on keys move into the core where that changes no answer, and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from dpsql.schema import loads
from dpsql.session import Session, open_session
from dpsql.sql.binder import bind as binding

SCHEMA = """
name = "star"
source = "{source}"
ledger = "{source}.ledger"
[privacy]
unit = "people.person"
epsilon = 1e20
delta = 1e-6
query_epsilon = 1e8
mechanism = "gaussian"
keep_answers = false
[tables.days]
public = true
[tables.days.columns]
day = {{ type = "integer" }}
year = {{ type = "integer" }}
season = {{ type = "text", nullable = true }}
[tables.people]
key = "person"
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
town = {{ type = "text", values = ["Ulm", "Bonn", "Kiel"] }}
[tables.orders]
references = {{ person = "people.person" }}
max_rows_per_unit = 2000
[tables.orders.columns]
person = {{ type = "integer" }}
day = {{ type = "integer" }}
price = {{ type = "integer", bounds = [0, 100] }}
"""
CORE = (
    "SELECT year, season, town, COUNT(*) AS n, SUM(price) AS total FROM orders JOIN people USING (person) "
    "JOIN days USING (day) GROUP BY 1, 2, 3"
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("star") / "star.duckdb"
    with duckdb.connect(str(place)) as con:
        con.execute(
            "CREATE TABLE days AS SELECT range AS day, 2000 + range // 4 AS year, "
            "['spring', 'summer', 'autumn', NULL][1 + range % 4] AS season FROM range(24)"
        )
        con.execute(
            "CREATE TABLE people AS SELECT range AS person, ['Ulm', 'Bonn', 'Kiel'][1 + range % 3] AS town "
            "FROM range(60)"
        )
        con.execute(
            "CREATE TABLE orders AS SELECT person, day, (person * 7 + day * 13 + i) % 101 AS price, "
            "FROM people, days, range(2) AS r(i) WHERE (person + day + i) % 4 > 0"
        )
    opened = open_session(loads(SCHEMA.format(source=place), place.with_suffix(".toml")))
    yield opened
    opened.close()


def _domain(session: Session, text: str) -> str:
    """The key domain of the only core of the statement, as SQL."""
    (core,) = session.plan(text).cores
    return core.sql.partition('"domain" AS (')[2].partition(') SELECT "domain"')[0]


@pytest.mark.parametrize(
    "text",
    [
        f"WITH q AS ({CORE}) SELECT * FROM q WHERE year = 2003",
        f"SELECT n FROM ({CORE}) AS q(y, s, t, n) WHERE y = 2003 AND n > 5",
        f"SELECT t, SUM(n) FROM (SELECT town AS t, n, year AS y FROM ({CORE})) WHERE y = 2003 GROUP BY 1",
        f"SELECT * FROM (SELECT DISTINCT year, n FROM ({CORE}) ORDER BY n) WHERE year IN (2003)",
        f"SELECT * FROM (SELECT year, SUM(n) AS n FROM ({CORE}) GROUP BY year) WHERE year BETWEEN 2003 AND 2003",
        f"SELECT LAG(n) OVER (ORDER BY season) FROM ({CORE}) AS q WHERE 2003 = q.year LIMIT 3",
        f"SELECT d.day, q.n FROM days AS d LEFT JOIN ({CORE}) AS q ON q.season = d.season AND q.year = 2003",
        f"SELECT d.day, q.n FROM ({CORE}) AS q LEFT JOIN days AS d ON q.season = d.season WHERE q.year = 2003",
        f"SELECT d.day, q.n FROM ({CORE}) AS q JOIN days AS d ON q.season = d.season AND q.year = 2003",
        f"SELECT (SELECT SUM(n) FROM ({CORE}) AS q WHERE q.year = 2003 AND q.season = d.season) FROM days AS d",
        CORE + " HAVING year = 2003",
    ],
)
def test_a_condition_around_narrows_the_domain(session: Session, text: str) -> None:
    assert "2003" in _domain(session, text)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT * FROM (SELECT year, n - LAG(n) OVER (ORDER BY year) AS more FROM ({CORE})) WHERE year = 2003",
        f"SELECT * FROM (SELECT year, SUM(SUM(n)) OVER (ORDER BY year) FROM ({CORE}) GROUP BY year) WHERE year = 2003",
        f"SELECT * FROM (SELECT year, n FROM ({CORE}) ORDER BY n LIMIT 5) WHERE year = 2003",
        f"SELECT * FROM (SELECT DISTINCT ON (season) season, year, n FROM ({CORE}) ORDER BY n) WHERE year = 2003",
        f"SELECT * FROM (SELECT year, n FROM ({CORE}) QUALIFY RANK() OVER (ORDER BY n) < 9) WHERE year = 2003",
        f"SELECT * FROM (SELECT MIN(year) AS year, SUM(n) FROM ({CORE})) WHERE year = 2003",
        f"SELECT * FROM (SELECT season, MIN(year) AS year FROM ({CORE}) GROUP BY season) WHERE year = 2003",
        f"SELECT * FROM (SELECT year FROM ({CORE}) GROUP BY ROLLUP (year)) WHERE year = 2003",
        f"SELECT d.day, q.n FROM days AS d LEFT JOIN ({CORE}) AS q ON q.season = d.season WHERE q.year = 2003",
        f"SELECT d.day, q.n FROM ({CORE}) AS q LEFT JOIN days AS d ON q.season = d.season AND q.year = 2003",
        f"SELECT d.day, q.n FROM ({CORE}) AS q FULL JOIN days AS d ON q.season = d.season AND q.year = 2003",
        f"SELECT d.day, q.n FROM ({CORE}) AS q RIGHT JOIN days AS d ON q.season = d.season WHERE q.year = 2003",
        f"SELECT * FROM ({CORE}) WHERE year = 2003 OR n > 7",
        f"SELECT * FROM ({CORE}) WHERE year - 2000 = n",
        f"WITH q AS ({CORE}) SELECT * FROM q WHERE year = 2003 AND n > (SELECT AVG(n) FROM q)",
        f"SELECT * FROM ({CORE}) WHERE season IS NULL",
    ],
)
def test_a_condition_of_other_rows_stays(session: Session, text: str) -> None:
    assert "2003" not in _domain(session, text)


def test_uses_under_different_conditions_are_released_once(session: Session) -> None:
    text = (
        f"WITH q AS ({CORE}) SELECT a.n - b.n FROM q AS a JOIN q AS b ON a.season = b.season AND a.town = b.town "
        "WHERE a.year = 2001 AND b.year = 2002"
    )
    assert "2001" in _domain(session, text) and "2002" in _domain(session, text)
    assert len(session.execute(text).rows) == 9


def test_keys_that_are_not_declared_are_narrowed_too(session: Session) -> None:
    text = "SELECT * FROM (SELECT day, COUNT(*) AS n FROM orders GROUP BY 1) WHERE"
    (core,) = session.plan(f"{text} day > 20").cores
    assert core.selection is not None and "> (20)" in core.sql
    assert [row[0] for row in session.execute(f"{text} day > 20").rows] == [21, 22, 23]
    (core,) = session.plan(f"{text} day BETWEEN 7 AND 9").cores
    assert core.selection is None  # three keys, which the statement lists


CONDITIONS = (
    "year = 2003",
    "year <> 2001",
    "year BETWEEN 2001 AND 2004",
    "town = 'Ulm'",
    "town IN ('Bonn', 'Kiel')",
    "season = 'summer'",
    "season <> 'spring'",
    "NOT (year > 2002)",
    "year > 2001 OR town = 'Kiel'",
    "season IS NULL",
    "n > 40",
    "total > 2000 AND year < 2004",
    "season NOT IN ('autumn')",
    "NOT (season = 'autumn' AND town = 'Ulm')",
    "year < 2003 AND n < 45",
    "(town > 'C' AND year >= 2002)",
)
#: What stands between a core and a condition, with the columns of the core passed on.
LAYERS = (
    "SELECT year, season, town, n, total FROM {0}",
    "SELECT * FROM {0}",
    "SELECT DISTINCT town, year, n, season, total FROM {0}",
    "SELECT year, season, town, SUM(n) AS n, SUM(total) AS total FROM {0} GROUP BY year, season, town",
    "SELECT year, MIN(season) AS season, town, SUM(n) AS n, SUM(total) AS total FROM {0} GROUP BY year, town",
    "SELECT year, season, town, n - COALESCE(LAG(n) OVER (ORDER BY year, season, town), 0) AS n, total FROM {0}",
    "SELECT year, season, town, SUM(n) OVER (PARTITION BY town) AS n, total FROM {0}",
    "SELECT * FROM {0} ORDER BY year, season, town LIMIT 20",
    "SELECT * FROM {0} QUALIFY ROW_NUMBER() OVER (ORDER BY year DESC, season, town) < 30",
    "SELECT q.year, q.season, q.town, q.n, d.day AS total FROM {0} AS q LEFT JOIN days AS d ON d.year = q.year AND {1}",
    "SELECT d.year, q.season, q.town, q.n, q.total FROM days AS d LEFT JOIN {0} AS q ON d.year = q.year AND {1}",
    "SELECT d.year, q.season, q.town, q.n, q.total FROM days AS d JOIN {0} AS q ON d.year = q.year AND {1}",
    "SELECT q.year, q.season, q.town, q.n, d.day AS total FROM {0} AS q FULL JOIN days AS d ON d.day = q.n AND {1}",
    "SELECT * FROM {0} UNION ALL SELECT * FROM {0}",
    "SELECT a.year, a.season, b.town, a.n, b.total FROM {0} AS a JOIN {0} AS b USING (year, season) WHERE a.{1}",
)
PLAIN = tuple(
    each for each in CONDITIONS if each[0] in "yts" and " OR " not in each and " AND " not in each
)


def _random(drawn: random.Random) -> str:
    text = f"({CORE})"
    for _ in range(drawn.randint(1, 3)):
        if drawn.random() < 0.6:
            text = f"(SELECT * FROM {text} AS w WHERE {drawn.choice(CONDITIONS)})"
        layer = drawn.choice(LAYERS)
        own = drawn.choice(PLAIN)
        on = own if layer.endswith("a.{1}") else f"q.{own}"
        text = f"({layer.format(text if ' AS q' in layer or ' AS a' in layer else text + ' AS x', on)})"
    return f"SELECT * FROM {text} AS z WHERE {drawn.choice(CONDITIONS)}"


@pytest.mark.parametrize(
    "seed",
    [seed if seed < 12 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(40)],
)
def test_the_answer_is_the_same_without(
    session: Session, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    text = _random(random.Random(seed))
    narrow = _answer(session, text)
    with monkeypatch.context() as patch:
        patch.setattr(binding, "push_key_conditions", lambda shell, cores, *_, **__: tuple(cores))
        whole = _answer(session, f"/* whole */ {text}")  # the comment makes it another statement
    assert narrow == whole


def _answer(session: Session, text: str) -> list[tuple[object, ...]]:
    return sorted(session.execute(text).rows, key=repr)
