"""An interval takes what a subquery released as given, and the analyst is told so beforehand and with the answer."""

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
TOTALS = "(SELECT patient_id, SUM(value) AS total FROM labs GROUP BY patient_id)"
#: Statements in which a core reads what was released before it, and whose interval the notice speaks of.
GIVEN = {
    f"SELECT COUNT(*) AS n FROM patients WHERE age > {MEAN}": "the interval of n takes",
    f"SELECT COUNT(*) AS n FROM {TOTALS} AS l WHERE total > (SELECT AVG(total) FROM {TOTALS} AS m)": (
        "the interval of n takes"
    ),
    "SELECT AVG(value) + COUNT(*) AS x FROM labs JOIN (SELECT test, AVG(value) AS mean FROM labs GROUP BY test) AS m "
    "ON m.test = labs.test WHERE value > m.mean": "the interval of x takes",
    "SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis IN "
    "(SELECT diagnosis FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > 100)": "the interval of n takes",
    f"SELECT COUNT(CASE WHEN age > {MEAN} THEN 1 END) AS n FROM patients": "the interval of n takes",
    f"SELECT male, n * 1.0 / SUM(n) OVER () AS share FROM ({OLDER}) AS t": "the interval of share takes",
    f"SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients WHERE age > {MEAN} GROUP BY ROLLUP (male)": (
        "the interval of n and bmi takes"
    ),
    f"SELECT a.n AS everybody, b.n AS older FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS a "
    f"JOIN ({OLDER}) AS b USING (male)": "the interval of older takes",
    f"SELECT COUNT(*) AS n, {MEAN} AS mean FROM patients WHERE age > {MEAN}": (
        "the interval of n takes, and that of mean may take,"
    ),
    f"SELECT male FROM patients WHERE age > {MEAN} GROUP BY male HAVING DP_INTERVAL_LOW(COUNT(*)) > 10": (
        "an interval takes"
    ),
}
#: Statements whose intervals know of all noise, though they read several released tables or public subqueries.
KNOWN = [
    "SELECT COUNT(*) AS n FROM patients WHERE age > 60",
    "SELECT male, n * 1.0 / SUM(n) OVER () AS share FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS t",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM diagnoses) AS r FROM patients",
    "SELECT COUNT(*) AS n FROM diagnoses JOIN (SELECT diagnosis FROM conditions LIMIT 3) AS c USING (diagnosis)",
    "SELECT COUNT(*) AS n FROM conditions",
]
AS_GIVEN = " what a subquery released as given: "


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
def test_it_is_said_beforehand_and_with_the_answer(text: str, session: Session) -> None:
    (said,) = [line for line in str(session.explain(text)).splitlines() if AS_GIVEN in line]
    assert said.startswith(GIVEN[text] + AS_GIVEN)
    first = session.execute(text).notices
    assert first[0] == said and AS_GIVEN not in "".join(first[1:])
    assert session.execute(text).notices == first, "an answer that was paid for says the same"


@pytest.mark.parametrize("text", KNOWN)
def test_it_is_not_said_of_other_statements(text: str, session: Session) -> None:
    assert AS_GIVEN not in str(session.explain(text))
    assert AS_GIVEN not in "".join(session.execute(text).notices)


def test_front_ends_show_it(connection: dpsql.Connection, dpsql: Dpsql) -> None:
    text = next(iter(GIVEN))
    assert AS_GIVEN in connection.execute(text).notices[0]
    assert AS_GIVEN in dpsql("query", NAFLD, text).err
    assert AS_GIVEN in dpsql(NAFLD, "-c", text).err, "in the terminal"
    assert AS_GIVEN in dpsql("explain", NAFLD, text).out


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


def test_an_interval_holds_the_statement_with_the_released_value(tmp_path: Path) -> None:
    """300 groups with noise of their own over one released mean, far off under the noise of wide bounds."""
    (tmp_path / "data").mkdir()
    rows = "SELECT i AS id, i % 300 AS town, (i * 7919) % 1000 AS spent FROM range(60000) t(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{tmp_path}/data/buyers.parquet'")
    (tmp_path / "buyers.toml").write_text(BUYERS.format(folder=tmp_path / "data"), encoding="utf-8")
    mean = "(SELECT AVG(spent) FROM buyers)"
    session = open_session(tmp_path / "buyers.toml", ledger=tmp_path / "ledger")
    result = session.execute(
        f"SELECT town, n, {mean} AS mean FROM "
        f"(SELECT town, COUNT(*) AS n FROM buyers WHERE spent > {mean} GROUP BY town) AS g"
    )
    session.close()
    (released,) = {mean for _, _, mean in result.rows}
    with duckdb.connect() as connection:
        truth = dict(connection.execute(
            f"SELECT town, count(*) FILTER (WHERE spent > {released}) FROM ({rows}) GROUP BY town"
        ).fetchall())  # fmt: skip
    for part, holds in ((1.0, True), (0.5, False)):
        held = sum(
            interval is not None and abs(2 * truth[town] - sum(interval)) <= part * (interval[1] - interval[0])
            for (town, _, _), (_, interval, _) in zip(result.rows, result.intervals, strict=True)
        )
        assert (held >= 255) is holds, (part, held)  # either way wrong by chance once in 10^10
