"""Where the lines that a person typed are kept: a file of that person alone, or nowhere."""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

#: A path, or ``off``.
VARIABLE = "DPSQL_HISTORY"


def history() -> History:
    """The history to use; one that is forgotten where it is switched off or its file cannot be made."""
    file = history_file()
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
    except OSError:
        return InMemoryHistory()
    return FileHistory(file)


def history_file() -> Path | None:
    """The file that is named by DPSQL_HISTORY, or the one in the state folder of the XDG rules; None if off."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.strip().lower() in ("", "off", "none", "0") else Path(named).expanduser()
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return folder / "dpsql" / "history"
