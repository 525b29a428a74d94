"""A terminal that a test types into and reads: tmux, with a server of its own."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from programs import program

#: Seconds that a test waits for what it expects to see.
_PATIENCE = 40


class Terminal:
    """One screen of 160 by 50."""

    def __init__(self, socket: Path) -> None:
        self._tmux = [program("tmux", "tmux"), "-S", str(socket), "-f", "/dev/null"]

    def start(self, command: list[str], environment: Mapping[str, str]) -> None:
        """Run the command on the screen."""
        arguments = ["new-session", "-d", "-x", "160", "-y", "50", *command]
        sized = {
            name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")
        }
        subprocess.run(
            [*self._tmux, *arguments], check=True, env={**sized, "TERM": "xterm-256color"}
        )
        subprocess.run([*self._tmux, "set-option", "-g", "remain-on-exit", "on"], check=True)

    def type(self, text: str, *keys: str) -> None:
        """Type the text as it is, then keys by their names, such as Enter or Tab."""
        if text:
            subprocess.run([*self._tmux, "send-keys", "-l", text], check=True)
        if keys:
            subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def screen(self) -> str:
        """What stands on the screen."""
        return subprocess.run(
            [*self._tmux, "capture-pane", "-p"], check=True, capture_output=True, text=True
        ).stdout

    def wait_for(self, *expected: str) -> str:
        """The screen once all of that stands on it."""
        return self._wait(
            lambda seen: all(each in seen for each in expected), f"{expected} did not appear on"
        )

    def wait_until_gone(self, text: str) -> str:
        """The screen once that stands on it no longer."""
        return self._wait(lambda seen: text not in seen, f"{text} did not go from")

    def _wait(self, expected: Callable[[str], bool], otherwise: str) -> str:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            seen = self.screen()
            if expected(seen):
                return seen
            time.sleep(0.2)
        raise AssertionError(f"{otherwise}:\n{self.screen()}")

    def end(self) -> None:
        """End the screen and what runs on it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


@contextlib.contextmanager
def terminal(
    socket: Path, command: list[str], environment: Mapping[str, str]
) -> Iterator[Terminal]:
    """A screen on which the command runs; ``socket`` is a file that does not exist yet."""
    screen = Terminal(socket)
    screen.start(command, environment)
    try:
        yield screen
    finally:
        screen.end()
