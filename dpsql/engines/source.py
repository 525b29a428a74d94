"""What an engine is told of the owner's data, and what it asks of the process that runs DuckDB.

Nothing that it is told is computed from the data.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from dpsql.engines.unit_column import UnitColumn

#: Rows as they come and go: values of int, float, bool, str, Decimal, date, datetime,
#: None and #: lists of these.
ValueRows: TypeAlias = Sequence[tuple[Any, ...]]


SourceKind: TypeAlias = Literal["database", "sqlite", "files"]


@dataclass(frozen=True)
class ResourceLimits:
    """The most that DuckDB may use: bytes of memory, threads,
    and bytes that it spills to files in a folder.

    None leaves memory and threads to DuckDB; without a folder it writes nothing.
    """

    memory: int | None = None
    threads: int | None = None
    spill: int = 0
    folder: str | None = None


@dataclass(frozen=True)
class StoredColumn:
    """A column that the schema declares, and how its values are read.

    ``path`` is what the source calls it, with the names of the fields on the way to one of a
    STRUCT; ``type`` is the engine's type as which it is read, and ``reading`` how, if the source
    stores it in another one. ``nulls`` are texts of CSV files that stand for no value in it; None
    leaves that to the table.
    """

    name: str
    path: tuple[str, ...]
    type: str
    reading: str | None = None
    nulls: tuple[str, ...] | None = None


@dataclass(frozen=True)
class CsvText:
    """How a CSV file is written."""

    delimiter: str = ","
    quote: str = '"'
    skip: int = 0
    header: bool = True
    encoding: str = "utf-8"
    decimal: str = "."
    date_format: str | None = None
    timestamp_format: str | None = None
    nulls: tuple[str, ...] = ("",)


#: As CSV is written where nothing else is said.
RFC_4180: Final = CsvText()


@dataclass(frozen=True)
class TableFile:
    """The path by which the engine opens one file of a table, its packing and its partition.

    The partition is what the names of its folders say that columns hold.
    """

    place: str
    packed: bool
    partition: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class StoredTable:
    """A declared table in the source: its name in a database, or the place of its files,
    and the columns.

    ``place`` is a file, a folder or a glob. ``files`` are those that are held of it, once they are.
    """

    place: str
    kind: Literal["database", "parquet", "csv"]
    columns: tuple[StoredColumn, ...]
    csv: CsvText = RFC_4180
    files: tuple[TableFile, ...] | None = None


@dataclass(frozen=True)
class DataSource:
    """The owner's tables in a DuckDB or SQLite file, or in files of their own;
    the keys that must be unique.

    ``public`` has the columns of public tables; ``written`` are columns in which Parquet may hold
    what the engine cannot read, and ``apart`` those that tell units or rows apart, whose values
    must stay different as they are read. ``content`` tells what the files hold where they are
    copies of files elsewhere, and is empty where they are not. ``units`` is the column that private
    tables have beside their own, if a row without a unit has one of its own.
    """

    path: str
    kind: SourceKind
    tables: dict[str, StoredTable]
    unique: tuple[tuple[str, str], ...]
    public: dict[str, tuple[str, ...]]
    limits: ResourceLimits = ResourceLimits()
    written: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    content: str = ""
    units: UnitColumn | None = None

    def has(self, table: str, column: str) -> bool:
        """Whether the column is declared,
        or the name is empty and stands for all columns of the table.
        """
        stored = self.tables.get(table)
        return stored is not None and (
            not column or any(column == other.name for other in stored.columns)
        )


@dataclass(frozen=True)
class CoreSql:
    """The engine SQL of one core, and the tables of the owner and the derived ones that it was
    planned to read.

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


#: The longest line of a CSV file that is read, in bytes.
LONGEST_LINE: Final = 2**24


class UnfitColumn(Exception):
    """A column of the data, or with an empty name a table, with which no statement may be answered.

    ``word`` is what the engine's process says of it, and ``said`` what its owner is told. ``file``
    counts the files of the table from 0 and ``line`` their lines from 1, if it is one line; else
    both are 0.
    """

    word: ClassVar[str]
    said: ClassVar[str]

    def __init__(self, table: str, column: str, file: int = 0, line: int = 0) -> None:
        super().__init__()
        self.table = table
        self.column = column
        self.file = file
        self.line = line


class NotUnique(UnfitColumn):
    """A key on the way to the unit stands twice in the data."""

    word = "not unique"
    said = "is referenced on the way to the unit and is not unique in the data; mend the data or the reference"


class NotReadable(UnfitColumn):
    """A column of Parquet holds a text that is no UTF-8, or a moment that is none."""

    word = "not readable"
    said = (
        "holds a text that is no UTF-8, or a moment that is none, and would fail statements; mend it, or leave the "
        "column out"
    )


class NotOfType(UnfitColumn):
    """A text of a CSV file, or a value of SQLite, is none of the column's type."""

    word = "not of its type"
    said = "holds what is no value of its type; declare it as text, mend the data, or leave the column out"


class NotWhole(UnfitColumn):
    """A column that is declared as integer and stored as DOUBLE holds a number that is not
    whole.
    """

    word = "not whole"
    said = (
        "is declared integer and stored as DOUBLE, and not all of its values are whole numbers of up to 2^53; declare "
        "it as double"
    )


class NotApart(UnfitColumn):
    """Two stored values of a column that tells units or rows apart would be read as one."""

    word = "not apart"
    said = (
        "tells units or rows apart, and two texts of it are one value of its type (as 7 and "
        "007 are); declare it text"
    )


class NotAlike(UnfitColumn):
    """The files of a table do not all have the column, or not in one type."""

    word = "not alike"
    said = "is not in all files of the table with one type; write the files again, or leave the column out"


class NotCsv(UnfitColumn):
    """A CSV file is not written as its format says."""

    word = "no CSV"
    said = (
        "a line has more or fewer fields than there are columns, a quote is not closed, or a letter is not in the "
        "encoding; mend the file, or say how it is written: csv = { delimiter = …, quote = …, encoding = … }"
    )


class LongLine(UnfitColumn):
    """A line of a CSV file is longer than lines that are read."""

    word = "long line"
    said = (
        f"has more than {LONGEST_LINE:,} bytes, and no longer line is read; shorten its texts, close the quote that is "
        "open there, or store the table as Parquet"
    )


#: Each by what the engine's process says of it.
UNFIT: Final = {
    each.word: each
    for each in (NotUnique, NotReadable, NotOfType, NotWhole, NotApart, NotAlike, NotCsv, LongLine)
}


class NotOpened(Exception):
    """The data cannot be opened; ``kind`` is the class of the error that says so,
    for the owner's log.
    """

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        self.kind = kind


class EngineDied(Exception):
    """The engine is no more, and nothing of what was asked of it has come; ``kind`` is why,
    in a word for the log.
    """

    def __init__(self, kind: str = "Ended") -> None:
        super().__init__()
        self.kind = kind


class DataChanged(Exception):
    """The data were written while they were read,
    so that what was read is of no one version of them.
    """
