"""All that a statement reads is of one version of the data,
and the next statement reads the newest.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from own_process import living, until
from replaced import (
    COUNTED,
    FIRST,
    LEFT,
    RIGHT,
    ROWS,
    SECOND,
    SIDES,
    VISITS,
    move_aside,
    put,
    town,
    write_over,
    write_over_unseen,
)

from dpsql.engines.duckdb import attached_source as opened
from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.engines.files import held_files
from dpsql.engines.files.held_files import HeldFile, HeldFiles, source_files, states
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.schema import load
from dpsql.session.database import Database, open_database


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setattr(opening, "OWN_PROCESS", False)
    made = open_database(town(tmp_path))
    yield made
    made.close()


def visits(database: Database) -> int:
    """How many visits the limit leaves; the noise is smaller than a half."""
    return round(sum(row[1] for row in database.session().execute(COUNTED).rows))


def spent(database: Database) -> int:
    """How many charges there are."""
    return len(list(database.accountant.ledger.history()))


def between_scans(patch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """It happens once, after the first core of the next statement was read and before the second
    is.
    """
    check, seen = opened.require_planned, list[object]()

    def planned(*asked: Any) -> None:
        seen.append(asked)
        if len(seen) == 2:
            happens()
        check(*asked)

    patch.setattr(opened, "require_planned", planned)


@pytest.mark.parametrize("opens", [LocalData, ProcessData])
@pytest.mark.parametrize("is_file", [False, True], ids=["parquet", "file"])
def test_what_is_held_stays_and_the_next_is_the_new_one(
    tmp_path: Path, opens: type[LocalData | ProcessData], is_file: bool
) -> None:
    data = opens(data_source_of(load(town(tmp_path, database=is_file))))
    with data.hold() as held:
        cursor = held.cursor()
        assert list(cursor.rows([], [ROWS])) == FIRST
        put(tmp_path, 2)
        assert list(cursor.rows([], [ROWS])) == FIRST
        with data.hold() as new:
            assert list(new.cursor().rows([], [ROWS])) == SECOND and new.version != held.version
            assert list(held.cursor().rows([], [ROWS])) == FIRST
        (tmp_path / "data" / ("town.duckdb" if is_file else "visits.parquet")).unlink()
        assert list(held.cursor().rows([], [ROWS])) == FIRST
        with pytest.raises(OperationalError):
            data.hold()
    put(tmp_path, 1)
    with data.hold() as held:
        assert list(held.cursor().rows([], [ROWS])) == FIRST and held.version == data.version
    data.close()


def test_the_cores_of_a_stage_read_the_version_that_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = LocalData(data_source_of(load(town(tmp_path))))
    between_scans(monkeypatch, lambda: put(tmp_path, 2))
    with data.hold() as held:
        assert list(held.cursor().rows([], [ROWS, ROWS])) == FIRST * 2
    data.close()


@pytest.mark.parametrize("write", [write_over, write_over_unseen])
@pytest.mark.parametrize("same", [False, True], ids=["other bytes", "the same bytes"])
def test_what_is_written_into_the_file_itself_ends_the_statement(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path, Path], None],
    same: bool,
) -> None:
    run = DuckDBEngine.run

    def changed(*asked: Any) -> Any:
        put(tmp_path, 1 if same else 2, write)
        return run(*asked)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", changed)
        with pytest.raises(ExecutionFailed) as raised:
            visits(database)
    assert (
        str(raised.value) == "E_EXEC query could not be completed"
        and raised.value.__context__ is None
    )
    assert spent(database) == 1, "the charge stays"
    assert visits(database) == VISITS[1 if same else 2] and spent(database) == 2


def test_a_replacement_ends_no_statement_and_the_next_ones_are_answered_too(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = DuckDBEngine.run

    def replaced(*asked: Any) -> Any:
        put(tmp_path, 2)
        return run(*asked)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", replaced)
        assert visits(database) == VISITS[1]
    assert visits(database) == VISITS[2]
    put(tmp_path, 1)
    assert visits(database) == VISITS[1] and spent(database) == 2, "the first was paid for"


@pytest.mark.parametrize("read", [1, 2])
def test_an_answer_is_kept_for_the_version_that_was_read(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: int
) -> None:
    """The files may be replaced after a kept answer was looked for and before the version is held,
    or after that.
    """
    hold = DuckDBEngine.hold

    def replaced(*asked: Any) -> Any:
        if read == 2:
            put(tmp_path, 2)
        held = hold(*asked)
        put(tmp_path, 2)
        return held

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "hold", replaced)
        assert visits(database) == VISITS[read]
    put(tmp_path, 1)
    assert visits(database) == VISITS[1]
    put(tmp_path, 2)
    assert visits(database) == VISITS[2] and spent(database) == 2


def test_a_block_reads_one_version(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who goes from one part to the other meanwhile would be in both, and only one was charged."""
    run = DuckDBEngine.run

    def replaced(*asked: Any) -> Any:
        reading = run(*asked)
        put(tmp_path, 2)
        return reading

    monkeypatch.setattr(DuckDBEngine, "run", replaced)
    session = database.session()
    results = session.run(session.workload([LEFT, RIGHT]), "parallel")
    assert [round(result.rows[0][0]) for result in results] == SIDES[1]


def test_a_block_whose_files_are_written_to_is_given_no_answer_of_another_version(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, readings = DuckDBEngine.run, list[object]()

    def changed(*asked: Any) -> Any:
        readings.append(asked)
        if len(readings) == 2:
            put(tmp_path, 2, write_over)
        return run(*asked)

    session = database.session()
    workload = session.workload([LEFT, RIGHT])
    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", changed)
        with pytest.raises(ExecutionFailed):
            session.run(workload, "parallel")
    assert spent(database) == 1 and len(readings) == 2
    assert [round(session.execute(each).rows[0][0]) for each in (LEFT, RIGHT)] == SIDES[
        2
    ] and spent(database) == 3


def test_a_file_that_is_moved_to_another_name_is_not_read_by_that(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = DuckDBEngine.run

    def moved(*asked: Any) -> Any:
        put(tmp_path, 2, move_aside)
        return run(*asked)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", moved)
        with pytest.raises(ExecutionFailed):
            visits(database)
    assert visits(database) == VISITS[2] and spent(database) == 2


@pytest.mark.parametrize("there_and_back", [False, True])
def test_where_files_cannot_be_held_a_replacement_is_seen(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there_and_back: bool
) -> None:
    monkeypatch.delattr(os, "O_PATH", raising=False)
    put(tmp_path, 2)
    assert visits(database) == VISITS[2], "it is open without descriptors now"
    put(tmp_path, 1)
    run, file, aside = DuckDBEngine.run, tmp_path / "data" / "visits.parquet", tmp_path / "aside"

    def replaced(*asked: Any) -> Any:
        if there_and_back:
            file.replace(aside)
            aside.replace(file)
        else:
            put(tmp_path, 2)
        return run(*asked)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBEngine, "run", replaced)
        with pytest.raises(ExecutionFailed):
            database.session().execute(COUNTED + " ORDER BY kind")
    assert visits(database) == VISITS[1 if there_and_back else 2]


@pytest.mark.parametrize("replace", [os.replace, move_aside, write_over])
def test_every_way_to_replace_a_file_is_seen_between_statements(
    database: Database, tmp_path: Path, replace: Callable[[Path, Path], object]
) -> None:
    for version in (1, 2, 1, 2):
        put(tmp_path, version, replace)
        assert visits(database) == VISITS[version]


@pytest.mark.parametrize("process", [False, True])
def test_a_link_to_a_folder_that_is_put_elsewhere_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", process)
    schema = town(tmp_path, process)
    (tmp_path / "data").rename(tmp_path / "before")
    for version in (1, 2):
        (tmp_path / "link").symlink_to(tmp_path / str(version))
        (tmp_path / "link").replace(tmp_path / "data")
        if version == 1:
            database = open_database(schema)
        assert visits(database) == VISITS[version]
    database.close()


def test_all_files_are_of_the_folder_to_which_a_link_leads_when_the_first_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link leads to the other folder and back again while each file is opened,
    as a job does that swaps folders.
    """
    schema = town(tmp_path)
    (tmp_path / "data").rename(tmp_path / "before")
    (tmp_path / "data").symlink_to(tmp_path / "1")
    source, hold, version = data_source_of(load(schema)), held_files._held, 1

    def swapped(path: Path) -> HeldFile:
        nonlocal version
        version = 3 - version
        (tmp_path / "link").symlink_to(tmp_path / str(version))
        (tmp_path / "link").replace(tmp_path / "data")
        return hold(path)

    monkeypatch.setattr(held_files, "_held", swapped)
    for folder in (1, 2, 1):
        files = HeldFiles()
        files.source(source)
        assert {Path(each).parent for each in files.paths} == {tmp_path / str(folder)} and len(
            files.paths
        ) == 2
        files.close()
        swapped(tmp_path / "1" / "visits.parquet")


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("visits", "SELECT pid, kind::DOUBLE AS kind FROM '{}'"),
        ("people", "SELECT pid, uuid() AS side FROM '{}'"),
        ("visits", "SELECT pid FROM '{}'"),
        ("people", "FROM '{}' UNION ALL FROM '{}'"),
    ],
    ids=[
        "another type",
        "a type that is read otherwise",
        "a column less",
        "a key that stands twice",
    ],
)
def test_data_that_do_not_fit_are_not_read_and_nothing_is_charged(
    database: Database, tmp_path: Path, table: str, change: str
) -> None:
    assert visits(database) == VISITS[1]
    file = tmp_path / "data" / f"{table}.parquet"
    duckdb.connect().execute(
        f"COPY ({change.format(file, file)}) TO '{tmp_path / 'new'}' (FORMAT parquet)"
    )
    (tmp_path / "new").replace(file)
    for _ in range(2):
        with pytest.raises(OperationalError, match="cannot be opened any more"):
            database.session().execute(COUNTED + " ORDER BY kind")
    assert spent(database) == 1
    put(tmp_path, 2)
    assert visits(database) == VISITS[2]


def test_the_process_of_a_version_ends_with_the_last_who_holds_it(tmp_path: Path) -> None:
    data = ProcessData(data_source_of(load(town(tmp_path))))
    with data.hold() as first:
        with data.hold() as other:
            put(tmp_path, 2)
            assert data.pid != first.opened.process.pid
            assert other.opened is first.opened
        assert living(first.opened.process.pid)
    until(lambda: not living(first.opened.process.pid))
    assert living(data.pid)
    data.close()


def test_of_many_who_come_after_a_change_one_opens_the_new_version(tmp_path: Path) -> None:
    data, found = LocalData(data_source_of(load(town(tmp_path)))), list[object]()
    put(tmp_path, 2)

    def ask() -> None:
        with data.hold() as held:
            found.append(held.opened)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1
    data.close()


@pytest.mark.parametrize("by_path", [False, True])
def test_what_was_let_go_is_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_path: bool
) -> None:
    """Its descriptors were free for any file,
    also where the same files are held by the same ones again.
    """
    if by_path:
        monkeypatch.delattr(os, "O_PATH", raising=False)
    source, files, again = data_source_of(load(town(tmp_path))), HeldFiles(), HeldFiles()
    files.source(source)
    assert files.unchanged() and files.states == states(source_files(source))
    files.close()
    assert not files.unchanged()
    again.source(source)
    assert again.unchanged() and not files.unchanged()
    again.close()


@pytest.mark.parametrize("age", [0.0, 1000.0])
def test_a_file_that_was_written_just_now_is_looked_at_when_a_write_would_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float
) -> None:
    """File systems tell times in ticks: two writes in one have the same."""
    source, files = data_source_of(load(town(tmp_path))), HeldFiles()
    files.source(source)
    last, slept = (
        max(max(state.changed, state.modified) for state in files.states) / 10**9,
        list[float](),
    )

    class Watch:
        time = staticmethod(lambda: last + age)
        monotonic = staticmethod(lambda: files._since)
        sleep = staticmethod(slept.append)

    monkeypatch.setattr(held_files, "time", Watch)
    assert files.settled(source)
    assert slept == ([pytest.approx(held_files.TICK)] if not age else [])
    files.close()


WRITER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from fractions import Fraction
from pathlib import Path
from replaced import put
version = 1
while True:
    version = 3 - version
    put(Path(sys.argv[2]), version)
    time.sleep(0.05)
"""


@pytest.mark.parametrize("process", [False, True])
def test_under_a_writer_every_answer_is_of_one_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", process)
    schema = town(tmp_path, process)
    schema.write_text(schema.read_text().replace("delta = 0", "delta = 0\nkeep_answers = false"))
    database = open_database(schema)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, inspect.getfile(put).rpartition("/")[0], str(tmp_path)]
    )
    try:
        assert {visits(database) for _ in range(12)} <= set(VISITS.values())
    finally:
        writer.kill()
        writer.wait()
        database.close()
