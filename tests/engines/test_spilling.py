"""A statement that its memory does not hold is answered;
what it writes meanwhile is nobody else's, and goes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from forks import exit_code_of_fork

from dpsql.engines.duckdb import opening
from dpsql.engines.files.private_folders import most_spilled, remove_folder, spill_folder
from dpsql.engines.source import ResourceLimits
from dpsql.session import Session, open_session

CANARY = b"CANARY_7f3a"
ROWS = 200_000
SCHEMA = """
name = "notes"
source = "notes.duckdb"
[privacy]
unit = "notes.person"
epsilon = 1000
delta = 1e-6
query_epsilon = 1
keep_answers = false
[engine]
memory = "100MB"
threads = 1
{spill}
[tables.notes]
max_rows_per_unit = 4
max_groups_per_unit = 2
[tables.notes.columns]
person = {{ type = "integer" }}
note = {{ type = "text" }}
"""
STATEMENT = "SELECT note, COUNT(*) FROM notes GROUP BY note"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in which nearly every row has a text of its own."""
    folder = tmp_path_factory.mktemp("notes")
    with duckdb.connect(str(folder / "notes.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE notes AS SELECT range // 2 AS person, "
            f"'{CANARY.decode()} ' || md5(range::VARCHAR) || md5((range + 1)::VARCHAR) || md5((range + 2)::VARCHAR) "
            f"AS note FROM range({ROWS})"
        )
    return folder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def opened(data: Path, spill: str = "") -> Session:
    schema = data / "notes.toml"
    schema.write_text(SCHEMA.format(spill=spill))
    return open_session(schema)


class Watch:
    """Everything that a folder holds while something runs: the largest size, the modes,
    and whether a text is in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._over = folder, threading.Event()
        self.size, self.modes, self.plain = 0, set[int](), False
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.03):
            for file in self._folder.rglob("*"):
                with suppress(OSError):
                    self.modes.add(file.stat().st_mode & 0o077)
                    held = file.read_bytes() if file.is_file() else b""
                    self.size = max(self.size, len(held))
                    self.plain = self.plain or CANARY in held


@pytest.mark.parametrize("own", [True, False])
def test_what_memory_does_not_hold_is_spilled_enciphered_and_removed(
    data: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own)
    session = opened(data)
    with Watch(temporary) as seen:
        result = session.execute(STATEMENT)
    assert not result.rows, "no text is that of several people"
    assert seen.size > 10**6, "nothing was spilled, and the test shows nothing"
    assert not seen.plain
    assert own is False or seen.modes == {0}
    (folder,) = temporary.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    session.close()
    assert not list(temporary.iterdir())


def test_where_nothing_may_be_spilled_nothing_is(data: Path, temporary: Path) -> None:
    session = opened(data, 'spill = "0GB"')
    assert not list(temporary.iterdir())
    session.close()


def test_without_a_limit_half_of_what_is_free_may_be_spilled(temporary: Path) -> None:
    assert most_spilled(0) == 0 and most_spilled(7) == 7
    found = os.statvfs(temporary)
    assert 0 < most_spilled(None) <= 0.6 * found.f_bavail * found.f_frsize


KILLED = """
import sys, tempfile, time
from pathlib import Path
from dpsql.engines.source import ResourceLimits
from dpsql.engines.files.private_folders import spill_folder
tempfile.tempdir = sys.argv[1]
folder = spill_folder(ResourceLimits(spill=1))
Path(folder, "rows").write_text("CANARY_7f3a")
print(folder, flush=True)
time.sleep(600)
"""


@pytest.fixture
def other(temporary: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that has a folder for spilling, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(temporary)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.wait()
    process.stdout.close()


def test_what_a_killed_process_left_is_removed_by_the_next(
    other: tuple[subprocess.Popen[str], Path], temporary: Path
) -> None:
    process, left = other
    mine = spill_folder(ResourceLimits(spill=1))
    assert (left / "rows").exists(), "it lives"
    process.send_signal(signal.SIGKILL)
    process.wait()
    second = spill_folder(ResourceLimits(spill=1))
    assert not left.parent.exists()
    assert mine is not None and second is not None and Path(mine).exists()
    remove_folder(mine)
    remove_folder(second)
    assert not list(temporary.iterdir())


def test_folders_of_others_and_links_stay(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "lock").write_text("")
    (temporary / "dpsql-spill-link").symlink_to(tmp_path / "outside")
    (temporary / "dpsql-spill-none").mkdir()
    remove_folder(spill_folder(ResourceLimits(spill=1)))
    assert (tmp_path / "outside" / "lock").exists() and (temporary / "dpsql-spill-none").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_fork_does_not_remove_the_folder_of_its_parent(temporary: Path) -> None:
    folder = spill_folder(ResourceLimits(spill=1))
    assert folder is not None
    assert exit_code_of_fork(lambda: remove_folder(folder)) == 0
    assert Path(folder).exists()
    remove_folder(folder)
