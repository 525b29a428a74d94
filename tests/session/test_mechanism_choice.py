"""The noise of a session's statements: chosen by name where the owner and the budget allow it,
and paid for as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from databases import clinic

import dpsql
from dpsql.errors import BudgetExhausted, DataError, Refused
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.session import Session
from dpsql.session.database import Database, open_database

COUNT = "SELECT sex, COUNT(*) AS n, SUM(weight) AS w FROM patients GROUP BY sex"


def opened(folder: Path, delta: str = "1e-6", lines: str = "") -> Database:
    schema = clinic(folder, delta=delta, epsilon="100")
    schema.write_text(
        schema.read_text().replace("[tables.patients]\n", lines + "[tables.patients]\n", 1)
    )
    return open_database(schema)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = opened(tmp_path)
    yield found
    found.close()


def noises(session: Session, text: str = COUNT) -> set[type]:
    return {type(cell.mechanism) for core in session.plan(text).cores for cell in core.cells}


def test_a_session_chooses_its_noise_and_goes_back(database: Database) -> None:
    session = database.session("ada")
    assert noises(session) == {Gaussian} and session.execute("SHOW dpsql.mechanism").rows == [
        ("auto",)
    ]
    session.execute("SET dpsql.mechanism = laplace")
    assert noises(session) == {Laplace} and session.execute("SHOW dpsql.mechanism").rows == [
        ("laplace",)
    ]
    session.execute("SET dpsql.mechanism TO 'Gaussian'")
    assert noises(session) == {Gaussian} and session.mechanism == "gaussian"
    for back in (
        "RESET dpsql.mechanism",
        "SET dpsql.mechanism = DEFAULT",
        "SET dpsql.mechanism = auto",
    ):
        session.execute("SET dpsql.mechanism = laplace")
        session.execute(back)
        assert noises(session) == {Gaussian} and session.mechanism == "auto"
    assert noises(database.session("bob")) == {Gaussian}


def test_what_is_charged_is_what_the_noise_costs(database: Database) -> None:
    """Laplace noise of price ε costs ε and at most ε²/2 in ρ,
    Gaussian noise exactly ε²/2 and no ε.
    """
    session, epsilon = database.session("ada"), database.session("ada").epsilon
    gaussian = session.plan(COUNT).cost
    session.mechanism = "laplace"
    laplace = session.plan(COUNT).cost
    assert gaussian.epsilon is None and gaussian.rho == epsilon**2 / 2
    assert laplace.epsilon == epsilon and 0 < laplace.rho < epsilon**2 / 2
    before = session.remaining.spent
    session.execute(COUNT)
    assert session.remaining.spent == before + laplace.rounded_up()


def test_units_are_held_to_the_norm_of_the_noise(database: Database) -> None:
    session = database.session("ada")
    gaussian = session.plan(COUNT).cores[0]
    session.mechanism = "laplace"
    laplace = session.plan(COUNT).cores[0]
    assert (gaussian.norm, laplace.norm) == ("l2", "l1") and gaussian.sql != laplace.sql
    by_place = "SELECT place, COUNT(*) FROM visits GROUP BY place"
    assert noises(session, by_place) == {Laplace}
    assert isinstance(session.plan(by_place).cores[0].selection.noise, Laplace)  # type: ignore[union-attr]


def test_an_answer_with_other_noise_is_another_answer(database: Database) -> None:
    session = database.session("ada")
    session.set("dpsql.reuse", "off")
    session.execute(COUNT)
    session.mechanism = "laplace"
    assert not session.execute(COUNT).price.stored and session.execute(COUNT).price.stored
    session.mechanism = None
    assert session.execute(COUNT).price.stored


@pytest.mark.parametrize("fixed, other", [("laplace", "gaussian"), ("gaussian", "laplace")])
def test_what_the_owner_says_binds_every_session(tmp_path: Path, fixed: str, other: str) -> None:
    database = opened(tmp_path, lines=f'mechanism = "{fixed}"\n')
    session = database.session("ada")
    assert session.mechanism == fixed
    with pytest.raises(DataError, match=f'the schema says mechanism = "{fixed}"'):
        session.execute(f"SET dpsql.mechanism = {other}")
    for allowed in (fixed, "auto", None):
        session.mechanism = allowed
        assert session.mechanism == fixed
    assert noises(session) == {Laplace if fixed == "laplace" else Gaussian}
    database.close()


def test_a_pure_budget_has_no_gaussian_noise(tmp_path: Path) -> None:
    database = opened(tmp_path, delta="0")
    session = database.session("ada")
    with pytest.raises(
        DataError,
        match="Gaussian noise needs a delta and the budget has none; Laplace noise needs none",
    ):
        session.execute("SET dpsql.mechanism = gaussian")
    assert session.mechanism == "auto" and noises(session) == {Laplace}
    assert session.plan(COUNT).cost.epsilon == 1
    database.close()


def test_an_analyst_without_a_delta_has_laplace_noise(tmp_path: Path) -> None:
    database = opened(tmp_path, lines="[analysts.eve]\nepsilon = 2\ndelta = 0\n")
    session = database.session("eve")
    assert noises(session) == {Laplace}
    session.execute("SET dpsql.mechanism = gaussian")
    with pytest.raises(BudgetExhausted, match=r"SET dpsql\.mechanism = laplace"):
        session.execute(COUNT)
    session.execute("RESET dpsql.mechanism")
    assert session.execute(COUNT).price.charged == 1
    database.close()


@pytest.mark.parametrize("text", ["SET dpsql.mechanism = exponential", "SET dpsql.mechanism = ''"])
def test_what_is_no_noise_is_refused(database: Database, text: str) -> None:
    with pytest.raises(Refused, match="write one of auto, laplace, gaussian"):
        database.session("ada").execute(text)
    with pytest.raises(DataError, match="write one of auto, laplace, gaussian"):
        database.session("ada").mechanism = "none"


def test_a_connection_has_it_too(tmp_path: Path) -> None:
    with dpsql.connect(str(clinic(tmp_path)), analyst="ada") as connection:
        assert connection.mechanism == "auto"
        connection.mechanism = "laplace"
        assert connection.execute("SHOW dpsql.mechanism").fetchall() == [("laplace",)]
        assert "Laplace" in str(connection.explain(COUNT, verbose=True))
        connection.mechanism = None
        assert connection.mechanism == "auto" and "Gaussian" in str(
            connection.explain(COUNT, verbose=True)
        )
        with pytest.raises(dpsql.DataError):
            connection.mechanism = "wide"
        assert connection.epsilon == Fraction(1)
