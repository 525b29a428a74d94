"""Reads the commands that change the connection alone: transactions, cursors, settings,
prepared statements.
"""

from __future__ import annotations

from typing import Literal

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.commands.tokens import TokenReader


def begin(words: TokenReader) -> Command:
    """BEGIN; its modes have no effect."""
    words.take("work", "transaction")
    modes(words)
    return command.BeginTransaction("BEGIN")


def start(words: TokenReader) -> Command:
    """START TRANSACTION."""
    if not words.take("transaction"):
        words.fail(words.ahead)
    modes(words)
    return command.BeginTransaction("START TRANSACTION")


def modes(words: TokenReader) -> None:
    """Skip isolation and access modes, which have no effect: every transaction is read-only."""
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


def _chain(words: TokenReader) -> bool:
    words.take("work", "transaction")
    if words.take("and"):
        no = words.take("no")
        if not words.take("chain"):
            words.fail(words.ahead)
        words.end()
        return not no
    words.end()
    return False


def commit(words: TokenReader) -> Command:
    """COMMIT or END."""
    if words.take("prepared"):
        return command.UnsupportedCommand("COMMIT PREPARED", "use COMMIT")
    return command.Commit(_chain(words))


def rollback(words: TokenReader) -> Command:
    """ROLLBACK or ABORT, of all or to a savepoint."""
    words.take("work", "transaction")
    if words.take("to"):
        words.take("savepoint")
        name = words.name()
        words.end()
        return command.Savepoint("ROLLBACK", name)
    return command.Rollback(_chain(words))


def savepoint(words: TokenReader) -> Command:
    """SAVEPOINT."""
    name = words.name()
    words.end()
    return command.Savepoint("SAVEPOINT", name)


def release(words: TokenReader) -> Command:
    """RELEASE of a savepoint."""
    words.take("savepoint")
    name = words.name()
    words.end()
    return command.Savepoint("RELEASE", name)


def declare(words: TokenReader) -> Command:
    """DECLARE of a cursor over a query."""
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
    return command.Declare(name, words.rest(), binary, scroll, hold=hold)


def fetch(words: TokenReader, move: bool = False) -> Command:
    """FETCH, or MOVE, which shows no rows."""
    direction, count = _direction(words)
    words.take("from", "in")
    name = words.name()
    words.end()
    return command.Fetch(name, direction, count, move)


_DIRECTIONS = (
    "next",
    "prior",
    "first",
    "last",
    "absolute",
    "relative",
    "forward",
    "backward",
    "all",
)


def _direction(
    words: TokenReader,
) -> tuple[Literal["FORWARD", "BACKWARD", "ABSOLUTE", "RELATIVE"], int | None]:
    match words.take(*_DIRECTIONS):
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


def _required(words: TokenReader) -> int:
    number = words.number()
    if number is None:
        words.fail(words.ahead)
    return number


def _how_many(words: TokenReader) -> int | None:
    if words.take("all"):
        return None
    number = words.number()
    return 1 if number is None else number


def close(words: TokenReader) -> Command:
    """CLOSE of one cursor or of all."""
    every = words.take("all")
    name = None if every else words.name()
    words.end()
    return command.CloseCursor(name)


def show(words: TokenReader) -> Command:
    """SHOW of one setting or of all."""
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
    elif words.take("synthetic"):
        words.take("tables")
        name = "synthetic tables"
    else:
        name = _setting(words)
    words.end()
    return command.ShowSetting(None if name == "all" else name)


def set_(words: TokenReader) -> Command:
    """SET for the transaction or the connection; SET TRANSACTION has no effect."""
    scope = words.take("session", "local")
    if words.take("characteristics"):
        return command.IgnoredCommand("SET")
    if words.take("transaction"):
        modes(words)
        return command.IgnoredCommand("SET")
    if words.take("constraints"):
        return command.IgnoredCommand("SET CONSTRAINTS")
    if words.take("role", "authorization"):
        if words.take("none", "default"):
            words.end()
            return command.IgnoredCommand("SET")
        return command.UnsupportedCommand(
            "SET ROLE", "who asks is decided when a connection is made"
        )
    if words.take("time"):
        words.take("zone")
        return command.SetSetting("timezone", _values(words), scope == "local")
    if words.take("names"):
        return command.SetSetting("client_encoding", _values(words), scope == "local")
    name = _setting(words)
    if not (words.sign("=") or words.take("to")):
        words.fail(words.ahead)
    return command.SetSetting(name, _values(words), scope == "local")


def _setting(words: TokenReader) -> str:
    name = words.name().lower()
    while words.sign("."):
        name += "." + words.name().lower()
    return name


def _values(words: TokenReader) -> str | None:
    """The value of SET, or a list of them; None for DEFAULT and LOCAL."""
    if words.take("default", "local"):
        words.end()
        return None
    values: list[str] = []
    while True:
        sign = "-" if words.sign("-") else ""
        token = words.any()
        if token.kind == "sign":
            words.fail(token)
        values.append(sign + token.text)
        if not words.sign(","):
            break
    words.end()
    return ", ".join(values)


def reset(words: TokenReader) -> Command:
    """RESET of one setting or of all."""
    if words.take("all"):
        words.end()
        return command.ResetSetting(None)
    if words.take("time"):
        words.take("zone")
        return command.ResetSetting("timezone")
    if words.take("session"):
        return command.IgnoredCommand("RESET")
    if words.take("role"):
        return command.IgnoredCommand("RESET")
    name = _setting(words)
    words.end()
    return command.ResetSetting(name)


def discard(words: TokenReader) -> Command:
    """DISCARD."""
    target = words.take("all", "plans", "sequences", "temp", "temporary")
    if target is None:
        words.fail(words.ahead)
    words.end()
    return command.Discard("TEMP" if target == "temporary" else target.upper())


def deallocate(words: TokenReader) -> Command:
    """DEALLOCATE of one prepared statement or of all."""
    words.take("prepare")
    every = words.take("all")
    name = None if every else words.name()
    words.end()
    return command.Deallocate(name)
