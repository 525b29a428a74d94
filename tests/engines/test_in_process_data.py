"""The engine in dpsql's own process: after a fault of DuckDB's own it is another DuckDB that
answers.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databases import clinic

from dpsql.engines.duckdb import in_process_data
from dpsql.engines.duckdb.attached_source import OpenedCursor
from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of
from dpsql.engines.duckdb.in_process_data import FAULTS, LocalData
from dpsql.engines.source import CoreSql, DataSource, EngineDied, ResourceLimits
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.schema import load
from dpsql.session.database import Database, open_database

PLACES = CoreSql(
    'SELECT count(*) FROM "source"."main"."places" AS "t0"', frozenset({"places"}), frozenset()
)
ONE = "SELECT COUNT(*) FROM patients"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[LocalData]:
    made = LocalData(data_source_of(load(clinic(tmp_path))))
    yield made
    made.close()


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setattr("dpsql.engines.duckdb.opening.OWN_PROCESS", False)
    made = open_database(clinic(tmp_path))
    yield made
    made.close()


def faulty(
    patch: pytest.MonkeyPatch,
    fault: type[Exception],
    meanwhile: Callable[[], object] = lambda: None,
    times: int = 1,
) -> None:
    """The next readings have a fault of DuckDB's own, and something happens meanwhile."""
    whole, faults = OpenedCursor.rows, [fault("CANARY_7f3a")] * times

    def rows(cursor: OpenedCursor, *given: object) -> object:
        if faults:
            meanwhile()
            raise faults.pop()
        return whole(cursor, *given)  # type: ignore[arg-type]

    patch.setattr(OpenedCursor, "rows", rows)


def test_after_a_fault_of_duckdb_the_data_are_open_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB 2.0.0 has one at this value; 1.5 has an error; 2.0.1 answers, and is given a fault."""
    pq.write_table(
        pa.table({"at": pa.array([0, -(2**63)], pa.timestamp("us"))}), tmp_path / "moments.parquet"
    )
    with duckdb.connect(str(tmp_path / "moments.duckdb")) as connection:
        connection.execute(f"CREATE TABLE moments AS FROM '{tmp_path / 'moments.parquet'}'")
    path, limits = str(tmp_path / "moments.duckdb"), ResourceLimits(spill=10**6)
    data = LocalData(DataSource(path, "database", {}, (), {"moments": ("at",)}, limits))
    first, one = data.connection, 'SELECT {} FROM "source"."main"."moments" AS "t0"'
    read = frozenset({"moments"})
    text, count = (
        CoreSql(one.format(each), read, frozenset())
        for each in ('length(CAST("at" AS TEXT))', "count(*)")
    )
    for _ in range(3):
        if duckdb.__version__ not in ("1.5.6", "2.0.0"):
            faulty(monkeypatch, duckdb.InternalException)
        with pytest.raises((EngineDied, duckdb.ConversionException)) as raised:
            data.hold().cursor().rows([], [text])
        assert list(data.hold().cursor().rows([], [count])) == [[(2,)]]
        assert (data.connection is not first) == isinstance(raised.value, EngineDied)
    data.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_statement_fails_with_constant_words_at_its_price_and_the_next_is_answered(
    database: Database, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    session = database.session("ada")
    plan, before = session.plan(ONE), session.remaining.spent.rho
    faulty(monkeypatch, fault, times=2)
    with pytest.raises(ExecutionFailed) as raised:
        session.answer(plan)
    assert (
        str(raised.value) == "E_EXEC query could not be completed"
        and raised.value.__context__ is None
    )
    assert session.remaining.spent.rho == before + plan.cost.rho
    assert session.answer(plan).rows and session.execute("SELECT region FROM places").rows


@pytest.mark.parametrize("fault", FAULTS)
def test_after_one_fault_the_statement_is_read_once_more_at_one_price(
    database: Database, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    session = database.session("ada")
    plan, before = session.plan(ONE), session.remaining.spent.rho
    faulty(monkeypatch, fault)
    assert session.answer(plan).rows and session.remaining.spent.rho == before + plan.cost.rho


def test_they_are_open_and_locked_down_before_the_fault_is_told(
    opened: LocalData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next statement would take the time of an opening, and tell what the failure was."""
    first = opened.connection
    faulty(monkeypatch, duckdb.FatalException)
    with pytest.raises(EngineDied) as raised:
        opened.hold().cursor().rows([], [PLACES])
    assert raised.value.kind == "FatalException" and opened.connection is not first
    with pytest.raises(duckdb.ConnectionException):
        first.execute("SELECT 1")
    for hostile in (
        "SET lock_configuration = false",
        "ATTACH 'other.duckdb'",
        "FROM read_csv('/etc/passwd')",
    ):
        with pytest.raises(duckdb.Error):
            opened.connection.cursor().execute(hostile)
    assert list(opened.hold().cursor().rows([], [PLACES])) == [[(2,)]]


def test_of_many_statements_that_a_fault_ends_one_opens_the_data_again(
    opened: LocalData, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, open_instance = list[object](), in_process_data.open_instance
    monkeypatch.setattr(
        in_process_data,
        "open_instance",
        lambda config: made.append(config) or open_instance(config),
    )
    cursors, start = [opened.hold().cursor() for _ in range(8)], threading.Barrier(8)

    def fails(cursor: OpenedCursor, *_: object) -> None:
        start.wait()
        raise duckdb.FatalException("database has been invalidated")

    def ask(cursor: in_process_data.LocalCursor) -> None:
        with pytest.raises(EngineDied):
            cursor.rows([], [PLACES])

    with monkeypatch.context() as patch:
        patch.setattr(OpenedCursor, "rows", fails)
        threads = [threading.Thread(target=ask, args=(cursor,)) for cursor in cursors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(made) == 1 and list(opened.hold().cursor().rows([], [PLACES])) == [[(2,)]]


def test_where_they_cannot_be_opened_again_nothing_is_charged_until_they_can(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, file = database.session("ada"), tmp_path / "clinic.duckdb"
    plan = session.plan(ONE)
    shutil.copy(file, tmp_path / "kept")
    faulty(monkeypatch, duckdb.FatalException, lambda: file.write_bytes(b"no database" * 500))
    with pytest.raises(ExecutionFailed):
        session.answer(plan)
    before = session.remaining.spent.rho
    with pytest.raises(OperationalError, match="any more"):
        session.answer(plan)
    assert session.remaining.spent.rho == before
    shutil.copy(tmp_path / "kept", file)
    assert session.answer(plan).rows
    assert isinstance(session._execution.engine, DuckDBEngine)
