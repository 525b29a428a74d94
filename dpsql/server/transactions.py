"""Transactions as PostgreSQL has them; they affect settings and cursors, never data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dpsql.server.connection_settings import ConnectionSettings, Snapshot
from dpsql.server.protocol.error_response import WireError

Status: TypeAlias = Literal["I", "T", "E"]


@dataclass(frozen=True)
class _SavepointState:
    """A savepoint: its name, the settings there, and how many cursors had been opened."""

    name: str
    settings: Snapshot
    opened: int


class Transaction:
    """The state of a transaction, and the settings to which a rollback returns."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self.status: Status = "I"
        self._start: Snapshot = settings.snapshot()
        self._points: list[_SavepointState] = []
        self._local: dict[str, str | None] | None = None

    @property
    def open(self) -> bool:
        return self.status != "I"

    def start_implicit(self) -> None:
        """Remember the settings for statements outside of a transaction, which fail together."""
        if self.status == "I":
            self._start = self._settings.snapshot()

    def fail(self) -> None:
        """Mark an open transaction as failed; outside of one,
        undo the settings of the statements.
        """
        if self.status == "I":
            self._settings.restore(self._start)
        else:
            self.status = "E"

    def begin(self) -> str | None:
        """Open a transaction; returns a warning if one is open."""
        if self.status != "I":
            return "there is already a transaction in progress"
        self._start = self._settings.snapshot()
        self.status = "T"
        return None

    def commit(self) -> bool:
        """Close the transaction; False if it had failed and was rolled back."""
        if self.status == "E":
            self.rollback()
            return False
        self._close()
        return True

    def rollback(self) -> None:
        """Close the transaction and undo its settings."""
        if self.status != "I":
            self._settings.restore(self._start)
        self._close()

    def save(self, name: str, opened: int) -> None:
        """Set a savepoint."""
        self._require_open("SAVEPOINT")
        if len(self._points) >= 1000:
            raise WireError("54000", "too many savepoints")
        self._points.append(_SavepointState(name, self._settings.snapshot(), opened))

    def release(self, name: str) -> None:
        """Remove a savepoint and those after it."""
        self._require_open("RELEASE SAVEPOINT")
        del self._points[self._find(name) :]

    def back_to(self, name: str) -> int:
        """Return to a savepoint and reopen a failed transaction;
        returns how many cursors stay open.
        """
        self._require_open("ROLLBACK TO SAVEPOINT")
        index = self._find(name)
        del self._points[index + 1 :]
        self.status = "T"
        self._settings.restore(self._points[index].settings)
        return self._points[index].opened

    def set_local(self, name: str, value: str | None) -> None:
        """Change a setting until the transaction ends."""
        before = self._settings.get(name)
        self._settings.set(name, value)
        self._local = {name: before, **(self._local or {})}

    def _close(self) -> None:
        if self._local and self.status == "T":
            for name, value in self._local.items():
                self._settings.set(name, value)
        self.status = "I"
        self._local = None
        self._start = self._settings.snapshot()
        self._points.clear()

    def _find(self, name: str) -> int:
        for index in range(len(self._points) - 1, -1, -1):
            if self._points[index].name == name:
                return index
        raise WireError("3B001", f'savepoint "{name}" does not exist')

    def _require_open(self, command: str) -> None:
        if not self.open:
            raise WireError("25P01", f"{command} can only be used in transaction blocks")
