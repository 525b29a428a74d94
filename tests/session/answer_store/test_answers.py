"""A statement that was paid for is free when it is asked again,
and any other release is paid for.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from asked_again import SEXES, STATEMENTS
from databases import clinic

from dpsql.errors import BudgetExhausted
from dpsql.session.database import Database, open_database


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
    session.set("dpsql.reuse", "off")
    session.execute(SEXES)
    before = spent(database)
    assert not session.execute(text).price.stored and spent(database) > before


def test_another_price_is_another_release(database: Database) -> None:
    session = database.session("ada")
    session.set("dpsql.reuse", "off")
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
    database = open_database(clinic(tmp_path, epsilon="1", query_epsilon="0.8"))
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
        duckdb.connect().execute(
            f"COPY (FROM '{file}' WHERE patient > 1) TO '{file}.new' (FORMAT parquet)"
        )
        Path(f"{file}.new").replace(file)
    else:
        database.close()
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            connection.execute("DELETE FROM patients WHERE patient = 1")
        database = open_database(schema)
    assert not database.session("ada").execute(SEXES).price.stored
    assert database.session("ada").execute(SEXES).price.stored
    database.close()


def test_after_a_file_is_replaced_under_an_open_engine_the_new_one_is_read(tmp_path: Path) -> None:
    schema, path = clinic(tmp_path), tmp_path / "clinic.duckdb"
    old = open_database(schema)
    with duckdb.connect(str(tmp_path / "new.duckdb")) as connection:
        connection.execute(f"ATTACH '{path}' AS old (READ_ONLY); COPY FROM DATABASE old TO new")
    old.session("ada").execute(SEXES)
    (tmp_path / "new.duckdb").replace(path)
    assert not old.session("ada").execute(SEXES).price.stored
    new = open_database(schema)
    assert new.session("ada").execute(SEXES).price.stored
    old.close()
    new.close()
