"""Every exception that dpsql raises, with its SQLSTATE.

Each message names what the statement or the schema says, never what the data hold::

    Exception
    ├── Warning
    └── Error
        ├── InterfaceError                wrong use of the Python interface
        │   └── SchemaError               the owner's schema file: file, table, column and the mend
        └── DatabaseError
            ├── DataError                 a parameter that has no SQL value
            │   ├── InvalidText           22P02   a text that is no value of its parameter's type
            │   └── PostProcessingFailed  22003, 22P02 …  post-processing failed on a value
            ├── OperationalError
            │   ├── BudgetExhausted       53400   the total, or an analyst's cap, does not admit the price
            │   ├── LedgerError           58030   the ledger cannot be read or written: nothing is released
            │   ├── ExecutionFailed       XX000   one constant message; the charge stays
            │   ├── PostProcessingStopped 53200, 57014    post-processing needs too much time or memory
            │   └── QueryCancelled        57014   cancelled by the analyst; the charge stays
            ├── IntegrityError
            ├── InternalError
            ├── ProgrammingError
            │   └── StatementError        42601, 42P01, 42703 …  the statement is not well formed
            └── NotSupportedError
                └── Refused               42501, 0A000  understood, and not answered privately
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

#: The random number of this thread's statement,
#: by which an analyst can ask the owner why it #: failed.
_INCIDENT: ContextVar[str | None] = ContextVar("dpsql incident", default=None)


def incident_number() -> str:
    """The number of this thread's statement, or a fresh one outside of statements:
    eight random hexadecimal digits.
    """
    return _INCIDENT.get() or secrets.token_hex(4)


@contextmanager
def statement_incident(number: str | None = None) -> Iterator[str]:
    """Run one statement under a number that is drawn before it begins;
    a statement inside another has the outer number.

    A thread that works for a statement of another thread passes that one's ``number``.
    """
    number = number or incident_number()
    before = _INCIDENT.set(number)
    try:
        yield number
    finally:
        _INCIDENT.reset(before)


def incident_note(number: str) -> str:
    """The note to an analyst beside an error that does not tell its cause.

    >>> incident_note("1f0c9a2e")
    'incident 1f0c9a2e: the cause is in the log of the owner'
    """
    return f"incident {number}: the cause is in the log of the owner"


class Warning(Exception):
    """Important warnings, as PEP 249 defines them."""


class Error(Exception):
    """The root of every error that dpsql raises."""

    sqlstate = "XX000"


class InterfaceError(Error):
    """An error of the Python interface rather than of the database."""

    sqlstate = "08000"


class SchemaError(InterfaceError):
    """The owner's schema file is not valid; the message names file, table, column and the mend."""

    sqlstate = "F0000"


class DatabaseError(Error):
    """An error of the database."""


class DataError(DatabaseError):
    """A value that cannot be used, such as a parameter that has no SQL type."""

    sqlstate = "22000"


class InvalidText(DataError):
    """A parameter's text is no value of the parameter's type.

    >>> str(InvalidText("BIGINT", "ten"))
    'invalid input syntax for type bigint: "ten"'
    """

    sqlstate = "22P02"

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f'invalid input syntax for type {kind.lower()}: "{text}"')


class PostProcessingFailed(DataError):
    """Post-processing failed on a value of a released row; the charge stays."""

    def __init__(self, sqlstate: str, reason: str) -> None:
        self.sqlstate = sqlstate
        self.reason = f"over the released rows: {reason}"
        super().__init__(f"E_SHELL {self.reason}")


class OperationalError(DatabaseError):
    """An error of the database's operation."""


class IntegrityError(DatabaseError):
    """A violated constraint; dpsql only reads, so it never raises it."""

    sqlstate = "23000"


class InternalError(DatabaseError):
    """An inconsistency inside dpsql."""


class ProgrammingError(DatabaseError):
    """A wrong statement, or a wrong use of a cursor."""

    sqlstate = "42601"


class NotSupportedError(DatabaseError):
    """Something that dpsql does not do."""

    sqlstate = "0A000"


class BudgetExhausted(OperationalError):
    """The price of the statement is more than what is left of the budget."""

    sqlstate = "53400"


class LedgerError(OperationalError):
    """The ledger could not be read or written; nothing was released."""

    sqlstate = "58030"


class ExecutionFailed(OperationalError):
    """The engine could not complete the statement; the charge stays,
    unless the message says that there was none.

    ``incident`` is a random number under which the owner's log has the cause;
    a note of the error tells it.

    >>> str(ExecutionFailed())
    'E_EXEC query could not be completed'
    """

    sqlstate = "XX000"

    def __init__(self, message: str = "query could not be completed") -> None:
        super().__init__(f"E_EXEC {message}")
        self.incident = incident_number()
        self.add_note(incident_note(self.incident))


class PostProcessingStopped(OperationalError):
    """Post-processing needed too much time or memory; the charge stays."""

    def __init__(self, sqlstate: str, reason: str) -> None:
        self.sqlstate = sqlstate
        self.reason = f"over the released rows: {reason}"
        super().__init__(f"E_SHELL {self.reason}")


class QueryCancelled(OperationalError):
    """The analyst cancelled the statement; its charge stays."""

    sqlstate = "57014"

    def __init__(self) -> None:
        super().__init__("canceling statement due to user request; what was charged stays charged")


@dataclass(frozen=True)
class Position:
    """A place in a statement: line and column, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class _Diagnosed(DatabaseError):
    """A refusal with a stable code, a position,
    a reason and a hint that says what to write instead.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        hint: str | None = None,
        position: Position | None = None,
        sqlstate: str | None = None,
    ) -> None:
        self.code = code
        self.reason = reason
        self.hint = hint
        self.position = position
        where = f" ({position})" if position else ""
        mend = f"\n  Write instead: {hint}" if hint else ""
        super().__init__(f"{code} {reason}{where}{mend}")
        self.sqlstate = sqlstate or SQLSTATES[code]

    @property
    def page(self) -> str:
        """The section of the documentation on this code."""
        return f"docs/refusals.md#{self.code.lower()}"


class StatementError(_Diagnosed, ProgrammingError):
    """The statement is not well formed, or names what the schema does not have."""


class Refused(_Diagnosed, NotSupportedError):
    """The statement is understood and has no private answer."""


#: The stable codes of refusals and the SQLSTATE of each.
SQLSTATES = {
    "E_PARSE": "42601",
    "E_CHARSET": "42601",
    "E_MULTI": "42601",
    "E_LIMITS": "54001",
    "E_PARAM": "22023",
    "E_TABLE": "42P01",
    "E_COLUMN": "42703",
    "E_TYPE": "42804",
    "E_SHELL": "42601",
    "E_STMT": "0A000",
    "E_FUNC": "42883",
    "E_AGG": "42501",
    "E_RAW": "42501",
    "E_BOUNDS": "42501",
    "E_JOIN": "42501",
    "E_SUBQ": "42501",
    "E_SETOP": "42501",
    "E_NESTED": "42501",
    "E_WINDOW": "42501",
    "E_LIMIT": "42501",
    "E_DISTINCT": "42501",
    "E_KEY": "42501",
    "E_GROUPING": "0A000",
    "E_PIVOT": "0A000",
    "E_SAMPLE": "42501",
    "E_RECURSIVE": "0A000",
}
