"""What an engine is told of the owner's data, and what it asks of the place where its DuckDB runs.

Nothing that it is told is computed from the data. Proved in ``docs/proofs/process.md``.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeAlias

#: Rows as they come and go: values of int, float, bool, str, Decimal, date, datetime, None and lists of these.
ValueRows: TypeAlias = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class ResourceLimits:
    """The most that DuckDB may use: bytes of memory, threads, and bytes that it spills to files in a folder.

    None leaves memory and threads to DuckDB; without a folder it writes nothing.
    """

    memory: int | None = None
    threads: int | None = None
    spill: int = 0
    folder: str | None = None


@dataclass(frozen=True)
class DataSource:
    """A DuckDB file, or the Parquet file of each table; keys that must be unique; the columns of public tables.

    ``readings`` has for each table the columns that are read otherwise than they are stored; ``written`` are columns in
    which Parquet may hold what the engine cannot read.
    """

    path: str
    files: dict[str, str] | None
    unique: tuple[tuple[str, str], ...]
    public: dict[str, tuple[str, ...]]
    readings: dict[str, dict[str, str]]
    limits: ResourceLimits = ResourceLimits()
    written: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class CoreSql:
    """The engine SQL of one core, and the tables of the owner and the derived ones that it was planned to read.

    Its rows are `gathered` by so many ``keys`` into groups with so many ``histograms``.
    """

    sql: str
    tables: frozenset[str]
    derived: frozenset[str]
    keys: int = 0
    histograms: int = 0


@dataclass(frozen=True)
class DerivedTable:
    """A derived table: its name, and the engine's types of its columns ``c0``, ``c1`` and so on."""

    name: str
    types: tuple[str, ...]


class UnfitColumn(Exception):
    """A column of the data with which no statement may be answered."""

    def __init__(self, table: str, column: str) -> None:
        super().__init__()
        self.table, self.column = table, column


class NotUnique(UnfitColumn):
    """A key on the way to the unit stands twice in the data."""


class NotReadable(UnfitColumn):
    """A column of Parquet holds a text that is no UTF-8, or a moment that is none."""


class NotOpened(Exception):
    """The data cannot be opened; nobody is told why."""


class DataChanged(Exception):
    """The data were written while they were read, so that what was read is of no one version of them."""


class DataCursor(Protocol):
    """Where one charged plan is run; whatever it raises is trouble."""

    def rows(self, derived: Sequence[tuple[DerivedTable, ValueRows]], cores: Sequence[CoreSql]) -> Sequence[ValueRows]:
        """The rows of each core, once the derived tables are there; only what was planned is run."""
        ...

    def interrupt(self) -> None:
        """End what is being read; from any thread."""
        ...

    def stop(self) -> None:
        """End it where the time is over, by force where it does not hear."""
        ...

    def close(self, derived: Sequence[str], then: Callable[[], None] = ...) -> None:
        """Let go of it and of its derived tables, and call ``then``; later, where a reading was left before its end."""
        ...


class HeldData(Protocol):
    """One version of the owner's data, opened, checked and locked down; it stays open until this is left."""

    @property
    def version(self) -> str: ...

    @property
    def deriving(self) -> threading.Lock: ...

    def cursor(self) -> DataCursor: ...

    def public_rows(self, table: str) -> ValueRows: ...

    def __enter__(self) -> HeldData: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Data(Protocol):
    """The owner's data, whatever version of them lies at the source; ``version`` tells that of now."""

    @property
    def version(self) -> str | None: ...

    def hold(self, opening: Callable[[], None] = ...) -> HeldData: ...

    def close(self) -> None: ...
