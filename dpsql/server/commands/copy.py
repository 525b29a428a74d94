"""COPY of a query or of a table to the client; every other COPY is said to be none of dpsql's."""

from __future__ import annotations

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.commands.copy_options import read_options
from dpsql.server.commands.token_reader import Words


def copy(words: Words) -> Command:
    """COPY; what goes to a file or comes from anywhere is none of ours."""
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
