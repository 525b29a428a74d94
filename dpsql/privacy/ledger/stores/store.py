"""What a ledger is written to: a place that holds rows durably. ``docs/proofs/ledger.md``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

#: Seconds that a charge waits for other processes.
PATIENCE = 30.0

#: A statement with ``?`` for each of its parameters.
WriteStatement = tuple[str, tuple[object, ...]]


class TableRows(Protocol):
    """The rows of a statement."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class LedgerTables(Protocol):
    """The tables of a ledger within one transaction.

    All stores understand the same SQL, with ``?`` for parameters.
    """

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> TableRows: ...


@dataclass(frozen=True)
class LedgerLocation:
    """Location of a ledger, links followed; ``file`` is the device and the inode of a file."""

    place: str
    file: tuple[int, int] | None


class Store(Protocol):
    """The tables ``meta``, ``head``, ``entries``, ``answers`` and ``named_releases``; thread-safe.

    Everything that goes wrong in it is a LedgerError in our words, without a path or an address.
    """

    @property
    def location(self) -> str:
        """The location as people write it, without a password."""
        ...

    def whereabouts(self) -> LedgerLocation:
        """The present location."""
        ...

    def exists(self) -> bool:
        """Whether anything is there."""
        ...

    def create(self, facts: Iterable[WriteStatement]) -> bool:
        """Make the tables with these facts in one step.

        False, and no change, if something is there already.
        """
        ...

    def require_whole(self, tables: LedgerTables, /) -> None:
        """Raise LedgerError if the storage is damaged, as far as the store itself can tell."""
        ...

    def transaction(self, *, write: bool) -> AbstractContextManager[LedgerTables]:
        """All that is read and written inside happens at one moment; on a clean exit it is durable.

        Nobody else can write between the first and the last statement of one that writes.
        """
        ...

    def now(self, tables: LedgerTables, /) -> datetime:
        """The moment by the one clock that all who use this store go by, in UTC,
        read within a transaction.
        """
        ...

    def close(self) -> None:
        """Let go of it; using it again opens it again."""
        ...
