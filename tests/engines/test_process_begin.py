"""How the engine's process begins: with nothing of dpsql's own,
and without a trace where it cannot.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from ast import literal_eval
from concurrent.futures import Future
from pathlib import Path

import pytest
from databases import CANARIES, clinic

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.process import client, launch, start
from dpsql.engines.source import ResourceLimits
from dpsql.errors import OperationalError
from dpsql.session import open_session


def test_what_cannot_be_begun_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = client.begun

    def ended() -> subprocess.Popen[bytes]:
        process = begun()
        process.wait()
        processes.append(process)
        return process

    monkeypatch.setattr(client, "begun", ended)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    processes: list[subprocess.Popen[bytes]] = []
    left_open = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(OperationalError, match="cannot be begun"):
            client.EngineProcess(str(tmp_path), ResourceLimits())
    assert all(
        each.stdin.closed and each.stdout.closed for each in processes if each.stdin and each.stdout
    )
    assert len(processes) == 3 and len(list(Path("/proc/self/fd").iterdir())) == left_open


def test_an_interrupt_while_it_begins_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Future[None]):
        def result(self, timeout: float | None = None) -> None:
            raise KeyboardInterrupt

    begun, processes = client.begun, list[subprocess.Popen[bytes]]()

    def told() -> subprocess.Popen[bytes]:
        processes.append(begun())
        return processes[-1]

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(client, "begun", told)
    monkeypatch.setattr(client, "Future", Interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        client.EngineProcess(str(tmp_path), ResourceLimits(spill=1000))
    for attendant in set(threading.enumerate()) - before:
        attendant.join(60)
    assert processes[0].poll() is not None and not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize("executable", ["", "/nowhere/python", "/bin/false", "/bin/cat"])
def test_a_python_that_begins_no_other_is_said_when_the_data_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(OperationalError, match="cannot be begun"):
        open_session(clinic(tmp_path))


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
    process = client.begun()
    said, _ = process.communicate(b"", timeout=30)
    os.close(left_open)
    environment, descriptors, leads = literal_eval(said.decode())
    assert set(environment) <= {"LC_CTYPE", *launch._KEPT}
    assert len(descriptors) == 4  # the three standard ones, and the folder that lists them
    assert leads
    assert not any(canary in "".join(capfd.readouterr()) for canary in CANARIES)


def test_it_loads_neither_the_compiler_nor_the_schema() -> None:
    script = f"""
import sys, types
package = types.ModuleType("dpsql"); package.__path__ = [{str(Path(start.__file__).parents[3])!r}]
sys.modules["dpsql"] = package
from dpsql.engines.duckdb.process import child
from dpsql.engines.duckdb.process import confinement
print(*sys.modules)
"""
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {
        "pydantic",
        "sqlglot",
        "numpy",
        "dpsql.planning.plan",
        "dpsql.sql",
        "dpsql.schema",
        "dpsql.privacy",
    } & set(loaded)
