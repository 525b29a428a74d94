"""Dates and timestamps have intervals of their own kind,
and what is computed beside or of them has its own, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction

import duckdb
import pyarrow
import pytest

from dpsql.dbapi.frames import arrow_table, columns_of
from dpsql.output.output_rows import OutputRows
from dpsql.output.styles import as_text
from dpsql.session import Session, open_session

SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "people.id"
epsilon = 1000
delta = {delta}
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
born = {{ type = "date", bounds = [1950-01-01, 2009-12-31] }}
seen = {{ type = "timestamp", bounds = [2019-01-01T00:00:00, 2022-12-31T00:00:00] }}
ward = {{ type = "integer", values = [0, 1, 2] }}
age = {{ type = "integer", bounds = [0, 100] }}
"""
#: Of the people of all wards.
BORN, SEEN = date(1980, 1, 1), datetime(2021, 1, 1)


@pytest.fixture(scope="module", params=["0", "1e-6"], ids=["Laplace", "Gaussian"])
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, DATE '1980-01-01' + (i * 7919 % 9001 - 4500)::INTEGER AS born, "
            "TIMESTAMP '2021-01-01' + INTERVAL 1 MINUTE * (i * 7919 % 9001 - 4500) AS seen, i % 3 AS ward, "
            "i * 31 % 100 AS age FROM range(9001) AS t(i)"
        )
    (folder / "clinic.toml").write_text(SCHEMA.format(delta=request.param))
    opened = open_session(folder / "clinic.toml", ledger=folder / "ledger")
    opened.epsilon = Fraction(1)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("MEDIAN(born)", datetime),
        ("QUANTILE_DISC(born, 0.5)", date),
        ("MIN(born)", date),
        ("MAX(seen)", datetime),
        ("MEDIAN(seen)", datetime),
        ("QUANTILE_DISC(seen, 0.9)", datetime),
    ],
)
def test_a_date_has_an_interval_of_dates(session: Session, item: str, kind: type) -> None:
    result = session.execute(f"SELECT ward, {item} AS at FROM people GROUP BY ward")
    assert len(result.rows) == 3
    for (_, value), (key, ends) in zip(result.rows, result.intervals, strict=True):
        assert key is None and ends is not None
        assert [type(each) for each in (value, *ends)] == [kind] * 3
        assert ends[0] <= value <= ends[1]  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item", "truth"), [("MEDIAN(born)", BORN), ("QUANTILE_DISC(seen, 0.5)", SEEN)]
)
def test_it_holds_as_often_as_it_says(session: Session, item: str, truth: date) -> None:
    """Of 60 of 95 % fewer than 43 hold with a probability below 1e-9;
    and most are shorter than a year.
    """
    held, short = 0, 0
    session.epsilon = Fraction(1)
    for number in range(60):
        session.epsilon = Fraction(1) + Fraction(
            number, 10**6
        )  # so that no answer is one that was paid for
        ((ends,),) = session.execute(f"SELECT {item} FROM people").intervals
        assert ends is not None
        low, high = (datetime.fromisoformat(str(each)) for each in ends)
        held += low <= datetime.fromisoformat(str(truth)) <= high
        short += high - low < timedelta(days=365)
    session.epsilon = Fraction(1)
    assert held >= 43 and short > 40


@pytest.mark.parametrize(
    "beside",
    [
        "MEDIAN(born)",
        "MAX(seen)",
        "QUANTILE_DISC(age, [0.25, 0.5])",
        "MODE(age)",
        "QUANTILE_CONT(seen, [0.2, 0.5, 0.7])",
    ],
)
def test_what_is_computed_beside_it_has_its_interval(session: Session, beside: str) -> None:
    result = session.execute(
        f"SELECT ward, {beside} AS m, SQRT(COUNT(*)) + LN(SUM(age)) AS r, "
        "SUM(COUNT(*)) OVER () AS n FROM people GROUP BY ward"
    )
    for (_, value, computed, total), (_, _, ends, whole) in zip(
        result.rows, result.intervals, strict=True
    ):
        assert value is not None and ends is not None and whole is not None
        assert ends[0] < computed < ends[1] and whole[0] < total < whole[1]  # type: ignore[operator]


@pytest.mark.parametrize(
    "item", ["YEAR(MEDIAN(born))", "EPOCH(MEDIAN(seen))", "YEAR(MAX(born)) * COUNT(*)"]
)
def test_numbers_made_of_dates_have_none_and_a_notice_says_so(session: Session, item: str) -> None:
    result = session.execute(f"SELECT {item} AS n, COUNT(*) * SUM(age) AS product FROM people")
    ((made, product),) = result.intervals
    assert (
        made is None
        and product is not None
        and "no interval in any row of n: noise" in str(result.notices)
    )


def test_its_ends_are_columns_of_its_type(session: Session) -> None:
    result = session.execute(
        "SELECT ward, QUANTILE_DISC(born, 0.4) AS m, DP_INTERVAL_LOW(QUANTILE_DISC(born, 0.4)) AS l, "
        "DP_INTERVAL_HIGH(QUANTILE_DISC(born, 0.4)) AS h, DP_INTERVAL_LOW(COUNT(*)) AS n FROM people GROUP BY ward"
    )
    assert [column.type for column in result.columns[1:]] == ["DATE", "DATE", "DATE", "DOUBLE"]
    assert [(row[2], row[3]) for row in result.rows] == [row[1] for row in result.intervals]
    later = session.execute(
        "SELECT COUNT(*) FROM (SELECT ward, MAX(seen) AS m FROM people GROUP BY ward) AS t "
        "WHERE DP_INTERVAL_HIGH(m) = TIMESTAMP '2022-12-31'"
    )
    assert later.rows == [(3,)]


def test_totals_have_it_too(session: Session) -> None:
    result = session.execute(
        "SELECT ward, MEDIAN(born), COUNT(*) FROM people GROUP BY ROLLUP (ward)"
    )
    assert len(result.rows) == 4
    assert all(
        isinstance(ends[1], tuple) and isinstance(ends[1][0], datetime) for ends in result.intervals
    )


def test_a_kept_answer_has_the_same(session: Session) -> None:
    text = "SELECT MEDIAN(seen), MIN(born) FROM people"
    first, second = session.execute(text), session.execute(text)
    assert second.price.stored and first.intervals == second.intervals
    assert all(isinstance(end, date) for ends in second.intervals[0] for end in ends or ())


def test_front_ends_write_its_ends_as_dates(session: Session) -> None:
    result = session.execute("SELECT QUANTILE_DISC(born, 0.6) AS m, COUNT(*) AS n FROM people")
    ((ends, _),) = result.intervals
    assert ends is not None
    rows = OutputRows.of_result(result)
    assert rows.with_ends().types == ("DATE", "DATE", "DATE", "BIGINT", "DOUBLE", "DOUBLE")
    assert f"{result.rows[0][0]} ({ends[0]} to {ends[1]})" in as_text(rows, "table", True)
    assert json.loads(as_text(rows, "json", True))[0]["m_high"] == str(ends[1])
    named = [(column.name, column.type) for column in result.columns]
    table = arrow_table(columns_of(named, result.rows, result.intervals))
    assert table.schema.field("m_low").type == pyarrow.date32() and table["m_low"].to_pylist() == [
        ends[0]
    ]
