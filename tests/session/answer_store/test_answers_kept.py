"""Which answers are kept and for how long: none that was not paid for, none that is damaged,
and not too many.
"""

from __future__ import annotations

import os
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from asked_again import SEXES
from databases import clinic

from dpsql.errors import ExecutionFailed
from dpsql.privacy.ledger import stored_answers
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.session.database import Database, open_database


def test_what_was_read_of_data_that_changed_meanwhile_is_not_kept(tmp_path: Path) -> None:
    database = open_database(clinic(tmp_path, parquet=True))
    read, file = database._engine.run, tmp_path / "clinic" / "places.parquet"

    def run(*charge_and_version: Any) -> Any:
        os.utime(file, ns=(2, 2))
        return read(*charge_and_version)

    database._engine.run = run  # type: ignore[method-assign]
    with pytest.raises(ExecutionFailed):
        database.session("ada").execute(SEXES)
    database._engine.run = read  # type: ignore[method-assign]
    assert not database.session("ada").execute(SEXES).price.stored
    assert database.session("ada").execute(SEXES).price.stored
    database.close()


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
    assert seen == [(1, 1)] * 3  # the answer, its price, and what it is a view of


def test_what_fails_in_the_engine_is_charged_and_not_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = database.session("ada")
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.engines.duckdb.reading.DuckDBReading._rows", lambda *_: 1 / 0)
        with pytest.raises(ExecutionFailed):
            session.execute(SEXES)
    assert len(list(database.accountant.ledger.history())) == 1
    assert not session.execute(SEXES).price.stored
    assert len(list(database.accountant.ledger.history())) == 2


def test_a_release_that_cannot_be_kept_is_given_and_stays_paid(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = database.session("ada")
    monkeypatch.setattr(stored_answers, "LARGEST", 10)
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
        "DELETE FROM answers",
    ],
)
def test_a_damaged_answer_counts_as_none_and_is_paid_for(tmp_path: Path, change: str) -> None:
    schema = clinic(tmp_path)
    database = open_database(schema)
    first, second = (
        database.session("ada").execute(SEXES),
        database.session("ada").execute("SELECT COUNT(*) FROM visits"),
    )
    database.close()
    _damage(tmp_path / "clinic.ledger", change)
    database = open_database(schema)
    for text, before in ((SEXES, first), ("SELECT COUNT(*) FROM visits", second)):
        answered = database.session("ada").execute(text)
        assert answered.rows == before.rows or not answered.price.stored
        assert database.session("ada").execute(text).price.stored
    assert len(list(database.accountant.ledger.history())) > 2
    database.close()


def test_the_ledger_takes_no_entry_without_an_answer(database: Database) -> None:
    database.session("ada").execute(SEXES)
    with pytest.raises(sqlite3.IntegrityError):
        _damage(Path(database.accountant.ledger.location), "UPDATE answers SET answer = NULL")


def test_the_oldest_answers_go(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_answers, "MOST", 6)  # an answer, its price and its view each
    session = database.session("ada")
    for ward in range(4):
        session.execute("SELECT COUNT(*) FROM patients WHERE ward = ?", (ward,))
    with sqlite3.connect(database.accountant.ledger.location) as connection:
        assert connection.execute(
            "SELECT DISTINCT entry FROM answers ORDER BY entry"
        ).fetchall() == [(3,), (4,)]
    connection.close()


def test_the_answers_together_are_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_answers, "LARGEST_SUM", 300)
    session = database.session("ada")
    for ward in range(4):
        session.execute("SELECT COUNT(*) FROM patients WHERE ward = ?", (ward,))
    with sqlite3.connect(database.accountant.ledger.location) as connection:
        assert connection.execute(
            "SELECT sum(length(answer)) <= 300, count(*) > 0 FROM answers"
        ).fetchone() == (1, 1)
    connection.close()


def test_an_owner_may_keep_none(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    schema.write_text(
        schema.read_text().replace("[privacy]\n", "[privacy]\nkeep_answers = false\n")
    )
    database = open_database(schema)
    for _ in range(2):
        assert not database.session("ada").execute(SEXES).price.stored
    assert len(list(database.accountant.ledger.history())) == 2
    database.close()


def test_a_quantile_that_was_read_off_a_tree_is_kept_with_the_noise_of_the_tree(
    database: Database,
) -> None:
    session = database.session("ada")
    session.epsilon = Fraction(
        "0.01"
    )  # at which a group has too few rows for its quantiles to be chosen
    plan = session.plan("SELECT 2 * QUANTILE_CONT(weight, 0.9) FROM patients")
    mechanism = plan.cores[0].histograms[0].mechanism
    assert isinstance(mechanism, QuantilesWithFallback)
    session.answer(plan)
    answers = session._execution.answers
    assert answers is not None
    ((table,),) = ([each.tables for each in [answers.find(plan)] if each is not None],)
    (curve,) = table[0].curves[0][0] or ()
    assert curve.node == mechanism.tree.node
