"""Lists of quantiles: each element has an interval, the same as the element's own,
in every form that rows have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.output import OutputRows, as_text
from dpsql.planning.result_columns import CellInterval
from dpsql.session import Session


def elements(value: object, ends: CellInterval | None) -> Iterator[tuple[object, object, object]]:
    """Each element of a list with the ends of its interval."""
    assert (
        isinstance(value, list) and ends is not None and len(value) == len(ends[0]) == len(ends[1])
    )  # type: ignore[arg-type]
    return zip(value, *ends, strict=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "item",
    [
        "QUANTILE_CONT(bmi, [0.25, 0.5, 0.75])",
        "QUANTILE_DISC(age, [0.9, 0.1])",
        "QUANTILE_CONT(bmi, [0.5])",
        "PERCENTILE_CONT(ARRAY[0.2, 0.8]) WITHIN GROUP (ORDER BY age DESC)",
        "APPROX_QUANTILE(age, [0.5, 0.6])",
    ],
)
def test_each_element_has_an_interval_that_is_kept(session: Session, item: str) -> None:
    text = f"SELECT male, q FROM (SELECT male, {item} AS q FROM patients GROUP BY male) AS t"
    first, again = session.execute(text), session.execute(text)
    assert again.price.stored
    assert (first.rows, first.intervals) == (again.rows, again.intervals)
    for (_, value), (key, ends) in zip(first.rows, first.intervals, strict=True):
        assert key is None
        assert all(low <= each <= high for each, low, high in elements(value, ends))  # type: ignore[operator]


def test_elements_have_the_intervals_of_quantiles_beside_each_other(session: Session) -> None:
    text = "SELECT QUANTILE_CONT(bmi, [0.25, 0.75]), QUANTILE_CONT(bmi, 0.25), QUANTILE_CONT(bmi, 0.75) FROM patients"
    result = session.execute(text)
    (listed, *alone), (ends, *own) = result.rows[0], result.intervals[0]
    assert list(elements(listed, ends)) == [
        (value, *pair) for value, pair in zip(alone, own, strict=True) if pair
    ]


def test_ends_are_columns_and_texts(session: Session) -> None:
    session.set("dpsql.intervals", "on")
    text = "SELECT male, QUANTILE_DISC(age, [0.25, 0.75]) AS q FROM patients GROUP BY male"
    columns = [(column.name, column.type) for column in session.columns(session.plan(text))]
    assert columns[1:] == [("q", "BIGINT[]"), ("q_low", "DOUBLE[]"), ("q_high", "DOUBLE[]")]
    for row in session.execute(text).rows:
        assert all(low <= each <= high for each, low, high in zip(*row[1:], strict=True))
    session.set("dpsql.intervals", "off")
    rows = OutputRows.of_result(session.execute(text))
    assert as_text(rows, "table", True).count("±") + as_text(rows, "table", True).count(" to ") == 4
    written = [json.loads(line) for line in as_text(rows, "jsonl", True).splitlines()]
    assert [set(each) for each in written] == [{"male", "q", "q_low", "q_high"}] * 2
    assert all(len(each["q_low"]) == len(each["q_high"]) == 2 for each in written)


SCHEMA = """
name = "clinic"
source = "clinic"
[privacy]
unit = "people.id"
epsilon = 100
delta = 1e-6
query_epsilon = 1
mechanism = "gaussian"
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
born = { type = "date", bounds = [1950-01-01, 2009-12-31] }
"""


def test_dates_and_rows_by_name(tmp_path: Path) -> None:
    (tmp_path / "clinic").mkdir()
    born = "SELECT i AS id, DATE '1980-01-01' + (i % 9000 - 4500)::INTEGER AS born FROM range(9000) AS t(i)"
    duckdb.sql(born).write_parquet(str(tmp_path / "clinic" / "people.parquet"))
    (tmp_path / "clinic.toml").write_text(SCHEMA)
    with dpsql.connect(tmp_path / "clinic.toml") as con:
        answer = con.sql(
            "SELECT QUANTILE_DISC(born, [0.25, 0.5]) AS d, QUANTILE_CONT(born, [0.5]) AS t FROM people"
        )
        (row,) = answer
        for name, kind in (("d", date), ("t", datetime)):
            interval = row.interval(name, list)
            assert interval is not None
            for value, low, high in elements(row[name], (interval.low, interval.high)):
                assert [type(value), type(low), type(high)] == [kind] * 3 and low <= value <= high  # type: ignore[operator]
        assert answer.arrow(intervals=True).schema.names == [
            "d",
            "d_low",
            "d_high",
            "t",
            "t_low",
            "t_high",
        ]
        assert (
            str(answer.arrow(intervals=True).schema.field("d_low").type)
            == "list<item: date32[day]>"
        )
        with pytest.raises(TypeError, match="of the kind list"):
            row.interval("d", date)
        text = "SELECT QUANTILE_DISC(born, [0.25, 0.5]) AS d, DP_INTERVAL_LOW(d) AS low FROM people"
        (row,) = con.sql(text)
        interval = row.interval("d", list)
        assert interval is not None and row.low == interval.low
