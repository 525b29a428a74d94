"""Converts dpsql's errors to the fields of an ErrorResponse, in PostgreSQL's words."""

from __future__ import annotations

from dpsql.errors import (
    BudgetExhausted,
    DataError,
    Error,
    ExecutionFailed,
    LedgerError,
    NotSupportedError,
    OperationalError,
    PostProcessingFailed,
    PostProcessingStopped,
    ProgrammingError,
    Refused,
    StatementError,
    incident_note,
    owners_log,
    statement_incident,
)
from dpsql.server.commands.tokens import CommandSyntaxError

#: What a client is told of a fault of dpsql, whatever it was.
FAULT = "internal error; what the statement cost stays charged"


class WireError(Error):
    """An error of the protocol, with its SQLSTATE and perhaps a hint."""

    def __init__(self, sqlstate: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.hint = hint


class StalePlanError(WireError):
    """The columns are no longer those that a prepared statement was described with;
    drivers then prepare it again.

    They know it by the function that raises it in PostgreSQL, which is a field of the response.
    """

    routine = "RevalidateCachedQuery"

    def __init__(self) -> None:
        hint = "dpsql.intervals was changed; prepare the statement again, or DEALLOCATE ALL."
        super().__init__("0A000", "cached plan must not change result type", hint)


def error_fields(
    error: Exception, text: str = "", start: int = 0, severity: str = "ERROR"
) -> dict[str, str]:
    """The fields of an error in the statement ``text``,
    which starts at character ``start`` of what the client sent.

    >>> error_fields(WireError("25P02", "no"))
    {'S': 'ERROR', 'V': 'ERROR', 'C': '25P02', 'M': 'no'}
    """
    fields = {"S": severity, "V": severity, "C": "XX000", "M": FAULT}
    match error:
        case StatementError() | Refused():
            fields |= {
                "C": error.sqlstate,
                "M": error.reason,
                "D": f"{error.code}, see {error.page}",
            }
            if error.hint:
                fields["H"] = f"Write instead: {error.hint}"
            if error.position is not None and error.code != "E_SHELL":
                fields["P"] = str(
                    start + _offset(text, error.position.line, error.position.column) + 1
                )
        case StalePlanError():
            fields |= {
                "C": error.sqlstate,
                "M": str(error),
                "H": str(error.hint),
                "R": error.routine,
            }
        case WireError():
            fields |= {"C": error.sqlstate, "M": str(error)} | (
                {"H": error.hint} if error.hint else {}
            )
        case CommandSyntaxError():
            fields |= {"C": error.sqlstate, "M": str(error)}
            if error.offset is not None:
                fields["P"] = str(error.offset + 1)
        case PostProcessingFailed() | PostProcessingStopped():
            fields |= {
                "C": error.sqlstate,
                "M": error.reason,
                "D": "E_SHELL, see docs/refusals.md#e_shell",
            }
        case LedgerError():
            fields |= {
                "C": error.sqlstate,
                "M": "the ledger could not be read or written; nothing was released",
            }
            fields["D"] = _noted(error)
        case OperationalError(sqlstate="57014") | ProgrammingError(sqlstate="42704"):
            fields |= {"C": error.sqlstate, "M": str(error)}
        case ExecutionFailed():
            fields |= {"C": error.sqlstate, "M": str(error), "D": incident_note(error.incident)}
        case BudgetExhausted() | DataError() | NotSupportedError():
            fields |= {"C": error.sqlstate, "M": str(error)}
        case OperationalError():
            fields |= {"C": error.sqlstate, "M": str(error), "D": _noted(error)}
        case _:
            fields["D"] = _noted(error)
    return {name: value.replace("\0", "") for name, value in fields.items()}


def _noted(error: Exception) -> str:
    """The detail of an error whose cause only the owner's log has."""
    with statement_incident() as number:
        owners_log.record("answering a client", error)
    return incident_note(number)


def notice_fields(
    message: str, severity: str = "NOTICE", sqlstate: str = "00000"
) -> dict[str, str]:
    """The fields of a notice or a warning."""
    return {"S": severity, "V": severity, "C": sqlstate, "M": message}


def _offset(text: str, line: int, column: int) -> int:
    """The characters before a line and a column, both counted from 1."""
    lines = text.split("\n")
    return sum(len(earlier_line) + 1 for earlier_line in lines[: line - 1]) + column - 1
