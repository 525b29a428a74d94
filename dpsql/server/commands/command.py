"""The commands of clients: a query, or one of PostgreSQL's other commands,
which dpsql takes or refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class QueryText:
    """A query, or any statement that is not recognised here;
    the catalogue or the session judges it.
    """

    text: str
    start: int = 0


@dataclass(frozen=True)
class BeginTransaction:
    """BEGIN or START TRANSACTION; ``tag`` is what PostgreSQL answers."""

    tag: str


@dataclass(frozen=True)
class Commit:
    """COMMIT or END; with ``chain``, another transaction begins."""

    chain: bool = False


@dataclass(frozen=True)
class Rollback:
    """ROLLBACK or ABORT; with ``chain``, another transaction begins."""

    chain: bool = False


@dataclass(frozen=True)
class Savepoint:
    """SAVEPOINT, RELEASE or ROLLBACK TO."""

    action: Literal["SAVEPOINT", "RELEASE", "ROLLBACK"]
    name: str


@dataclass(frozen=True)
class Declare:
    """A cursor over a query. ``binary`` makes FETCH answer in the binary format,
    ``hold`` outlives the transaction.
    """

    name: str
    query: QueryText
    binary: bool
    scroll: bool
    hold: bool


@dataclass(frozen=True)
class Fetch:
    """FETCH or MOVE. ``count`` is None for all rows,
    and the row's number for ABSOLUTE and RELATIVE.
    """

    name: str
    direction: Literal["FORWARD", "BACKWARD", "ABSOLUTE", "RELATIVE"]
    count: int | None
    move: bool


@dataclass(frozen=True)
class CloseCursor:
    """CLOSE of one cursor, or of all of them (None)."""

    name: str | None


@dataclass(frozen=True)
class CopyOptions:
    """How COPY writes rows."""

    format: Literal["text", "csv", "binary"] = "text"
    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False
    quote: str = '"'
    escape: str = '"'
    force_quote: frozenset[str] | Literal["*"] = frozenset()


@dataclass(frozen=True)
class Copy:
    """COPY of a query's rows to the client."""

    query: QueryText
    options: CopyOptions = field(default_factory=CopyOptions)


@dataclass(frozen=True)
class ShowSetting:
    """SHOW of one setting, or of all of them (None)."""

    name: str | None


@dataclass(frozen=True)
class SetSetting:
    """SET of one setting, for the session or with ``local`` for the transaction;
    None is the default.
    """

    name: str
    value: str | None
    local: bool = False


@dataclass(frozen=True)
class ResetSetting:
    """RESET of one setting, or of all of them (None)."""

    name: str | None


@dataclass(frozen=True)
class Discard:
    """DISCARD ALL, PLANS, SEQUENCES or TEMP."""

    what: str


@dataclass(frozen=True)
class Deallocate:
    """DEALLOCATE of one prepared statement, or of all of them (None)."""

    name: str | None


@dataclass(frozen=True)
class IgnoredCommand:
    """A command without effect here, such as UNLISTEN or SET TRANSACTION; the answer is its tag."""

    tag: str


@dataclass(frozen=True)
class WriteCommand:
    """A command that would change data, catalogue or rights."""

    tag: str


@dataclass(frozen=True)
class UnsupportedCommand:
    """A PostgreSQL command that dpsql does not support, and what to do instead."""

    tag: str
    hint: str


Command: TypeAlias = (
    QueryText
    | BeginTransaction
    | Commit
    | Rollback
    | Savepoint
    | Declare
    | Fetch
    | CloseCursor
    | Copy
    | ShowSetting
    | SetSetting
    | ResetSetting
    | Discard
    | Deallocate
    | IgnoredCommand
    | WriteCommand
    | UnsupportedCommand
)
