"""The owner's data in a DuckDB of this process: for those who embed dpsql, and for tests.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import duckdb

from dpsql.engines.opened import OpenedCursor, OpenedSource
from dpsql.engines.source import CoreSql, DerivedTable, NotOpened, Rows, Source, Unfit
from dpsql.engines.spilling import remove_folder, spill_folder
from dpsql.errors import OperationalError
from dpsql.instance import close_instance, open_instance

#: Faults of DuckDB's own, after which it answers nobody any more.
FAULTS = (duckdb.FatalException, duckdb.InternalException)


class LocalData:
    """A source that this process has opened, and opens again where DuckDB has had a fault of its own.

    NotOpened, NotUnique or NotReadable where it cannot be opened at first.
    """

    def __init__(self, source: Source) -> None:
        self._source, self._lock, self._closed = source, threading.Lock(), False
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._folder: str | None = None
        self._opened: OpenedSource | None = self._open()

    def _open(self) -> OpenedSource:
        """The source in a new DuckDB, with a folder of its own for what it spills."""
        self._folder = spill_folder(self._source.limits)
        limits = replace(self._source.limits, folder=self._folder)
        try:
            return OpenedSource(replace(self._source, limits=limits), self._connect)
        except BaseException:
            self._let_go()
            raise

    def _connect(self, config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
        self._connection = open_instance(config)
        return self._connection

    def _let_go(self) -> None:
        """Close the DuckDB that was opened last, but in a fork of this process."""
        if self._connection is not None:
            close_instance(self._connection)
        remove_folder(self._folder)

    def living(self) -> OpenedSource:
        """The opened source; OperationalError where it had a fault and cannot be opened again."""
        opened = self._opened
        if opened is not None:
            return opened
        with self._lock:
            if self._opened is None and not self._closed:
                with suppress(NotOpened, Unfit):
                    self._opened = self._open()
                if self._closed:  # meanwhile
                    self._let_go()
            if self._opened is None:
                raise OperationalError("the data of this schema cannot be opened any more")
            return self._opened

    def renew(self, broken: OpenedSource) -> None:
        """Open the source again, once, in the place of what had a fault; its other statements fail by themselves."""
        with self._lock:
            if self._opened is broken and not self._closed:
                self._opened = None
                self._let_go()
        with suppress(OperationalError):
            self.living()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB that was opened last."""
        assert self._connection is not None
        return self._connection

    @property
    def version(self) -> str | None:
        return self.living().version

    def cursor(self) -> LocalCursor:
        return LocalCursor(self)

    def public_rows(self, table: str) -> Rows:
        """The rows of a table that was declared public; after a fault the data are open again before it is told."""
        opened = self.living()
        try:
            return opened.public_rows(table)
        except FAULTS:
            self.renew(opened)
            raise

    def close(self) -> None:
        """Close what this process has opened, but in a fork of it."""
        self._closed = True  # without the lock, which a thread may have held where this process was forked
        self._let_go()


class LocalCursor:
    """A cursor of this process; an interrupt is all that ends it."""

    def __init__(self, data: LocalData) -> None:
        self._data, self._opened = data, data.living()
        self._cursor: OpenedCursor = self._opened.cursor()
        self.interrupt, self.stop = self._cursor.interrupt, self._cursor.interrupt

    def rows(self, derived: Sequence[tuple[DerivedTable, Rows]], cores: Sequence[CoreSql]) -> Sequence[Rows]:
        """The rows of each core; after a fault of DuckDB's own the data are open again before it is told."""
        try:
            return self._cursor.rows(derived, cores)
        except FAULTS:
            self._data.renew(self._opened)
            raise

    def close(self, derived: Sequence[str]) -> None:
        self._cursor.close(derived)
