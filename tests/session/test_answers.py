"""Answers that were paid for are free; everything else is paid for, and nothing is kept that was not."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import clinic

from dpsql.database import Database, open_database
from dpsql.errors import BudgetExhausted, ExecutionFailed
from dpsql.privacy.ledger import kept
from dpsql.session import Session

SEXES = "SELECT sex, COUNT(*) AS n, AVG(weight) AS w FROM patients GROUP BY sex ORDER BY sex"
STATEMENTS = (
    SEXES,
    "SELECT COUNT(*) FROM patients",
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT region, SUM(cost), COUNT(*) FROM visits JOIN places USING (place) GROUP BY region",
    "SELECT MEDIAN(weight), MAX(ward), QUANTILE_CONT(cost, [0.25, 0.5]) FROM patients JOIN visits USING (patient)",
    "SELECT sex, ward, COUNT(*), SUM(weight) FROM patients GROUP BY ROLLUP (sex, ward)",
    "SELECT HISTOGRAM(ward), MODE(sex), BOOL_AND(weight > 3), COUNT(DISTINCT ward) FROM patients",
    "SELECT VARIANCE(weight), CORR(weight, ward) FROM patients",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT sex, COUNT(*) FROM patients p WHERE ward < (SELECT AVG(ward) FROM patients WHERE sex = p.sex) GROUP BY sex",
)


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    return clinic(tmp_path)


@pytest.fixture
def database(schema: Path) -> Iterator[Database]:
    opened = open_database(schema)
    yield opened
    opened.close()


def spent(database: Database) -> Fraction:
    return database.accountant.remaining().spent.rho


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_same_statement_is_paid_for_once(database: Database, text: str) -> None:
    first = database.session("ada").execute(text)
    before = spent(database)
    again = database.session("bob").execute(text)
    assert repr(again.rows) == repr(first.rows) and spent(database) == before
    assert (first.price.stored, again.price.stored, again.price.charged) == (False, True, 0)
    assert first.price.charged == database.schema.privacy.query_epsilon


@pytest.mark.parametrize("text", STATEMENTS)
def test_another_process_finds_the_same_answer(schema: Path, text: str) -> None:
    with_it = open_database(schema)
    first = with_it.session("ada").execute(text)
    with_it.close()
    anew = open_database(schema)
    again = anew.session("bob").execute(text)
    assert again.price.stored and repr(again.rows) == repr(first.rows)
    drawn = [column.simulated for column in first.columns]
    for row, other in zip(first.intervals, again.intervals, strict=True):
        assert [x for x, d in zip(row, drawn, strict=True) if not d] == [
            x for x, d in zip(other, drawn, strict=True) if not d
        ]
    anew.close()


def test_what_the_shell_makes_of_the_same_release_is_free(database: Database) -> None:
    session = database.session("ada")
    whole = session.execute(SEXES).rows
    before = spent(database)
    top = session.execute(
        "SELECT sex AS s, COUNT(*) AS people, AVG(weight) FROM patients GROUP BY 1 ORDER BY 2 DESC LIMIT 1"
    )
    assert top.price.stored and spent(database) == before
    assert top.rows[0] in whole


DIFFERENT = (
    SEXES.replace("FROM patients", "FROM patients WHERE ward = 1"),
    SEXES.replace("weight)", "weight + 1)"),
    SEXES.replace("GROUP BY sex", "GROUP BY sex, ward"),
    SEXES.replace("COUNT(*)", "COUNT(weight)"),
    SEXES.replace("AVG", "SUM"),
)


@pytest.mark.parametrize("text", DIFFERENT)
def test_another_release_is_paid_for(database: Database, text: str) -> None:
    session = database.session("ada")
    session.execute(SEXES)
    before = spent(database)
    assert not session.execute(text).price.stored and spent(database) > before


def test_another_price_is_another_release(database: Database) -> None:
    session = database.session("ada")
    session.execute(SEXES)
    before = spent(database)
    session.epsilon = Fraction(1, 2)
    assert not session.execute(SEXES).price.stored and spent(database) > before


def test_noise_cannot_be_averaged_away(database: Database) -> None:
    """However often and in whatever spelling a count is asked for, it is one number."""
    spellings = (
        "SELECT COUNT(*) FROM patients",
        "select count( * ) as n from PATIENTS p",
        "SELECT count(1) FROM patients",
        "SELECT COUNT(*) + 0 FROM patients -- again",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM patients) AS t",
    )
    rows = {database.session(f"analyst{n}").execute(spellings[n % 5]).rows[0] for n in range(40)}
    assert len(rows) == 1 and len(list(database.accountant.ledger.history())) == 1


def test_an_exhausted_budget_still_gives_what_was_paid_for(tmp_path: Path) -> None:
    database = open_database(clinic(tmp_path, epsilon="1", query_epsilon="0.2"))
    session = database.session("ada")
    first = session.execute(SEXES)
    with pytest.raises(BudgetExhausted):
        session.execute("SELECT COUNT(*) FROM visits")
    assert session.execute(SEXES).rows == first.rows
    database.close()


@pytest.mark.parametrize("parquet", [False, True], ids=["file", "parquet"])
def test_changed_data_are_paid_for(tmp_path: Path, parquet: bool) -> None:
    schema = clinic(tmp_path, parquet=parquet)
    database = open_database(schema)
    database.session("ada").execute(SEXES)
    if parquet:
        file = tmp_path / "clinic" / "patients.parquet"
        duckdb.execute(f"COPY (FROM '{file}' WHERE patient > 1) TO '{file}.new' (FORMAT parquet)")
        Path(f"{file}.new").replace(file)
    else:
        database.close()
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            connection.execute("DELETE FROM patients WHERE patient = 1")
        database = open_database(schema)
    assert not database.session("ada").execute(SEXES).price.stored
    assert database.session("ada").execute(SEXES).price.stored
    database.close()


def test_data_that_change_while_they_are_read_are_not_kept(tmp_path: Path) -> None:
    database = open_database(clinic(tmp_path, parquet=True))
    read, file = database._engine.run, tmp_path / "clinic" / "places.parquet"

    def run(charge: Any) -> Any:
        os.utime(file, ns=(2, 2))
        return read(charge)

    database._engine.run = run  # type: ignore[method-assign]
    for _ in range(2):
        os.utime(file, ns=(1, 1))
        assert not database.session("ada").execute(SEXES).price.stored
    database.close()


def test_a_file_that_is_replaced_under_an_open_engine_is_not_taken_for_the_new_one(tmp_path: Path) -> None:
    schema, path = clinic(tmp_path), tmp_path / "clinic.duckdb"
    old = open_database(schema)
    with duckdb.connect(str(tmp_path / "new.duckdb")) as connection:
        connection.execute(f"ATTACH '{path}' AS old (READ_ONLY); COPY FROM DATABASE old TO new")
    (tmp_path / "new.duckdb").replace(path)
    old.session("ada").execute(SEXES)
    new = open_database(schema)
    assert not new.session("ada").execute(SEXES).price.stored
    old.close()
    new.close()


def test_the_charge_is_in_the_ledger_before_the_answer_is_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    ledger = database.accountant.ledger
    keep = ledger.keep

    def watched(key: str, entry: int, answer: bytes) -> bytes | None:
        seen.append((entry, len(list(ledger.history()))))
        return keep(key, entry, answer)

    monkeypatch.setattr(ledger, "keep", watched)
    database.session("ada").execute(SEXES)
    assert seen == [(1, 1)] * 2  # the answer, and its price


def test_what_fails_in_the_engine_is_charged_and_not_kept(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    session = database.session("ada")
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.engines.duckdb.DuckDBReading._rows", lambda *_: 1 / 0)
        with pytest.raises(ExecutionFailed):
            session.execute(SEXES)
    assert len(list(database.accountant.ledger.history())) == 1
    assert not session.execute(SEXES).price.stored
    assert len(list(database.accountant.ledger.history())) == 2


def test_a_release_that_cannot_be_kept_is_given_and_stays_paid(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = database.session("ada")
    monkeypatch.setattr(kept, "LARGEST", 10)
    assert session.execute(SEXES).rows
    assert not session.execute(SEXES).price.stored


def _damage(path: Path, change: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE answers SET answer = x'00'",
        "UPDATE answers SET answer = substr(answer, 1, length(answer) - 1)",
        "UPDATE answers SET key = key || 'x' WHERE key NOT LIKE '%/%'",
        "UPDATE answers SET entry = 2",
        "UPDATE answers SET entry = 77",
        "UPDATE answers SET digest = ''",
        "UPDATE answers SET answer = (SELECT b.answer FROM answers AS b WHERE b.key <> answers.key)",
        "UPDATE answers SET answer = NULL || 'text'",
        "DELETE FROM answers",
    ],
)
def test_a_damaged_answer_counts_as_none_and_is_paid_for(tmp_path: Path, change: str) -> None:
    schema = clinic(tmp_path)
    database = open_database(schema)
    first, second = (
        database.session("ada").execute(SEXES),
        database.session("ada").execute("SELECT COUNT(*) FROM patients"),
    )
    database.close()
    try:
        _damage(tmp_path / "clinic.ledger", change)
    except sqlite3.IntegrityError:
        return
    database = open_database(schema)
    for text, before in ((SEXES, first), ("SELECT COUNT(*) FROM patients", second)):
        answered = database.session("ada").execute(text)
        assert answered.rows == before.rows or not answered.price.stored
        assert database.session("ada").execute(text).price.stored
    assert len(list(database.accountant.ledger.history())) > 2
    database.close()


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


_OTHER = """
import sys
from dpsql.database import open_database
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
            [sys.executable, "-c", _OTHER, str(schema), SEXES], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
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


def test_the_oldest_answers_go(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 4)  # an answer and its price each
    session = database.session("ada")
    for ward in range(4):
        session.execute("SELECT COUNT(*) FROM patients WHERE ward = ?", (ward,))
    with sqlite3.connect(database.accountant.ledger.place) as connection:
        assert connection.execute("SELECT DISTINCT entry FROM answers ORDER BY entry").fetchall() == [(3,), (4,)]
    connection.close()


def test_the_answers_together_are_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LARGEST_SUM", 300)
    session = database.session("ada")
    for ward in range(4):
        session.execute("SELECT COUNT(*) FROM patients WHERE ward = ?", (ward,))
    with sqlite3.connect(database.accountant.ledger.place) as connection:
        assert connection.execute("SELECT sum(length(answer)) <= 300, count(*) > 0 FROM answers").fetchone() == (1, 1)
    connection.close()


def test_an_owner_may_keep_none(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    schema.write_text(schema.read_text().replace("[privacy]\n", "[privacy]\nkeep_answers = false\n"))
    database = open_database(schema)
    for _ in range(2):
        assert not database.session("ada").execute(SEXES).price.stored
    assert len(list(database.accountant.ledger.history())) == 2
    database.close()


def test_a_cap_does_not_hide_what_others_have_paid_for(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    schema.write_text(schema.read_text() + "\n[analysts.poor]\nepsilon = 0.001\n")
    database = open_database(schema)
    first = database.session("ada").execute(SEXES)
    poor = database.session("poor")
    assert poor.execute(SEXES).rows == first.rows
    with pytest.raises(BudgetExhausted):
        poor.execute("SELECT COUNT(*) FROM patients")
    database.close()


def test_a_session_of_its_own_finds_answers_too(schema: Path) -> None:
    from dpsql.session import open_session

    sessions: list[Session] = [open_session(schema, name) for name in ("ada", "bob")]
    first, second = (session.execute(SEXES) for session in sessions)
    assert second.price.stored and repr(first.rows) == repr(second.rows)
    for session in sessions:
        session.close()
