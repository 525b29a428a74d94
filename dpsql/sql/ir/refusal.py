"""Refusals: a stable code, the place in the statement, and the reason."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.errors import Position, Refused, StatementError

#: Codes of statements that are not well formed;
#: every other code is a refusal of a well-formed statement.
_MALFORMED = frozenset(
    {
        "E_PARSE",
        "E_CHARSET",
        "E_MULTI",
        "E_LIMITS",
        "E_PARAM",
        "E_TABLE",
        "E_COLUMN",
        "E_TYPE",
        "E_FUNC",
    }
)


def refuse(
    code: str, reason: str, at: exp.Expr | Position | None = None, *, sqlstate: str | None = None
) -> NoReturn:
    """Raise the refusal of that code at a position or node; ``sqlstate`` replaces the code's own.

    Raises:
        StatementError: If the code is one of statements that are not well formed.
        Refused: For every other code.
    """
    position = position_of(at) if isinstance(at, exp.Expr) else at
    kind = StatementError if code in _MALFORMED else Refused
    raise kind(code, reason, position=position, sqlstate=sqlstate)


def position_of(node: exp.Expr) -> Position | None:
    """The first place in the statement that the node or one of its parts remembers."""
    places = [
        (inner.meta["line"], inner.meta["col"] - (inner.meta["end"] - inner.meta["start"]))
        for inner in node.walk()
        if "line" in inner.meta
    ]
    return Position(*min(places)) if places else None


def position_at(text: str, offset: int) -> Position:
    """The position (line and column) of a character offset."""
    before = text[:offset]
    return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def called(node: exp.Expr) -> str:
    """The function's name as the analyst wrote it, in capitals."""
    written = node.meta.get("dpsql_written", "")
    if written.isidentifier():
        return str(written).upper()
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name().upper() if isinstance(node, exp.Func) else node.key.upper()


#: Parts of a statement that have a code of their own, wherever they stand.
_PARTS = {"sample": "E_SAMPLE"}


def only(node: exp.Expr, *names: str, code: str = "E_STMT", subject: str | None = None) -> None:
    """Refuse the node unless every argument that is set is one of ``names``."""
    for name, value in node.args.items():
        if value and name not in names:
            if name == "pivots":
                refuse(
                    "E_PIVOT",
                    "PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or "
                    "write COUNT(*) FILTER (WHERE …) for each column",
                    node,
                )
            refused = (
                subject or f"{node.key.upper()} with {name.strip('_').replace('_', ' ').upper()}"
            )
            refuse(
                _PARTS.get(name, code),
                f"{refused} is not supported",
                value if isinstance(value, exp.Expr) else node,
            )
