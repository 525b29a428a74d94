"""One answer for all who ask: analysts, threads, processes and sessions."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from asked_again import SEXES, STATEMENTS
from databases import clinic

from dpsql.errors import BudgetExhausted, DataError
from dpsql.session import Session
from dpsql.session.database import Database, open_database


@pytest.mark.parametrize("text", STATEMENTS)
def test_another_process_finds_the_same_answer(schema: Path, text: str) -> None:
    with_it = open_database(schema)
    first = with_it.session("ada").execute(text)
    with_it.close()
    anew = open_database(schema)
    again = anew.session("bob").execute(text)
    assert again.price.stored and repr(again.rows) == repr(first.rows)
    drawn = [column.computed is not None for column in first.columns]
    for row, other in zip(first.intervals, again.intervals, strict=True):
        assert [x for x, d in zip(row, drawn, strict=True) if not d] == [
            x for x, d in zip(other, drawn, strict=True) if not d
        ]
    anew.close()


def test_of_many_who_ask_at_once_one_pays(database: Database) -> None:
    barrier = threading.Barrier(8)

    def ask(number: int) -> Any:
        barrier.wait()
        return database.session(f"analyst{number}").execute(SEXES)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(8)))
    assert len({repr(each.rows) for each in found}) == 1
    assert sum(not each.price.stored for each in found) == 1
    assert len(list(database.accountant.ledger.history())) == 1


@pytest.mark.parametrize(
    "text", [SEXES, "CREATE SYNOPSIS shared AS SELECT sex, COUNT(*) FROM patients"]
)
def test_of_many_who_open_the_database_themselves_and_ask_at_once_one_pays(
    schema: Path, text: str
) -> None:
    databases, barrier = [open_database(schema) for _ in range(4)], threading.Barrier(4)

    def ask(number: int) -> bool:
        session = databases[number].session(f"analyst{number}")
        barrier.wait()
        try:
            return not session.execute(text).price.stored
        except DataError:  # the name is taken
            return False

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(ask, range(4))) == 1
    assert len(list(databases[0].accountant.ledger.history())) == 1
    for database in databases:
        database.close()


_OTHER = """
import sys
from dpsql.session.database import open_database
database = open_database(sys.argv[1])
session = database.session("other")
print("ready", flush=True)
sys.stdin.readline()
print(repr([session.execute(sys.argv[2]).rows, session.execute(sys.argv[2]).rows]))
"""


def test_processes_that_ask_at_once_agree(schema: Path) -> None:
    """Both may pay; the release that was kept first counts for both."""
    others = [
        subprocess.Popen(
            [sys.executable, "-c", _OTHER, str(schema), SEXES],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    for other in others:
        assert other.stdout is not None and other.stdout.readline() == "ready\n"
    for other in others:
        assert other.stdin is not None
        other.stdin.write("go\n")
        other.stdin.flush()
    said = {other.communicate(timeout=60)[0] for other in others}
    assert len(said) == 1
    rows = eval(said.pop())
    assert rows[0] == rows[1]


def test_a_cap_does_not_hide_what_others_have_paid_for(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    schema.write_text(schema.read_text() + "\n[analysts.poor]\nepsilon = 0.001\n")
    database = open_database(schema)
    first = database.session("ada").execute(SEXES)
    poor = database.session("poor")
    assert poor.execute(SEXES).rows == first.rows
    with pytest.raises(BudgetExhausted):
        poor.execute("SELECT COUNT(*) FROM visits")
    database.close()


def test_a_session_of_its_own_finds_answers_too(schema: Path) -> None:
    from dpsql.session import open_session

    sessions: list[Session] = [open_session(schema, name) for name in ("ada", "bob")]
    first, second = (session.execute(SEXES) for session in sessions)
    assert second.price.stored and repr(first.rows) == repr(second.rows)
    for session in sessions:
        session.close()
