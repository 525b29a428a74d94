"""A database opens by what its schema names; where it does not,
the error says that nothing was charged, and why.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from databases import clinic

from dpsql.engines.duckdb import catalog_facts, opening
from dpsql.engines.duckdb.catalog import declared_catalog, read_catalog
from dpsql.engines.duckdb.process import client
from dpsql.errors import InternalError, OperationalError, SchemaError
from dpsql.schema import Schema, load
from dpsql.session import open_session

#: Tables of an owner's file that no schema names.
OTHERS = 30


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """The clinic, in whose file other tables lie."""
    file = clinic(tmp_path)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        for number in range(OTHERS):
            connection.execute(
                f'CREATE TABLE "Other {number}" (a INTEGER PRIMARY KEY, b STRUCT(x INTEGER, y VARCHAR))'
            )
        connection.execute("CREATE VIEW seen AS FROM patients")
    return file


def test_of_other_tables_the_names_alone_are_read(crowded: Path) -> None:
    schema = load(crowded)
    catalog = declared_catalog(schema)
    assert {table.name for table in catalog.tables} == {"patients", "visits", "places"}
    assert set(catalog.others) == {"seen", *(f"Other {number}" for number in range(OTHERS))}
    whole = read_catalog(schema.source_path)
    assert len(whole.tables) == OTHERS + 4 and not whole.others
    assert all(table in whole.tables for table in catalog.tables)
    other = next(table for table in whole.tables if table.name == "Other 7")
    assert other.key == ("a",) and [field.name for field in other.columns[1].fields] == ["x", "y"]


def test_the_facts_of_other_tables_do_not_leave_the_engine(crowded: Path) -> None:
    """Reading them all was most of the time of an opening."""
    facts = catalog_facts.source_facts(
        str(load(crowded).source_path), "database", tables={"patients"}
    )
    assert {row[0] for rows in (facts[0], facts[1], facts[3], facts[5]) for row in rows} <= {
        "patients"
    }


def test_a_name_is_found_by_what_the_source_calls_it(tmp_path: Path) -> None:
    """Of tables that are mapped, and whatever the case of their letters."""
    text = (
        clinic(tmp_path)
        .read_text()
        .replace("[tables.places]\n", '[tables.places]\ntable = "Other Places"\n')
    )
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute('ALTER TABLE places RENAME TO "OTHER places"')
    (tmp_path / "clinic.toml").write_text(text)
    with closing(open_session(tmp_path / "clinic.toml")) as session:
        assert len(session.execute("SELECT region FROM places").rows) == 2


def test_a_table_that_is_missing_or_a_view_is_named_among_the_others(crowded: Path) -> None:
    text = crowded.read_text()
    for place, match in (("nowhere", r"no such table \(it has: .*other 7"), ("seen", "is a view")):
        crowded.write_text(
            text.replace("[tables.places]\n", f'[tables.places]\ntable = "{place}"\n')
        )
        with pytest.raises(SchemaError, match=match):
            open_session(crowded)


def test_of_sqlite_the_names_alone_are_read_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, paid REAL)")
        connection.execute(
            "CREATE TABLE visits (nr INTEGER, person INTEGER REFERENCES people, a INT, b INT, "
            "FOREIGN KEY (a, b) REFERENCES pairs (a, b))"
        )
        connection.execute("CREATE TABLE pairs (a INT, b INT, PRIMARY KEY (b, a))")
        connection.commit()
    whole = read_catalog(tmp_path / "shop.sqlite")
    assert {table.name: (table.key, table.references) for table in whole.tables} == {
        "people": (("id",), {}),
        "pairs": (("b", "a"), {}),
        "visits": ((), {"person": ("people", "id")}),
    }
    some = read_catalog(tmp_path / "shop.sqlite", tables={"people"})
    assert [table.name for table in some.tables] == ["people"] and set(some.others) == {
        "pairs",
        "visits",
    }


@pytest.mark.parametrize("own_process", [False, True])
def test_a_fault_of_dpsql_on_opening_says_that_nothing_was_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own_process)
    monkeypatch.setattr(Schema, "with_catalog", lambda *_: [][0])
    with pytest.raises(InternalError, match=r"E_INTERNAL .*; nothing was charged\n") as raised:
        open_session(clinic(tmp_path))
    assert "list index" not in str(raised.value)


def test_a_process_that_dies_while_the_data_are_opened_says_that_nothing_was_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    asked = client.EngineProcess.asked

    def dies(process: client.EngineProcess, word: str, *values: object) -> object:
        if word == dying:
            process.kill()
        return asked(process, word, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(client.EngineProcess, "asked", dies)
    for dying in ("catalog", "open"):
        with pytest.raises(OperationalError, match="nothing was charged"):
            open_session(clinic(tmp_path / dying)) if (tmp_path / dying).mkdir() is None else None


_TOLD = """
import sys
from dpsql.cli import main
from dpsql.engines.duckdb.process import client
asked = client.EngineProcess.asked
def dies(process, word, *values):
    if word == "open":
        process._process.kill()
    return asked(process, word, *values)
client.EngineProcess.asked = dies
main()
"""


def test_on_the_command_line_the_cause_of_an_opening_that_fails_is_said(tmp_path: Path) -> None:
    """Its reader is the owner."""
    run = [
        sys.executable,
        "-c",
        _TOLD,
        "query",
        str(clinic(tmp_path)),
        "SELECT COUNT(*) FROM patients",
    ]
    told = subprocess.run(run, capture_output=True, text=True, check=False)
    assert told.returncode == 2 and "nothing was charged" in told.stderr
    assert (
        "opening the data: ProcessDied: SIGKILL" in told.stderr
        and "log of the owner" not in told.stderr
    )
