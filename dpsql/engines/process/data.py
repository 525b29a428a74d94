"""The owner's data in a process of their own; where it has died, the next who asks gets another one.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dpsql.engines.process.client import Died, EngineProcess
from dpsql.engines.process.protocol import source_said, stage_said
from dpsql.engines.source import CoreSql, DerivedTable, NotOpened, NotReadable, NotUnique, Rows, Source, Unfit
from dpsql.engines.version import files_version
from dpsql.errors import OperationalError

#: Seconds that a statement whose time is over has to hear of it, and seconds between its interrupts.
GRACE, AGAIN = 5.0, 0.05


class Failed(Exception):
    """The process did not do what it was asked for; it does not say why."""


class ProcessData:
    """A source that is opened in a process; OperationalError where none can be begun.

    Raises NotOpened, NotUnique where a key on the way to the unit stands twice, or NotReadable where a value cannot be
    read. ``process`` is one that was begun for this source, and that ends with this object.
    """

    def __init__(self, source: Source, process: EngineProcess | None = None) -> None:
        self._source, self._held = source, _Held(source)
        self._numbers = itertools.count(1)
        self._finalizer: Final = weakref.finalize(self, self._held.close)
        self._held.open(process or EngineProcess(source.path, source.limits))

    @property
    def version(self) -> str | None:
        """That of the file that the living process has open, or of the Parquet files as they are now."""
        self._held.living()
        files = self._source.files
        return self._held.version if files is None else files_version([Path(file) for file in files.values()])

    @property
    def pid(self) -> int:
        """The number of the process, where one lives; where none does, of a new one."""
        return self._held.living().pid

    def cursor(self) -> ProcessCursor:
        return ProcessCursor(self._held, next(self._numbers))

    def public_rows(self, table: str) -> Rows:
        return _done(self._held.living(), "public", {"table": table})[0]

    def close(self) -> None:
        self._finalizer()


def facts_of(process: EngineProcess, path: str, is_database: bool) -> Sequence[Rows]:
    """What the catalogue at the path says, read in the process, which has opened nothing yet; NotOpened without one."""
    try:
        return _done(process, "catalog", {"path": str(Path(path).absolute()), "database": is_database})
    except (Failed, Died):
        raise NotOpened from None


class ProcessCursor:
    """One charged plan in the process; where that dies, a new one is there before the plan's failure is told."""

    def __init__(self, held: _Held, number: int) -> None:
        self._held, self._number = held, number
        self._process, self._over = held.living(), threading.Event()

    def rows(self, derived: Sequence[tuple[DerivedTable, Rows]], cores: Sequence[CoreSql]) -> Sequence[Rows]:
        """The rows of each core; Failed or Died for trouble, and then a process is there for those who come next."""
        said = stage_said([table for table, _ in derived], cores)
        self._over.clear()
        try:
            return _done(self._process, "stage", {**said, "cursor": self._number}, [rows for _, rows in derived])
        except BaseException:
            self.interrupt()
            with suppress(Exception):
                self._held.living()
            raise
        finally:
            self._over.set()

    def interrupt(self) -> None:
        self._process.interrupt(self._number)

    def stop(self) -> None:
        """Interrupt until it is over, and end the process where that does not help."""
        last = time.monotonic() + GRACE
        while not self._over.wait(AGAIN):
            if time.monotonic() > last:
                self._process.kill()
                return
            self.interrupt()

    def close(self, derived: Sequence[str]) -> None:
        _done(self._process, "close", {"cursor": self._number, "derived": list(derived)})


class _Held:
    """The process that has the source open, which is begun again where it has died."""

    def __init__(self, source: Source) -> None:
        self._source, self._lock, self._owner = source, threading.Lock(), os.getpid()
        self._process: EngineProcess | None = None
        self._closed = False
        self.version: str | None = None

    def open(self, process: EngineProcess) -> None:
        """Open the source in the process."""
        self._process = process
        try:
            answer = process.ask("open", source_said(self._source))
            if answer.word == "not unique":
                raise NotUnique(*_known(answer.said, self._source.unique))
            if answer.word == "not readable":
                raise NotReadable(*_known(answer.said, self._source.written))
            if answer.word != "done":
                raise NotOpened
            self.version = answer.said["version"]
        except Died:
            raise NotOpened from None
        except BaseException:
            process.end()
            raise

    def living(self) -> EngineProcess:
        """The process; where it has died, another one, with the source as it is now."""
        if os.getpid() != self._owner:
            raise OperationalError("the data were opened by another process; open them in this one")
        with self._lock:
            if self._closed or self._process is None:
                raise OperationalError("the data are closed")
            if not self._process.alive:
                try:
                    self.open(EngineProcess(self._source.path, self._source.limits))
                except (NotOpened, Unfit):
                    raise OperationalError("the data of this schema cannot be opened any more") from None
            return self._process

    def close(self) -> None:
        """End the process, but in a fork, whose parent has it."""
        self._closed = True
        if self._process is not None:
            self._process.end()


def _known(said: dict[str, Any], asked: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The column that was said, which must be one that was asked about."""
    pair = (said["table"], said["column"])
    if pair not in asked:
        raise NotOpened
    return pair


def _done(process: EngineProcess, word: str, said: dict[str, Any], rows: Sequence[Rows] = ()) -> Sequence[Rows]:
    """The rows of the answer; Failed where it has none, and Died where there is no answer."""
    answer = process.ask(word, said, rows)
    if answer.word != "done":
        raise Failed
    return answer.rows
