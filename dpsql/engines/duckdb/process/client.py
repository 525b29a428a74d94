"""dpsql's side of the engine's process: begins it, asks it, and ends it; it may die at any time.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal
from weakref import WeakSet

from dpsql.engines.duckdb.process import start
from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
from dpsql.engines.files.private_folders import remove_folder, spill_folder
from dpsql.engines.files.table_files import files_of, found_tables, root_of, with_journal
from dpsql.engines.source import ResourceLimits, ValueRows
from dpsql.errors import OperationalError
from dpsql.errors.deadline import GLANCE, is_over

#: Seconds that a process has to end by itself, and to begin.
PATIENCE, BEGINNING = 5.0, 60.0
#: Seconds after which a process that was asked whether it hears, and says nothing, is ended; it is asked each second.
SILENCE, ASKED = 10.0, 1.0
#: Seconds for which who was ended waits for the engine to hear of it.
GRACE = 0.5
#: What the dynamic linker may need to find Python's own libraries; nothing else of the environment is passed on.
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")

_NOT_BEGUN = (
    "the engine's process cannot be begun; see that this Python can start another, or set process = false in the "
    "schema's [engine]"
)

_ALL: WeakSet[EngineProcess] = WeakSet()


class ProcessDied(Exception):
    """The engine's process is no more."""


class WaitAbandoned(OperationalError):
    """The statement was ended, and waits no longer; what it has asked for may still be done."""

    def __init__(self) -> None:
        super().__init__("the statement was ended while it waited for the data")


class EngineProcess:
    """A process that runs the engine; a thread of its own begins it and hears what it answers until it ends.

    That thread is its parent in the eyes of Linux, which ends the process with it. OperationalError where none can be
    begun. For the audit it ``serves`` attempts in the engine's place, under the same limits.
    """

    def __init__(
        self, path: str, limits: ResourceLimits, serves: Literal["child", "confinement_probe"] = "child"
    ) -> None:
        self._numbers, self._waiting = itertools.count(), dict[int, Future[EngineMessage]]()
        self._lock, self._over, self._inherited = threading.Lock(), False, False
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: MessagePipe | None = None
        self._asked: float | None = None
        self._looked = 0.0
        began: Future[None] = Future()
        self._folder = spill_folder(limits)
        first_line = _first_line(path, replace(limits, folder=self._folder), serves)
        self._attendant = threading.Thread(
            target=self._attend, args=(first_line, began), name="dpsql engine", daemon=True
        )
        self._attendant.start()
        _ALL.add(self)
        try:
            self._begin(began)
        except BaseException:  # an interrupt as well: nobody has it who could end it
            began.add_done_callback(lambda _: self.kill())
            raise

    def _begin(self, began: Future[None]) -> None:
        last = time.monotonic() + BEGINNING
        while True:
            try:
                return began.result(GLANCE)
            except TimeoutError:
                if time.monotonic() > last:
                    self.kill()
                    raise OperationalError(_NOT_BEGUN) from None

    @property
    def alive(self) -> bool:
        return not self._over and not self._inherited

    @property
    def pid(self) -> int:
        """The number of the process that was begun."""
        assert self._process is not None
        return self._process.pid

    def ask(self, word: str, said: dict[str, Any], rows: Sequence[ValueRows] = ()) -> EngineMessage:
        """The answer to a request; Died where the process ends before it is there, GivenUp for who was ended."""
        return self.awaited(self.asked(word, said, rows))

    def asked(self, word: str, said: dict[str, Any], rows: Sequence[ValueRows] = ()) -> Future[EngineMessage]:
        """The answer to a request as it will be; Died where the process has ended."""
        answer: Future[EngineMessage] = Future()
        number = next(self._numbers)
        with self._lock:
            if not self.alive:
                raise ProcessDied
            self._waiting[number] = answer
        try:
            assert self._pipe is not None
            self._pipe.send(EngineMessage(word, number, said, rows))
        except BaseException as error:
            self._waiting.pop(number, None)
            if self._pipe is not None and self._pipe.torn:
                self.kill()
            if isinstance(error, OSError):
                raise ProcessDied from None
            raise
        return answer

    def awaited(self, answer: Future[EngineMessage], is_over: Callable[[], bool] = lambda: False) -> EngineMessage:
        """The answer, once it is there; GivenUp where it is not before the wait ``is_over``."""
        while True:
            try:
                return answer.result(GLANCE)
            except TimeoutError:
                self._look()
                if is_over():
                    raise WaitAbandoned from None

    def hears(self) -> bool:
        """Whether the process answers now; one that says nothing for long is ended."""
        with suppress(ProcessDied):
            self.ask("hear", {})
            return True
        return False

    def interrupt(self, cursor: int) -> None:
        """End what is read for the cursor."""
        if self.alive and self._pipe is not None:
            with suppress(OSError):
                self._pipe.send_now(EngineMessage("interrupt", 0, {"cursor": cursor}))

    def _look(self) -> None:
        """What each who waits does again and again: GivenUp where it was ended, and a silent process is ended."""
        self._listen()
        if is_over(GRACE):
            raise WaitAbandoned

    def _listen(self) -> None:
        """Ask whether the process hears, and end it where it has said nothing for long after that.

        What was said and not taken yet counts as said; so does the time in which nobody here could look.
        """
        now, pipe = time.monotonic(), self._pipe
        since = None if pipe is None else pipe.reading_since
        if pipe is None or since is None:
            self._asked = None
        elif self._asked is None or self._asked < since:
            if now - since > ASKED:
                with suppress(OSError):
                    pipe.send_now(EngineMessage("hear", 0))
                self._asked = now
        elif now - self._looked > SILENCE / 2:
            self._asked = max(self._asked, now - SILENCE + GRACE)
        elif now - self._asked > SILENCE:
            self.kill()
        self._looked = now

    def kill(self) -> None:
        """End the process, and with it all that it does."""
        if self.alive and self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """End the process if this is the one that began it."""
        if not self._inherited:
            with suppress(OSError):
                self.kill()
            self._attendant.join(PATIENCE)

    def leave(self) -> None:
        """In a fork: the process is the parent's; let go of the pipes, so that it hears when the parent is gone."""
        self._inherited = True
        if self._process is not None:
            self._process.returncode = 0
        if self._pipe is not None:
            with suppress(OSError):
                self._pipe.drop()

    def _attend(self, first_line: bytes, began: Future[None]) -> None:
        with suppress(Exception):
            self._process = _begun()
            self._pipe = _pipe_to(self._process, first_line, self._look)
            if self._pipe.receive().word == "ready":
                began.set_result(None)
            while began.done():
                self._hear(self._pipe.receive())
        self._bury()
        if not began.done():
            began.set_exception(OperationalError(_NOT_BEGUN))

    def _hear(self, answer: EngineMessage) -> None:
        waiting = self._waiting.pop(answer.number, None)
        if waiting is not None:
            waiting.set_result(answer)

    def _bury(self) -> None:
        """Make sure that it is dead, and tell all who wait."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        with self._lock:
            self._over = True
            waiting, self._waiting = self._waiting, {}
        if self._pipe is not None:
            self._pipe.close()
        remove_folder(self._folder)
        for answer in waiting.values():
            answer.set_exception(ProcessDied())


def _begun() -> subprocess.Popen[bytes]:
    """A fresh interpreter, with nothing of this one: no environment, no descriptor, no terminal, and unheard."""
    if not sys.executable:
        raise OSError
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", start.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=tempfile.gettempdir(),
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        start_new_session=True,
    )


def _pipe_to(process: subprocess.Popen[bytes], first_line: bytes, waits: Callable[[], None]) -> MessagePipe:
    """The pipes to and from the process, which has been told its first line; OSError where it is gone already."""
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(first_line)
        reads = os.dup(process.stdout.fileno())
        try:
            return MessagePipe(reads, os.dup(process.stdin.fileno()), waits)
        except OSError:
            os.close(reads)
            raise


def _first_line(source: str, limits: ResourceLimits, serves: str) -> bytes:
    home = str(Path(start.__file__).parents[3])
    path = [str(Path(place or ".").absolute()) for place in sys.path]
    first = {"path": path, "home": home, "parent": os.getpid(), "read": _readable(source), "limits": asdict(limits),
            "serves": serves}  # fmt: skip
    return json.dumps(first).encode() + b"\n"


def _readable(source: str) -> list[str]:
    """The source, with its journals where it is a database, and where the links to data files in a folder lead."""
    place = Path(source)
    root = root_of(place)
    if not root.is_dir():
        return [str(each) for each in with_journal(place)]
    files = {place, *(file for _, table in found_tables(place) for file in files_of(table)), *files_of(root)}
    return [str(root), *(str(file.resolve()) for file in files if file.resolve() != file.absolute())]


def _leave_all() -> None:
    for process in list(_ALL):
        process.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)
