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
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal
from weakref import WeakSet

from dpsql.engines.process import start
from dpsql.engines.process.protocol import Message, Pipe
from dpsql.engines.source import Limits, Rows
from dpsql.engines.spilling import remove_folder, spill_folder
from dpsql.engines.version import with_journal
from dpsql.errors import OperationalError

#: Seconds that a process has to end by itself.
PATIENCE = 5.0
#: What the dynamic linker may need to find Python's own libraries; nothing else of the environment is passed on.
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")

_NOT_BEGUN = (
    "the engine's process cannot be begun; see that this Python can start another, or set process = false in the "
    "schema's [engine]"
)

_ALL: WeakSet[EngineProcess] = WeakSet()


class Died(Exception):
    """The engine's process is no more."""


class EngineProcess:
    """A process that runs the engine; a thread of its own begins it and hears what it answers until it ends.

    That thread is its parent in the eyes of Linux, which ends the process with it. OperationalError where none can be
    begun. For the audit it ``serves`` attempts in the engine's place, under the same limits.
    """

    def __init__(self, path: str, limits: Limits, serves: Literal["child", "attempted"] = "child") -> None:
        self._numbers, self._waiting = itertools.count(), dict[int, Future[Message]]()
        self._lock, self._over, self._inherited = threading.Lock(), False, False
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Pipe | None = None
        began: Future[None] = Future()
        self._folder = spill_folder(limits)
        told = _told(path, replace(limits, folder=self._folder), serves)
        self._attendant = threading.Thread(target=self._attend, args=(told, began), name="dpsql engine", daemon=True)
        self._attendant.start()
        _ALL.add(self)
        try:
            began.result()
        except BaseException:  # an interrupt as well: nobody has it who could end it
            began.add_done_callback(lambda _: self.kill())
            raise

    @property
    def alive(self) -> bool:
        return not self._over and not self._inherited

    @property
    def pid(self) -> int:
        """The number of the process that was begun."""
        assert self._process is not None
        return self._process.pid

    def ask(self, word: str, said: dict[str, Any], rows: Sequence[Rows] = ()) -> Message:
        """The answer to a request; Died where the process ends before it is there."""
        answer: Future[Message] = Future()
        number = next(self._numbers)
        with self._lock:
            if not self.alive:
                raise Died
            self._waiting[number] = answer
        try:
            assert self._pipe is not None
            self._pipe.send(Message(word, number, said, rows))
        except BaseException as error:
            self._waiting.pop(number, None)
            if isinstance(error, OSError):
                raise Died from None
            raise
        return answer.result()

    def interrupt(self, cursor: int) -> None:
        """End what is read for the cursor."""
        if self.alive and self._pipe is not None:
            with suppress(OSError):
                self._pipe.send(Message("interrupt", 0, {"cursor": cursor}))

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

    def _attend(self, told: bytes, began: Future[None]) -> None:
        with suppress(Exception):
            self._process = _begun()
            self._pipe = _told_to(self._process, told)
            if self._pipe.receive().word == "ready":
                began.set_result(None)
            while began.done():
                self._hear(self._pipe.receive())
        self._bury()
        if not began.done():
            began.set_exception(OperationalError(_NOT_BEGUN))

    def _hear(self, answer: Message) -> None:
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
            answer.set_exception(Died())


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


def _told_to(process: subprocess.Popen[bytes], told: bytes) -> Pipe:
    """The pipes to and from the process, which has been told its first line; OSError where it is gone already."""
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(told)
        reads = os.dup(process.stdout.fileno())
        try:
            return Pipe(reads, os.dup(process.stdin.fileno()))
        except OSError:
            os.close(reads)
            raise


def _told(source: str, limits: Limits, serves: str) -> bytes:
    home = str(Path(start.__file__).parents[2])
    path = [str(Path(place or ".").absolute()) for place in sys.path]
    told = {"path": path, "home": home, "parent": os.getpid(), "read": _readable(source), "limits": asdict(limits),
            "serves": serves}  # fmt: skip
    return json.dumps(told).encode() + b"\n"


def _readable(source: str) -> list[str]:
    """The source, with its journal where it is a file, and where the links to Parquet files in a folder lead."""
    place = Path(source)
    if not place.is_dir():
        return [str(each) for each in with_journal(place)]
    return [source, *(str(file.resolve()) for file in place.glob("*.parquet") if file.is_symlink())]


def _leave_all() -> None:
    for process in list(_ALL):
        process.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)
