"""What may cross between Python and dpsql: typed parameters inwards, errors in dpsql's words outwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dpsql.errors import Error, InternalError, ProgrammingError, incident, owners_log

T = TypeVar("T")


def bound(parameters: Sequence[object]) -> tuple[object, ...]:
    """The values for the ? of a statement; ProgrammingError where they are not a sequence."""
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Sequence):
        raise ProgrammingError("parameters are a sequence, one value for each ? of the statement")
    return tuple(parameters)


def said_by(action: Callable[[], T]) -> T:
    """The action's value, or one error in dpsql's words.

    What an engine or Python said, and the frames that held exact rows, do not hang on to it: they could quote the data.
    """
    with incident.statement() as number:
        try:
            return action()
        except Error as error:
            found = error
        except Exception as error:
            owners_log.record("a fault of dpsql", error)
            found = InternalError("E_INTERNAL the statement met a fault of dpsql; what it cost stays charged")
            found.add_note(incident.told(number))
    found.__cause__ = found.__context__ = None
    raise found.with_traceback(None)
