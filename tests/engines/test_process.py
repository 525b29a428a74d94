"""The engine in a process of its own: the same rows, nothing that was not planned, and a clean end whatever ends it."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from ast import literal_eval
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databases import CANARIES, NEVER_DONE, clinic
from test_cross_check import TAMPERED
from test_engine_errors import STATEMENTS, chain
from test_lockdown import HOSTILE, WRITES

from dpsql.engines import opening
from dpsql.engines.duckdb import DuckDBEngine, source_of
from dpsql.engines.local import LocalData
from dpsql.engines.process import client, data, start
from dpsql.engines.process.data import Died, Failed, ProcessData
from dpsql.engines.process.protocol import Message, Pipe
from dpsql.engines.source import CoreSql, Limits, Source
from dpsql.errors import ExecutionFailed, OperationalError, QueryCancelled
from dpsql.plan import Plan
from dpsql.schema import load
from dpsql.session import Session, open_accountant, open_session

ONE = "SELECT COUNT(*) FROM patients"
QUICK = CoreSql('SELECT count(*) FROM "source"."main"."places" AS "t0"', frozenset({"places"}), frozenset())


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    opened = open_session(clinic(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[ProcessData]:
    made = ProcessData(source_of(load(clinic(tmp_path))))
    yield made
    made.close()


def process_of(session: Session) -> ProcessData:
    engine = session._river.engine
    assert isinstance(engine, DuckDBEngine) and isinstance(engine._data, ProcessData)
    return engine._data


def living(pid: int) -> bool:
    """Whether the process does anything any more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.01)


def test_a_folder_may_hold_links_and_a_file_may_have_a_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    file, writer = clinic(tmp_path / "file"), duckdb.connect(str(tmp_path / "file" / "clinic.duckdb"))
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
    assert isinstance(session._river.engine, DuckDBEngine) and isinstance(session._river.engine._data, LocalData)
    session.close()


@pytest.mark.parametrize("parquet", [False, True], ids=["file", "parquet"])
def test_exact_rows_are_the_same_values_of_the_same_types(tmp_path: Path, parquet: bool) -> None:
    schema = load(clinic(tmp_path, parquet=parquet))
    here, there = LocalData(source_of(schema)), ProcessData(source_of(schema))
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
            assert typed(here.cursor().rows([], cores)) == typed(there.cursor().rows([], cores))
            compared += 1
    assert compared > 6 and here.public_rows("places") == there.public_rows("places")
    assert here.version == there.version
    for each in (here, there, session):
        each.close()


def typed(value: object) -> object:
    """The value with its types, in no order of rows, and NaN equal to itself."""
    if isinstance(value, list):
        return sorted((typed(each) for each in value), key=repr) if value and isinstance(value[0], tuple) else [
            typed(each) for each in value]  # fmt: skip
    return [typed(each) for each in value] if isinstance(value, tuple) else (type(value).__name__, repr(value))


@pytest.mark.parametrize("text", [ONE, STATEMENTS[-1], "SELECT region FROM places"])
def test_statements_are_answered(session: Session, text: str) -> None:
    assert session.execute(text).rows


PLANNED = 'SELECT "t0"."sex" AS "u" FROM "source"."main"."patients" AS "t0"'
CHANGED = [changed for change in TAMPERED.values() if (changed := change(PLANNED)) != PLANNED]


@pytest.mark.parametrize("sql", [*HOSTILE, *WRITES, *CHANGED])
def test_the_process_itself_runs_nothing_that_was_not_planned(tampered: ProcessData, sql: str) -> None:
    """Even if dpsql asked for it: the check is made where the data are."""
    with pytest.raises(Failed):
        tampered.cursor().rows([], [CoreSql(sql, frozenset({"patients"}), frozenset())])


@pytest.fixture(scope="module")
def tampered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessData]:
    made = ProcessData(source_of(load(clinic(tmp_path_factory.mktemp("clinic")))))
    yield made
    made.close()


def test_a_table_that_was_not_planned_is_not_read(opened: ProcessData) -> None:
    assert list(opened.cursor().rows([], [QUICK])) == [[(2,)]]
    with pytest.raises(Failed):
        opened.cursor().rows([], [CoreSql(QUICK.sql, frozenset({"patients"}), frozenset())])


DEATHS = [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM]


def answer_while(session: Session, plan: Plan, happens: Callable[[client.EngineProcess], None]) -> list[BaseException]:
    """What the plan's answer raises where this happens to the process while it is asked."""
    found: list[BaseException] = []
    process = process_of(session)._held.living()

    def ask() -> None:
        try:
            session.answer(plan)
        except BaseException as error:
            found.append(error)

    os.kill(process.pid, signal.SIGSTOP)
    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: bool(process._waiting))
    happens(process)
    thread.join(60)
    return found


@pytest.mark.parametrize("death", DEATHS, ids=[death.name for death in DEATHS])
def test_its_death_is_the_constant_error_and_is_paid_for(session: Session, death: signal.Signals) -> None:
    plan, process = session.plan("SELECT name, COUNT(*) FROM patients GROUP BY name"), process_of(session)
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


def test_the_new_process_is_begun_before_the_failure_is_told(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next statement would take the time of a beginning, and tell what the failure was."""
    held, begun = process_of(session)._held, list[bool]()

    def begin(_: object, process: client.EngineProcess) -> None:
        begun.append(held._lock.locked())
        process.end()

    monkeypatch.setattr(type(held), "open", begin)
    (error,) = answer_while(session, session.plan(ONE), lambda process: process.kill())
    assert type(error) is ExecutionFailed and begun == [True]


def test_who_waits_for_an_answer_when_it_dies_hears_of_it_once(opened: ProcessData) -> None:
    process = opened._held.living()
    os.kill(process.pid, signal.SIGSTOP)
    heard: list[type[BaseException]] = []

    def ask() -> None:
        try:
            opened.public_rows("places")
        except Exception as error:
            heard.append(type(error))

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    until(lambda: len(process._waiting) == 5)
    process.kill()
    for thread in threads:
        thread.join(30)
    assert heard == [Died] * 5
    assert opened.public_rows("places")


def test_it_dies_between_two_statements(session: Session) -> None:
    os.kill(process_of(session).pid, signal.SIGKILL)
    assert session.execute(ONE).rows


def test_a_fault_of_duckdb_ends_the_process_rather_than_every_statement_after_it(tmp_path: Path) -> None:
    """Some of its versions have a fault at this value, and then answer nobody any more."""
    pq.write_table(pa.table({"at": pa.array([0, -(2**63)], pa.timestamp("us"))}), tmp_path / "moments.parquet")
    with duckdb.connect(str(tmp_path / "moments.duckdb")) as connection:
        connection.execute(f"CREATE TABLE moments AS FROM '{tmp_path / 'moments.parquet'}'")
    made = ProcessData(Source(str(tmp_path / "moments.duckdb"), None, (), {}, {}))
    one = 'SELECT {} FROM "source"."main"."moments" AS "t0"'
    with pytest.raises((Died, Failed)):
        made.cursor().rows([], [CoreSql(one.format('length(CAST("at" AS TEXT))'), frozenset({"moments"}), frozenset())])
    count = CoreSql(one.format("count(*)"), frozenset({"moments"}), frozenset())
    assert list(made.cursor().rows([], [count])) == [[(2,)]]
    made.close()


def test_what_cannot_be_begun_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = client._begun

    def ended() -> subprocess.Popen[bytes]:
        process = begun()
        process.wait()
        processes.append(process)
        return process

    monkeypatch.setattr(client, "_begun", ended)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    processes: list[subprocess.Popen[bytes]] = []
    left_open = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(OperationalError, match="cannot be begun"):
            client.EngineProcess(str(tmp_path), Limits())
    assert all(each.stdin.closed and each.stdout.closed for each in processes if each.stdin and each.stdout)
    assert len(processes) == 3 and len(list(Path("/proc/self/fd").iterdir())) == left_open


def test_an_interrupt_while_it_begins_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Future[None]):
        def result(self, timeout: float | None = None) -> None:
            raise KeyboardInterrupt

    begun, processes = client._begun, list[subprocess.Popen[bytes]]()

    def told() -> subprocess.Popen[bytes]:
        processes.append(begun())
        return processes[-1]

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(client, "_begun", told)
    monkeypatch.setattr(client, "Future", Interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        client.EngineProcess(str(tmp_path), Limits(spill=1000))
    for attendant in set(threading.enumerate()) - before:
        attendant.join(30)
    assert processes[0].poll() is not None and not list((tmp_path / "temporary").iterdir())


def test_nothing_is_sent_into_what_has_the_numbers_of_a_closed_pipe(tmp_path: Path) -> None:
    """A statement that waits to send when the process dies would write into a ledger or to another client."""
    pipe = Pipe(*os.pipe())
    pipe.close()
    files = [(tmp_path / name).open("wb") for name in ("one", "other")]
    with pytest.raises(OSError):
        pipe.send(Message("stage", 1))
    for file in files:
        file.close()
        assert Path(file.name).read_bytes() == b""


def test_where_no_other_can_be_begun_nothing_is_charged(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, process = session.plan(ONE), process_of(session)._held.living()
    before = session.remaining.spent
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not process.alive)
    with pytest.raises(OperationalError, match=r"process = false") as raised:
        session.answer(plan)
    assert not isinstance(raised.value, ExecutionFailed) and session.remaining.spent == before
    monkeypatch.undo()
    assert session.answer(plan).rows


@pytest.mark.parametrize("executable", ["", "/nowhere/python", "/bin/false", "/bin/cat"])
def test_a_python_that_begins_no_other_is_said_when_the_data_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(OperationalError, match="cannot be begun"):
        open_session(clinic(tmp_path))


def test_data_that_cannot_be_opened_again_are_said_to_be_so(opened: ProcessData, tmp_path: Path) -> None:
    process = opened._held.living()
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: not process.alive)
    (tmp_path / "clinic.duckdb").write_bytes(b"no database" * 500)
    with pytest.raises(OperationalError, match="any more"):
        opened.cursor()


def test_too_little_memory_is_the_constant_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    file = clinic(tmp_path)
    file.write_text(file.read_text() + '[engine]\nmemory = "100MB"\nthreads = 1\n')
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


def test_several_statements_run_at_once_and_an_interrupt_ends_one(opened: ProcessData) -> None:
    ended, other = opened.cursor(), opened.cursor()
    heard: list[str] = []

    def ask(name: str, cursor: data.ProcessCursor) -> None:
        try:
            cursor.rows([], [NEVER_DONE])
        except Failed:
            heard.append(name)

    threads = [threading.Thread(target=ask, args=pair) for pair in (("ended", ended), ("other", other))]
    for thread in threads:
        thread.start()
    assert list(opened.cursor().rows([], [QUICK])) == [[(2,)]]
    while threads[0].is_alive():
        ended.interrupt()
        time.sleep(0.02)
    assert heard == ["ended"] and threads[1].is_alive()
    assert list(opened.cursor().rows([], [QUICK])) == [[(2,)]]
    while threads[1].is_alive():
        other.interrupt()
        time.sleep(0.02)
    assert heard == ["ended", "other"]


def test_an_interrupt_of_the_session_is_a_cancelled_statement(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = session.plan(ONE)

    def interrupted(process: client.EngineProcess) -> None:
        session.interrupt()
        os.kill(process.pid, signal.SIGCONT)

    (error,) = answer_while(session, plan, interrupted)
    assert type(error) is QueryCancelled and not session.is_paid(plan)


def test_a_statement_beyond_its_time_is_ended(opened: ProcessData) -> None:
    cursor = opened.cursor()
    timer = threading.Timer(0.3, cursor.stop)
    timer.start()
    with pytest.raises(Failed):
        cursor.rows([], [NEVER_DONE])
    timer.join()
    assert opened._held.living() is cursor._process, "it heard, and nobody else lost anything"


def test_what_does_not_hear_that_its_time_is_over_is_killed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "GRACE", 0.2)
    assert isinstance(session._river.engine, DuckDBEngine)
    settings = session._river.engine._schema.engine.model_copy(update={"seconds": Fraction(1, 10)})
    session._river.engine._schema = session._river.engine._schema.model_copy(update={"engine": settings})
    plan = session.plan(ONE)
    (error,) = answer_while(session, plan, lambda process: None)
    assert type(error) is ExecutionFailed and not session.is_paid(plan)
    assert session.execute("SELECT COUNT(*), 1 FROM patients").rows


def test_it_ends_with_the_data_closed_or_forgotten(tmp_path: Path) -> None:
    source = source_of(load(clinic(tmp_path)))
    closed, forgotten = ProcessData(source), ProcessData(source)
    pids = (closed.pid, forgotten.pid)
    closed.close()
    assert not living(pids[0]), "and has let go of the file when close returns"
    with pytest.raises(OperationalError):
        closed.public_rows("places")
    del forgotten
    gc.collect()
    until(lambda: not living(pids[1]))


ENDS = {"leaves": "pass", "exits": "sys.exit(3)", "is killed": "os.kill(os.getpid(), 9)", "breaks off": "os._exit(1)"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("fork", [False, True], ids=["alone", "forked"])
def test_it_ends_with_dpsql(tmp_path: Path, end: str, fork: bool) -> None:
    """Also where a fork of dpsql lives on."""
    script = f"""
import os, sys, time
from dpsql.session import open_session
session = open_session({str(clinic(tmp_path))!r})
print(session._river.engine._data.pid, flush=True)
if {fork} and not os.fork():
    sys.stdout.close(); os.close(1); os.close(2); time.sleep(20); os._exit(0)
session.execute({ONE!r})
{ENDS[end]}
"""
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60)
    pid = int(done.stdout)
    until(lambda: not living(pid))


def test_it_survives_the_thread_that_opened_it(tmp_path: Path) -> None:
    """Linux counts the thread that begins a process as its parent, and would end it with that thread."""
    made: list[ProcessData] = []
    thread = threading.Thread(target=lambda: made.append(ProcessData(source_of(load(clinic(tmp_path))))))
    thread.start()
    thread.join()
    pid = made[0].pid
    time.sleep(0.2)
    assert made[0].public_rows("places") and made[0].pid == pid
    made[0].close()


def test_a_fork_leaves_the_process_alone_and_is_told_to_open_its_own(opened: ProcessData) -> None:
    pid, child = opened.pid, os.fork()
    if not child:
        try:
            opened.public_rows("places")
        except OperationalError as error:
            opened.close()
            os._exit(7 if "another process" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert opened.pid == pid and opened.public_rows("places")


def test_it_inherits_neither_environment_nor_descriptors_nor_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "told.py"
    script.write_text(
        "import os, sys\n"
        "print((sorted(os.environ), os.listdir('/proc/self/fd'), os.getsid(0) == os.getpid()), flush=True)\n"
        "print('CANARY_7f3a', file=sys.stderr)\n"
    )
    monkeypatch.setattr(start, "__file__", str(script))
    monkeypatch.setenv("PGPASSWORD", "CANARY_7f3a")
    left_open = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(left_open, True)
    process = client._begun()
    said, _ = process.communicate(b"", timeout=30)
    os.close(left_open)
    environment, descriptors, leads = literal_eval(said.decode())
    assert set(environment) <= {"LC_CTYPE", *client._KEPT}
    assert len(descriptors) == 4  # the three standard ones, and the folder that lists them
    assert leads
    assert not any(canary in "".join(capfd.readouterr()) for canary in CANARIES)


def test_it_loads_neither_the_compiler_nor_the_schema() -> None:
    script = f"""
import sys, types
package = types.ModuleType("dpsql"); package.__path__ = [{str(Path(start.__file__).parents[2])!r}]
sys.modules["dpsql"] = package
from dpsql.engines.process import child, limits
print(*sys.modules)
"""
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not {"pydantic", "sqlglot", "numpy", "dpsql.plan", "dpsql.query", "dpsql.schema", "dpsql.privacy"} & set(
        loaded
    )
