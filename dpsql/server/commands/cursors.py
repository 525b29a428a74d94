"""Cursors: DECLARE, FETCH, MOVE and CLOSE."""

from __future__ import annotations

from typing import Literal

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.commands.token_reader import Words


def declare(words: Words) -> Command:
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
    return command.Declare(name, words.rest(), binary, scroll, hold)


def fetch(words: Words, move: bool = False) -> Command:
    """FETCH, or MOVE, which shows no rows."""
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


def close(words: Words) -> Command:
    """CLOSE of one cursor or of all."""
    every = words.take("all")
    name = None if every else words.name()
    words.end()
    return command.CloseCursor(name)
