"""A notice names the columns that lack intervals because many released rows are behind them,
and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.errors import PostProcessingStopped
from dpsql.postprocessing import Result
from dpsql.postprocessing.intervals import result_intervals
from dpsql.postprocessing.intervals.resampling import MOST_RESAMPLED_ROWS
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.session import Session, open_session

SCHEMA = """
name = "meters"
source = "{folder}"
[privacy]
unit = "readings.id"
epsilon = 1000
delta = 1e-6
[tables.readings]
max_rows_per_unit = 1
[tables.readings.columns]
id = {{ type = "integer" }}
hour = {{ type = "integer", bounds = [0, 49] }}
minute = {{ type = "integer", bounds = [0, 49] }}
watts = {{ type = "integer", bounds = [0, 100] }}
"""
#: 50 groups for each hour.
GROUPED = (
    "(SELECT hour, minute, COUNT(*) AS n, SUM(watts) AS w FROM readings WHERE hour < {} "
    "GROUP BY hour, minute) AS g"
)
SHARES = (
    "SELECT minute, n, n / SUM(n) OVER () AS share, w - LAG(w) OVER (ORDER BY hour, minute) AS more FROM "
    + GROUPED
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("meters")
    (home / "data").mkdir()
    rows = "SELECT i AS id, i // 50 % 50 AS hour, i % 50 AS minute, i % 101 AS watts FROM range(20000) t(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{home}/data/readings.parquet'")
    (home / "meters.toml").write_text(SCHEMA.format(folder=home / "data"), encoding="utf-8")
    opened = open_session(Path(home / "meters.toml"), ledger=home / "ledger")
    opened.set("dpsql.empty_groups", "show")
    yield opened
    opened.close()


#: What is said of all answers here, whose keys have bounds.
KEYS = "rows with hour and minute beyond the schema's bounds are in no group"
CLAMPED = "clamped: watts to 0 … 100; SET dpsql.clipping = report counts the values beyond"


def _lacking(result: Result) -> list[str]:
    """What is said of columns without intervals."""
    return [notice for notice in result.notices if notice not in (KEYS, CLAMPED)]


def test_up_to_the_limit_there_are_intervals_and_no_notice(session: Session) -> None:
    result = session.execute(SHARES.format(30))
    assert len(result.rows) == MOST_RESAMPLED_ROWS == 1_500 and _lacking(result) == []
    assert all(own is not None and share is not None for _, own, share, _ in result.intervals)


def test_beyond_it_the_columns_are_named_and_those_of_single_rows_keep_theirs(
    session: Session,
) -> None:
    result = session.execute(SHARES.format(31))
    assert all(
        own is not None and share is more is None for _, own, share, more in result.intervals
    )
    (said,) = _lacking(result)
    assert (
        said.startswith("no interval in any row of share and more: ")
        and "1,550 released rows" in said
    )
    left = session.remaining
    assert _lacking(session.execute(SHARES.format(31))) == [said] and session.remaining == left


def test_all_tables_behind_a_column_count_together(session: Session) -> None:
    both = (
        f"SELECT a.minute, a.n - b.n AS more FROM {GROUPED.format(15).removesuffix('g')} a "
        f"JOIN {GROUPED.format(16).removesuffix('g')} b USING (hour, minute) ORDER BY a.n + b.n LIMIT 3"
    )
    result = session.execute(both)
    assert len(result.rows) == 3 and all(more is None for _, more in result.intervals)
    assert result.notices[0].startswith(
        "no interval in any row of more: it takes 1,550 released rows together"
    )


def test_a_result_without_rows_lacks_nothing(session: Session) -> None:
    result = session.execute(SHARES.format(31) + " WHERE minute < 0")
    assert result.rows == [] and not any("no interval" in said for said in result.notices)


def test_what_depends_on_no_noise_is_not_said_to_lack_an_interval(session: Session) -> None:
    assert session.execute(
        "SELECT n, hour + 1 AS following FROM " + GROUPED.format(32)
    ).notices == (KEYS, CLAMPED)


def test_columns_of_a_pivot_are_said_to_have_none(session: Session) -> None:
    pivoted = f"SELECT * FROM (SELECT hour, n FROM {GROUPED.format(3)}) AS t PIVOT (SUM(n) FOR hour IN (0, 1, 2))"
    result = session.execute(pivoted)
    assert result.intervals == [(None,) * 3]
    assert any(
        said.startswith("no interval in any row of 0, 1 and 2: noise chooses")
        for said in result.notices
    )


def test_samples_that_fail_are_told(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    execute = Sandbox.execute

    def stopped(sandbox: Sandbox, sql: str) -> list[tuple[object, ...]]:
        if "dpsql samples" in sql:
            raise PostProcessingStopped("57014", "it took too long")
        return execute(sandbox, sql)

    monkeypatch.setattr(Sandbox, "execute", stopped)
    result = session.execute(SHARES.format(1))
    assert all(share is None for _, _, share, _ in result.intervals)
    (said,) = _lacking(result)
    assert said.startswith("no interval in any row of share and more: run on samples of the noise")


def test_what_is_read_off_single_rows_has_intervals_on_more_rows(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = session.execute(
        "SELECT minute, n * w AS product, w / n AS mean FROM " + GROUPED.format(32)
    )
    assert all(product is None and mean is not None for _, product, mean in result.intervals)
    (said,) = _lacking(result)
    assert said.startswith("no interval in any row of product: it takes 1,600 released rows")
    monkeypatch.setattr(result_intervals, "MOST_ROWS", 1_599)
    result = session.execute("SELECT minute, n, w / n AS mean FROM " + GROUPED.format(32))
    assert all(own is not None and mean is None for _, own, mean in result.intervals)
    (*_, said) = _lacking(result)
    assert said.startswith("no interval in any row of mean: ") and "at most 1,599 rows" in said


RANKED = "SELECT minute, n, RANK() OVER (ORDER BY n) AS place, MAX(n) OVER () AS most, GREATEST(n, w) AS more, "
RANKED += "n / SUM(n) OVER () AS share FROM " + GROUPED.format(1)


def test_what_noise_chooses_is_said_to_have_none(session: Session) -> None:
    result = session.execute(RANKED)
    for _, own, place, most, more, share in result.intervals:
        assert own is not None and share is not None and place is most is more is None
    (said,) = _lacking(result)
    assert said.startswith(
        "no interval in any row of place, most and more: noise chooses what is shown"
    )
