"""The exit codes of the command line."""

from __future__ import annotations

from typing import Final

from dpsql.errors import BudgetExhausted, DatabaseError, Error, ExecutionFailed, OperationalError, QueryCancelled

STATEMENT: Final = 1
USAGE: Final = 2
AUDIT: Final = 3
BUDGET: Final = 4


def exit_code(error: Error) -> int:
    """What the shell is told of an error.

    >>> [exit_code(error) for error in (ExecutionFailed(), BudgetExhausted(), OperationalError(), DatabaseError())]
    [1, 4, 2, 1]
    """
    match error:
        case BudgetExhausted():
            return BUDGET
        case ExecutionFailed() | QueryCancelled():
            return STATEMENT
        case OperationalError():
            return USAGE
        case DatabaseError():
            return STATEMENT
        case _:
            return USAGE
