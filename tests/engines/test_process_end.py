"""What ends a statement in the engine's process, and the process itself: interrupts, time,
and the end of dpsql.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest
from databases import NEVER_DONE, clinic
from forks import exit_code_of_fork
from own_process import ONE, QUICK, answer_while, living, until

from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of
from dpsql.engines.duckdb.process import client, data
from dpsql.engines.duckdb.process.data import ProcessData, ProcessFailed
from dpsql.errors import ExecutionFailed, OperationalError, QueryCancelled
from dpsql.schema import load
from dpsql.session import Session


def test_several_statements_run_at_once_and_an_interrupt_ends_one(opened: ProcessData) -> None:
    ended, other = opened.hold().cursor(), opened.hold().cursor()
    heard: list[str] = []

    def ask(name: str, cursor: data.ProcessCursor) -> None:
        try:
            cursor.rows([], [NEVER_DONE])
        except ProcessFailed:
            heard.append(name)

    def interrupt_until_it_ends(cursor: data.ProcessCursor, thread: threading.Thread) -> None:
        def ended() -> bool:
            cursor.interrupt()
            thread.join(0.02)
            return not thread.is_alive()

        until(ended)

    threads = [
        threading.Thread(target=ask, args=pair) for pair in (("ended", ended), ("other", other))
    ]
    for thread in threads:
        thread.start()
    assert list(opened.hold().cursor().rows([], [QUICK])) == [[(2,)]]
    interrupt_until_it_ends(ended, threads[0])
    assert heard == ["ended"] and threads[1].is_alive()
    assert list(opened.hold().cursor().rows([], [QUICK])) == [[(2,)]]
    interrupt_until_it_ends(other, threads[1])
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
    cursor = opened.hold().cursor()
    timer = threading.Timer(0.3, cursor.stop)
    timer.start()
    with pytest.raises(ProcessFailed):
        cursor.rows([], [NEVER_DONE])
    timer.join()
    assert opened.renewed().process is cursor._process, "it heard, and nobody else lost anything"


def test_what_does_not_hear_that_its_time_is_over_is_killed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "GRACE", 0.2)
    assert isinstance(session._execution.engine, DuckDBEngine)
    settings = session._execution.engine._schema.engine.model_copy(
        update={"seconds": Fraction(1, 10)}
    )
    session._execution.engine._schema = session._execution.engine._schema.model_copy(
        update={"engine": settings}
    )
    plan = session.plan(ONE)
    (error,) = answer_while(session, plan, lambda process: None)
    assert type(error) is ExecutionFailed and not session.is_paid(plan)
    assert session.execute("SELECT COUNT(*), 1 FROM patients").rows


def test_it_ends_with_the_data_closed_or_forgotten(tmp_path: Path) -> None:
    source = data_source_of(load(clinic(tmp_path)))
    closed, forgotten = ProcessData(source), ProcessData(source)
    pids = (closed.pid, forgotten.pid)
    closed.close()
    assert not living(pids[0]), "and has let go of the file when close returns"
    with pytest.raises(OperationalError):
        closed.hold().public_rows("places")
    del forgotten
    gc.collect()
    until(lambda: not living(pids[1]))


ENDS = {
    "leaves": "pass",
    "exits": "sys.exit(3)",
    "is killed": "os.kill(os.getpid(), 9)",
    "breaks off": "os._exit(1)",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("fork", [False, True], ids=["alone", "forked"])
def test_it_ends_with_dpsql(tmp_path: Path, end: str, fork: bool) -> None:
    """Also where a fork of dpsql lives on."""
    script = f"""
import os, sys, time
from dpsql.session import open_session
session = open_session({str(clinic(tmp_path))!r})
forked = os.fork() if {fork} else None
if forked == 0:
    sys.stdout.close(); os.close(1); os.close(2); time.sleep(600); os._exit(0)
session.execute({ONE!r})
print(session._execution.engine._data.pid, forked or "", flush=True)
{ENDS[end]}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60
    )
    engine, *forks = map(int, done.stdout.split())
    assert len(forks) == fork
    try:
        until(lambda: not living(engine))
        assert all(map(living, forks)), "it did not wait for the fork to end"
    finally:
        for each in forks:
            os.kill(each, signal.SIGKILL)


def test_it_survives_the_thread_that_opened_it(tmp_path: Path) -> None:
    """Linux counts the thread that begins a process as its parent,
    and would end it with that thread.
    """
    made: list[ProcessData] = []
    thread = threading.Thread(
        target=lambda: made.append(ProcessData(data_source_of(load(clinic(tmp_path)))))
    )
    thread.start()
    thread.join()
    pid = made[0].pid
    time.sleep(0.2)
    assert made[0].hold().public_rows("places") and made[0].pid == pid
    made[0].close()


def test_a_fork_leaves_the_process_alone_and_is_told_to_open_its_own(opened: ProcessData) -> None:
    pid = opened.pid

    def read() -> None:
        with pytest.raises(OperationalError, match="another process"):
            opened.hold().public_rows("places")
        opened.close()

    assert exit_code_of_fork(read) == 0
    assert opened.pid == pid and opened.hold().public_rows("places")


def test_a_fork_closes_nothing_that_has_the_numbers_of_pipes_that_are_closed(
    opened: ProcessData,
) -> None:
    """A fork of a fork neither: files and sockets of a server that forks would be closed behind its
    back.
    """
    ended = opened.renewed().process
    assert ended._pipe is not None
    numbers = {ended._pipe._reads, ended._pipe._writes}
    opened.close()
    until(lambda: not living(ended.pid) and not ended._attendant.is_alive())
    made = list[int]()
    while not numbers <= set(made):
        made.append(os.open(os.devnull, os.O_RDONLY))
        assert len(made) < 1000, "nothing has their numbers"

    def look() -> None:
        for number in made:
            os.fstat(number)

    def look_and_fork() -> None:
        look()
        assert exit_code_of_fork(look) == 0

    assert exit_code_of_fork(look_and_fork) == 0
    for number in made:
        os.close(number)
