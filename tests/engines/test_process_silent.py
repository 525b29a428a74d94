"""A process that says nothing is ended if it stands still, and left alone while it works."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_process import standing, until

from dpsql.engines.duckdb.process import client, start
from dpsql.engines.duckdb.process.client import EngineProcess, ProcessDied
from dpsql.engines.duckdb.process.processor_time import of_ps, processor_seconds
from dpsql.engines.source import ResourceLimits

#: A process in the engine's place: it is ready, takes one request, does something, and answers it.
_SCRIPT = """
import json, os, sys, threading, time
line = b""
while not line.endswith(b"\\n"):
    line += os.read(0, 1)
sys.path[:] = json.loads(line)["path"]
from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
pipe = MessagePipe(0, 1)
pipe.send(EngineMessage("ready", 0))
request = pipe.receive()
{}
pipe.send(EngineMessage("done", request.number, {{"answers": request.word}}))
time.sleep(60)
"""
#: A loop in C keeps the interpreter's lock,
#: so that no other thread of the process can say that it #: hears.
WORKS = "end = time.monotonic() + 3\nwhile time.monotonic() < end: sum(range(3_000_000))"
STANDS = "time.sleep(60)"
#: It answers whether it hears before it answers what was asked first.
HEARS = "pipe.send(EngineMessage('done', pipe.receive().number)); time.sleep(0.3)"


@pytest.fixture
def begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], EngineProcess]]:
    begun: list[EngineProcess] = []

    def script(work: str) -> EngineProcess:
        (tmp_path / "engine.py").write_text(_SCRIPT.format(work))
        with monkeypatch.context() as patch:
            patch.setattr(start, "__file__", str(tmp_path / "engine.py"))
            begun.append(EngineProcess(str(tmp_path), ResourceLimits()))
        return begun[-1]

    monkeypatch.setattr(client, "SILENCE", 1.0)
    monkeypatch.setattr(client, "ASKED", 0.1)
    yield script
    for process in begun:
        process.end()


def test_one_that_works_for_longer_than_it_may_be_silent_is_left_alone(
    begin: Callable[[str], EngineProcess],
) -> None:
    assert begin(WORKS).ask("catalog", {}).said == {"answers": "catalog"}


def test_many_who_wait_leave_one_that_works_alone(begin: Callable[[str], EngineProcess]) -> None:
    process = begin(WORKS)
    first = process.asked("catalog", {})
    threads = [threading.Thread(target=process.awaited, args=(first,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert first.result(0).word == "done"


def test_one_that_stands_still_is_ended_and_the_log_says_that_dpsql_ended_it(
    begin: Callable[[str], EngineProcess], caplog: pytest.LogCaptureFixture
) -> None:
    process = begin(STANDS)
    with caplog.at_level(logging.WARNING, "dpsql"), pytest.raises(ProcessDied) as raised:
        process.ask("catalog", {})
    assert (
        raised.value.kind == "StoodStill"
        and "the engine's process is ended: StoodStill" in caplog.text
    )


def test_a_death_that_is_not_dpsql_s_says_the_signal(begin: Callable[[str], EngineProcess]) -> None:
    with pytest.raises(ProcessDied) as raised:
        begin("os.kill(os.getpid(), 11)").ask("catalog", {})
    assert raised.value.kind == "SIGSEGV"
    with pytest.raises(ProcessDied) as raised:
        begin("os._exit(1)").ask("catalog", {})
    assert raised.value.kind == "Exited"


def test_one_of_which_nothing_is_known_is_left_alone(
    begin: Callable[[str], EngineProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "processor_seconds", lambda pid: None)
    assert begin("time.sleep(2.5)").ask("catalog", {}).said == {"answers": "catalog"}


def test_whether_it_hears_is_no_answer_to_the_first_request(
    begin: Callable[[str], EngineProcess],
) -> None:
    """The first request of all reads the catalogue;
    an answer that is another's would be taken for an empty one.
    """
    assert begin(HEARS).ask("catalog", {}).said == {"answers": "catalog"}


def test_the_time_of_a_process_is_what_it_has_worked() -> None:
    worker = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        until(lambda: (processor_seconds(worker.pid) or 0) > 0.3)
        os.kill(worker.pid, 19)
        until(lambda: standing(worker.pid))
        before = processor_seconds(worker.pid)
        time.sleep(0.3)
        assert before is not None and processor_seconds(worker.pid) == before
        by_ps = of_ps(worker.pid)
        assert by_ps is not None and abs(by_ps - before) <= 1
    finally:
        worker.kill()
        worker.wait()
    assert processor_seconds(worker.pid) is None and of_ps(worker.pid) is None


@pytest.mark.parametrize(
    ("said", "seconds"), [("00:00:07", 7), ("1:02.53", 62.53), ("2-01:00:00", 176_400)]
)
def test_what_ps_says(monkeypatch: pytest.MonkeyPatch, said: str, seconds: float) -> None:
    """Linux has hours, minutes and seconds, and days before them; macOS minutes,
    and seconds with hundredths.
    """
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, f" {said}\n")
    )
    assert of_ps(1) == seconds
