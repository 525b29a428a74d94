"""dpsql's side of the engine's process: begins it, asks it, and ends it; it may die at any time.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal
from weakref import WeakSet

from dpsql.engines.duckdb.process.launch import begun, end_of, pipe_to, setup_line
from dpsql.engines.duckdb.process.processor_time import processor_seconds
from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
from dpsql.engines.files.private_folders import remove_folder, spill_folder
from dpsql.engines.source import EngineDied, ResourceLimits, ValueRows
from dpsql.errors import OperationalError
from dpsql.errors.deadline import GLANCE, is_over
from dpsql.errors.owners_log import LOG

#: Seconds that a process has to end by itself, and to begin.
PATIENCE = 5.0
BEGINNING = 60.0
#: Seconds after which a process that was asked whether it hears,
#: says nothing and does not work #: either is ended.
SILENCE = 10.0
#: A process is asked whether it hears after so many seconds in which it said nothing.
ASKED = 1.0
#: Seconds of processor in SILENCE below which a process stands still;
#: one that works gets more on #: the busiest machine.
WORK = 0.01
#: Seconds for which who was ended waits for the engine to hear of it.
GRACE = 0.5
#: Why a process is ended that nobody needs any more.
CLOSED = "Closed"

_NOT_BEGUN = (
    "the engine's process cannot be begun; see that this Python can start another, or set process = false in the "
    "schema's [engine]; nothing was charged for it"
)

_ALL: WeakSet[EngineProcess] = WeakSet()


class ProcessDied(EngineDied):
    """The engine's process is no more."""


class WaitAbandoned(OperationalError):
    """The statement was ended, and waits no longer; what it has asked for may still be done."""

    def __init__(self) -> None:
        super().__init__("the statement was ended while it waited for the data")


class EngineProcess:
    """A process that runs the engine; a thread of its own begins it and hears what it answers until
    it ends.

    That thread is its parent in the eyes of Linux, which ends the process with it. OperationalError
    if none can be begun. For the audit it ``serves`` attempts in the engine's place, under the
    same limits.
    """

    def __init__(
        self,
        path: str,
        limits: ResourceLimits,
        serves: Literal["child", "confinement_probe"] = "child",
    ) -> None:
        self._numbers = itertools.count(1)
        self._waiting = dict[int, Future[EngineMessage]]()
        self._lock = threading.Lock()
        self._over = False
        self._inherited = False
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: MessagePipe | None = None
        self._asked: float | None = None
        self._worked: float | None = None
        self._looked = 0.0
        self._looking = threading.Lock()
        self._why = ""
        began: Future[None] = Future()
        self._folder = spill_folder(limits)
        setup = setup_line(path, replace(limits, folder=self._folder), serves)
        self._attendant = threading.Thread(
            target=self._attend, args=(setup, began), name="dpsql engine", daemon=True
        )
        self._attendant.start()
        _ALL.add(self)
        try:
            self._begin(began)
        except BaseException:  # an interrupt as well: nobody has it who could end it
            began.add_done_callback(lambda _: self.kill("Interrupted"))
            raise

    def _begin(self, began: Future[None]) -> None:
        last = time.monotonic() + BEGINNING
        while True:
            try:
                return began.result(GLANCE)
            except TimeoutError:
                if time.monotonic() > last:
                    self.kill("NotBegun")
                    raise OperationalError(_NOT_BEGUN) from None

    @property
    def alive(self) -> bool:
        return not self._over and not self._inherited

    @property
    def pid(self) -> int:
        """The number of the process that was begun."""
        assert self._process is not None
        return self._process.pid

    def ask(
        self, word: str, fields: dict[str, Any], rows: Sequence[ValueRows] = ()
    ) -> EngineMessage:
        """The answer to a request; Died if the process ends before it is there,
        GivenUp for who was ended.
        """
        return self.awaited(self.asked(word, fields, rows))

    def asked(
        self, word: str, fields: dict[str, Any], rows: Sequence[ValueRows] = ()
    ) -> Future[EngineMessage]:
        """The answer to a request as it will be; Died if the process has ended."""
        reply: Future[EngineMessage] = Future()
        number = next(self._numbers)
        with self._lock:
            if not self.alive:
                raise ProcessDied(self._why)
            self._waiting[number] = reply
        try:
            assert self._pipe is not None
            self._pipe.send(EngineMessage(word, number, fields, rows))
        except BaseException as error:
            self._waiting.pop(number, None)
            if self._pipe is not None and self._pipe.torn:
                self.kill("PartOfARequestSent")
            if isinstance(error, OSError):
                self._attendant.join(GRACE)  # it finds out what the process died of
                raise ProcessDied(self._why) from None
            raise
        return reply

    def awaited(
        self, reply: Future[EngineMessage], is_over: Callable[[], bool] = lambda: False
    ) -> EngineMessage:
        """The answer, once it is there; GivenUp if it is not before the wait ``is_over``."""
        while True:
            try:
                return reply.result(GLANCE)
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
        """Check what ends a wait: GivenUp if it was ended; a process that stands still is ended."""
        if self._looking.acquire(blocking=False):
            try:
                self._listen()
            finally:
                self._looking.release()
        if is_over(GRACE):
            raise WaitAbandoned

    def _listen(self) -> None:
        """Ask whether the process hears,
        and end it if it neither says anything nor works for long after that.

        What was said and not taken yet counts as said; so does the time in which nobody here could
        look. If the system does not tell whether it works, it is not ended for its silence.
        """
        now = time.monotonic()
        pipe = self._pipe
        since = None if pipe is None else pipe.reading_since
        if pipe is None or since is None:
            self._asked = None
        elif self._asked is None or self._asked < since:
            if now - since > ASKED:
                with suppress(OSError):
                    pipe.send_now(EngineMessage("hear", 0))
                self._asked = now
                self._worked = processor_seconds(self.pid)
        elif now - self._looked > SILENCE / 2:
            self._asked = max(self._asked, now - SILENCE + GRACE)
        elif now - self._asked > SILENCE:
            before = self._worked
            self._asked = now
            self._worked = processor_seconds(self.pid)
            if (
                before is not None
                and self._worked is not None
                and self._worked - before < WORK
                and not pipe.has_come
            ):
                self.kill("StoodStill")
        self._looked = now

    def kill(self, why: str = "Ended") -> None:
        """End the process, and with it all that it does; the owner's log has why, in one word."""
        if self.alive and self._process is not None:
            if not self._why:
                self._why = why
                if why != CLOSED:
                    LOG.warning("the engine's process is ended: %s", why)
            self._process.kill()

    def end(self) -> None:
        """End the process if this is the one that began it."""
        if not self._inherited:
            with suppress(OSError):
                self.kill(CLOSED)
            self._attendant.join(PATIENCE)

    def leave(self) -> None:
        """In a fork: the process is the parent's; let go of the pipes,
        so that it hears when the parent is gone.
        """
        self._inherited = True
        if self._process is not None:
            self._process.returncode = 0
        if self._pipe is not None:
            with suppress(OSError):
                self._pipe.drop()

    def _attend(self, setup: bytes, began: Future[None]) -> None:
        try:
            self._process = begun()
            self._pipe = pipe_to(self._process, setup, self._look)
            if self._pipe.receive().word == "ready":
                began.set_result(None)
            while began.done():
                self._hear(self._pipe.receive())
        except (OSError, EOFError):
            pass
        except Exception as error:  # what came is no frame
            self._why = self._why or type(error).__name__
        self._bury()
        if not began.done():
            began.set_exception(OperationalError(_NOT_BEGUN))

    def _hear(self, reply: EngineMessage) -> None:
        waiting = self._waiting.pop(reply.number, None)
        if waiting is not None:
            waiting.set_result(reply)

    def _bury(self) -> None:
        """Make sure that it is dead, and tell all who wait."""
        if self._process is not None:
            self._process.kill()
            self._why = self._why or end_of(self._process.wait())
        with self._lock:
            self._over = True
            waiting = self._waiting
            self._waiting = {}
        if self._pipe is not None:
            self._pipe.close()
        remove_folder(self._folder)
        for reply in waiting.values():
            reply.set_exception(ProcessDied(self._why))


def _leave_all() -> None:
    for process in list(_ALL):
        process.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)
