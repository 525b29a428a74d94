"""An engine's dialect is the one seam between plans and engines:
a second one gives the same answers by its own SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from databases import without_noise
from toy_dialect import TOY, Toy, ToyEngine, connected

import dpsql
from dpsql.errors import Refused, StatementError
from dpsql.planning.plan import CorePlan
from dpsql.schema import Schema, loads
from dpsql.session import Session, open_accountant, open_session
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.functions import FUNCTIONS

HOME = Path(dpsql.__file__).parent
SCHEMA = """
name = "{name}"
source = "{folder}/shop.duckdb"
ledger = "{folder}/{name}.ledger"
[privacy]
unit = "people.person"
epsilon = 1000
delta = {delta}
query_epsilon = 1
[tables.people]
key = "person"
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
sex = {{ type = "text", values = ["f", "m"], nullable = true }}
age = {{ type = "integer", bounds = [0, 99], nullable = true }}
born = {{ type = "date", nullable = true }}
[tables.bills]
key = "bill"
references = {{ person = "people.person", town = "towns.town" }}
max_rows_per_unit = 4
[tables.bills.columns]
bill = {{ type = "integer" }}
person = {{ type = "integer", nullable = true }}
town = {{ type = "text", nullable = true }}
amount = {{ type = "double", bounds = [-20, 500], nullable = true }}
[tables.towns]
public = true
[tables.towns.columns]
town = {{ type = "text" }}
region = {{ type = "text" }}
"""
_PEOPLE = [
    (n, "fmx"[n % 3] if n % 7 else None, (n * 31) % 120 if n % 5 else None, None) for n in range(60)
]
#: Some people have more bills than are allowed, some bills are nobody's or a stranger's, and some
#: amounts are beyond their bounds: all that is clamped and clipped happens.
_BILLS = [
    (
        n,
        None if n % 23 == 0 else (n * n) % 70,
        ("Bonn", "Köln", None, "Ulm")[n % 4],
        None if n % 11 == 0 else n * 1.37,
    )
    for n in range(400)
]
TABLES: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "people": ("person BIGINT, sex VARCHAR, age BIGINT, born DATE", [*_PEOPLE]),
    "bills": ("bill BIGINT, person BIGINT, town VARCHAR, amount DOUBLE", [*_BILLS]),
    "towns": (
        "town VARCHAR, region VARCHAR",
        [("Bonn", "west"), ("Köln", "west"), ("Ulm", "south")],
    ),
}
STATEMENTS = (
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*), SUM(age), AVG(age) FROM people WHERE age > 17 AND sex IS NOT NULL",
    "SELECT sex, COUNT(*), SUM(age * 2 - 1) FROM people GROUP BY sex ORDER BY sex",
    "SELECT SUM(amount) FROM bills",
    "SELECT COUNT(*), SUM(amount), SUM(ABS(amount)), VAR_POP(amount) FROM bills WHERE amount < 400 OR town = 'Köln'",
    "SELECT COUNT(DISTINCT person), COUNT(DISTINCT town) FROM bills",
    "SELECT p.sex, COUNT(*), SUM(b.amount) FROM bills b JOIN people p ON b.person = p.person GROUP BY 1 ORDER BY 1",
    "SELECT t.region, COUNT(*) FROM bills b JOIN towns t ON b.town = t.town GROUP BY t.region ORDER BY 1",
    "SELECT town, COUNT(*), SUM(amount) FROM bills GROUP BY town ORDER BY town",
    "SELECT age, COUNT(*) FROM people GROUP BY age ORDER BY age",
    """SELECT sex, AVG(n) FROM (SELECT p.person, p.sex, COUNT(*) AS n FROM bills b JOIN people p ON b.person = p.person
    GROUP BY p.person, p.sex) GROUP BY sex ORDER BY sex""",
)
#: What the toy dialect has no word for, and what its refusal names.
LACKING = (
    ("SELECT SUM(SQRT(age)) FROM people", "SQRT"),
    ("SELECT COUNT(*) FROM people WHERE UPPER(sex) = 'F'", "UPPER"),
    ("SELECT COUNT(*) FROM people WHERE born > DATE '2000-01-01'", "date"),
    ("SELECT MEDIAN(age) FROM people WHERE age % 2 = 0", "%"),
    ("SELECT COUNT(*) FROM people WHERE CAST(age AS TEXT) = '17'", "text"),
)


def _schema(folder: Path, name: str, delta: str) -> Schema:
    return loads(SCHEMA.format(folder=folder, name=name, delta=delta), folder / f"{name}.toml")


def fill(connection: duckdb.DuckDBPyConnection, place: str = "") -> None:
    """The tables in a DuckDB."""
    for name, (columns, rows) in TABLES.items():
        connection.execute(f"CREATE TABLE {place}{name} ({columns})")
        connection.executemany(
            f"INSERT INTO {place}{name} VALUES ({', '.join('?' * len(rows[0]))})", rows
        )


@pytest.fixture(name="sessions", params=["1e-6", "0"], ids=["L2", "L1"])
def _sessions(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Session, Session]]:
    """The same tables in DuckDB and in SQLite,
    with the noise of concentrated and of pure differential privacy.
    """
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        fill(connection)
    real, toy = (_schema(tmp_path, name, request.param) for name in ("real", "toy"))
    engine = ToyEngine(toy, connected(TABLES))
    sessions = open_session(real), Session(toy, engine, open_accountant(toy), "ada")
    yield sessions
    for session in sessions:
        session.close()


def test_a_second_dialect_gives_the_same_answers(
    sessions: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    real, toy = sessions
    for statement in STATEMENTS:
        try:
            expected = real.execute(statement).rows
        except Refused as refusal:  # keys that no budget without δ can choose
            with pytest.raises(Refused, match=re.escape(refusal.reason)):
                toy.execute(statement)
            continue
        assert toy.execute(statement).rows == expected, statement
        assert expected


def test_the_exact_rows_are_the_same(sessions: tuple[Session, Session]) -> None:
    compared = 0
    with duckdb.connect() as real, closing(connected(TABLES)) as toy:
        real.execute("ATTACH ':memory:' AS source")
        fill(real, "source.")
        for core in _cores(sessions[1]):
            theirs = real.execute(replace(core, dialect=DUCKDB).sql).fetchall()
            ours = toy.execute(core.sql).fetchall()
            assert ours and sorted(map(repr, ours)) == sorted(map(repr, theirs)), core.sql
            compared += 1
    assert compared >= len(STATEMENTS) - 1


def _cores(session: Session) -> Iterator[CorePlan]:
    """The cores of all statements that may be asked."""
    for statement in STATEMENTS:
        with suppress(Refused):
            yield from session.plan(statement).cores


def test_a_plan_is_written_in_the_words_of_its_engine(sessions: tuple[Session, Session]) -> None:
    real, toy = (session.plan("SELECT SUM(age) FROM people").cores[0].sql for session in sessions)
    assert '"source"."main"."people"' in real and "TRY_CAST" in real and "MAX(" not in real
    assert (
        '"source"."people"' in toy
        and "NEAREST_WHOLE" in toy
        and "GREATEST" not in toy
        and "HUGEINT" not in toy
    )
    (explained,) = sessions[1].explain("SELECT COUNT(*) FROM people").engine_sql
    assert '"source"."people"' in explained


def test_what_a_dialect_lacks_is_refused_by_name_and_costs_nothing(
    sessions: tuple[Session, Session],
) -> None:
    real, toy = sessions
    before = toy.accountant.remaining("ada")
    for statement, named in LACKING:
        assert real.plan(statement).written()
        with pytest.raises(
            StatementError, match=f"the toy dialect has no form of .*{named}"
        ) as refused:
            toy.execute(statement)
        assert refused.value.code == "E_FUNC", statement
    assert toy.accountant.remaining("ada") == before


def test_duckdb_has_a_total_form_of_each_function() -> None:
    assert DUCKDB.total_forms.keys() == FUNCTIONS.keys()
    assert TOY.total_forms.keys() < FUNCTIONS.keys()


def test_a_dialect_without_a_word_is_none() -> None:
    """The type checker says the same of the class."""

    class Silent(Toy):
        hashed = Dialect.hashed

    with pytest.raises(TypeError, match="hashed"):
        Silent()


def test_duckdb_is_named_by_its_engine_and_by_emit_alone() -> None:
    named = {
        file.relative_to(HOME).as_posix()
        for file in HOME.rglob("*.py")
        if re.search(r"""["']duckdb["']""", file.read_text())
    }
    assert named and all(file.startswith(("engines/duckdb/", "sql/emit/")) for file in named), (
        sorted(named)
    )
    assert {"sql/emit/duckdb/dialect.py", "sql/emit/syntax.py"} <= named
