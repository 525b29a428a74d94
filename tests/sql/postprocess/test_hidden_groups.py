"""Later stages read the noisy cells of groups that are not shown,
or say that these are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.session import Session
from dpsql.session.database import Database, open_database

SCHEMA = """
name = "shop"
source = "data"
ledger = "shop.ledger"
[privacy]
unit = "sales.id"
epsilon = 1e10
delta = 0
query_epsilon = 0.05
[tables.sales]
key = "id"
max_rows_per_unit = 1
[tables.sales.columns]
id = { type = "integer" }
kind = { type = "text", values = ["a", "b", "c"] }
day = { type = "date", bounds = [2024-01-01, 2024-03-31] }
size = { type = "integer", bounds = [0, 999] }
"""
#: Nobody bought on weekends; a few large days, many of 5 to 9 rows.
ROWS = """SELECT row_number() OVER () AS id, ['a', 'b'][1 + i % 2] AS kind,
    DATE '2024-01-01' + d::INTEGER AS day, (100 + i % 400)::INTEGER AS size
    FROM range(91) AS t(d), range(400) AS u(i)
    WHERE d % 7 < 5 AND i < CASE WHEN d IN (3, 40) THEN 400 ELSE 5 + d % 5 END"""
DAYS = "(SELECT day, COUNT(*) AS n, SUM(size) AS s FROM sales GROUP BY day)"
JOINED = "AS s LEFT JOIN (SELECT day, COUNT(*) AS n, SUM(size) AS s FROM sales GROUP BY day) AS g ON g.day = s.day"
SPINE = "(SELECT DATE '2024-01-01' + CAST(t.i AS INTEGER) AS day FROM range(91) AS t(i))"

#: Statements that may read groups that are not shown;
#: those with rows of their own show some of #: these.
COMPLETE = {
    "a total": f"SELECT SUM(n) AS n, SUM(s) / SUM(n) AS mean FROM {DAYS} AS g",
    "a total of some": f"SELECT SUM(n) AS n FROM {DAYS} AS g WHERE day >= DATE '2024-02-01'",
    "a pivot": "SELECT SUM(CASE WHEN MONTH(day) = 1 THEN n ELSE 0 END) AS jan, "
    f"SUM(n) FILTER (WHERE MONTH(day) = 2) AS feb FROM (SELECT * FROM {DAYS} AS g) AS h",
    "months": f"SELECT MONTH(day) AS m, SUM(n) AS n FROM {DAYS} AS g GROUP BY 1",
    "running sums": f"SELECT day, SUM(n) OVER (ORDER BY day) AS c FROM {DAYS} AS g",
    "running sums of one SELECT": "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM sales GROUP BY day",
    "survival": f"WITH g AS {DAYS} SELECT day, 1 - SUM(n) OVER (ORDER BY day) / (SELECT SUM(n) FROM g) AS s FROM g",
    "shares": f"SELECT day, n / SUM(n) OVER () AS share FROM {DAYS} AS g",
    "a spine": f"SELECT s.day, COALESCE(g.n, 0) AS n FROM {SPINE} {JOINED}",
    "a spine, using": f"SELECT day, COALESCE(n, 0) * 2 AS n FROM {SPINE} AS s LEFT JOIN {DAYS} AS g USING (day)",
    "means over a spine": "SELECT day, AVG(n) OVER (ORDER BY day ROWS 6 PRECEDING) AS m, "
    "n - LAG(n, 7) OVER (ORDER BY day) AS d "
    f"FROM (SELECT s.day, COALESCE(n, 0) AS n FROM {SPINE} {JOINED.replace('g.day = s.day', 's.day = g.day')}) AS f",
    "months of a spine": f"SELECT MONTH(s.day) AS m, SUM(g.n) AS n FROM {SPINE} {JOINED} GROUP BY 1",
    "a spine of months": "SELECT v.m, COALESCE(SUM(g.n), 0) AS n FROM (VALUES (1), (2), (3)) AS v(m) "
    f"LEFT JOIN {DAYS} AS g ON MONTH(g.day) = v.m AND g.day <> DATE '2024-01-03' GROUP BY v.m",
    "running sums over a spine": f"SELECT s.day, SUM(g.n) AS n FROM {SPINE} AS s LEFT JOIN {DAYS} AS g "
    "ON g.day <= s.day GROUP BY s.day",
    "a spine of two keys": f"SELECT MONTH(s.day) AS m, SUM(COALESCE(g.n, 0)) AS n FROM {SPINE} AS s LEFT JOIN "
    "(SELECT day, kind, COUNT(*) AS n FROM sales GROUP BY day, kind) AS g ON g.day = s.day GROUP BY 1",
    "a join with other rows": f"SELECT v.half, SUM(n) AS n FROM {DAYS} AS g JOIN (VALUES (1, 'first'), (2, 'first'), "
    "(3, 'second')) AS v(m, half) ON v.m = MONTH(g.day) GROUP BY v.half",
    "two CTEs": f"WITH g AS {DAYS} SELECT a.n / b.n AS r FROM (SELECT SUM(n) AS n FROM g WHERE MONTH(day) = 1) AS a, "
    "(SELECT SUM(n) AS n FROM g) AS b",
}
#: Statements in which it matters which groups have rows.
PARTIAL = {
    "a mean": f"SELECT AVG(n) AS m FROM {DAYS} AS g",
    "a number of groups": f"SELECT COUNT(*) AS k FROM {DAYS} AS g",
    "a maximum": f"SELECT MAX(n) AS m FROM {DAYS} AS g",
    "a sum of squares": f"SELECT SUM(n * n) AS q FROM {DAYS} AS g",
    "a sum with a constant": f"SELECT SUM(n + 1) AS q FROM {DAYS} AS g",
    "a sum that days multiply": "SELECT v.m, SUM(g.n) AS n, SUM(v.m) AS x FROM (VALUES (1), (2), (3)) AS v(m) "
    f"LEFT JOIN {DAYS} AS g ON MONTH(g.day) = v.m GROUP BY v.m",
    "a number that is joined by": "SELECT v.m, COALESCE(SUM(g.n), 0) AS n FROM (VALUES (1), (5), (400)) AS v(m) "
    f"LEFT JOIN {DAYS} AS g ON g.n = v.m GROUP BY v.m",
    "large ones": f"SELECT SUM(n) AS q FROM {DAYS} AS g WHERE n > 10",
    "different ones": f"SELECT SUM(n) AS q FROM (SELECT DISTINCT n FROM {DAYS} AS g) AS h",
    "the last": f"SELECT SUM(n) AS q FROM (SELECT day, n FROM {DAYS} AS g ORDER BY day DESC LIMIT 7) AS h",
    "means of neighbours": f"SELECT day, AVG(n) OVER (ORDER BY day ROWS 6 PRECEDING) AS m FROM {DAYS} AS g",
    "sums of neighbours": f"SELECT day, SUM(n) OVER (ORDER BY day ROWS 6 PRECEDING) AS m FROM {DAYS} AS g",
    "differences": f"SELECT day, n - LAG(n) OVER (ORDER BY day) AS d FROM {DAYS} AS g",
    "a join": f"SELECT a.day, a.n / b.n AS r FROM {DAYS} AS a JOIN {DAYS} AS b ON a.day = b.day",
    "a spine without zero": f"SELECT s.day, g.n FROM {SPINE} {JOINED}",
    "a spine with another number": f"SELECT s.day, COALESCE(g.n, 1) AS n FROM {SPINE} {JOINED}",
    "a spine by part of the keys": f"SELECT s.day, COALESCE(g.n, 0) AS n FROM {SPINE} AS s LEFT JOIN "
    "(SELECT day, kind, COUNT(*) AS n FROM sales GROUP BY day, kind) AS g ON g.day = s.day",
    "days without sales": f"SELECT COUNT(*) AS k FROM {SPINE} {JOINED} WHERE g.day IS NULL",
    "a mean over a spine": f"SELECT s.day, COALESCE(g.m, 0) AS m FROM {SPINE} AS s LEFT JOIN "
    "(SELECT day, AVG(size) AS m FROM sales GROUP BY day) AS g ON g.day = s.day",
    "one that a later stage reads": f"SELECT COUNT(*) AS k FROM sales JOIN {DAYS} AS g ON g.day = sales.day",
}

#: Statements with sums of all groups, called n, and aggregates of the groups that have rows,
#: k of #: them.
BOTH = {
    "one row": f"SELECT SUM(n) AS n, AVG(n) AS a, COUNT(*) AS k, MAX(n) AS m FROM {DAYS} AS g",
    "months": f"SELECT MONTH(day) AS m, SUM(n) AS n, AVG(n) AS a, COUNT(*) AS k FROM {DAYS} AS g GROUP BY 1",
    "filters": "SELECT SUM(n) FILTER (WHERE MONTH(day) < 3) AS n, AVG(s) FILTER (WHERE MONTH(day) < 9) AS a, "
    f"COUNT(*) FILTER (WHERE n > 0 OR n < 9) AS k, SUM(n * n) AS q FROM {DAYS} AS g",
    "a join": f"SELECT SUM(n) AS n, AVG(n) AS a, COUNT(n) AS k FROM {DAYS} AS g "
    "JOIN (VALUES (1), (2), (3)) AS v(m) ON v.m = MONTH(g.day)",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    home: Path = tmp_path_factory.mktemp("shop")
    (home / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{home}/data/sales.parquet'")
    (home / "shop.toml").write_text(SCHEMA, encoding="utf-8")
    with closing(open_database(home / "shop.toml")) as opened:
        yield opened


@pytest.fixture
def session(shop: Database) -> Session:
    found = shop.session("ada")
    found.set("dpsql.reuse", "off")
    return found


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that is 0 by luck, of which everything that is made of the plan knows nothing."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "perturb", lambda _, values, *, _entropy: list(values))


def _exact(text: str) -> dict[object, tuple[object, ...]]:
    return _by_key(_rows(text))


def _rows(text: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE sales AS {ROWS}")
        return connection.execute(text).fetchall()


def _by_key(rows: Sequence[tuple[object, ...]]) -> dict[object, tuple[object, ...]]:
    return {row[0] if len(row) > 1 and len(rows) > 1 else (): row for row in rows}


@pytest.mark.parametrize("name", COMPLETE)
def test_numbers_are_made_of_all_groups(name: str, session: Session, silent: None) -> None:
    """Two days are shown; what SQL makes of all days is made of all."""
    assert (
        len(
            session.execute(
                "SELECT day, COUNT(*) AS n, SUM(size) AS s FROM sales GROUP BY day"
            ).rows
        )
        <= 4
    )
    plan = session.plan(COMPLETE[name])
    result, exact = session.execute(COMPLETE[name]), _exact(COMPLETE[name])
    assert plan.evident.complete and not plan.evident.partial
    assert result.rows and not any("leaves open" in notice for notice in result.notices)
    for key, row in _by_key(result.rows).items():
        expected = exact.get(key) or (exact if len(exact) == 1 else {(): None})[()]
        if expected is not None:
            assert row == pytest.approx(expected, abs=1e-9)
    if "spine" in name:
        assert len(result.rows) == len(exact)


@pytest.mark.parametrize("name", PARTIAL)
def test_where_it_matters_which_groups_have_rows_an_answer_says_so(
    name: str, session: Session, silent: None
) -> None:
    plan = session.plan(PARTIAL[name])
    assert not plan.evident.complete
    result = session.execute(PARTIAL[name])
    assert (
        any("leaves open" in notice for notice in result.notices)
        or name == "one that a later stage reads"
    )
    if name not in ("a join", "one that a later stage reads"):
        place = len(result.columns) - 1
        for row, bars in zip(result.rows, result.intervals, strict=True):
            assert bars[place] is None or ("spine" in name and row[place] not in (None, 0, 1))


@pytest.mark.parametrize("name", BOTH)
def test_sums_are_of_all_groups_beside_other_aggregates_of_the_shown_ones(
    name: str, session: Session, silent: None
) -> None:
    evident = session.plan(BOTH[name]).evident
    assert evident.complete == evident.partial == frozenset({0})
    result, days = (
        session.execute(BOTH[name]),
        session.execute("SELECT day, COUNT(*) AS n FROM sales GROUP BY day"),
    )
    names = [column.name for column in result.columns]
    assert sum(row[names.index("k")] for row in result.rows) == len(days.rows), (
        "groups that are shown"
    )
    number = names.index("n")
    exact = {row[0] if name == "months" else (): row[number] for row in _rows(BOTH[name])}
    for row in result.rows:
        assert row[number] == pytest.approx(exact[row[0] if name == "months" else ()])
    for bars in result.intervals:
        known = {name for name, interval in zip(names, bars, strict=True) if interval is not None}
        assert known == {"n"}, (
            "an interval of the sum, and none of what depends on which groups have rows"
        )
    assert any("leaves open" in notice for notice in result.notices)


@pytest.mark.parametrize("text", [*COMPLETE.values(), *PARTIAL.values(), *BOTH.values()])
def test_without_noise_all_are_as_in_sql(text: str, session: Session) -> None:
    session.epsilon = Fraction(10**8)
    result = session.execute(text)
    assert sorted(map(repr, _plain(result.rows))) == sorted(map(repr, _plain(_rows(text))))
    assert not any("leaves open" in notice for notice in result.notices)


def _plain(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [
        tuple(round(float(each), 6) if isinstance(each, int | float) else each for each in row)
        for row in rows
    ]


def test_a_table_that_is_read_in_both_ways_has_all_groups_in_one_of_them(
    session: Session, silent: None
) -> None:
    text = f"WITH g AS {DAYS} SELECT (SELECT SUM(n) FROM g) AS n, (SELECT COUNT(*) FROM g) AS k"
    evident = session.plan(text).evident
    ((total, groups),) = session.execute(text).rows
    assert evident.complete == evident.partial == frozenset({0})
    (exact,) = _exact("SELECT COUNT(*) AS n FROM sales").values()
    assert (total,) == exact and isinstance(groups, int) and groups <= 4


def test_hidden_groups_that_are_not_kept_are_said(
    session: Session, silent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.release.noise_addition.MOST_HIDDEN", 50)
    session.epsilon = Fraction(51, 1000)
    result = session.execute(COMPLETE["a total"])
    assert any("leaves open" in notice for notice in result.notices)


def test_nothing_more_is_charged(session: Session) -> None:
    shown = session.plan("SELECT day, COUNT(*) AS n FROM sales GROUP BY day")
    total = session.plan(
        "SELECT SUM(n) AS n FROM (SELECT day, COUNT(*) AS n FROM sales GROUP BY day) AS g"
    )
    assert shown.cost == total.cost and shown.cores == total.cores
