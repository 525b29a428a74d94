"""What a private part makes of released rows has no interval,
and the analyst is told so before and with the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from command_runs import NAFLD, Dpsql

import dpsql
from dpsql.session import Session, open_session

SCHEMA = Path(__file__).parents[2] / "schemas" / "nafld.toml"
MEAN = "(SELECT AVG(age) FROM patients)"
OLDER = f"SELECT male, COUNT(*) AS n FROM patients WHERE age > {MEAN} GROUP BY male"
#: The two most frequent tests, as a BI tool asks for them.
LARGEST = (
    "(SELECT test AS t, COUNT(*) AS total FROM labs GROUP BY test ORDER BY 2 DESC LIMIT 2) AS s"
)
TOTALS = "(SELECT patient_id, SUM(value) AS total FROM labs GROUP BY patient_id)"
#: Statements in which a core reads what was released before it,
#: and the columns that have no #: interval.
GIVEN = {
    f"SELECT COUNT(*) AS n FROM patients WHERE age > {MEAN}": "n",
    f"SELECT COUNT(*) AS n FROM {TOTALS} AS l WHERE total > (SELECT AVG(total) FROM {TOTALS} AS m)": "n",
    "SELECT AVG(value) + COUNT(*) AS x FROM labs JOIN (SELECT test, AVG(value) AS mean FROM labs GROUP BY test) AS m "
    "ON m.test = labs.test WHERE value > m.mean": "x",
    "SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis IN "
    "(SELECT diagnosis FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > 100)": "n",
    "SELECT diagnosis, COUNT(*) AS n FROM diagnoses WHERE diagnosis IN "
    "(SELECT diagnosis FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > 100) GROUP BY diagnosis": "n",
    f"SELECT COUNT(CASE WHEN age > {MEAN} THEN 1 END) AS n FROM patients": "n",
    f"SELECT MIN(age) AS n FROM patients WHERE age > {MEAN}": "n",
    f"SELECT male, n * 1.0 / SUM(n) OVER () AS share FROM ({OLDER}) AS t": "",
    f"SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients WHERE age > {MEAN} GROUP BY ROLLUP (male)": "n and bmi",
    f"SELECT a.n AS everybody, b.n AS older FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS a "
    f"JOIN ({OLDER}) AS b USING (male)": "older",
    f"SELECT COUNT(*) AS n, {MEAN} AS mean FROM patients WHERE age > {MEAN}": "n",
    f"SELECT male FROM patients WHERE age > {MEAN} GROUP BY male HAVING DP_INTERVAL_LOW(COUNT(*)) > 10": "",
    f"SELECT test, COUNT(*) AS n FROM labs JOIN {LARGEST} ON test = t AND value > total GROUP BY test": "n",
    f"SELECT test, SUM(GREATEST(LEAST(total, 9), 0)) AS n FROM labs JOIN {LARGEST} ON test = t GROUP BY test": "n",
    f"SELECT test, COUNT(*) AS n FROM labs JOIN {LARGEST} ON test = t GROUP BY ROLLUP (test)": "n",
}
#: Statements whose intervals know of all noise,
#: though they read several released tables or public #: subqueries.
KNOWN = [
    "SELECT COUNT(*) AS n FROM patients WHERE age > 60",
    "SELECT male, n * 1.0 / SUM(n) OVER () AS share FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS t",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM diagnoses) AS r FROM patients",
    "SELECT COUNT(*) AS n FROM diagnoses JOIN (SELECT diagnosis FROM conditions LIMIT 3) AS c USING (diagnosis)",
    "SELECT COUNT(*) AS n FROM conditions",
    f"SELECT test, COUNT(*) AS n FROM labs JOIN {LARGEST} ON test = t GROUP BY test",
    f"SELECT test, SUM(value) + 1 AS n FROM labs JOIN {LARGEST} ON test = t AND total > 5 GROUP BY test",
    f"SELECT t, COUNT(*) AS n FROM labs JOIN {LARGEST} ON test = t GROUP BY t",
]
RELEASED = ": a private part reads the released rows of a subquery"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(SCHEMA, ledger=tmp_path_factory.mktemp("study") / "ledger")
    opened.set("dpsql.reuse", "off")
    yield opened
    opened.close()


@pytest.fixture
def connection(checkout: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(NAFLD) as opened:
        yield opened


@pytest.mark.parametrize("text", GIVEN)
def test_numbers_made_of_released_rows_have_no_interval_and_it_is_said(
    text: str, session: Session
) -> None:
    (said,) = [line for line in str(session.explain(text)).splitlines() if RELEASED in line]
    assert said.startswith(
        f"no interval of {GIVEN[text]}{RELEASED}" if GIVEN[text] else f"no interval{RELEASED}"
    )
    first = session.execute(text)
    assert first.notices[0] == said and RELEASED not in "".join(first.notices[1:])
    assert session.execute(text).notices == first.notices, (
        "an answer that was paid for says the same"
    )
    for place, column in enumerate(first.columns):
        expected = column.name in ("everybody", "mean")
        assert any(row[place] is not None for row in first.intervals) is expected
    if "HAVING DP_" in text:
        assert first.rows == [], "an end that is not known is above nothing"


@pytest.mark.parametrize("text", KNOWN)
def test_other_numbers_have_theirs(text: str, session: Session) -> None:
    assert RELEASED not in str(session.explain(text))
    result = session.execute(text)
    assert RELEASED not in "".join(result.notices)
    place = len(result.columns) - 1
    assert "FROM conditions" in text[:40] or all(row[place] is not None for row in result.intervals)


def test_what_is_made_of_groups_that_noise_chose_has_none(session: Session) -> None:
    (total,) = session.execute(f"SELECT SUM(n) AS n FROM ({KNOWN[-3]}) AS g").intervals
    assert total == (None,)


def test_front_ends_show_it(connection: dpsql.Connection, dpsql: Dpsql) -> None:
    text = next(iter(GIVEN))
    assert RELEASED in connection.execute(text).notices[0]
    assert RELEASED in dpsql("query", NAFLD, text).err
    assert RELEASED in dpsql(NAFLD, "-c", text).err, "in the terminal"
    assert RELEASED in dpsql("explain", NAFLD, text).out


BUYERS = """
name = "buyers"
source = "{folder}"
[privacy]
unit = "buyers.id"
epsilon = 1000
delta = 1e-6
query_epsilon = 0.1
[tables.buyers]
max_rows_per_unit = 1
[tables.buyers.columns]
id = {{ type = "integer" }}
town = {{ type = "integer", bounds = [0, 299] }}
spent = {{ type = "integer", bounds = [0, 100000] }}
"""


def test_the_interval_of_a_group_that_noise_chose_holds_the_number_of_sql(tmp_path: Path) -> None:
    """200 towns of 300, chosen by noise and by their size, under the noise of their own."""
    (tmp_path / "data").mkdir()
    rows = "SELECT i AS id, i % 300 AS town, (i * 7919) % 1000 AS spent FROM range(60000) t(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{tmp_path}/data/buyers.parquet'")
        truth = dict(
            connection.execute(f"SELECT town, count(*) FROM ({rows}) GROUP BY town").fetchall()
        )
    (tmp_path / "buyers.toml").write_text(BUYERS.format(folder=tmp_path / "data"), encoding="utf-8")
    session = open_session(tmp_path / "buyers.toml", ledger=tmp_path / "ledger")
    largest = (
        "(SELECT town AS t, COUNT(*) AS n FROM buyers GROUP BY town ORDER BY n DESC LIMIT 200) AS s"
    )
    result = session.execute(
        f"SELECT town, COUNT(*) AS n FROM buyers JOIN {largest} ON town = t GROUP BY town"
    )
    session.close()
    assert len(result.rows) == 200
    for part, holds in ((1.0, True), (0.25, False)):
        held = sum(
            interval is not None
            and abs(2 * truth[town] - sum(interval)) <= part * (interval[1] - interval[0])
            for (town, _), (_, interval) in zip(result.rows, result.intervals, strict=True)
        )
        assert (held >= 150) is holds, (
            part,
            held,
        )  # either way wrong by chance less than once in 10^12
