"""The owner's log of failures: the loggers under "dpsql",
which are silent until the owner configures them.

A line has the incident number that the analyst was told, the kind of the error, and dpsql's own
message if there is one. It has no message of the engine, which may quote rows, and no statement.
Nothing reads the log back; commands tell their reader, who is the owner, what they write into it.
"""

from __future__ import annotations

import logging
import os
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsql.errors import (
    Error,
    InterfaceError,
    LedgerError,
    OperationalError,
    incident_note,
    incident_number,
)

LOG = logging.getLogger("dpsql")
# Else Python writes warnings to the terminal, which may be the analyst's.
LOG.addHandler(logging.NullHandler())
FORMAT = "%(asctime)s %(levelname)s %(message)s"


#: The causes of the newest incidents, where the reader of errors is the owner: on the command line.
_RECENT: deque[tuple[str, str]] = deque(maxlen=200)
_reader_is_owner = False


def record(doing: str, error: BaseException) -> None:
    """Log an error, and what was being done when it occurred."""
    number = incident_number()
    LOG.warning("incident=%s %s: %s", number, doing, cause(error))
    if _reader_is_owner:
        _RECENT.append((number, f"{doing}: {cause(error)}"))


def tell_the_reader() -> None:
    """Give causes of incidents to who reads the errors of this process, who is the owner,
    and not to the log alone.
    """
    global _reader_is_owner
    _reader_is_owner = True


def notes(error: BaseException) -> list[str]:
    """The notes of an error for its reader; for the owner,
    one that names an incident has the cause itself.
    """
    return [line for note in getattr(error, "__notes__", ()) for line in _with_cause(note)]


def _with_cause(note: str) -> list[str]:
    causes = [cause for number, cause in _RECENT if note == incident_note(number)]
    return list(dict.fromkeys(causes)) or [note]


@contextmanager
def swallowed(doing: str) -> Iterator[None]:
    """Log any error of the block, and let nobody else see it."""
    try:
        yield
    except Exception as error:
        record(doing, error)


def cause(error: BaseException) -> str:
    """The kind of an error and of its causes, with messages of dpsql and the operating system only.

    >>> cause(ValueError("Smith, 54"))
    'ValueError'
    >>> cause(LedgerError("the ledger cannot be locked"))
    'LedgerError: the ledger cannot be locked'
    """
    name = type(error).__name__
    kind = getattr(error, "kind", "")
    if isinstance(error, LedgerError | InterfaceError) or type(error) is OperationalError:
        name += f": {error}"
    elif isinstance(error, OSError) and error.strerror:
        name += f": {error.strerror}"
    elif (
        isinstance(kind, str)
        and re.fullmatch("[A-Za-z]{1,60}", kind)
        and not isinstance(error, Error)
    ):
        name += f": {kind}"
    before = error.__cause__
    return name if before is None else f"{name}, from {cause(before)}"


def write_to(file: str | Path) -> None:
    """Append the log to a file, which only this user may read;
    raises InterfaceError if it cannot be written.
    """
    try:
        stream = os.fdopen(
            os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), "a"
        )
    except OSError:
        raise InterfaceError(f"{file}: the log cannot be written there") from None
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(FORMAT))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
