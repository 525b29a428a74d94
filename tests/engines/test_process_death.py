"""The engine's process may die at any time: one constant error, which is paid for,
and another process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databases import clinic
from own_process import ONE, answer_while, process_of, until
from test_engine_errors import chain

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.process import client
from dpsql.engines.duckdb.process.client import ProcessDied
from dpsql.engines.duckdb.process.data import ProcessData, ProcessFailed, ProcessVersion
from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
from dpsql.engines.files.version_hold import VersionHold
from dpsql.engines.source import CoreSql, DataSource
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.session import Session, open_session

DEATHS = [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM]


@pytest.mark.parametrize("death", DEATHS, ids=[death.name for death in DEATHS])
def test_its_second_death_is_the_constant_error_and_is_paid_for(
    session: Session, death: signal.Signals
) -> None:
    plan, process = (
        session.plan("SELECT name, COUNT(*) FROM patients GROUP BY name"),
        process_of(session),
    )
    before, pid = session.remaining.spent.rho, process.pid

    def dies(process: client.EngineProcess) -> None:
        os.kill(process.pid, death)
        os.kill(process.pid, signal.SIGCONT)

    (error,) = answer_while(session, plan, dies)
    assert type(error) is ExecutionFailed
    assert [str(each) for each in chain(error)] == ["E_EXEC query could not be completed"]
    assert session.remaining.spent.rho == before + plan.cost.rho
    assert process.pid != pid and session.execute("SELECT COUNT(*), 1 FROM patients").rows
    assert session.remaining.spent.rho > before + plan.cost.rho


def test_the_new_process_is_begun_before_the_failure_is_told(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next statement would take the time of a beginning, and tell what the failure was."""
    data, opens, begun = process_of(session), ProcessVersion._open, list[bool]()

    def begin(version: ProcessVersion, *source: object) -> None:
        begun.append(data._opening is not None)
        opens(version, *source)  # type: ignore[arg-type]

    monkeypatch.setattr(ProcessVersion, "_open", begin)
    (error,) = answer_while(session, session.plan(ONE), lambda process: process.kill())
    assert type(error) is ExecutionFailed and begun == [True, True]


def test_who_waits_for_an_answer_when_it_dies_hears_of_it_once(opened: ProcessData) -> None:
    process, held = opened.renewed().process, [opened.hold() for _ in range(5)]
    os.kill(process.pid, signal.SIGSTOP)
    heard: list[type[BaseException]] = []

    def ask(version: VersionHold[ProcessVersion]) -> None:
        try:
            version.public_rows("places")
        except Exception as error:
            heard.append(type(error))

    threads = [threading.Thread(target=ask, args=(version,)) for version in held]
    for thread in threads:
        thread.start()
    until(lambda: len(process._waiting) == 5)
    process.kill()
    for thread in threads:
        thread.join(30)
    assert heard == [ProcessDied] * 5
    assert opened.hold().public_rows("places")


def test_it_dies_between_two_statements(session: Session) -> None:
    os.kill(process_of(session).pid, signal.SIGKILL)
    assert session.execute(ONE).rows


#: An engine's process whose DuckDB has a fault of its own at the first request.
FAULTY = """
import os, sys, duckdb
from dpsql.engines.duckdb.process.child import Child
from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
from dpsql.engines.source import ResourceLimits

class Faulty(Child):
    def _answer(self, request):
        if request.number > 1:
            os._exit(0)
        raise getattr(duckdb, sys.argv[1])

child = Faulty(MessagePipe(*os.pipe()), ResourceLimits())
for number in (1, 2):
    child._requests.put(EngineMessage("stage", number))
child.work()
"""


@pytest.mark.parametrize("fault", ["FatalException", "InternalException"])
def test_a_fault_of_duckdb_ends_the_process_rather_than_every_statement_after_it(
    fault: str,
) -> None:
    assert (
        subprocess.run([sys.executable, "-c", FAULTY, fault], timeout=60, check=False).returncode
        == 1
    )


def test_a_moment_before_all_others_ends_at_most_its_own_statement(tmp_path: Path) -> None:
    """DuckDB 2.0.0 has a fault at this value, 1.5 an error; 2.0.1 answers."""
    pq.write_table(
        pa.table({"at": pa.array([0, -(2**63)], pa.timestamp("us"))}), tmp_path / "moments.parquet"
    )
    with duckdb.connect(str(tmp_path / "moments.duckdb")) as connection:
        connection.execute(f"CREATE TABLE moments AS FROM '{tmp_path / 'moments.parquet'}'")
    made = ProcessData(DataSource(str(tmp_path / "moments.duckdb"), "database", {}, (), {}))
    one = 'SELECT {} FROM "source"."main"."moments" AS "t0"'
    text, count = (
        CoreSql(one.format(each), frozenset({"moments"}), frozenset())
        for each in ('length(CAST("at" AS TEXT))', "count(*)")
    )
    with suppress(ProcessDied, ProcessFailed):
        assert len(made.hold().cursor().rows([], [text])[0]) == 2
    assert list(made.hold().cursor().rows([], [count])) == [[(2,)]]
    made.close()


def test_nothing_is_sent_into_what_has_the_numbers_of_a_closed_pipe(tmp_path: Path) -> None:
    """A statement that waits to send when the process dies would write into a ledger or to another
    client.
    """
    pipe = MessagePipe(*os.pipe())
    pipe.close()
    files = [(tmp_path / name).open("wb") for name in ("one", "other")]
    with pytest.raises(OSError):
        pipe.send(EngineMessage("stage", 1))
    for file in files:
        file.close()
        assert Path(file.name).read_bytes() == b""


def test_where_no_other_can_be_begun_nothing_is_charged(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, process = session.plan(ONE), process_of(session).renewed().process
    before = session.remaining.spent
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not process.alive)
    with pytest.raises(OperationalError, match=r"process = false") as raised:
        session.answer(plan)
    assert not isinstance(raised.value, ExecutionFailed) and session.remaining.spent == before
    monkeypatch.undo()
    assert session.answer(plan).rows


def test_data_that_cannot_be_opened_again_are_said_to_be_so(
    opened: ProcessData, tmp_path: Path
) -> None:
    process = opened.renewed().process
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not process.alive)
    (tmp_path / "clinic.duckdb").write_bytes(b"no database" * 500)
    with pytest.raises(OperationalError, match="any more"):
        opened.hold().cursor()


def test_too_little_memory_is_the_constant_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    file = clinic(tmp_path)
    file.write_text(file.read_text() + '[engine]\nmemory = "100MB"\nspill = "0GB"\nthreads = 1\n')
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            "INSERT INTO patients SELECT 100 + i, 'n' || repeat(i::VARCHAR, 12), 'f', 1, 1 FROM range(900000) t(i)"
        )
    session = open_session(file)
    plan = session.plan("SELECT name, COUNT(*) FROM patients GROUP BY name")
    before = session.remaining.spent.rho
    with pytest.raises(ExecutionFailed) as raised:
        session.answer(plan)
    assert [str(each) for each in chain(raised.value)] == ["E_EXEC query could not be completed"]
    assert session.remaining.spent.rho == before + plan.cost.rho
    assert session.execute(ONE).rows
    session.close()
