"""A real terminal for the tests: the command in a pseudo-terminal,
and a screen that obeys what it writes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pexpect
import pyte

_INHERITED = ("PATH", "HOME", "PYTHONPATH", "PYTHONSAFEPATH")
#: Seconds within which anything is answered, on a busy machine too.
PATIENCE = 60.0


class Emulator:
    """``dpsql`` at work in a terminal of some size; what it shows is in ``lines``."""

    def __init__(
        self,
        *arguments: str,
        folder: Path,
        size: tuple[int, int] = (30, 110),
        env: Mapping[str, str] | None = None,
    ) -> None:
        height, width = size
        self.screen = pyte.HistoryScreen(width, height, history=1000)
        self._stream = pyte.Stream(self.screen)
        surroundings = {
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "XDG_STATE_HOME": str(folder / "state"),
            **(env or {}),
        }
        started = "import dpsql.cli; dpsql.cli.main()"
        self.child = pexpect.spawn(
            sys.executable,
            ["-c", started, *arguments],
            cwd=str(folder),
            env=surroundings,
            dimensions=size,
            encoding="utf-8",
            codec_errors="replace",
            timeout=PATIENCE,
            echo=False,
        )
        self.screen.write_process_input = (
            self.child.send
        )  # answers where the cursor is, as terminals do

    @property
    def lines(self) -> list[str]:
        """What stands on the screen, without blank lines at its end."""
        lines = [line.rstrip() for line in self.screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def text(self) -> str:
        """What stands on the screen, and what has left it at the top."""
        gone = (
            "".join(line[place].data for place in range(self.screen.columns))
            for line in self.screen.history.top
        )
        return "\n".join([*(line.rstrip() for line in gone), *self.lines])

    def type(self, text: str) -> None:
        """Press these keys; ``\\r`` is Enter, ``\\x03`` Ctrl-C, ``\\x04`` Ctrl-D."""
        self.child.send(text)

    def wait_for(self, text: str, times: int = 1) -> None:
        """Go on once the text stands there, so many times;
        AssertionError where it does not in time.
        """
        end = time.monotonic() + PATIENCE
        while self.text.count(text) < times:
            assert time.monotonic() < end, f"{text!r} did not appear:\n{self.text}"
            self._read()

    def settle(self, seconds: float = 0.3) -> None:
        """Go on once nothing more is written for a moment."""
        before = None
        while before != self.text:
            before = self.text
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self._read()

    def wait_for_the_end(self) -> int:
        """The exit code once the command has ended, below 0 where a signal ended it;
        AssertionError where none does.
        """
        end = time.monotonic() + PATIENCE
        while self.child.isalive():
            assert time.monotonic() < end, f"it did not end:\n{self.text}"
            self._read()
        self._read()
        return (
            -self.child.signalstatus
            if self.child.exitstatus is None
            else int(self.child.exitstatus)
        )

    def close(self) -> None:
        """End the command, if it is still there."""
        self.child.close(force=True)

    def _read(self) -> None:
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.05))
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            time.sleep(0.01)
