"""The number of units that let a group be shown: its interval is that among shown groups,
and the analyst is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.session import Session, open_session
from dpsql.sql.analysis.key_domain.domain import CAVEAT

SCHEMA = """
name = "towns"
source = "{folder}"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 1e-6
query_epsilon = 0.5
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
town = {{ type = "integer" }}
sex = {{ type = "integer", values = [0, 1] }}
"""
TOWNS = "SELECT town, COUNT(DISTINCT id) AS people, COUNT(*) AS n FROM people GROUP BY town"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Towns of about 0, 2, 4 … people up to 200."""
    home = tmp_path_factory.mktemp("towns")
    (home / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT i AS id, floor(sqrt(i))::INTEGER AS town, i % 2 AS sex FROM range(10000) t(i)) "
            f"TO '{home}/data/people.parquet'"
        )
    (home / "towns.toml").write_text(SCHEMA.format(folder=home / "data"), encoding="utf-8")
    opened = open_session(Path(home / "towns.toml"), ledger=home / "ledger")
    yield opened
    opened.close()


def test_the_interval_is_that_among_shown_groups(session: Session) -> None:
    plan, result = session.plan(TOWNS), session.execute(TOWNS)
    selection = plan.cores[0].selection
    assert selection is not None and 10 < len(result.rows) < 100
    half = plan.cores[0].half_widths(plan.confidence)[0]
    for (_, people, n), (_, shown, other) in zip(result.rows, result.intervals, strict=True):
        assert isinstance(people, int) and isinstance(n, int)
        assert shown == selection.interval(people, plan.confidence)
        assert other == pytest.approx((float(n - half), float(n + half)), abs=1)
    nearest = min(range(len(result.rows)), key=lambda place: result.rows[place][1])
    low, high = result.intervals[nearest][1]
    assert result.rows[nearest][1] - low > high - result.rows[nearest][1]


def test_what_is_computed_of_it_reaches_as_far_to_either_side(session: Session) -> None:
    found = session.execute(
        f"SELECT people, 2 * people, people - n, people / SUM(people) OVER () FROM ({TOWNS}) AS t"
    )
    for own, twice, difference, part in found.intervals:
        assert twice == pytest.approx((2 * own[0], 2 * own[1]))
        assert difference[1] - difference[0] > (own[1] - own[0]) * 0.9
        assert part is None, "people of small towns are in no part"


def test_the_analyst_is_told_once_and_only_of_such_counts(session: Session) -> None:
    caveat, missing = session.execute(TOWNS).notices
    assert caveat == CAVEAT and re.fullmatch(
        r"groups of fewer than about \d+ units are missing", missing
    )
    assert CAVEAT not in session.execute("SELECT town, COUNT(*) FROM people GROUP BY town").notices
    assert session.execute("SELECT sex, COUNT(DISTINCT id) FROM people GROUP BY sex").notices == (
        "rows with other values of sex than the schema lists are in no group",
    )
