"""Statements of the wire → commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from dpsql.pgwire import command
from dpsql.pgwire.command import Command
from dpsql.pgwire.copy_options import read_options
from dpsql.pgwire.word_reader import Words
from dpsql.pgwire.words import Piece

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


def read(piece: Piece) -> Command:
    """The command that a statement is; everything that is not known here is a query.

    >>> from dpsql.pgwire.words import pieces
    >>> read(pieces("fetch 10 from c")[0])
    Fetch(name='c', direction='FORWARD', count=10, move=False)
    """
    first = piece.tokens[0]
    if first.kind == "word":
        if first.text in _WRITES:
            return command.Writes(_written(piece))
        if first.text in _UNSUPPORTED:
            return command.Unsupported(first.text.upper(), _UNSUPPORTED[first.text])
        reader = _READERS.get(first.text)
        if reader is not None:
            words = Words(piece)
            words.any()
            return reader(words)
    return command.Query(piece.text, piece.start)


def _written(piece: Piece) -> str:
    """The tag of a command that writes: CREATE TABLE, INSERT."""
    words = [token.text.upper() for token in piece.tokens[:4] if token.kind == "word"]
    if words[0] in ("CREATE", "DROP", "ALTER"):
        skipped = ("OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "GLOBAL", "LOCAL", "UNIQUE", "RECURSIVE")
        kinds = [word for word in words[1:] if word not in skipped]
        return f"{words[0]} {kinds[0]}" if kinds else words[0]
    return "TRUNCATE TABLE" if words[0] == "TRUNCATE" else words[0]


def _begin(words: Words) -> Command:
    words.take("work", "transaction")
    _modes(words)
    return command.Begin("BEGIN")


def _start(words: Words) -> Command:
    if not words.take("transaction"):
        words.fail(words.ahead)
    _modes(words)
    return command.Begin("START TRANSACTION")


def _modes(words: Words) -> None:
    """Isolation and access modes: every transaction here reads only, so they change nothing."""
    while words.ahead is not None:
        words.sign(",")
        if words.take("isolation"):
            words.take("level")
            if words.take("serializable") or (words.take("repeatable") and words.take("read")):
                continue
            if words.take("read") and words.take("committed", "uncommitted"):
                continue
        elif words.take("read"):
            mode = words.take("only", "write")
            if mode:
                continue
        elif words.take("deferrable") or (words.take("not") and words.take("deferrable")):
            continue
        words.fail(words.ahead)


def _chain(words: Words) -> bool:
    words.take("work", "transaction")
    if words.take("and"):
        no = words.take("no")
        if not words.take("chain"):
            words.fail(words.ahead)
        words.end()
        return not no
    words.end()
    return False


def _commit(words: Words) -> Command:
    if words.take("prepared"):
        return command.Unsupported("COMMIT PREPARED", "use COMMIT")
    return command.Commit(_chain(words))


def _rollback(words: Words) -> Command:
    words.take("work", "transaction")
    if words.take("to"):
        words.take("savepoint")
        name = words.name()
        words.end()
        return command.Savepoint("ROLLBACK", name)
    return command.Rollback(_chain(words))


def _savepoint(words: Words) -> Command:
    name = words.name()
    words.end()
    return command.Savepoint("SAVEPOINT", name)


def _release(words: Words) -> Command:
    words.take("savepoint")
    name = words.name()
    words.end()
    return command.Savepoint("RELEASE", name)


def _declare(words: Words) -> Command:
    name = words.name()
    binary = scroll = hold = False
    scroll = True
    while not words.take("cursor"):
        if words.take("binary"):
            binary = True
        elif words.take("no"):
            if not words.take("scroll"):
                words.fail(words.ahead)
            scroll = False
        elif not words.take("scroll", "insensitive", "asensitive"):
            words.fail(words.ahead)
    if words.take("with", "without") == "with":
        hold = True
    words.take("hold")
    if not words.take("for"):
        words.fail(words.ahead)
    return command.Declare(name, words.rest(), binary, scroll, hold)


def _fetch(words: Words, move: bool = False) -> Command:
    direction, count = _direction(words)
    words.take("from", "in")
    name = words.name()
    words.end()
    return command.Fetch(name, direction, count, move)


def _direction(words: Words) -> tuple[Literal["FORWARD", "BACKWARD", "ABSOLUTE", "RELATIVE"], int | None]:
    match words.take("next", "prior", "first", "last", "absolute", "relative", "forward", "backward", "all"):
        case "prior":
            return "BACKWARD", 1
        case "first":
            return "ABSOLUTE", 1
        case "last":
            return "ABSOLUTE", -1
        case "all":
            return "FORWARD", None
        case "absolute":
            return "ABSOLUTE", _required(words)
        case "relative":
            return "RELATIVE", _required(words)
        case "forward":
            return "FORWARD", _how_many(words)
        case "backward":
            return "BACKWARD", _how_many(words)
        case _:
            return "FORWARD", _how_many(words)


def _required(words: Words) -> int:
    number = words.number()
    if number is None:
        words.fail(words.ahead)
    return number


def _how_many(words: Words) -> int | None:
    if words.take("all"):
        return None
    number = words.number()
    return 1 if number is None else number


def _close(words: Words) -> Command:
    every = words.take("all")
    name = None if every else words.name()
    words.end()
    return command.CloseCursor(name)


def _copy(words: Words) -> Command:
    if words.ahead is not None and words.ahead.kind == "sign" and words.ahead.text == "(":
        query = words.parenthesised()
    else:
        query = _copied_table(words)
    if words.take("from"):
        return command.Writes("COPY FROM")
    if not words.take("to"):
        words.fail(words.ahead)
    if not words.take("stdout"):
        return command.Unsupported("COPY TO a file or program", "write COPY (query) TO STDOUT")
    return command.Copy(query, read_options(words))


def _copied_table(words: Words) -> command.Query:
    """COPY of a table is COPY of a query of all its columns, or of those in the parentheses."""
    first = words.any()
    parts = [first.text]
    while words.sign("."):
        parts.append(words.name())
    columns = "*"
    if words.ahead is not None and words.ahead.kind == "sign" and words.ahead.text == "(":
        columns = words.parenthesised().text
    table = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    return command.Query(f"SELECT {columns} FROM {table}", first.start)


def _show(words: Words) -> Command:
    if words.take("time"):
        words.take("zone")
        name = "timezone"
    elif words.take("transaction"):
        words.take("isolation")
        words.take("level")
        name = "transaction_isolation"
    elif words.take("session"):
        words.take("authorization")
        name = "session_authorization"
    else:
        name = _setting(words)
    words.end()
    return command.Show(None if name == "all" else name)


def _set(words: Words) -> Command:
    scope = words.take("session", "local")
    if words.take("characteristics"):
        return command.Idle("SET")
    if words.take("transaction"):
        _modes(words)
        return command.Idle("SET")
    if words.take("constraints"):
        return command.Idle("SET CONSTRAINTS")
    if words.take("role", "authorization"):
        if words.take("none", "default"):
            words.end()
            return command.Idle("SET")
        return command.Unsupported("SET ROLE", "who asks is decided when a connection is made")
    if words.take("time"):
        words.take("zone")
        return command.Set("timezone", _values(words), scope == "local")
    if words.take("names"):
        return command.Set("client_encoding", _values(words), scope == "local")
    name = _setting(words)
    if not (words.sign("=") or words.take("to")):
        words.fail(words.ahead)
    return command.Set(name, _values(words), scope == "local")


def _setting(words: Words) -> str:
    name = words.name().lower()
    while words.sign("."):
        name += "." + words.name().lower()
    return name


def _values(words: Words) -> str | None:
    """The value of SET, or a list of them; None for DEFAULT and LOCAL."""
    if words.take("default", "local"):
        words.end()
        return None
    found: list[str] = []
    while True:
        sign = "-" if words.sign("-") else ""
        token = words.any()
        if token.kind == "sign":
            words.fail(token)
        found.append(sign + token.text)
        if not words.sign(","):
            break
    words.end()
    return ", ".join(found)


def _reset(words: Words) -> Command:
    if words.take("all"):
        words.end()
        return command.Reset(None)
    if words.take("time"):
        words.take("zone")
        return command.Reset("timezone")
    if words.take("session"):
        return command.Idle("RESET")
    if words.take("role"):
        return command.Idle("RESET")
    name = _setting(words)
    words.end()
    return command.Reset(name)


def _discard(words: Words) -> Command:
    what = words.take("all", "plans", "sequences", "temp", "temporary")
    if what is None:
        words.fail(words.ahead)
    words.end()
    return command.Discard("TEMP" if what == "temporary" else what.upper())


def _deallocate(words: Words) -> Command:
    words.take("prepare")
    every = words.take("all")
    name = None if every else words.name()
    words.end()
    return command.Deallocate(name)


_READERS: dict[str, Callable[[Words], Command]] = {
    "begin": _begin, "start": _start, "commit": _commit, "end": _commit, "rollback": _rollback, "abort": _rollback,
    "savepoint": _savepoint, "release": _release, "declare": _declare, "fetch": _fetch,
    "move": lambda words: _fetch(words, move=True), "close": _close, "copy": _copy, "show": _show,
    "set": _set, "reset": _reset,
    "discard": _discard, "deallocate": _deallocate, "unlisten": lambda words: command.Idle("UNLISTEN"),
}  # fmt: skip
