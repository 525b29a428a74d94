"""The owner's data in a process for each version of them; where one has died,
the next who asks gets another one.

Proved in ``docs/proofs/process.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from dpsql.engines.duckdb.catalog import CatalogCheck
from dpsql.engines.duckdb.process.client import EngineProcess
from dpsql.engines.duckdb.process.protocol import EngineMessage, source_said, stage_said
from dpsql.engines.files.held_files import FileState
from dpsql.engines.files.versions import Copies, Versions
from dpsql.engines.source import (
    UNFIT,
    CoreSql,
    CsvText,
    DataSource,
    DerivedTable,
    NotOpened,
    ValueRows,
)

#: Seconds that a statement whose time is over has to hear of it, before it is told so;
#: and before #: the process is ended.
HEARS = 1.0
GRACE = 5.0
#: Seconds between interrupts.
AGAIN = 0.05


class ProcessFailed(Exception):
    """The process did not do what it was asked for; ``kind`` is the class of its error,
    for the owner's log.
    """

    def __init__(self, kind: object) -> None:
        super().__init__()
        self.kind = kind


class ProcessData(Versions["ProcessVersion"]):
    """A source that is opened in a process; OperationalError if none can be begun.

    Raises NotOpened, EngineDied, or an UnfitColumn where statements could fail on the data or mean
    what they must not. What is opened later must have the catalogue that ``fits`` wants.
    ``process`` is one that was begun for this source, and that ends with this object.
    """

    def __init__(
        self,
        source: DataSource,
        fits: CatalogCheck | None = None,
        process: EngineProcess | None = None,
        copies: Copies | None = None,
    ) -> None:
        first = [] if process is None else [process]

        def opens(source: DataSource) -> ProcessVersion:
            if first:
                return ProcessVersion(source, None, first.pop())
            return ProcessVersion(source, fits, EngineProcess(source.path, source.limits))

        super().__init__(source, opens, copies)

    @property
    def pid(self) -> int:
        """The number of the process, where one lives; if none does, of a new one."""
        return self.renewed().process.pid


class ProcessVersion:
    """One version of a source in a process of its own, which ends with this object."""

    def __init__(
        self, source: DataSource, fits: CatalogCheck | None, process: EngineProcess
    ) -> None:
        self.process = process
        self._numbers = itertools.count(1)
        self.deriving = threading.Lock()
        self._finalizer: Final = weakref.finalize(self, process.end)
        try:
            if fits is not None and not fits(partial(facts_of, process)):
                raise NotOpened
            self._open(source)
        except BaseException:
            process.end()
            raise

    def _open(self, source: DataSource) -> None:
        reply = self.process.ask("open", source_said(source))
        if reply.word in UNFIT:
            raise UNFIT[reply.word](*_known(reply.said, source))
        if reply.word != "done":
            raise NotOpened(str(reply.said.get("kind", "")))
        self.version = str(reply.said["version"])
        self.states = tuple(FileState(*state) for state in reply.said["states"])

    @property
    def alive(self) -> bool:
        return self.process.alive

    def hears(self) -> bool:
        """Whether the process answers; one that stands still is ended,
        before anything is charged for reading it.
        """
        return self.process.hears()

    def cursor(self, renew: Callable[[], object]) -> ProcessCursor:
        return ProcessCursor(self.process, next(self._numbers), renew)

    def public_rows(self, table: str) -> ValueRows:
        return _done(self.process, "public", {"table": table})[0]

    def end(self) -> None:
        """End the process, but in a fork, whose parent has it."""
        self._finalizer()


def facts_of(
    process: EngineProcess, path: str, kind: str, csv: CsvText, tables: Collection[str] | None
) -> Sequence[ValueRows]:
    """What the catalogue at the path says, read in the process, which has opened nothing yet.

    NotOpened without a catalogue, and EngineDied if the process ends meanwhile.
    """
    try:
        table_names = None if tables is None else sorted(tables)
        fields = {
            "path": str(Path(path).absolute()),
            "kind": kind,
            "csv": asdict(csv),
            "tables": table_names,
        }
        return _done(process, "catalog", fields)
    except ProcessFailed:
        raise NotOpened from None


class ProcessCursor:
    """One charged plan in the process; where that dies,
    a new one is there before the plan's failure is told.
    """

    def __init__(self, process: EngineProcess, number: int, renew: Callable[[], object]) -> None:
        self._process = process
        self._number = number
        self._renew = renew
        self._over = threading.Event()
        self._stopped_at: float | None = None
        self._left: Future[EngineMessage] | None = None

    def rows(
        self, derived: Sequence[tuple[DerivedTable, ValueRows]], cores: Sequence[CoreSql]
    ) -> Sequence[ValueRows]:
        """The rows of each core; Failed or Died for trouble,
        and then a process is there for those who come next.

        GivenUp if the statement was ended, or its time is over,
        and the process does not hear of it.
        """
        fields = stage_said([table for table, _ in derived], cores)
        self._over.clear()
        try:
            tables = [rows for _, rows in derived]
            reply = self._left = self._process.asked(
                "stage", {**fields, "cursor": self._number}, tables
            )
            reply.add_done_callback(lambda _: self._over.set())
            return _rows(self._process.awaited(reply, self._is_late))
        except Exception:
            self.interrupt()
            with suppress(Exception):
                self._renew()
            raise
        except BaseException:
            self.interrupt()
            raise

    def _is_late(self) -> bool:
        """Whether its time has been over for so long that it is not waited for any more."""
        return self._stopped_at is not None and time.monotonic() - self._stopped_at > HEARS

    def interrupt(self) -> None:
        self._process.interrupt(self._number)

    def stop(self) -> None:
        """Interrupt until it is over, and end the process where that does not help."""
        self._stopped_at = time.monotonic()
        self._end_within(GRACE)

    def _end_within(self, seconds: float) -> None:
        last = time.monotonic() + seconds
        while not self._over.wait(AGAIN):
            if time.monotonic() > last:
                self._process.kill("DidNotHearItsInterrupt")
                return
            self.interrupt()

    def close(self, derived: Sequence[str], then: Callable[[], None] = lambda: None) -> None:
        """Release it, and call ``then``.

        If a stage stopped before its end, both happen later, in a thread of their own.
        """

        def close() -> None:
            try:
                with suppress(Exception):
                    self._process.ask("close", {"cursor": self._number, "derived": list(derived)})
            finally:
                then()

        def close_later() -> None:
            while not self._over.wait(AGAIN) and self._process.alive:
                self.interrupt()
            close()

        if self._left is None or self._left.done():
            close()
        else:
            threading.Thread(target=close_later, name="dpsql close", daemon=True).start()


def _known(fields: dict[str, Any], source: DataSource) -> tuple[str, str, int, int]:
    """The column that was said, which must be one that the schema declares,
    and the numbers of a file and a line.
    """
    table = fields["table"]
    column = fields["column"]
    file = fields["file"]
    line = fields["line"]
    if not source.has(table, column) or type(file) is not int or type(line) is not int:
        raise NotOpened
    return table, column, file, line


def _done(process: EngineProcess, word: str, fields: dict[str, Any]) -> Sequence[ValueRows]:
    """The rows of the answer; Failed if it has none, and Died if there is no answer."""
    return _rows(process.ask(word, fields))


def _rows(reply: EngineMessage) -> Sequence[ValueRows]:
    if reply.word != "done":
        raise ProcessFailed(reply.said.get("kind"))
    return reply.rows
