"""One charged plan while DuckDB runs it: each stage's exact rows are given once,
and read again if the engine dies.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TypeAlias

from dpsql.engines.data import DataCursor, HeldData
from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.engines.source import CoreSql, DerivedTable, EngineDied
from dpsql.errors import ExecutionFailed, InternalError
from dpsql.errors.deadline import is_over, taken
from dpsql.errors.owners_log import record, swallowed
from dpsql.planning.plan import CorePlan, Plan, Stage
from dpsql.sql.binder.sources.derived_tables import DerivedQuery
from dpsql.sql.emit.duckdb import DUCKDB

#: A derived table of the engine, and its rows.
MadeTable: TypeAlias = tuple[DerivedTable, DerivedRows]


class DuckDBReading:
    """A charged plan while it is run; the database ``derived`` is one reading's at a time,
    and empty after it.

    A failure is an ExecutionFailed, always with the same words, whatever the engine said.
    ``seconds`` is the most that a stage may take, read again or not; ``own`` is what this holds
    itself.
    """

    def __init__(
        self, plan: Plan, data: HeldData, seconds: float, own_version: HeldData | None = None
    ) -> None:
        self._stages = list(plan.stages)
        self._seconds = seconds
        self._data = data
        self._held = [] if own_version is None else [own_version]
        self._names = [table.name for table in plan.derived]
        self._given: list[MadeTable] = []
        self._cursor: DataCursor = data.cursor()
        self._deriving: list[threading.Lock] = []
        self._watchdog: threading.Timer | None = None
        self._is_again = False

    def __enter__(self) -> DuckDBReading:
        if not self._may_derive(self._data, time.monotonic() + self._seconds):
            self._let_go()
            raise ExecutionFailed
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(Exception):
            self._cursor.close(self._names, self._let_go)

    def _may_derive(self, data: HeldData, end: float) -> bool:
        """Take the derived tables of a version, if the plan has any;
        False if others have them until the end.
        """
        if self._names:
            if not taken(data.deriving, lambda: is_over() or time.monotonic() > end):
                return False
            self._deriving.append(data.deriving)
        return True

    def _let_go(self) -> None:
        """Nothing is read any more: others may derive tables, and the versions may end."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        for lock in self._deriving:
            lock.release()
        for held_files in self._held:
            held_files.__exit__(None, None, None)

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        """The exact rows of the cores of the next stage.

        If the engine dies before it has given them all, they are read once more from the same
        version of the data, in the time that is left of the stage's; nothing of the first reading
        has been given to anybody.
        """
        if not self._stages:
            raise InternalError(
                "every stage of this charge was read; a second reading needs a charge of its own"
            )
        stage = self._stages.pop(0)
        derived_tables = list(zip(map(derived_table, stage.derived), derived, strict=True))
        end = time.monotonic() + self._seconds
        rows: list[CoreRows] | None = None
        with swallowed("reading"):
            try:
                rows = self._rows(stage, derived_tables, self._seconds)
            except EngineDied as error:
                record("reading, which is done once more under the same charge", error)
                self._begin_again(error, end)
                rows = self._rows(stage, [*self._given, *derived_tables], end - time.monotonic())
        if rows is None:
            # outside the handler, so that no chain of causes holds what the engine said
            raise ExecutionFailed
        self._given += derived_tables
        return ExactRows(rows)

    def _begin_again(self, error: EngineDied, end: float) -> None:
        """Go on in another engine, which has opened the same version.

        Raises the error if this was done before,
        or if the time of the stage or of the statement is over.
        """
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._is_again or is_over() or time.monotonic() >= end:
            raise error
        self._is_again = True
        data = self._data.reopened()
        self._held.append(data)
        if not self._may_derive(data, end):
            raise error
        self._cursor = data.cursor()

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def _rows(self, stage: Stage, derived: Sequence[MadeTable], seconds: float) -> list[CoreRows]:
        """The rows of a stage's cores; the engine has so many seconds,
        also if nobody waits for it any more.
        """
        self._watchdog = started_watchdog(seconds, self._cursor)
        rows = [list(row) for row in self._cursor.rows(derived, core_sqls(stage))]
        self._watchdog.cancel()
        return rows


def started_watchdog(seconds: float, cursor: DataCursor) -> threading.Timer:
    """A timer that stops the cursor after so many seconds."""
    watchdog = threading.Timer(seconds, cursor.stop)
    watchdog.daemon = True
    watchdog.start()
    return watchdog


def core_sql(core: CorePlan) -> CoreSql:
    """What the engine is given of a core."""
    return CoreSql(
        core.sql, core.tables, core.derived, len(core.core.keys), histograms=len(core.histograms)
    )


def core_sqls(stage: Stage) -> list[CoreSql]:
    """What the engine is given of the stage's cores."""
    return [core_sql(core) for core in stage.cores]


def derived_table(table: DerivedQuery) -> DerivedTable:
    """The table as the engine makes it."""
    return DerivedTable(table.name, tuple(DUCKDB.type_name(sql_type) for sql_type in table.types))
