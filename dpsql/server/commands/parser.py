"""Parses a statement of a client into a command;
of COPY those that send a query or a table to the client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from dpsql.errors import NotSupportedError
from dpsql.server.commands import command, session_commands
from dpsql.server.commands.command import Command, CopyOptions
from dpsql.server.commands.tokens import SplitStatement, TokenReader
from dpsql.server.protocol.error_response import WireError

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


def parse_command(piece: SplitStatement) -> Command:
    """The command that a statement is; whatever is not recognised is a query.

    >>> from dpsql.server.commands.tokens import pieces
    >>> parse_command(pieces("fetch 10 from c")[0])
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
    """Whether a CREATE or DROP is that of a synthetic table or a synopsis,
    which the session answers.
    """
    words = [token.text for token in piece.tokens[1:3] if token.kind == "word"]
    return words[:1] == ["synopsis"] or words == ["synthetic", "table"]


def _written(piece: SplitStatement) -> str:
    """The tag of a command that writes: CREATE TABLE, INSERT."""
    words = [token.text.upper() for token in piece.tokens[:6] if token.kind == "word"]
    if words[0] in ("CREATE", "DROP", "ALTER"):
        skipped = (
            "OR",
            "REPLACE",
            "TEMP",
            "TEMPORARY",
            "UNLOGGED",
            "GLOBAL",
            "LOCAL",
            "UNIQUE",
            "RECURSIVE",
        )
        kinds = [word for word in words[1:] if word not in skipped]
        return f"{words[0]} {kinds[0]}" if kinds else words[0]
    return "TRUNCATE TABLE" if words[0] == "TRUNCATE" else words[0]


_FORMATS: dict[str, Literal["text", "csv", "binary"]] = {
    "text": "text",
    "csv": "csv",
    "binary": "binary",
}

_OLD_WORDS = "binary csv header delimiter delimiters null quote escape force encoding".split()


def _read_options(words: TokenReader) -> CopyOptions:
    """Parse the options after TO STDOUT."""
    words.take("with")
    options: dict[str, object] = {}
    if words.sign("("):
        while True:
            _listed(words, options)
            if words.sign(")"):
                break
            if not words.sign(","):
                words.fail(words.ahead)
    else:
        while words.ahead is not None:
            _worded(words, options)
    words.end()
    return _settled(options)


def _listed(words: TokenReader, options: dict[str, object]) -> None:
    name = words.name()
    match name:
        case "format":
            options["format"] = words.any().text.lower()
        case "header":
            value = (
                "true" if words.ahead is None or words.ahead.kind == "sign" else words.any().text
            )
            options["header"] = value.lower() in ("true", "on", "1")
        case "delimiter" | "null" | "quote" | "escape":
            options[name] = words.any().text
        case "force_quote":
            options["force_quote"] = "*" if words.sign("*") else _names(words)
        case "encoding":
            _only_utf8(words.any().text)
        case (
            "oids"
            | "freeze"
            | "force_null"
            | "force_not_null"
            | "on_error"
            | "default"
            | "log_verbosity"
        ):
            raise NotSupportedError(f"COPY option {name} is not supported; leave it out")
        case _:
            raise WireError("42601", f'option "{name}" not recognized')


_OPTION_WORDS = (
    "binary",
    "csv",
    "header",
    "delimiter",
    "delimiters",
    "null",
    "quote",
    "escape",
    "force",
    "encoding",
)


def _worded(words: TokenReader, options: dict[str, object]) -> None:
    match words.take(*_OPTION_WORDS):
        case "binary" | "csv" as name:
            options["format"] = name
        case "header":
            options["header"] = True
        case "delimiter" | "delimiters":
            words.take("as")
            options["delimiter"] = words.any().text
        case "null" | "quote" | "escape" as name:
            words.take("as")
            options[name] = words.any().text
        case "force":
            if not words.take("quote"):
                words.fail(words.ahead)
            options["force_quote"] = "*" if words.sign("*") else _names(words)
        case "encoding":
            _only_utf8(words.any().text)
        case _:
            words.fail(words.ahead)


def _names(words: TokenReader) -> frozenset[str]:
    enclosed = words.sign("(")
    names = {words.name()}
    while words.sign(","):
        names.add(words.name())
    if enclosed and not words.sign(")"):
        words.fail(words.ahead)
    return frozenset(names)


def _only_utf8(name: str) -> None:
    if name.lower().replace("-", "") not in ("utf8", "unicode"):
        raise NotSupportedError("COPY writes UTF8 only")


def _settled(all_options: dict[str, object]) -> CopyOptions:
    """The options with the defaults of their format; delimiters are one byte, as in PostgreSQL."""
    form = _FORMATS.get(str(all_options.get("format", "text")))
    if form is None:
        raise WireError("22023", "COPY writes the formats text, csv and binary")
    options = CopyOptions(form)
    if form == "csv":
        options = replace(options, delimiter=",", null="")
    settings = {name: value for name, value in all_options.items() if name != "format"}
    if form == "binary" and settings:
        raise WireError("0A000", "COPY in the binary format has no other options")
    if form == "text" and settings.keys() & {"quote", "escape", "force_quote"}:
        raise NotSupportedError("COPY quotes only in the format csv")
    if "quote" in settings and "escape" not in settings:
        settings["escape"] = settings["quote"]
    for name in ("delimiter", "quote", "escape"):
        sign = settings.get(name, "x")
        if not isinstance(sign, str) or len(sign.encode()) != 1 or sign in "\r\n\0":
            raise NotSupportedError(f"COPY {name} must be a single one-byte character")
    return replace(options, **settings)  # type: ignore[arg-type]


def _copy(words: TokenReader) -> Command:
    """Read COPY … TO STDOUT; any other COPY is unsupported."""
    if words.ahead is not None and words.ahead.kind == "sign" and words.ahead.text == "(":
        query = words.parenthesised()
    else:
        query = _copied_table(words)
    if words.take("from"):
        return command.WriteCommand("COPY FROM")
    if not words.take("to"):
        words.fail(words.ahead)
    if not words.take("stdout"):
        return command.UnsupportedCommand(
            "COPY TO a file or program", "write COPY (query) TO STDOUT"
        )
    return command.Copy(query, _read_options(words))


def _copied_table(words: TokenReader) -> command.QueryText:
    """The query for COPY of a table: all its columns, or those in parentheses."""
    first = words.any()
    parts = [first.text]
    while words.sign("."):
        parts.append(words.name())
    columns = "*"
    if words.ahead is not None and words.ahead.kind == "sign" and words.ahead.text == "(":
        columns = words.parenthesised().text
    table = ".".join('"' + name.replace('"', '""') + '"' for name in parts)
    return command.QueryText(f"SELECT {columns} FROM {table}", first.start)


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
    "copy": _copy,
    "show": session_commands.show,
    "set": session_commands.set_,
    "reset": session_commands.reset,
    "discard": session_commands.discard,
    "deallocate": session_commands.deallocate,
    "unlisten": lambda words: command.IgnoredCommand("UNLISTEN"),
}
