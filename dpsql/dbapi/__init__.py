"""The Python interface (PEP 249): connect, cursors and type objects, with intervals,
prices and explanations.

Every error is one of ``dpsql.errors``; messages of an engine or of Python are never passed on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor
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
    with_dpsql_errors,
)
from dpsql.dbapi.query_result import QueryResult
from dpsql.dbapi.row import Interval, Row
from dpsql.errors import InterfaceError

if (
    TYPE_CHECKING
):  # the compiler and the engine are imported by the first connection, not by `import dpsql`
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
    "Interval",
    "QueryResult",
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
    schema: str | Path | Schema | Database,
    analyst: str = "analyst",
    *,
    ledger: str | Path | None = None,
) -> Connection:
    """Connect to the database that a schema file describes, in the name of one analyst.

    Args:
        schema: A schema file, a loaded schema, or an open ``Database``,
            whose connections share it and open quickly.
        analyst: The name whose budget is charged.
        ledger: A ledger for the owner's tools; by default the schema's, or the one beside the data.

    Raises:
        SchemaError: The schema file is not valid, or its budget admits nothing.
        LedgerError: The ledger cannot be opened, or is not that of this database.
    """
    from dpsql.session import open_session
    from dpsql.session.database import Database

    if not analyst:
        raise InterfaceError("an analyst has a name; the budget is spent in it")
    if isinstance(schema, Database):
        if ledger is not None:
            raise InterfaceError("an open database has its ledger; name none")
        return Connection(schema.session(analyst))
    return Connection(with_dpsql_errors(lambda: open_session(schema, analyst, ledger)))
