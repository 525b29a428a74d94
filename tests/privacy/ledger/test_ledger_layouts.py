"""Ledgers of earlier layouts are brought up to this one with all that they hold;
those of later ones are refused.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from places import FilePlace, Place, ServerPlace, elsewhere, reopen
from spending import TENTH, fill

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import NAMELESS, LedgerIdentity
from dpsql.privacy.ledger.restoring import backup, restore
from dpsql.privacy.measure import FREE, Cost

#: The tables of the first layout; ``answers`` is as it is now.
FIRST = """
CREATE TABLE meta (dataset TEXT NOT NULL, unit TEXT NOT NULL, version INTEGER NOT NULL);
CREATE TABLE head (seq INTEGER NOT NULL, digest TEXT NOT NULL);
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY, previous TEXT NOT NULL, digest TEXT NOT NULL, at TEXT NOT NULL,
  analyst TEXT NOT NULL, statement TEXT NOT NULL, cells TEXT NOT NULL,
  epsilon TEXT NOT NULL, rho TEXT NOT NULL, delta TEXT NOT NULL,
  total_epsilon TEXT NOT NULL, total_rho TEXT NOT NULL, total_delta TEXT NOT NULL,
  own_epsilon TEXT NOT NULL, own_rho TEXT NOT NULL, own_delta TEXT NOT NULL
);
"""
ANSWERS = {
    FilePlace: "CREATE TABLE answers (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, "
    "entry INTEGER NOT NULL, answer BLOB NOT NULL, digest TEXT NOT NULL);",
    ServerPlace: "CREATE TABLE answers (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "key text NOT NULL UNIQUE, entry bigint NOT NULL, answer bytea NOT NULL, digest text NOT NULL);",
}
ANSWER = ("ab", 2, b"an answer", "173352e5fcd9cc3e3b78a029d4de180fbc42b0b6611df5c32f2b2a7ddeab436d")
ROWS = Path(__file__).with_name("layout_1.sql").read_text(encoding="utf-8")
TOTAL = Cost(None, 3 * TENTH.rho, 2 * TENTH.delta)


@pytest.fixture
def first(place: Place) -> Place:
    """A place that has a ledger of the first layout, as dpsql wrote it."""
    script = FIRST + ANSWERS[type(place)] + ROWS  # type: ignore[index]
    keep = "INSERT INTO answers (key, entry, answer, digest) VALUES (?, ?, ?, ?)"
    if isinstance(place, FilePlace):
        with closing(sqlite3.connect(place.path)) as connection:
            connection.executescript(script)
            connection.execute(keep, ANSWER)
            connection.commit()
    if isinstance(place, ServerPlace):
        with psycopg.connect(place.address, autocommit=True) as connection:
            connection.execute(
                f'CREATE SCHEMA "{place.namespace}"; SET search_path TO "{place.namespace}"'.encode()
            )
            connection.execute(script.replace("INTEGER", "bigint").encode())
            connection.execute(keep.replace("?", "%s").encode(), ANSWER)
    return place


def test_a_ledger_of_the_first_layout_keeps_all_that_it_holds(first: Place) -> None:
    ledger = reopen(first)
    assert ledger.verify() == 3 and ledger.totals()[0] == TOTAL
    assert [each.statement for each in ledger.history()] == [
        "SELECT COUNT(*) FROM p",
        "SELECT 'é'",
        "SELECT 2",
    ]
    assert ledger.kept("ab") == b"an answer"
    fill(ledger, 2)
    again = reopen(first)
    assert again.id == ledger.id and again.verify() == 5


def test_its_copies_are_known_as_copies(first: Place) -> None:
    """It had no id of its own, so that of its first entry is taken, which its copies have too."""
    older = first.state()
    assert isinstance(older, bytes | dict)
    ledger = reopen(first)
    fill(ledger, 1)
    ledger.close()
    if isinstance(first, FilePlace):
        first.put_back(older)
        with pytest.raises(LedgerError, match="behind"):
            reopen(first)


def test_it_takes_the_neighbours_of_the_schema_and_keeps_them(first: Place) -> None:
    reopen(first, LedgerIdentity("d", "p.id", "replace")).close()
    with pytest.raises(LedgerError, match='neighbours = "replace"'):
        reopen(first)
    assert reopen(first, LedgerIdentity("d", "p.id", "replace")).verify() == 3


def test_another_dataset_s_stays_as_it_was(first: Place) -> None:
    with pytest.raises(LedgerError, match="belongs to the dataset 'd'"):
        reopen(first, LedgerIdentity("e", "p.id", "add-remove"))
    assert isinstance(state := first.state(), bytes) or len(state["meta"][0]) == 3  # type: ignore[index]


def test_a_backup_of_the_first_layout_is_put_back(first: Place, tmp_path: Path) -> None:
    if not isinstance(first, FilePlace):
        return  # a backup is a file
    target = FilePlace(tmp_path / "new.ledger")
    belongs = LedgerIdentity("d", "p.id", "add-remove")
    assert restore(target.name, belongs, NAMELESS, first.path, FREE).entries == 3
    with closing(sqlite3.connect(first.path)) as connection:
        assert connection.execute("SELECT * FROM meta").fetchall() == [("d", "p.id", 1)]
    ledger = reopen(target)
    assert ledger.verify() == 3 and ledger.kept("ab") == b"an answer"
    assert backup(ledger, tmp_path / "backup") == 3


def test_a_newer_layout_is_refused_by_name(first: Place) -> None:
    first.tamper("UPDATE meta SET version = 4")
    for ask in (reopen, elsewhere):
        with pytest.raises(
            LedgerError,
            match=r"layout 4, which a newer dpsql wrote; this one knows layouts up to 3",
        ):
            ask(first)
