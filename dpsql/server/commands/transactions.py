"""Transactions and savepoints: BEGIN, COMMIT, ROLLBACK and their like, which change nothing but what is open."""

from __future__ import annotations

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.commands.token_reader import Words


def begin(words: Words) -> Command:
    """BEGIN, whose modes change nothing."""
    words.take("work", "transaction")
    modes(words)
    return command.Begin("BEGIN")


def start(words: Words) -> Command:
    """START TRANSACTION."""
    if not words.take("transaction"):
        words.fail(words.ahead)
    modes(words)
    return command.Begin("START TRANSACTION")


def modes(words: Words) -> None:
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


def commit(words: Words) -> Command:
    """COMMIT or END."""
    if words.take("prepared"):
        return command.Unsupported("COMMIT PREPARED", "use COMMIT")
    return command.Commit(_chain(words))


def rollback(words: Words) -> Command:
    """ROLLBACK or ABORT, of all or to a savepoint."""
    words.take("work", "transaction")
    if words.take("to"):
        words.take("savepoint")
        name = words.name()
        words.end()
        return command.Savepoint("ROLLBACK", name)
    return command.Rollback(_chain(words))


def savepoint(words: Words) -> Command:
    """SAVEPOINT."""
    name = words.name()
    words.end()
    return command.Savepoint("SAVEPOINT", name)


def release(words: Words) -> Command:
    """RELEASE of a savepoint."""
    words.take("savepoint")
    name = words.name()
    words.end()
    return command.Savepoint("RELEASE", name)
