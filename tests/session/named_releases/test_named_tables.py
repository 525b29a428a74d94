"""A synthetic table that the ledger keeps is read, joined, listed and dropped as its name says,
by every session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from databases import clinic

import dpsql
from dpsql.errors import DataError, Error, Refused, StatementError
from dpsql.postprocessing import Price, Result
from dpsql.privacy.ledger import NewRelease
from dpsql.schema import Column
from dpsql.server.listener import Server
from dpsql.session.answer_store.serialization import FORMAT
from dpsql.session.database import Database, open_database
from dpsql.session.named_releases.registry import NamedReleases
from dpsql.session.named_releases.table_rows import SyntheticColumns, packed, written

COLUMNS = SyntheticColumns(
    "patients",
    {
        "sex": Column(type="text", values=["f", "m"], nullable=True),  # type: ignore[arg-type]
        "weight": Column(type="double", bounds=[-10, 16]),  # type: ignore[arg-type]
        "seen": Column(type="date"),  # type: ignore[arg-type]
    },
)
ROWS = [
    ("f", 1.5, date(2020, 1, 31)),
    ("m", 2.5, date(2021, 1, 31)),
    (None, 3.5, date(2021, 1, 31)),
]


def keep(database: Database, name: str = "twins", version: str | None = None) -> None:
    """Keep a synthetic table that a statement of ada's has paid for."""
    database.session("ada").execute("SELECT COUNT(*) FROM patients")
    content = packed(list(zip(*ROWS, strict=True)))
    held = version or database._engine.version() or ""
    database.accountant.ledger.put_named(
        NewRelease(name, "synthetic table", 1, held, written(COLUMNS), content)
    )
    database._named._forget()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path))
    keep(opened)
    yield opened
    opened.close()


def test_its_rows_are_read_exactly_and_free(database: Database) -> None:
    session = database.session("bob")
    spent = len(list(database.accountant.ledger.history()))
    whole = session.execute("SELECT * FROM twins ORDER BY weight")
    assert whole.rows == ROWS and [each.type for each in whole.columns] == [
        "VARCHAR",
        "DOUBLE",
        "DATE",
    ]
    assert session.execute(
        "SELECT weight FROM Twins WHERE sex IS NULL OR seen < '2021-01-01' ORDER BY 1 LIMIT 1"
    ).rows == [(1.5,)]
    assert session.execute("SELECT COUNT(*), SUM(weight) FROM twins").rows == [(3, 7.5)]
    assert len(list(database.accountant.ledger.history())) == spent


def test_it_is_joined_with_public_tables_and_released_aggregates_and_not_with_private_rows(
    database: Database,
) -> None:
    session = database.session("bob")
    joined = session.execute(
        "SELECT sex, region FROM twins JOIN places ON place = 'ward' WHERE sex = 'f'"
    )
    assert joined.rows == [("f", "north")]
    beside = session.execute(
        "SELECT t.sex, n FROM twins AS t JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS p USING (sex)"
    )
    assert {row[0] for row in beside.rows} <= {"f", "m"} and beside.price.charged > 0
    counted = "SELECT COUNT(*) FROM patients AS p JOIN (SELECT sex, COUNT(*) AS n FROM twins GROUP BY sex) AS t ON {}"
    for condition in ("p.sex = t.sex", "p.weight > t.n", "true"):
        assert session.execute(counted.format(condition)).price.charged > 0
    for text in (
        "SELECT COUNT(*) FROM patients JOIN twins USING (sex)",
        "SELECT COUNT(*) FROM patients WHERE sex IN (SELECT sex FROM twins)",
    ):
        with pytest.raises(Refused, match="not read together with private rows"):
            session.execute(text)


def test_it_is_listed_with_its_state(database: Database, tmp_path: Path) -> None:
    session = database.session("bob")
    keep(database, "older", "another version")
    assert session.execute("SHOW TABLES").rows == [
        ("older",),
        ("patients",),
        ("places",),
        ("twins",),
        ("visits",),
    ]
    listed = session.execute("SHOW SYNTHETIC TABLES").rows
    assert [(row[0], row[1], row[5]) for row in listed] == [
        ("older", "ada", "stale: the data have changed since"),
        ("twins", "ada", "current"),
    ]
    assert session.execute("SHOW SYNOPSES").rows == []
    with dpsql.connect(tmp_path / "clinic.toml", analyst="eve") as connection:
        assert ("twins", "synthetic") in [(row[0], row[1]) for row in connection.tables.rows]
        assert connection.execute("SELECT COUNT(*) FROM twins").fetchall() == [(3,)]


def test_what_cannot_be_read_or_compared_is_not_called_current(database: Database) -> None:
    ledger, kept = database.accountant.ledger, database._engine.version() or ""
    for name, form in (("kept", FORMAT), ("lost", FORMAT - 1)):
        facts = json.dumps({"format": form, "views": []})
        ledger.put_named(NewRelease(name, "synopsis", 1, kept, facts, b""))
    for version, states in ((kept, ("current", "unreadable")), (None, ("unknown", "unreadable"))):
        named = NamedReleases(database.schema, ledger, lambda version=version: version)
        assert (
            tuple(named.state(each).split(":")[0] for each in named.of_kind("synopsis")) == states
        )
        assert [("is free" in said) for _, said in named.synopses()] == [version is not None, False]


def test_clients_over_the_wire_see_synopses_among_the_relations(database: Database) -> None:
    facts = json.dumps({"format": FORMAT, "views": []})
    listed = """SELECT c.relname, c.relkind, obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') ORDER BY 1"""
    with Server(database, port=0) as server:
        address = (
            f"host=127.0.0.1 port={server.port} dbname=clinic user=ada password=ada sslmode=disable"
        )
        with psycopg.connect(address, autocommit=True) as connection:
            assert [row[0] for row in connection.execute(listed)] == [
                "patients",
                "places",
                "twins",
                "visits",
            ]
            version = database._engine.version() or ""
            database.accountant.ledger.put_named(
                NewRelease("marginals", "synopsis", 1, version, facts, b"")
            )
            database._named._forget()
            first, *_ = connection.execute(listed).fetchall()
            assert first[:2] == ("marginals", "m") and "bought" in first[2] and "free" in first[2]


def test_its_creator_drops_it_and_nobody_else(database: Database) -> None:
    with pytest.raises(DataError, match="created by ada"):
        database.session("bob").execute("DROP SYNTHETIC TABLE twins")
    session = database.session("ada")
    with pytest.raises(StatementError, match="no synopsis"):
        session.execute("DROP SYNOPSIS twins")
    session.execute("drop synthetic table Twins;")
    session.execute("DROP SYNTHETIC TABLE IF EXISTS twins")
    with pytest.raises(Error, match="twins"):
        session.execute("SELECT * FROM twins")


@pytest.mark.parametrize(
    "name", ["patients", "Clinic", "pg_class", "dpsql", "information_schema", "twins", '"a b"']
)
def test_names_that_are_taken_are_refused_before_anything_is_charged(
    database: Database, name: str
) -> None:
    spent = len(list(database.accountant.ledger.history()))
    with pytest.raises(DataError, match=r"name"):
        database.session("ada").execute(
            f"CREATE SYNTHETIC TABLE {name} AS SELECT sex FROM patients"
        )
    assert len(list(database.accountant.ledger.history())) == spent


def test_clients_over_the_wire_create_it_see_it_and_drop_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def create(self: object, wanted: object, text: str, *_: object) -> Result:
        made.append(text)
        return Result((), [], [], Price(Fraction(1)), ("it is made",))

    monkeypatch.setattr(
        "dpsql.session.named_releases.synthetic_tables.SyntheticTables.create", create
    )
    with Server(database, port=0) as server:
        address = (
            f"host=127.0.0.1 port={server.port} dbname=clinic user=ada password=ada sslmode=disable"
        )
        with psycopg.connect(address, autocommit=True) as connection:
            told: list[str | None] = []
            connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
            statement = "CREATE SYNTHETIC TABLE copies AS SELECT sex FROM patients PRICE 1"
            assert connection.execute(statement).statusmessage == "CREATE SYNTHETIC TABLE"
            assert made == [statement] and "it is made" in told
            lines = connection.execute(f"EXPLAIN {statement}").fetchall()
            assert "price: ε = 1" in lines[-1][0] and made == [statement]
            known = "SELECT relname FROM pg_class WHERE relname IN ('twins', 'patients') ORDER BY 1"
            assert connection.execute(known).fetchall() == [("patients",), ("twins",)]
            assert connection.execute("SHOW SYNTHETIC TABLES").fetchall()[0][0] == "twins"
            assert connection.execute("SELECT seen FROM twins LIMIT 1").fetchone() == (
                date(2020, 1, 31),
            )
            assert (
                connection.execute("DROP SYNTHETIC TABLE twins").statusmessage
                == "DROP SYNTHETIC TABLE"
            )
            assert connection.execute(known).fetchall() == [("patients",)]


def test_a_preview_shows_synthetic_rows_of_the_newest_table_that_has_the_columns(
    database: Database,
) -> None:
    session = database.session("bob")
    with pytest.raises(Error):
        session.execute("SELECT sex, weight FROM patients LIMIT 100")
    session.execute("SET dpsql.preview = synthetic")
    shown = session.execute("SELECT * FROM patients LIMIT 100")
    assert shown.rows == ROWS and any(
        "synthetic" in each and "`twins`" in each for each in shown.notices
    )
    assert session.execute("SELECT p.weight AS w FROM patients AS p WHERE p.sex = 'm'").rows == [
        (2.5,)
    ]
    assert session.execute(
        "SELECT patients.sex FROM patients ORDER BY weight DESC LIMIT 1"
    ).rows == [(None,)]
    keep(database, "younger")
    assert any(
        "`younger`" in each for each in session.execute("SELECT sex FROM patients LIMIT 1").notices
    )
    for text in (
        "SELECT ward FROM patients LIMIT 1",
        "SELECT * FROM visits",
    ):  # no synthetic table has these
        with pytest.raises(Error):
            session.execute(text)
    assert session.execute(
        "SELECT COUNT(*) FROM patients"
    ).price.stored  # aggregates are those of the private rows
    session.execute("RESET dpsql.preview")
    with pytest.raises(Error):
        session.execute("SELECT sex, weight FROM patients LIMIT 100")
