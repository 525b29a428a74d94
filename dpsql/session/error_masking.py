"""What is said when something goes wrong between the charge and the release: one constant message.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from dpsql.errors import (
    DatabaseError,
    ExecutionFailed,
    QueryCancelled,
    ShellFailed,
    ShellStopped,
    StatementError,
    incident,
    owners_log,
)

#: What the sandbox says of rows that are released already, and what the analyst did.
_PUBLIC: Final = (QueryCancelled, ShellFailed, ShellStopped, StatementError)

T = TypeVar("T")


def told_nothing(work: Callable[[], T]) -> T:
    """What the work gives; ExecutionFailed for trouble of whatever kind, but for what speaks of released rows alone.

    The error has neither a cause nor a trace that leads to where it came from, where exact rows are. The owner's log
    has the kind of trouble, under the number that the error was given before the work began.
    """
    with incident.statement():
        said: DatabaseError = ExecutionFailed()
        try:
            return work()
        except _PUBLIC as error:
            said = error.with_traceback(None)
            said.__cause__ = said.__context__ = None
        except Exception as error:
            owners_log.record("after its charge, which stays", error)
    raise said
