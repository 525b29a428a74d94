"""Ctrl-C while a ledger or an engine stands still: dpsql comes back at once,
and nothing is charged.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from databases import clinic

from dpsql.session import open_session

#: Seconds within which a wait has ended on a busy machine, and within which a process has begun.
SOON, PATIENCE = 6.0, 60.0
COUNT = "SELECT COUNT(*) FROM patients"
RUN = [sys.executable, "-c", "from dpsql.cli import main; main()"]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def child_of(process: subprocess.Popen[str]) -> int:
    """The engine's process, once it is there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for place in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(place.read_text().rpartition(")")[2].split()[1]) == process.pid:
                    return int(place.parent.name)
        time.sleep(0.02)
    raise AssertionError("there is no engine")


def interrupted(process: subprocess.Popen[str]) -> str:
    """What is said on Ctrl-C, in no time."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < SOON and process.returncode not in (0, -signal.SIGKILL)
    assert "Traceback" not in said and out == ""
    return said


def charges(schema: Path) -> int:
    session = open_session(schema)
    try:
        return sum(1 for _ in session.accountant.ledger.history())
    finally:
        session.close()


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    made = clinic(tmp_path)
    assert charges(made) == 0  # and there is a ledger
    return made


@pytest.mark.parametrize(
    "words", [["query", "{}", COUNT], ["terminal", "{}", "-c", COUNT]], ids=["query", "terminal"]
)
@pytest.mark.parametrize("what", ["ledger", "engine"])
def test_it_ends_what_waits(schema: Path, words: list[str], what: str) -> None:
    holder = sqlite3.connect(schema.parent / "clinic.ledger", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with running(*(word.format(schema) for word in words)) as process:
        engine = child_of(process)
        try:
            if what == "engine":
                os.kill(engine, signal.SIGSTOP)
                holder.close()
            time.sleep(3.0)
            assert process.poll() is None
            interrupted(process)
        finally:
            holder.close()
            with suppress(ProcessLookupError):
                os.kill(engine, signal.SIGKILL)
    assert charges(schema) == 0
