"""An error as the terminal shows it: the reason, the line and a caret, what to write instead, and the page."""

from __future__ import annotations

from dpsql.errors import Error, OperationalError, Position, Refused, StatementError
from dpsql.output import plain


def complaint(error: Error, statement: str = "") -> str:
    """The error in lines for a person.

    >>> error = StatementError("E_COLUMN", "column `x` does not exist", position=Position(1, 8))
    >>> print(complaint(error, "SELECT x"))
    42703 E_COLUMN column `x` does not exist
    LINE 1: SELECT x
                   ^
    More: docs/refusals.md#e_column
    """
    if not isinstance(error, StatementError | Refused):
        said = f"{error.sqlstate} {error}" if isinstance(error, OperationalError) else str(error)
        return "\n".join([said, *getattr(error, "__notes__", ())])
    lines = [f"{error.sqlstate} {error.code} {error.reason}"]
    if error.position:
        lines += _pointed(statement, error.position)
    if error.hint:
        lines.append(f"Write instead: {error.hint}")
    return "\n".join([*lines, f"More: {error.page}"])


def _pointed(statement: str, position: Position) -> list[str]:
    """The statement's line with a caret under the place; nothing where the place is not in the statement."""
    from wcwidth import wcswidth

    lines = statement.split("\n")
    if not 1 <= position.line <= len(lines):
        return []
    line = plain(lines[position.line - 1].replace("\t", " ").rstrip("\r"))
    head = f"LINE {position.line}: "
    before = line[: position.column - 1]
    return [head + line, " " * (len(head) + max(wcswidth(before), 0)) + "^"]
