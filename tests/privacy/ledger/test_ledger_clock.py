"""Whatever the clock shows, entries stand in the order of their times,
and no sum depends on it without windows.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from clocks import SetClock, under
from places import FilePlace, Place, ServerPlace, reopen
from spending import Ask, fill

from dpsql.errors import BudgetExhausted, LedgerError
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import Ledger
from dpsql.privacy.ledger.entries import _digest
from dpsql.privacy.ledger.stores import postgresql as server_module
from dpsql.privacy.ledger.stores import sqlite as file_module

JUMPS = [
    (2026, 3, 10, 12),
    (2026, 3, 10, 11, 59, 59),
    (1970, 1, 1),
    (2026, 3, 10, 12, 0, 1),
    (2026, 3, 10, 12, 0, 1),
    (1, 1, 1),
    (2099, 12, 31, 23, 59, 59),
    (2026, 3, 11),
    (9999, 12, 31, 23, 59, 59),
    (2026, 3, 12),
]


def test_times_never_go_back_whatever_the_clock_shows(place: Place) -> None:
    clock = SetClock(2026, 3, 10)
    ledger = under(reopen(place), clock)
    for jump in JUMPS:
        clock.set(*jump)
        fill(ledger, 2)
    times = [entry.moment for entry in ledger.history()]
    expected = [
        max(datetime(*each, tzinfo=UTC) for each in JUMPS[: number + 1])
        for number in range(len(JUMPS))
    ]
    assert times == [each for each in expected for _ in range(2)]
    assert ledger.verify() == len(times) == reopen(place).verify()


def test_a_jumping_clock_neither_gives_nor_takes_of_a_budget_that_is_never_renewed(
    place: Place,
) -> None:
    clock = SetClock(2026, 3, 10)
    accountant = Accountant(under(reopen(place), clock), Budget(Fraction(1), Fraction(1, 10**6)))
    passed = 0
    for jump in JUMPS * 2:
        clock.set(*jump)
        try:
            accountant.spend(Ask(), analyst="ada", statement="SELECT 1")
            passed += 1
        except BudgetExhausted as refusal:
            assert "renewed" not in str(refusal)
    assert passed == 10 and accountant.remaining().window is None


class _Host(datetime):
    """A host whose clock is years off."""

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return datetime(1993, 4, 5, tzinfo=UTC)


def test_a_file_goes_by_the_clock_of_the_machine_and_a_server_by_its_own(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "datetime", _Host)
    fill(reopen(place), 1)
    (entry,) = reopen(place).history()
    if isinstance(place, FilePlace):
        assert entry.at == "1993-04-05T00:00:00.000+00:00"
    else:
        assert abs(entry.moment - datetime.now(UTC)) < timedelta(days=1)


class _Broken(datetime):
    """A clock that shows what Python cannot hold."""

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        raise OverflowError("year 38147 is out of range")


def test_a_machine_without_a_usable_clock_admits_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = reopen(path)
    monkeypatch.setattr(file_module, "datetime", _Broken)
    with pytest.raises(
        LedgerError, match="clock shows no year from 1 to 9999; nothing is released"
    ):
        fill(ledger, 1)
    monkeypatch.undo()
    assert ledger.verify() == 0


def test_a_server_far_in_the_future_admits_nothing(
    server_place: ServerPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = reopen(server_place)
    shown = server_module._NOW
    monkeypatch.setattr(
        server_module, "_NOW", shown.replace("clock_timestamp()", "timestamptz '20000-01-01 UTC'")
    )
    with pytest.raises(
        LedgerError, match="clock shows no year from 1 to 9999; nothing is released"
    ):
        fill(ledger, 1)
    monkeypatch.setattr(server_module, "_NOW", shown)
    assert ledger.verify() == 0
    fill(ledger, 1)


def test_the_time_of_the_server_is_read_after_its_turn_has_come(server_place: ServerPlace) -> None:
    """Who waited for the lock has not the time at which it began to wait."""
    ledger = reopen(server_place)
    done = threading.Event()

    def charge() -> None:
        fill(ledger, 1)
        done.set()

    with psycopg.connect(server_place.address) as connection:
        connection.execute(f'LOCK TABLE "{server_place.namespace}".head IN EXCLUSIVE MODE'.encode())
        thread = threading.Thread(target=charge)
        thread.start()
        while connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (
            0,
        ):
            assert not done.is_set()
        connection.execute("SELECT pg_sleep(0.1)")
        (turn,) = connection.execute("SELECT clock_timestamp()").fetchone() or (None,)
    thread.join()
    (entry,) = ledger.history()
    assert turn is not None and entry.moment >= turn - timedelta(milliseconds=1)


@pytest.mark.parametrize("at", ["yesterday", "2026-03-10", "2026-03-10T12:00:00+02:00", ""])
def test_a_time_that_is_none_is_damage(ledger: Ledger, place: Place, at: str) -> None:
    fill(ledger, 2)
    *_, last = ledger.history()
    digest = _digest(replace(last, at=at).row())
    place.tamper(
        f"UPDATE entries SET at = '{at}', digest = '{digest}' WHERE seq = 2",
        f"UPDATE head SET digest = '{digest}'",
    )
    ledger.close()
    with pytest.raises(LedgerError, match="damaged: entry 2"):
        reopen(place)
