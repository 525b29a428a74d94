"""A charge for which nothing was released is given up, and taken up once: by one process,
and in no copy again.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from places import PATIENTS, FilePlace, Place, reopen
from spending import TENTH, Ask, fill

from dpsql.errors import LedgerError
from dpsql.privacy.accountant import Accountant, Charge
from dpsql.privacy.budget import Budget, Refresh
from dpsql.privacy.ledger import DatabaseNames, Ledger
from dpsql.privacy.ledger.restoring import backup, restore
from dpsql.privacy.measure import FREE, Cost

TEXTS = {"analyst": "owner", "statement": "tune", "cells": "[]"}
KEY = "0123abcd"


def accountant(ledger: Ledger, refresh: Refresh | None = None) -> Accountant:
    return Accountant(ledger, Budget(Fraction(10), Fraction(1, 100)), {}, refresh)


def given_up(ledger: Ledger) -> Charge[Ask]:
    """A charge that was given up."""
    charge = accountant(ledger).spend(Ask(), **TEXTS)
    accountant(ledger).give_up(charge, KEY)
    return charge


def test_it_is_taken_up_once_and_costs_nothing_more(ledger: Ledger) -> None:
    charge, asks = given_up(ledger), accountant(ledger)
    assert asks.given_up(KEY) == charge.entry == 1
    again = asks.resumed(Ask(), KEY, **TEXTS)
    assert again is not None and again.entry == 1 and again.cost == charge.cost
    assert again.redeem() == Ask()
    assert asks.resumed(Ask(), KEY, **TEXTS) is None and asks.given_up(KEY) is None
    assert ledger.totals()[0] == TENTH
    _, line = ledger.history()
    assert (
        line.cost == FREE
        and line.statement == "-- takes up entry 1, for which nothing was released"
    )
    assert ledger.verify() == 2


def test_what_was_not_given_up_is_not_taken_up(ledger: Ledger) -> None:
    accountant(ledger).spend(Ask(), **TEXTS)
    assert (
        accountant(ledger).resumed(Ask(), KEY, **TEXTS) is None and len(list(ledger.history())) == 1
    )


@pytest.mark.parametrize(
    ("plan", "texts"),
    [
        (Ask(Cost(Fraction(1, 5), Fraction(1, 50))), TEXTS),
        (Ask(Cost(Fraction(1, 20), Fraction(1, 800))), TEXTS),
        (Ask(), {**TEXTS, "analyst": "ada"}),
        (Ask(), {**TEXTS, "statement": "another"}),
        (Ask(), {**TEXTS, "cells": '[{"epsilon": 2}]'}),
    ],
)
def test_another_plan_does_not_have_it(ledger: Ledger, plan: Ask, texts: dict[str, str]) -> None:
    given_up(ledger)
    assert accountant(ledger).resumed(plan, KEY, **texts) is None
    assert accountant(ledger).resumed(Ask(), "another key", **TEXTS) is None
    assert len(list(ledger.history())) == 1 and accountant(ledger).given_up(KEY) == 1


def test_of_many_one_takes_it_up(place: Place) -> None:
    given_up(reopen(place))
    ledgers, taken = [reopen(place) for _ in range(6)], list[object]()

    def take(ledger: Ledger) -> None:
        taken.append(accountant(ledger).resumed(Ask(), KEY, **TEXTS))

    threads = [threading.Thread(target=take, args=(each,)) for each in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each is not None for each in taken) == 1 and len(taken) == 6
    for each in ledgers:
        each.close()


def test_it_may_be_given_up_and_taken_up_again(ledger: Ledger) -> None:
    given_up(ledger)
    for _ in range(3):
        charge = accountant(ledger).resumed(Ask(), KEY, **TEXTS)
        assert charge is not None and charge.entry == 1
        accountant(ledger).give_up(charge, KEY)
    assert ledger.totals()[0] == TENTH


def test_a_copy_from_before_it_was_taken_up_is_behind(path: Path) -> None:
    """Else one charge would pay for a release of each copy."""
    place = FilePlace(path)
    first = reopen(place, names=["data"])
    given_up(first)
    copy = path.read_bytes()
    assert accountant(first).resumed(Ask(), KEY, **TEXTS) is not None
    first.close()
    path.write_bytes(copy)
    with pytest.raises(LedgerError, match="behind"):
        reopen(place, names=["data"])


@pytest.mark.parametrize("accepts", [False, True])
def test_what_is_put_back_has_nothing_to_be_taken_up(path: Path, accepts: bool) -> None:
    place, kept = FilePlace(path), path.with_name("kept")
    first = reopen(place, names=["data"])
    given_up(first)
    before = path.read_bytes()
    backup(first, kept)
    assert accountant(first).resumed(Ask(), KEY, **TEXTS) is not None
    first.close()
    path.unlink()
    if accepts:
        path.write_bytes(before)
    restore(place.name, PATIENTS, DatabaseNames(("data",)), None if accepts else kept, None)
    again = reopen(place, names=["data"])
    assert (
        accountant(again).given_up(KEY) is None
        and accountant(again).resumed(Ask(), KEY, **TEXTS) is None
    )
    again.close()


def test_it_is_of_the_window_in_which_it_was_paid(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is released in a window was charged in it."""
    monkeypatch.setattr(ledger, "_clock", lambda tables: datetime(2026, 1, 31, tzinfo=UTC))
    given_up(ledger)
    monkeypatch.setattr(ledger, "_clock", lambda tables: datetime(2026, 2, 1, tzinfo=UTC))
    monthly = accountant(ledger, "monthly")
    assert monthly.resumed(Ask(), KEY, **TEXTS) is None
    assert accountant(ledger).resumed(Ask(), KEY, **TEXTS) is not None


def test_one_that_is_damaged_is_not_taken_up(path: Path) -> None:
    import sqlite3

    ledger = reopen(FilePlace(path))
    given_up(ledger)
    fill(ledger, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE answers SET answer = CAST('2' AS BLOB)")
    assert accountant(ledger).resumed(Ask(), KEY, **TEXTS) is None
    ledger.close()
