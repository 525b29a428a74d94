"""Parses a statement of a client into a command."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.server.commands import command, copy, session_commands
from dpsql.server.commands.command import Command
from dpsql.server.commands.tokens import SplitStatement, TokenReader

_WRITES = frozenset(
    "insert update delete merge truncate create drop alter grant revoke comment vacuum analyze reindex cluster refresh "
    "security reassign import".split()
)
_UNSUPPORTED = {
    "prepare": "use the extended protocol's Parse message, or send the query itself",
    "execute": "use the extended protocol's Bind message, or send the query itself",
    "listen": "nothing is ever notified; leave it out",
    "notify": "nothing is ever notified; leave it out",
    "lock": "nothing is ever locked; leave it out",
    "do": "send a query",
    "call": "send a query",
    "load": "send a query",
    "checkpoint": "send a query",
}


def read(piece: SplitStatement) -> Command:
    """The command that a statement is; whatever is not recognised is a query.

    >>> from dpsql.server.commands.tokens import pieces
    >>> read(pieces("fetch 10 from c")[0])
    Fetch(name='c', direction='FORWARD', count=10, move=False)
    """
    first = piece.tokens[0]
    if first.kind == "word":
        if first.text in ("create", "drop") and _names_release(piece):
            return command.QueryText(piece.text, piece.start)
        if first.text in _WRITES:
            return command.WriteCommand(_written(piece))
        if first.text in _UNSUPPORTED:
            return command.UnsupportedCommand(first.text.upper(), _UNSUPPORTED[first.text])
        reader = _READERS.get(first.text)
        if reader is not None:
            words = TokenReader(piece)
            words.any()
            return reader(words)
    return command.QueryText(piece.text, piece.start)


def _names_release(piece: SplitStatement) -> bool:
    """Whether a CREATE or DROP is that of a synthetic table or a synopsis, which the session answers."""
    words = [token.text for token in piece.tokens[1:3] if token.kind == "word"]
    return words[:1] == ["synopsis"] or words == ["synthetic", "table"]


def _written(piece: SplitStatement) -> str:
    """The tag of a command that writes: CREATE TABLE, INSERT."""
    words = [token.text.upper() for token in piece.tokens[:4] if token.kind == "word"]
    if words[0] in ("CREATE", "DROP", "ALTER"):
        skipped = ("OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "GLOBAL", "LOCAL", "UNIQUE", "RECURSIVE")
        kinds = [word for word in words[1:] if word not in skipped]
        return f"{words[0]} {kinds[0]}" if kinds else words[0]
    return "TRUNCATE TABLE" if words[0] == "TRUNCATE" else words[0]


_READERS: dict[str, Callable[[TokenReader], Command]] = {
    "begin": session_commands.begin,
    "start": session_commands.start,
    "commit": session_commands.commit,
    "end": session_commands.commit,
    "rollback": session_commands.rollback,
    "abort": session_commands.rollback,
    "savepoint": session_commands.savepoint,
    "release": session_commands.release,
    "declare": session_commands.declare,
    "fetch": session_commands.fetch,
    "move": lambda words: session_commands.fetch(words, move=True),
    "close": session_commands.close,
    "copy": copy.copy,
    "show": session_commands.show,
    "set": session_commands.set_,
    "reset": session_commands.reset,
    "discard": session_commands.discard,
    "deallocate": session_commands.deallocate,
    "unlisten": lambda words: command.IgnoredCommand("UNLISTEN"),
}
