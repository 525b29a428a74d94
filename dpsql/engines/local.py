"""The owner's data in a DuckDB of this process: for those who embed dpsql, and for tests.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb

from dpsql.engines.opened import OpenedCursor, OpenedSource
from dpsql.engines.source import Rows, Source
from dpsql.engines.spilling import remove_folder, spill_folder
from dpsql.instance import close_instance, open_instance


class LocalData:
    """A source that this process has opened; NotOpened, NotUnique or NotReadable where it cannot be."""

    def __init__(self, source: Source) -> None:
        self._made: list[duckdb.DuckDBPyConnection] = []
        self._folder = spill_folder(source.limits)
        limits = replace(source.limits, folder=self._folder)
        try:
            self._opened = OpenedSource(replace(source, limits=limits), self._connect)
        except BaseException:
            self.close()
            raise

    def _connect(self, config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
        self._made.append(open_instance(config))
        return self._made[-1]

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        return self._made[0]

    @property
    def version(self) -> str | None:
        return self._opened.version

    def cursor(self) -> LocalCursor:
        return LocalCursor(self._opened.cursor())

    def public_rows(self, table: str) -> Rows:
        return self._opened.public_rows(table)

    def close(self) -> None:
        """Close what this process has opened, but in a fork of it."""
        for connection in self._made:
            close_instance(connection)
        remove_folder(self._folder)


class LocalCursor:
    """A cursor of this process; an interrupt is all that ends it."""

    def __init__(self, cursor: OpenedCursor) -> None:
        self._cursor = cursor
        self.rows, self.interrupt, self.stop = cursor.rows, cursor.interrupt, cursor.interrupt

    def close(self, derived: Sequence[str]) -> None:
        self._cursor.close(derived)
