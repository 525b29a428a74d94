"""The owner's data in a DuckDB of this process: for those who embed dpsql, and for tests.

Proved in ``docs/proofs/process.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb

from dpsql.engines.duckdb.attached_source import OpenedCursor, OpenedSource
from dpsql.engines.duckdb.catalog import CatalogCheck, facts
from dpsql.engines.duckdb.in_memory import close_instance, open_instance
from dpsql.engines.files.held_files import FileState, HeldFiles
from dpsql.engines.files.private_folders import remove_folder, spill_folder
from dpsql.engines.files.versions import Copies, Versions
from dpsql.engines.source import (
    CoreSql,
    DataChanged,
    DataSource,
    DerivedTable,
    EngineDied,
    NotOpened,
    ValueRows,
)

#: Faults of DuckDB's own, after which it answers nobody any more.
FAULTS = (duckdb.FatalException, duckdb.InternalException)


class LocalData(Versions["LocalVersion"]):
    """A source that this process has opened,
    and opens again if it changed or DuckDB has had a fault of its own.

    NotOpened, NotUnique or NotReadable if it cannot be opened at first. What is opened later
    must have the catalogue that ``fits`` wants; ``held`` has what is held of the source already.
    """

    def __init__(
        self,
        source: DataSource,
        fits: CatalogCheck | None = None,
        held_files: HeldFiles | None = None,
        copies: Copies | None = None,
    ) -> None:
        first = [] if held_files is None else [held_files]

        def opens(source: DataSource) -> LocalVersion:
            return (
                LocalVersion(source, None, first.pop())
                if first
                else LocalVersion(source, fits, HeldFiles())
            )

        super().__init__(source, opens, copies)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB that was opened last."""
        return self.newest.connection


class LocalVersion:
    """One version of a source in a new DuckDB, with a folder of its own for what it spills."""

    def __init__(
        self, source: DataSource, fits: CatalogCheck | None, held_files: HeldFiles
    ) -> None:
        self.alive = True
        self._held = held_files
        self.deriving = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._folder = spill_folder(source.limits)
        try:
            if fits is not None and not fits(partial(facts, held_files=held_files)):
                raise NotOpened
            limits = replace(source.limits, folder=self._folder)
            self.opened = OpenedSource(replace(source, limits=limits), self._connect, held_files)
        except BaseException:
            self.end()
            raise

    def _connect(self, config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
        self._connection = open_instance(config)
        return self._connection

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The DuckDB in which this version is open."""
        assert self._connection is not None
        return self._connection

    @property
    def states(self) -> tuple[FileState, ...]:
        return self.opened.states

    @property
    def version(self) -> str:
        return self.opened.version

    def hears(self) -> bool:
        return self.alive

    def cursor(self, renew: Callable[[], object]) -> LocalCursor:
        return LocalCursor(self, renew)

    def public_rows(self, table: str) -> ValueRows:
        try:
            return self.opened.public_rows(table)
        except FAULTS:
            self.end()
            raise

    def end(self) -> None:
        """Close the DuckDB, but in a fork of this process, and let go of the files."""
        self.alive = False
        if self._connection is not None:
            close_instance(self._connection)
        self._held.close()
        remove_folder(self._folder)


class LocalCursor:
    """A cursor of this process; an interrupt is all that ends it."""

    def __init__(self, opened: LocalVersion, renew: Callable[[], object]) -> None:
        self._opened = opened
        self._renew = renew
        self._cursor: OpenedCursor = opened.opened.cursor()
        self.stop = self._cursor.interrupt
        self.interrupt = self._cursor.interrupt

    def rows(
        self, derived: Sequence[tuple[DerivedTable, ValueRows]], cores: Sequence[CoreSql]
    ) -> Sequence[ValueRows]:
        """The rows of each core; after a fault of DuckDB's own the data are open again before it is
        told.

        The fault is an EngineDied in every statement that it ends.
        """
        try:
            return self._cursor.rows(derived, cores)
        except Exception as error:
            if isinstance(error, FAULTS):
                self._opened.end()
            if not self._opened.alive or isinstance(error, DataChanged):
                with suppress(Exception):
                    self._renew()
            if not self._opened.alive:
                raise EngineDied(type(error).__name__) from None
            raise

    def close(self, derived: Sequence[str], then: Callable[[], None] = lambda: None) -> None:
        try:
            self._cursor.close(derived)
        finally:
            then()
