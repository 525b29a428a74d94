"""The answer of a statement stays as it was given until the data change or REFINE is said,
for everybody.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hand_world import hand_world
from neighbours import planned
from people import SCHEMA, opened

from dpsql.session import Session
from dpsql.session.answer_store.given_answers import CellSources, GivenAnswers
from dpsql.session.answer_store.partial_answers import PartOfCore
from dpsql.session.database import Database

NOISY = SCHEMA.replace("1e20", "1000").replace("1e8", "0.5")
COUNTS = "SELECT kind, flag, COUNT(*) AS n, SUM(w) FROM people GROUP BY kind, flag"
EARLY = "day < DATE '2024-02-02'"
#: Statements that COUNTS tells, wholly or in part.
TOLD = (
    "SELECT COUNT(*) FROM people",
    "SELECT flag, COUNT(*), SUM(w) FROM people GROUP BY flag",
    "SELECT kind, COUNT(*) FROM people GROUP BY ROLLUP (kind)",
    "SELECT COUNT(*), SUM(y) FROM people WHERE flag",
    f"SELECT COUNT(*), COUNT_IF(w > 3), COUNT_IF(w > 3 AND {EARLY}), COUNT_IF(w > 3 AND NOT {EARLY}) FROM people",
)
#: Statements that tell some of these as well.
LATER = (
    "SELECT y, flag, COUNT(*), SUM(w), COUNT(y) FROM people GROUP BY y, flag",
    "SELECT y, COUNT(*), SUM(y) FROM people GROUP BY y",
    "SELECT kind, COUNT(*) FROM people WHERE y > 3 GROUP BY kind",
    "SELECT flag, SUM(y), COUNT(*) FROM people GROUP BY flag",
)
TOTAL = TOLD[0]


@pytest.fixture
def database(data: Path, tmp_path: Path) -> Iterator[Database]:
    with closing(opened(data, tmp_path, NOISY)) as found:
        yield found


def bought(session: Session, text: str) -> None:
    session.set("dpsql.reuse", "off")
    assert not session.execute(text).price.stored
    session.set("dpsql.reuse", "on")


@pytest.mark.parametrize("text", TOLD)
def test_what_was_given_stays_as_others_are_bought(
    text: str, database: Database, data: Path, tmp_path: Path
) -> None:
    session = database.session("ada")
    session.execute(COUNTS)
    first = session.execute(text)
    for later in LATER:
        bought(session, later)
        again = session.execute(text)
        assert (again.rows, again.intervals) == (first.rows, first.intervals) and again.price.stored
    assert database.session("ada").execute(text).rows == first.rows
    database.close()
    with closing(opened(data, tmp_path, NOISY)) as reopened:
        assert reopened.session("ada").execute(text).rows == first.rows


def test_a_more_exact_answer_is_offered_and_given_once_it_is_asked_for(database: Database) -> None:
    session = database.session("ada")
    session.execute(COUNTS)
    first = session.execute(TOTAL)
    assert not any("given before" in notice for notice in first.notices)
    bought(session, "SELECT flag, COUNT(*) FROM people GROUP BY flag")
    again = session.execute(TOTAL)
    assert again.rows == first.rows and any("given before" in notice for notice in again.notices)
    assert "given before" in str(session.explain(TOTAL)) and "given before" not in str(
        session.explain(f"REFINE {TOTAL}")
    )
    refined = session.execute(f"REFINE {TOTAL}")
    assert refined.rows != first.rows
    bought(session, LATER[1])
    for text in (TOTAL, f"{TOTAL} p WHERE 1 = 1"):
        assert session.execute(text).rows == refined.rows


def test_a_more_exact_answer_that_may_lack_rows_is_not_offered(database: Database) -> None:
    """REFINE would not give it: it reads no groups of a key with declared values."""
    session = database.session("ada")
    session.execute(COUNTS)
    first = session.execute(TOTAL)
    bought(session, "SELECT kind, COUNT(*) FROM people GROUP BY kind")
    again = session.execute(TOTAL)
    assert again.rows == first.rows and not any(
        "given before" in notice for notice in again.notices
    )


def test_one_that_was_bought_stays_until_it_is_refined(database: Database) -> None:
    session = database.session("ada")
    first = session.execute(TOTAL)
    for later in (LATER[1], "SELECT flag, COUNT(*) FROM people GROUP BY flag"):
        bought(session, later)
        assert session.execute(TOTAL).rows == first.rows
    refined = session.execute(f"REFINE {TOTAL}")
    assert refined.intervals != first.intervals and refined.price.stored
    for _ in range(2):
        assert session.execute(TOTAL).rows == refined.rows


def test_a_new_answer_that_is_bought_is_given_from_then_on(database: Database) -> None:
    session = database.session("ada")
    session.execute(COUNTS)
    first = session.execute(TOTAL)
    bought(session, TOTAL)
    session.set("dpsql.reuse", "off")
    own = session.execute(TOTAL)
    session.set("dpsql.reuse", "on")
    assert own.rows != first.rows and own.price.stored
    assert session.execute(TOTAL).rows == own.rows


def test_what_is_no_longer_kept_is_told_anew(
    database: Database, data: Path, tmp_path: Path
) -> None:
    session = database.session("ada")
    session.execute(COUNTS)
    session.execute(TOTAL)
    bought(session, "SELECT y, COUNT(*) FROM people GROUP BY y")
    place = database.accountant.ledger.location
    database.close()
    with closing(sqlite3.connect(place)) as ledger, ledger:
        ledger.execute("DELETE FROM answers WHERE number = (SELECT MIN(number) FROM answers)")
    with closing(opened(data, tmp_path, NOISY)) as reopened:
        session = reopened.session("ada")
        told = session.execute(TOTAL)
        assert told.price.stored and any("entry 2 " in notice for notice in told.notices)
        bought(session, LATER[3])
        assert session.execute(TOTAL).rows == told.rows


def test_the_first_of_two_processes_counts(database: Database) -> None:
    """Both were given an answer at once, of other views:
    one of them gives that of the other from then on.
    """
    session = database.session("ada")
    session.execute(COUNTS)
    one, other = GivenAnswers(database.accountant.ledger), GivenAnswers(database.accountant.ledger)
    mine, theirs = (((CellSources(True, ((name, 0),)),),) for name in ("a" * 64, "b" * 64))
    assert one.find("key").number == other.find("key").number == 0
    assert one.keep("key", 0, 1, mine) == mine
    assert other.keep("key", 0, 1, theirs) == mine
    assert (one.find("key").number, one.find("key").sources) == (1, mine)
    assert other.keep("key", 1, 1, None) is None and one.find("key").sources is None


def test_a_cell_that_was_bought_is_the_one_of_its_view() -> None:
    """It is read as it is, and not combined with what else that view tells of it."""
    (plan,) = planned(hand_world(), "SELECT COUNT(*), SUM(small) FROM visits")
    bought_whole = PartOfCore(plan, None)
    assert bought_whole.sources(("answer", 0)) == (CellSources(False, (("answer", 0),)),) * 2
