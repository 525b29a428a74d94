"""What an engine is told of the owner's data and of what it may use; nothing here is computed from the data.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Rows as they come and go: values of int, float, bool, str, Decimal, date, datetime, None and lists of these.
Rows: TypeAlias = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Limits:
    """The most that DuckDB may use: bytes of memory, threads, and bytes that it spills to files in a folder.

    None leaves memory and threads to DuckDB; without a folder it writes nothing.
    """

    memory: int | None = None
    threads: int | None = None
    spill: int = 0
    folder: str | None = None


@dataclass(frozen=True)
class Source:
    """A DuckDB file, or the Parquet file of each table; keys that must be unique; the columns of public tables.

    ``readings`` has for each table the columns that are read otherwise than they are stored; ``written`` are columns in
    which Parquet may hold what the engine cannot read.
    """

    path: str
    files: dict[str, str] | None
    unique: tuple[tuple[str, str], ...]
    public: dict[str, tuple[str, ...]]
    readings: dict[str, dict[str, str]]
    limits: Limits = Limits()
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


class Unfit(Exception):
    """A column of the data with which no statement may be answered."""

    def __init__(self, table: str, column: str) -> None:
        super().__init__()
        self.table, self.column = table, column


class NotUnique(Unfit):
    """A key on the way to the unit stands twice in the data."""


class NotReadable(Unfit):
    """A column of Parquet holds a text that is no UTF-8, or a moment that is none."""


class NotOpened(Exception):
    """The data cannot be opened; nobody is told why."""


class Changed(Exception):
    """The data were written while they were read, so that what was read is of no one version of them."""
