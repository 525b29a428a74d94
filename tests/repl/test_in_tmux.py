"""The terminal in tmux, as many people have it: keys are sent,
and panes are read as tmux draws them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_runs import NAFLD

pytestmark = pytest.mark.clients

PATIENCE = 60.0


class Tmux:
    """A tmux server of its own with one pane, in which dpsql runs."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._program = shutil.which("tmux") or pytest.fail(
            "tmux is not installed; apt-get install tmux"
        )
        self._socket = str(folder / f"tmux{time.monotonic_ns()}")
        started = f"{sys.executable} -c 'import dpsql.cli; dpsql.cli.main()' {' '.join((NAFLD, *arguments))}"
        variables = {"XDG_STATE_HOME": str(folder / "state"), "LANG": "C.UTF-8"}
        self._run(
            *("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "40", "-c", str(folder)),
            f"{started}; echo left with $?; sleep 600",
            env={**os.environ, **variables},
        )

    def type(self, *keys: str) -> None:
        """Send keys by tmux's names, or texts as they are."""
        for key in keys:
            named = key in ("Enter", "Tab", "C-c", "C-d", "Up", "F3", "q")
            text = (
                f"{key[:-1]}\\;" if key.endswith(";") else key
            )  # a semicolon would end tmux's own command
            self._run("send-keys", *(() if named else ("-l",)), text)

    @property
    def pane(self) -> str:
        """What stands in the pane, and above it."""
        return self._run("capture-pane", "-p", "-S", "-200")

    def wait_for(self, text: str, times: int = 1) -> str:
        """The pane, once the text stands in it."""
        end = time.monotonic() + PATIENCE
        while self.pane.count(text) < times:
            assert time.monotonic() < end, f"{text!r} did not appear:\n{self.pane}"
            time.sleep(0.1)
        return self.pane

    def close(self) -> None:
        """End the server and all that runs in it."""
        subprocess.run(
            [self._program, "-S", self._socket, "kill-server"], check=False, capture_output=True
        )

    def _run(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        command = [self._program, "-S", self._socket, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


@pytest.fixture
def tmux(checkout: Path) -> Iterator[Tmux]:
    """A pane with dpsql at its prompt."""
    started = Tmux(checkout)
    yield started
    started.close()


def test_a_sitting(tmux: Tmux) -> None:
    assert "dpsql 0.1" in tmux.wait_for("nafld=>")
    tmux.wait_for("36 of 36 answers left")
    tmux.type("SELECT male, AVG(bmi) AS mean_bmi", "Enter")
    tmux.wait_for("->")
    tmux.type("FROM patients GROUP BY male;", "Enter")
    pane = tmux.wait_for("2 rows · this one took 1/36")
    assert pane.count(" ± ") >= 2 and "analyst at nafld" in tmux.wait_for("35 of 36 answers left │")
    tmux.type("\\chart", "Enter")
    tmux.wait_for("┼")
    tmux.type("\\d pat")
    tmux.wait_for("patients  table")
    tmux.type("Tab")
    tmux.wait_for("\\d patients")
    tmux.type("Enter")
    tmux.wait_for("30 to 250")
    tmux.type("q")
    tmux.type("SELECT bmi FROM patients;", "Enter")
    pane = tmux.wait_for("only aggregates over them are answered")
    place = next(
        line.index("bmi") for line in pane.splitlines() if line.startswith("LINE 1: SELECT bmi")
    )
    assert any(line.rstrip() == " " * place + "^" for line in pane.splitlines())
    tmux.type("C-d")
    tmux.wait_for("left with 0")


def test_ctrl_c_stops_what_runs_and_what_is_typed(tmux: Tmux) -> None:
    tmux.wait_for("36 of 36 answers left")  # the session is open, and the prompt reads
    tmux.type(
        f"SELECT COUNT(*) FROM {', '.join(f'conditions AS t{n}' for n in range(11))};", "Enter"
    )
    time.sleep(3.0)  # until it runs, on a busy machine too
    tmux.type("C-c")
    tmux.wait_for("57014")
    tmux.type("SELECT nonsense", "C-c")
    tmux.type("SELECT 6 * 7 AS answer;", "Enter")
    tmux.wait_for("1 row · free")
    tmux.type("exit", "Enter")
    tmux.wait_for("left with 0")


def test_what_was_typed_is_there_the_next_day(tmux: Tmux, checkout: Path) -> None:
    tmux.wait_for("nafld=>")
    tmux.type("SELECT 'yesterday' AS x;", "Enter")
    tmux.wait_for("1 row · free")
    tmux.type("C-d")
    tmux.wait_for("left with 0")
    tmux.close()
    again = Tmux(checkout)
    try:
        again.wait_for("nafld=>")
        again.type("Up")
        again.wait_for("SELECT 'yesterday' AS x;")
    finally:
        again.close()
