"""The databases that an engine's connections share."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from dpsql.dbapi.boundary import said_by
from dpsql.session.database import Database, open_database


class Databases:
    """Each database of an engine, opened by its first connection; a forked process opens its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[int, str, str | None], Database] = {}

    def opened(self, schema: str | Path, ledger: str | Path | None) -> Database:
        """The database of a schema file, which all connections of this process share."""
        place = (os.getpid(), str(schema), None if ledger is None else str(ledger))
        with self._lock:
            if place not in self._open:
                self._open[place] = said_by(lambda: open_database(schema, ledger))
            return self._open[place]

    def forget(self) -> None:
        """Let go of all databases; each closes with the last of its connections."""
        with self._lock:
            self._open.clear()
