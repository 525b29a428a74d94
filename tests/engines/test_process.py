"""The engine in a process of its own: the same rows, and nothing that was not planned."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from databases import clinic
from own_process import ONE, QUICK, process_of
from test_emitted_sql_check import TAMPERED
from test_engine_errors import STATEMENTS
from test_lockdown import HOSTILE, WRITES

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.process.data import ProcessData, ProcessFailed
from dpsql.engines.source import CoreSql
from dpsql.schema import load
from dpsql.session import Session, open_accountant, open_session


def test_a_folder_may_hold_links_and_a_file_may_have_a_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    file = clinic(tmp_path, parquet=True)
    (tmp_path / "elsewhere").mkdir()
    for table in (tmp_path / "clinic").glob("*.parquet"):
        table.rename(tmp_path / "elsewhere" / table.name)
        table.symlink_to(tmp_path / "elsewhere" / table.name)
    session = open_session(file)
    assert session.execute(ONE).rows and session.execute("SELECT region FROM places").rows
    session.close()
    (tmp_path / "file").mkdir()
    file, writer = (
        clinic(tmp_path / "file"),
        duckdb.connect(str(tmp_path / "file" / "clinic.duckdb")),
    )
    writer.execute("SET checkpoint_threshold = '1GB'; INSERT INTO places VALUES ('late', 'east')")
    shutil.copytree(tmp_path / "file", tmp_path / "copied")
    writer.close()
    assert (tmp_path / "copied" / "clinic.duckdb.wal").exists()
    session = open_session(tmp_path / "copied" / "clinic.toml")
    assert ("east",) in session.execute("SELECT region FROM places").rows
    session.close()


def test_the_data_are_opened_elsewhere_unless_the_schema_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    file = clinic(tmp_path)
    session = open_session(file)
    assert process_of(session).pid != os.getpid()
    session.close()
    file.write_text(file.read_text() + "[engine]\nprocess = false\n")
    session = open_session(file)
    assert isinstance(session._execution.engine, DuckDBEngine) and isinstance(
        session._execution.engine._data, LocalData
    )
    session.close()


@pytest.mark.parametrize("parquet", [False, True], ids=["file", "parquet"])
def test_exact_rows_are_the_same_values_of_the_same_types(tmp_path: Path, parquet: bool) -> None:
    schema = load(clinic(tmp_path, parquet=parquet))
    here, there = LocalData(data_source_of(schema)), ProcessData(data_source_of(schema))
    session = Session(schema, DuckDBEngine(schema), open_accountant(schema), "ada")
    texts = (
        *STATEMENTS,
        "SELECT HISTOGRAM(ward), MEDIAN(cost), VARIANCE(weight) FROM patients JOIN visits USING (patient)",
    )
    compared = 0
    for text in texts:
        try:
            plan = session.plan(text)
        except Exception:
            continue  # it is refused
        if not plan.derived:
            cores = [CoreSql(core.sql, core.tables, core.derived) for core in plan.cores]
            assert typed(here.hold().cursor().rows([], cores)) == typed(
                there.hold().cursor().rows([], cores)
            )
            compared += 1
    assert compared > 6 and here.hold().public_rows("places") == there.hold().public_rows("places")
    assert here.version == there.version
    for each in (here, there, session):
        each.close()


def typed(value: object) -> object:
    """The value with its types, in no order of rows, and NaN equal to itself."""
    if isinstance(value, list):
        return (
            sorted((typed(each) for each in value), key=repr)
            if value and isinstance(value[0], tuple)
            else [typed(each) for each in value]
        )
    return (
        [typed(each) for each in value]
        if isinstance(value, tuple)
        else (type(value).__name__, repr(value))
    )


@pytest.mark.parametrize("text", [ONE, STATEMENTS[-1], "SELECT region FROM places"])
def test_statements_are_answered(session: Session, text: str) -> None:
    assert session.execute(text).rows


PLANNED = 'SELECT "t0"."sex" AS "u" FROM "source"."main"."patients" AS "t0"'


CHANGED = [changed for change in TAMPERED.values() if (changed := change(PLANNED)) != PLANNED]


@pytest.mark.parametrize("sql", [*HOSTILE, *WRITES, *CHANGED])
def test_the_process_itself_runs_nothing_that_was_not_planned(
    tampered: ProcessData, sql: str
) -> None:
    """Even if dpsql asked for it: the check is made where the data are."""
    with pytest.raises(ProcessFailed):
        tampered.hold().cursor().rows([], [CoreSql(sql, frozenset({"patients"}), frozenset())])


@pytest.fixture(scope="module")
def tampered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessData]:
    made = ProcessData(data_source_of(load(clinic(tmp_path_factory.mktemp("clinic")))))
    yield made
    made.close()


def test_a_table_that_was_not_planned_is_not_read(opened: ProcessData) -> None:
    assert list(opened.hold().cursor().rows([], [QUICK])) == [[(2,)]]
    with pytest.raises(ProcessFailed):
        opened.hold().cursor().rows([], [CoreSql(QUICK.sql, frozenset({"patients"}), frozenset())])
