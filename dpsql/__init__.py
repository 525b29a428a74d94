"""dpsql: differentially private SQL.

``connect`` opens a private database by its schema file (PEP 249); the rest are the names that
PEP 249 asks for. What a client does to its own value before it is collected is `dpsql.local`.
"""

from types import ModuleType

from dpsql.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Connection,
    Cursor,
    Date,
    DateFromTicks,
    Interval,
    QueryResult,
    Row,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    apilevel,
    connect,
    paramstyle,
    threadsafety,
)
from dpsql.errors import (
    BudgetExhausted,
    DatabaseError,
    DataError,
    Error,
    ExecutionFailed,
    IntegrityError,
    InterfaceError,
    InternalError,
    InvalidText,
    LedgerError,
    NotSupportedError,
    OperationalError,
    PostProcessingFailed,
    PostProcessingStopped,
    ProgrammingError,
    QueryCancelled,
    Refused,
    SchemaError,
    StatementError,
    Warning,
)

__version__ = "0.1.0"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "BudgetExhausted",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "ExecutionFailed",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "Interval",
    "InvalidText",
    "LedgerError",
    "NotSupportedError",
    "OperationalError",
    "PostProcessingFailed",
    "PostProcessingStopped",
    "ProgrammingError",
    "QueryCancelled",
    "QueryResult",
    "Refused",
    "Row",
    "SchemaError",
    "StatementError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "local",
    "paramstyle",
    "threadsafety",
]


def __getattr__(name: str) -> ModuleType:
    """`dpsql.local`, imported when it is first asked for: connecting needs none of it."""
    if name != "local":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dpsql.privacy import local

    return local
