"""What a connection remembers: SHOW, SET, RESET, DISCARD and DEALLOCATE."""

from __future__ import annotations

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.commands.token_reader import Words
from dpsql.server.commands.transactions import modes


def show(words: Words) -> Command:
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
    else:
        name = _setting(words)
    words.end()
    return command.Show(None if name == "all" else name)


def set_(words: Words) -> Command:
    """SET, of this transaction or of the connection; that of a transaction's modes changes nothing."""
    scope = words.take("session", "local")
    if words.take("characteristics"):
        return command.Idle("SET")
    if words.take("transaction"):
        modes(words)
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


def reset(words: Words) -> Command:
    """RESET of one setting or of all."""
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


def discard(words: Words) -> Command:
    """DISCARD."""
    what = words.take("all", "plans", "sequences", "temp", "temporary")
    if what is None:
        words.fail(words.ahead)
    words.end()
    return command.Discard("TEMP" if what == "temporary" else what.upper())


def deallocate(words: Words) -> Command:
    """DEALLOCATE of one prepared statement or of all."""
    words.take("prepare")
    every = words.take("all")
    name = None if every else words.name()
    words.end()
    return command.Deallocate(name)
