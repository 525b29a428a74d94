"""Where the ledgers of the tests are: a file, or a schema of a real PostgreSQL;
and what a person could do to them.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg

from dpsql.privacy.ledger import DatabaseNames, Ledger, LedgerIdentity
from dpsql.privacy.ledger.checkpoints import kept_in

_ELSEWHERE = itertools.count()
_TABLES = ("meta", "head", "entries")
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

    def remove(self) -> None:
        """Delete the ledger."""
        ...

    def state(self) -> object:
        """All that is in it, to be put back."""
        ...

    def put_back(self, state: object) -> None:
        """Make it what it was then."""
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

    def remove(self) -> None:
        self.path.unlink()

    def state(self) -> object:
        return self.path.read_bytes()

    def put_back(self, state: object) -> None:
        assert isinstance(state, bytes)
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(state)

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

    def remove(self) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA "{self.namespace}" CASCADE'.encode())

    def state(self) -> object:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f'SET search_path TO "{self.namespace}"'.encode())
            return {
                table: connection.execute(f"SELECT * FROM {table}".encode()).fetchall()
                for table in _TABLES
            }

    def put_back(self, state: object) -> None:
        assert isinstance(state, dict)
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f'SET search_path TO "{self.namespace}"'.encode())
            connection.execute("ALTER TABLE entries DISABLE TRIGGER ALL")
            for table, rows in state.items():
                connection.execute(f"DELETE FROM {table}".encode())
                for row in rows:
                    marks = ", ".join(["%s"] * len(row))
                    connection.execute(f"INSERT INTO {table} VALUES ({marks})".encode(), row)
            connection.execute("ALTER TABLE entries ENABLE TRIGGER ALL")

    def take_line(self, other: Place, seq: int) -> None:
        assert isinstance(other, ServerPlace)
        self.tamper(
            f"DELETE FROM entries WHERE seq = {seq}",
            f"INSERT INTO entries SELECT * FROM {other.namespace}.entries WHERE seq = {seq}",
        )


def elsewhere(place: Place | Path) -> Ledger:
    """The ledger opened as on another machine, which remembers nothing of it."""
    with kept_in(Path(os.environ["DPSQL_STATE"]) / "elsewhere" / str(next(_ELSEWHERE))):
        return reopen(place)


#: Whose budget the ledgers of the tests keep.
PATIENTS = LedgerIdentity("d", "p.id", "add-remove")


def reopen(
    place: Place | Path, belongs: LedgerIdentity = PATIENTS, names: Sequence[str] = ()
) -> Ledger:
    return Ledger.open(
        place if isinstance(place, Path) else place.name, belongs, DatabaseNames(tuple(names))
    )
