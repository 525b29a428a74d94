"""What is made of several groups of which small ones are below a threshold has no interval,
and it is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from dpsql.session import Session, open_session

SCHEMA = """
name = "census"
source = "data"
ledger = "census.ledger"
[privacy]
unit = "people.id"
epsilon = 1e6
delta = 1e-6
query_epsilon = 0.5
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
town = { type = "integer" }
household = { type = "integer" }
age = { type = "integer", bounds = [0, 100] }
"""
#: Ten towns of 400 people and a thousand of two; households of four, and one of 300.
ROWS = """SELECT i AS id, CASE WHEN i < 4000 THEN i % 10 ELSE 10 + i % 1000 END AS town,
    CASE WHEN i < 300 THEN 0 ELSE i // 4 END AS household, (i * 7) % 90 AS age FROM range(6000) t(i)"""
TOWNS = "(SELECT town, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY town) AS t"
HOMES = "(SELECT household, COUNT(*) AS n, SUM(age) - 50 AS s FROM people GROUP BY household) AS h"
#: Statements whose last column is made of several towns.
TOTALS = [
    f"SELECT SUM(n) AS x FROM {TOWNS} WHERE town < 2000",
    f"SELECT AVG(n) AS x FROM {TOWNS}",
    f"SELECT SUM(s) / SUM(n) AS x FROM {TOWNS}",
    f"SELECT town, n, n / SUM(n) OVER () AS x FROM {TOWNS}",
    f"SELECT town, n, n - LAG(n) OVER (ORDER BY town) AS x FROM {TOWNS}",
    f"SELECT town % 2 AS odd, SUM(n) AS x FROM {TOWNS} GROUP BY 1",
    f"SELECT (SELECT SUM(n) FROM {TOWNS}) AS x",
]
ALONE = "this answer is made of large groups alone, so that what is made of several groups has no interval"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home: Path = tmp_path_factory.mktemp("census")
    (home / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{home}/data/people.parquet'")
    (home / "census.toml").write_text(SCHEMA, encoding="utf-8")
    with closing(open_session(home / "census.toml")) as opened:
        opened.set("dpsql.reuse", "off")
        yield opened


@pytest.mark.parametrize("text", TOTALS)
def test_what_is_made_of_several_groups_has_no_interval(text: str, session: Session) -> None:
    result = session.execute(text)
    assert result.rows and ALONE in result.notices
    assert not any("empty_groups" in notice for notice in result.notices), (
        "no setting shows groups below a threshold"
    )
    place = len(result.columns) - 1
    assert all(row[place] is None for row in result.intervals)


def test_the_zero_of_a_group_below_the_threshold_has_no_interval(session: Session) -> None:
    text = f"SELECT r.i, COALESCE(n, 0) AS x FROM range(20) AS r(i) LEFT JOIN {TOWNS} ON town = r.i"
    result = session.execute(text)
    assert len(result.rows) == 20 and "this answer is made of large groups alone" in result.notices
    for (town, number), (_, interval) in zip(result.rows, result.intervals, strict=True):
        assert (interval is None) is (number == 0) is (town >= 10)


def test_what_is_made_of_one_group_has_its_interval(session: Session) -> None:
    result = session.execute(f"SELECT town, n, s / n AS mean, n * s AS x FROM {TOWNS}")
    assert len(result.rows) == 10 and ALONE not in result.notices
    assert all(None not in bars[1:] for bars in result.intervals)
    beside = session.execute(f"SELECT town, n, n * s AS x, SUM(n) OVER () AS total FROM {TOWNS}")
    assert all(None not in bars[1:3] and bars[3] is None for bars in beside.intervals)


@pytest.mark.parametrize(
    ("total", "bounded", "low", "high"),
    [("AVG(n)", "AVG(LEAST(n, 20))", 4.0, 4.02), ("SUM(s)", "SUM(LEAST(s, 20))", 20_000, 29_000)],
)
def test_of_what_nothing_bounds_the_notice_tells_what_is_asked_of_all_groups(
    total: str, bounded: str, low: float, high: float, session: Session
) -> None:
    """One household of 300 is released; of all of them the mean is near 4."""
    result = session.execute(f"SELECT {total} AS x FROM {HOMES}")
    assert result.intervals == [(None,)]
    (said,) = [notice for notice in result.notices if notice.startswith("nothing bounds ")]
    assert f"; {bounded}, with an end of your own, is asked of all groups" in said
    asked = session.execute(f"SELECT {bounded} AS x FROM {HOMES}")
    ((interval,),) = asked.intervals
    with duckdb.connect() as connection:
        ((true,),) = connection.execute(
            f"WITH people AS ({ROWS}) SELECT {bounded} AS x FROM {HOMES}"
        ).fetchall()
    assert low < true < high and interval is not None
    reach = 3 * (interval[1] - interval[0])  # noise goes as far once in 10^9
    assert interval[0] - reach < true < interval[1] + reach


def test_several_totals_and_other_aggregates_are_told_in_general_words(session: Session) -> None:
    both = session.execute(f"SELECT SUM(n) AS a, AVG(s) AS b FROM {HOMES}").notices
    assert any(
        "nothing bounds a number that is added up" in notice and "SUM(LEAST(x, 20))" in notice
        for notice in both
    )
    largest = session.execute(f"SELECT MAX(n) AS m FROM {HOMES}").notices
    assert not any("nothing bounds" in notice for notice in largest), "no bound would help"
