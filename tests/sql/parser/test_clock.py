"""What the time is stands in a statement as a constant, in UTC,
and stays the same as long as it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

from dpsql.cli.demo import SCHEMA
from dpsql.session import compiler
from dpsql.session.database import Database, open_database
from dpsql.sql.parser.constant_datetimes import clock

MORNING, EVENING = datetime(2026, 3, 31, 9, 30, 1), datetime(2026, 3, 31, 18, 0, 2)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(SCHEMA, ledger=tmp_path / "clock.ledger")
    yield opened
    opened.close()


def _at(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr(compiler, "clock", lambda: moment)


def test_a_statement_is_told_the_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    _at(monkeypatch, MORNING)
    result = database.session().execute(
        "SELECT NOW(), CURRENT_DATE, today() AS t, CURRENT_TIMESTAMP, localtimestamp"
    )
    assert [column.name for column in result.columns][:2] == ["now", "current_date"]
    assert result.rows == [(MORNING, date(2026, 3, 31), date(2026, 3, 31), MORNING, MORNING)]


def test_no_plan_of_an_earlier_time_is_used(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = database.session()
    prepared = session.prepare("SELECT NOW() AS t")
    for moment in (MORNING, EVENING):
        _at(monkeypatch, moment)
        assert session.execute("SELECT NOW() AS t").rows == [(moment,)]
        assert session.answer(prepared.plan()).rows == [(moment,)]


@pytest.mark.parametrize(
    "since",
    [
        "CURRENT_DATE - INTERVAL '1 month'",
        "CAST(NOW() + INTERVAL '-30 day' AS date)",
        "DATE_TRUNC('month', NOW() - INTERVAL '2 months')",
        "DATE_TRUNC('day', CURRENT_TIMESTAMP)",
    ],
)
def test_a_day_asks_the_same_all_day(
    database: Database, monkeypatch: pytest.MonkeyPatch, since: str
) -> None:
    """So a dashboard that is refreshed pays once a day."""
    session = database.session()
    text = f"SELECT COUNT(*) FROM patients WHERE DATE '2000-01-01' + followup_days < {since}"
    _at(monkeypatch, MORNING)
    first = session.execute(text)
    _at(monkeypatch, EVENING)
    again = session.execute(text)
    assert first.price.charged > 0 and again.price.stored and again.rows == first.rows


def test_the_clock_is_in_utc_and_whole_seconds() -> None:
    assert clock().tzinfo is None and clock().microsecond == 0
