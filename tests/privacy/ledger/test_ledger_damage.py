"""A missing, changed or exchanged line shows, and nothing is admitted on it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from places import Place, elsewhere, reopen
from spending import Ask, fill

from dpsql.errors import LedgerError
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import Ledger, LedgerIdentity, opening


@pytest.mark.parametrize(
    ("harm", "bad"),
    [
        ("UPDATE entries SET epsilon = '1/100' WHERE seq = 3", 3),
        ("UPDATE entries SET statement = 'SELECT 2 ' WHERE seq = 3", 3),
        ("UPDATE entries SET analyst = 'bob' WHERE seq = 5", 5),
        ("UPDATE entries SET total_epsilon = '0' WHERE seq = 6", 6),
        ("UPDATE entries SET total_rho = '0x' WHERE seq = 6", 6),
        ("UPDATE entries SET digest = 'abc' WHERE seq = 6", 6),
        ("DELETE FROM entries WHERE seq = 2", 2),
        ("DELETE FROM entries WHERE seq = 1", 1),
        ("DELETE FROM entries WHERE seq = 6", 6),
        ("DELETE FROM entries WHERE seq > 3", 4),
        ("DELETE FROM entries", 1),
        ("DELETE FROM head", 6),
        ("UPDATE entries SET seq = 9 WHERE seq = 6", 9),
    ],
)
def test_a_missing_or_changed_line_shows(place: Place, harm: str, bad: int) -> None:
    ledger = reopen(place)
    fill(ledger, 6)
    place.tamper(harm)
    with pytest.raises(LedgerError, match=r"damaged: entry \d"):
        ledger.verify()
    ledger.close()
    with pytest.raises(LedgerError, match=rf"damaged: entry {bad} "):
        reopen(place)


def test_an_exchanged_line_shows_though_each_hash_is_right(place: Place) -> None:
    """A line of another ledger over the same data has a right hash of its own,
    and does not fit the chain.
    """
    other = reopen(place.beside())
    fill(other, 4)  # the same totals, and other moments
    ledger = reopen(place)
    fill(ledger, 4)
    ledger.close(), other.close()
    place.take_line(place.beside(), 2)
    with pytest.raises(LedgerError, match="entry 2 "):
        reopen(place)


def test_an_old_line_is_found_by_verify_and_not_on_opening(place: Place) -> None:
    ledger = reopen(place)
    fill(ledger, opening.CHECKED_ON_OPEN + 5)
    ledger.close()
    place.tamper("UPDATE entries SET statement = '' WHERE seq = 2")
    again = reopen(place)
    with pytest.raises(LedgerError, match="entry 2 "):
        again.verify()
    with pytest.raises(LedgerError, match="entry 2 "):
        elsewhere(place)
    place.tamper("UPDATE entries SET statement = '' WHERE seq = 7")
    with pytest.raises(LedgerError, match="entry 7 "):
        reopen(place)


def test_nothing_is_admitted_on_totals_that_were_changed(place: Place) -> None:
    accountant = Accountant(reopen(place), Budget(Fraction(2), Fraction(1, 10**6)))
    for _ in range(3):
        accountant.spend(Ask(), analyst="ada", statement="SELECT 1")
    place.tamper("UPDATE entries SET total_epsilon = '1/10' WHERE seq = 3")
    with pytest.raises(LedgerError):
        accountant.spend(Ask(), analyst="ada", statement="SELECT 1")
    with pytest.raises(LedgerError):
        accountant.remaining()


@pytest.mark.parametrize(("dataset", "unit"), [("other", "p.id"), ("d", "p.order_id")])
def test_the_ledger_of_other_data_is_refused(
    ledger: Ledger, place: Place, dataset: str, unit: str
) -> None:
    with pytest.raises(LedgerError, match=r"belongs to the dataset 'd' with unit 'p\.id'"):
        reopen(place, LedgerIdentity(dataset, unit, "add-remove"))
