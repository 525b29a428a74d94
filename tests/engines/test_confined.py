"""What the engine's process has given up: other files, writing, programs, the network,
cores, endless memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from databases import clinic

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.process import confinement
from dpsql.session import open_session

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux")

SCRIPT = """
import json, os, resource, signal, socket, subprocess, sys
from dpsql.engines.duckdb.process.confinement import confine
from dpsql.engines.source import ResourceLimits
source, beside, folder = sys.argv[1:4]
confine(os.getppid(), [source], ResourceLimits(memory=10**9, spill=1000, folder=folder or None))

def opens(path, mode="rb"):
    with open(path, mode) as file:
        return "written" if mode == "wb" and file.write(b"x") else "read"

def takes(size):
    return len(bytes(bytearray(size))) and "taken"

def tried(what, *values):
    try:
        return what(*values)
    except (OSError, MemoryError) as error:
        return type(error).__name__

print(json.dumps({
    "source": tried(opens, source),
    "a file beside it": tried(opens, beside),
    "a file of the system": tried(opens, "/etc/passwd"),
    "writing the source": tried(opens, source, "r+b"),
    "writing beside it": tried(opens, beside + ".new", "wb"),
    "writing in the folder": tried(opens, os.path.join(folder or "/tmp", "spilled"), "wb"),
    "a program": tried(lambda: subprocess.run(["/bin/true"]) and "run"),
    "the network": tried(lambda: socket.create_connection(("127.0.0.1", 9)) and "connected"),
    "a signal to its parent": tried(lambda: os.kill(os.getppid(), 0) or "sent"),
    "memory": tried(takes, 10**10),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "file size": resource.getrlimit(resource.RLIMIT_FSIZE),
}))
"""


def confined(tmp_path: Path, folder: str = "") -> dict[str, Any]:
    """What a confined process could do."""
    source, beside = tmp_path / "data.duckdb", tmp_path / "other"
    source.write_bytes(b"data")
    beside.write_bytes(b"other")
    command = [sys.executable, "-c", SCRIPT, str(source), str(beside), folder]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(said.stdout)  # type: ignore[no-any-return]


def test_limits_hold_on_every_linux(tmp_path: Path) -> None:
    could = confined(tmp_path)
    assert could["source"] == "read"
    assert could["memory"] == "MemoryError"
    assert could["core"] == [0, 0] and could["file size"] == [1000, 1000]


@pytest.mark.skipif(
    confinement.landlock_version() < 1,
    reason="this kernel has no Landlock, which the documentation says",
)
def test_nothing_but_the_source_is_in_reach(tmp_path: Path) -> None:
    could = confined(tmp_path)
    assert could["source"] == "read"
    for what in (
        "a file beside it",
        "a file of the system",
        "writing the source",
        "writing beside it",
        "a program",
    ):
        assert could[what] == "PermissionError", what
    assert could["writing in the folder"] == "PermissionError"
    if confinement.landlock_version() >= 4:
        assert could["the network"] == "PermissionError"
    if confinement.landlock_version() >= 6:
        assert could["a signal to its parent"] == "PermissionError"


@pytest.mark.skipif(
    confinement.landlock_version() < 1,
    reason="this kernel has no Landlock, which the documentation says",
)
def test_where_it_may_spill_it_writes_into_its_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "spill"
    folder.mkdir()
    could = confined(tmp_path, str(folder))
    assert could["writing in the folder"] == "written"
    assert could["writing beside it"] == "PermissionError"


def test_what_is_spilled_lies_in_a_folder_that_goes_with_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    for own in (True, False):
        monkeypatch.setattr(opening, "OWN_PROCESS", own)
        (tmp_path / str(own)).mkdir()
        file = clinic(tmp_path / str(own))
        file.write_text(file.read_text() + '[engine]\nspill = "1GB"\nmemory = "500MB"\n')
        session = open_session(file)
        (folder,) = (tmp_path / "temporary").iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert session.execute("SELECT COUNT(*) FROM patients").rows
        session.close()
        assert not folder.exists()
        session = open_session(clinic_that_spills_nothing(file))
        assert not list((tmp_path / "temporary").iterdir())
        session.close()


def clinic_that_spills_nothing(file: Path) -> Path:
    """The schema file with a limit of no bytes."""
    file.write_text(file.read_text().replace('spill = "1GB"', 'spill = "0GB"'))
    return file
