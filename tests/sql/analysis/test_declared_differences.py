"""The time between two columns has the bounds that its owner declares,
and longer ones are counted as the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.audit import AuditRequest, audit
from dpsql.errors import SchemaError
from dpsql.schema import loads
from dpsql.session import Session, open_session
from dpsql.sql.analysis.bounds import bounds

SCHEMA = """
name = "clinic"
source = "stays.parquet"
ledger = "x.ledger"
[privacy]
unit = "stays.person"
epsilon = 1000
delta = 0
query_epsilon = 20
[tables.stays]
max_rows_per_unit = 2
bounds_of = { "discharged_at - admitted_at" = [0, "60 days"], "last-first" = [-1, 9] }
[tables.stays.columns]
person = { type = "integer" }
admitted_at = { type = "timestamp" }
discharged_at = { type = "timestamp" }
first = { type = "date" }
last = { type = "date", bounds = [2020-01-01, 2020-12-31] }
"""
DIFFERENCES = {
    "DATE_DIFF('day', admitted_at, discharged_at)": (0, 61),
    "DATE_DIFF('hour', admitted_at, discharged_at)": (0, 1441),
    "DATESUB('week', admitted_at, discharged_at)": (0, 10),
    "EXTRACT(EPOCH FROM discharged_at - admitted_at)": (0, 60 * 86_400 + Fraction(1, 10**6)),
    "last - first": (-2, 10),
}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """Stays of a day, and one that nobody has ended for a thousand years."""
    with duckdb.connect() as connection:
        connection.execute(f"""
            COPY (
                SELECT i % 300 AS person, TIMESTAMP '2020-01-01' + to_days((i % 30)::INTEGER) AS admitted_at,
                    admitted_at + to_days(CASE i WHEN 7 THEN 365000 WHEN 8 THEN -365000 ELSE 1 END) AS discharged_at,
                    DATE '2020-03-01' AS first, first + CASE i WHEN 7 THEN 300 ELSE 5 END AS last
                FROM range(500) r(i)
            ) TO '{tmp_path}/stays.parquet'
        """)
    (tmp_path / "stays.toml").write_text(SCHEMA)
    return tmp_path / "stays.toml"


@pytest.fixture
def session(schema: Path) -> Iterator[Session]:
    with closing(open_session(schema)) as opened:
        yield opened


@pytest.mark.parametrize("between", DIFFERENCES)
def test_a_difference_lies_within_what_is_declared_of_it(session: Session, between: str) -> None:
    plan = session.plan(f"SELECT SUM({between}) FROM stays")
    found = bounds(plan.cores[0].core.aggregates[0].argument)  # type: ignore[arg-type]
    assert (found.low, found.high) == DIFFERENCES[between]


def test_longer_times_count_as_the_longest(session: Session) -> None:
    (row,) = session.execute(
        "SELECT SUM(DATE_DIFF('day', admitted_at, discharged_at)) FROM stays"
    ).rows
    assert abs(float(str(row[0])) - (498 + 61)) < 60


@pytest.mark.parametrize(
    "between",
    [
        "DATE_DIFF('day', discharged_at, admitted_at)",
        "DATE_DIFF('day', admitted_at, admitted_at)",
        "first - last",
    ],
)
def test_another_difference_has_no_such_bounds(session: Session, between: str) -> None:
    with pytest.raises(Exception, match="without finite bounds"):
        session.plan(f"SELECT AVG({between}) FROM stays")


def test_rows_of_two_tables_have_no_such_bounds(session: Session) -> None:
    with pytest.raises(Exception, match="without finite bounds"):
        session.plan(
            "SELECT AVG(DATE_DIFF('day', s.admitted_at, t.discharged_at)) FROM stays s JOIN stays t USING (person)"
        )


def test_no_unit_changes_more_than_is_claimed_whatever_the_data_hold(schema: Path) -> None:
    statements = [f"SELECT AVG({each}) AS a, COUNT(*) FROM stays" for each in DIFFERENCES]
    report = audit(
        schema, AuditRequest(statements=statements, units=40, minutes=5, draws=1000, choices=100)
    )
    verdicts = {
        check.verdict
        for group in report.groups
        if group.name == "sensitivity"
        for check in group.checks
    }
    assert verdicts and "failed" not in verdicts


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('"discharged_at" = [0, 1]', "no difference of two columns"),
        ('"discharged_at - person" = [0, 1]', "needs two declared columns of dates or timestamps"),
        ('"discharged_at - gone" = [0, 1]', "needs two declared columns"),
        ('"discharged_at - admitted_at" = [0, "60 moons"]', "is no span"),
        ('"discharged_at - admitted_at" = [5, 5]', "low is not below high"),
        ('"discharged_at - admitted_at" = [0]', "must be a pair"),
        ('"discharged_at - admitted_at" = [0, 2020-01-01]', "is a date"),
    ],
)
def test_what_is_declared_must_be_a_span_between_two_moments(declared: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        loads(SCHEMA.replace('"discharged_at - admitted_at" = [0, "60 days"]', declared))
