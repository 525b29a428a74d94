"""Where results and messages go (a terminal, or two streams and perhaps a file),
and how an error looks there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TextIO, TypeAlias

import click

from dpsql.errors import DataError, Error, OperationalError, Position, Refused, StatementError
from dpsql.errors.owners_log import notes
from dpsql.output import plain, visible


def complaint(error: Error, text: str = "") -> str:
    """The error in lines for a person.

    >>> error = StatementError("E_COLUMN", "column `x` does not exist", position=Position(1, 8))
    >>> print(complaint(error, "SELECT x"))
    42703 E_COLUMN column `x` does not exist
    LINE 1: SELECT x
                   ^
    More: docs/refusals.md#e_column
    """
    if not isinstance(error, StatementError | Refused):
        message = f"{error.sqlstate} {error}" if isinstance(error, OperationalError) else str(error)
        return "\n".join([message, *notes(error)])
    lines = [f"{error.sqlstate} {error.code} {error.reason}"]
    if error.position:
        lines += _pointed(text, error.position)
    if error.hint:
        lines.append(f"Write instead: {error.hint}")
    return "\n".join([*lines, f"More: {error.page}"])


def _pointed(text: str, position: Position) -> list[str]:
    """The statement's line with a caret under the position; empty if that is not in the statement."""
    from wcwidth import wcswidth

    lines = text.split("\n")
    if not 1 <= position.line <= len(lines):
        return []
    line = plain(lines[position.line - 1].replace("\t", " ").rstrip("\r"))
    head = f"LINE {position.line}: "
    before = line[: position.column - 1]
    return [head + line, " " * (len(head) + max(wcswidth(before), 0)) + "^"]


Tone: TypeAlias = Literal["notice", "price", "error"]
_COLOURS: Final = {"notice": None, "price": "green", "error": "red"}
_PAGER: Final = "less -SRXF"
#: Columns and lines where nobody looks.
_NO_TERMINAL: Final = (100, 24)


class Screen:
    """Results to standard output (or a file), messages to standard error,
    or all to the terminal if there is one.
    """

    def __init__(self, *, interactive: bool) -> None:
        self.interactive = interactive
        self._file: TextIO | None = None
        self.target: Path | None = None

    @property
    def width(self) -> int:
        """How many characters a line of the terminal has; 100 without a terminal."""
        return self._size.columns if self.interactive else _NO_TERMINAL[0]

    @property
    def _size(self) -> os.terminal_size:
        return shutil.get_terminal_size(_NO_TERMINAL)

    def result(self, text: str, pager: bool) -> None:
        """Write a result to the file, to the pager if it is too large for the terminal, or to stdout."""
        if self._file is not None:
            self._file.write(text)
            self._file.flush()
            return
        text = visible(text) if self.interactive or sys.stdout.isatty() else text
        if not (self.interactive and pager and self._is_large(text) and _paged(text)):
            click.echo(text, nl=False)

    def notify(self, text: str, tone: Tone = "notice") -> None:
        """A message beside the results."""
        stream = sys.stdout if self.interactive else sys.stderr
        colour = _COLOURS[tone] if has_colour(stream) else None
        text = visible(text)
        click.echo(click.style(text, fg=colour) if colour else text, file=stream)

    def confirms(self, question: str) -> bool:
        """Whether the person says yes; anything else, Ctrl-C and Ctrl-D mean no."""
        try:
            return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return False

    def write_to(self, file: Path | None) -> None:
        """Write results to the file from now on, or to the terminal again."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self.target = None
        if file is not None:
            with file_errors(file):
                self._file = file.open("w", encoding="utf-8", newline="")
            self.target = file

    def _is_large(self, text: str) -> bool:
        from wcwidth import wcswidth

        columns, height = self._size
        lines = text.splitlines()
        return len(lines) >= height - 1 or any(wcswidth(line) > columns for line in lines)


class file_errors:
    """Turns what the operating system says of a file into an error in dpsql's words."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: object
    ) -> None:
        if isinstance(error, OSError):
            raise DataError(f"{self._file}: {error.strerror or 'cannot be used'}") from None
        if isinstance(error, UnicodeDecodeError):
            raise DataError(f"{self._file}: is not text in UTF-8") from None


def has_colour(stream: TextIO) -> bool:
    """Whether colours may be written: to a terminal that has them, unless NO_COLOR says not."""
    return (
        stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def _paged(text: str) -> bool:
    """Whether a pager showed the text."""
    command = shlex.split(os.environ.get("DPSQL_PAGER") or os.environ.get("PAGER") or _PAGER)
    if not command or shutil.which(command[0]) is None:
        return False
    if Path(command[0]).name == "less" and len(command) == 1:
        command = shlex.split(_PAGER)
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE)
    except OSError:
        return False
    # The pager's own keys are meant for it alone.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with suppress(BrokenPipeError):
            pager.communicate(text.encode("utf-8", "replace"))
    finally:
        signal.signal(signal.SIGINT, before)
    return True
