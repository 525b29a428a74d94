"""Where the ledgers of the tests are: a file, or a schema of a real PostgreSQL; and what a person could do to them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg

from dpsql.privacy.ledger import Ledger

_TRIGGERS = ("entries_stay", "entries_are_fixed")


class Place(Protocol):
    """A place for one ledger."""

    @property
    def name(self) -> str:
        """As ``Ledger.open`` takes it."""
        ...

    def tamper(self, *statements: str) -> None:
        """Run SQL on the tables, past the triggers."""
        ...

    def beside(self) -> Place:
        """Another place of the same kind."""
        ...

    def take_line(self, other: Place, seq: int) -> None:
        """Put a line of another ledger in the place of this one's."""
        ...


@dataclass(frozen=True)
class FilePlace:
    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    def tamper(self, *statements: str) -> None:
        connection = sqlite3.connect(self.path, isolation_level=None)
        for trigger in _TRIGGERS:
            connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def beside(self) -> FilePlace:
        return FilePlace(self.path.with_name("beside.ledger"))

    def take_line(self, other: Place, seq: int) -> None:
        self.tamper(
            f"ATTACH '{other.name}' AS other",
            f"DELETE FROM main.entries WHERE seq = {seq}",
            f"INSERT INTO main.entries SELECT * FROM other.entries WHERE seq = {seq}",
        )


@dataclass(frozen=True)
class ServerPlace:
    address: str
    namespace: str

    @property
    def name(self) -> str:
        return f"{self.address}&schema={self.namespace}"

    def tamper(self, *statements: str) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f'SET search_path TO "{self.namespace}"'.encode())
            connection.execute("ALTER TABLE entries DISABLE TRIGGER ALL")
            for statement in statements:
                connection.execute(statement.encode())

    def beside(self) -> ServerPlace:
        return ServerPlace(self.address, f"{self.namespace}_beside")

    def take_line(self, other: Place, seq: int) -> None:
        assert isinstance(other, ServerPlace)
        self.tamper(
            f"DELETE FROM entries WHERE seq = {seq}",
            f"INSERT INTO entries SELECT * FROM {other.namespace}.entries WHERE seq = {seq}",
        )


def reopen(place: Place | Path, dataset: str = "d", unit: str = "p.id") -> Ledger:
    return Ledger.open(place if isinstance(place, Path) else place.name, dataset=dataset, unit=unit)
