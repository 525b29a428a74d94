"""PEP 249 over a session: connect, cursors, type objects; intervals, the budget and explanations beside them.

Every error that leaves here is one of ``dpsql.errors``; what an engine or Python said never does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor, Row
from dpsql.dbapi.pep249 import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Described,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    TypeObject,
    said_by,
)
from dpsql.errors import InterfaceError

if TYPE_CHECKING:  # the compiler and the engine are imported by the first connection, not by `import dpsql`
    from dpsql.schema import Schema
    from dpsql.session.database import Database

apilevel: Final = "2.0"
#: Threads may share the module and connections, and each has its own cursors.
threadsafety: Final = 2
paramstyle: Final = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "Date",
    "DateFromTicks",
    "Described",
    "Row",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "TypeObject",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]


def connect(
    schema: str | Path | Schema | Database, analyst: str = "analyst", *, ledger: str | Path | None = None
) -> Connection:
    """A connection to the database that a schema file describes, in the name of one analyst.

    An open ``Database`` gives connections that share it, which is what a server or a pool wants: they cost next to
    nothing. ``ledger`` is for the owner: by default what is spent is kept where the schema says, or beside the data.
    """
    from dpsql.session import open_session
    from dpsql.session.database import Database

    if not analyst:
        raise InterfaceError("an analyst has a name; the budget is spent in it")
    if isinstance(schema, Database):
        if ledger is not None:
            raise InterfaceError("an open database has its ledger; name none")
        return Connection(schema.session(analyst))
    return Connection(said_by(lambda: open_session(schema, analyst, ledger)))
