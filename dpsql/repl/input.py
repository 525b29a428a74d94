"""Splits input into statements, which end with a semicolon, and backslash commands,
which end with their line.

A line that begins with a dot, as in SQLite's and DuckDB's terminals,
is the command of that name: ``.tables``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

_QUIET = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/"
_MARK = re.compile(
    rf"(?P<quiet>{_QUIET})|(?P<end>;)|(?P<command>\\)|(?P<open>['\"]|/\*)|(?P<for>\bfor\s*\()|(?P<round>[()])",
    re.DOTALL | re.IGNORECASE,
)
_NOTHING = re.compile(r"\s*+(?:(?:--[^\n]*+(?:\n|$)|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/)\s*+)*")
_COMMAND = re.compile(r"\\(\?|[A-Za-z]+)[ \t]*([^\n]*)(?:\n|$)")
_DOT_COMMAND = re.compile(r"\.([A-Za-z]+)[ \t]*([^\n]*)(?:\n|$)")

_LISTING = re.compile(
    r'SHOW\s+(?:ALL\s+)?TABLES|DESC(?:RIBE)?\s+((?:\w+\.)?\w+|"[^"]+")', re.IGNORECASE
)


@dataclass(frozen=True)
class SqlStatement:
    """One statement, without its semicolon; ``line`` is its first line, counted from 1."""

    text: str
    line: int


@dataclass(frozen=True)
class BackslashCommand:
    """A backslash command; ``before`` is the unfinished statement in front of it,
    if there is one.
    """

    name: str
    argument: str
    line: int
    before: str = ""


InputPiece: TypeAlias = SqlStatement | BackslashCommand


def split(text: str) -> tuple[list[InputPiece], str]:
    """The pieces of a text, and the unfinished statement at its end.

    >>> split("SELECT ';';SELECT 1")
    ([SqlStatement(text="SELECT ';'", line=1)], 'SELECT 1')
    >>> split("\\\\d patients\\n")
    ([BackslashCommand(name='d', argument='patients', line=1, before='')], '')
    >>> split(".tables")
    ([BackslashCommand(name='tables', argument='', line=1, before='')], '')

    The statements between the brackets of FOR, as a synopsis has them, end nothing:

    >>> split("CREATE SYNOPSIS s AS SELECT a FROM t FOR (SELECT 1; SELECT (2));")[1]
    ''
    """
    pieces: list[InputPiece] = []
    start = offset = depth = 0
    while True:
        while (
            offset == start
            and (dot := _DOT_COMMAND.match(text, _statement_start(text, start))) is not None
        ):
            pieces.append(BackslashCommand(dot[1], _argument(dot), _line(text, dot.start())))
            start = offset = dot.end()
        if (mark := _MARK.search(text, offset)) is None:
            break
        if mark["open"]:
            break
        offset = mark.end()
        if mark["for"] or (depth and mark["round"]):
            depth += -1 if mark["round"] == ")" else 1
        elif mark["end"] and not depth:
            pieces += _statement(text, start, mark.start())
            start = offset
        elif mark["command"]:
            command = _COMMAND.match(text, mark.start())
            if command is None:
                continue
            before = _bare(text[start : mark.start()])
            pieces.append(
                BackslashCommand(command[1], _argument(command), _line(text, mark.start()), before)
            )
            start = command.end()
            offset = command.end()
            depth = 0
    rest = text[start:]
    return pieces, "" if _NOTHING.fullmatch(rest) else rest


def _argument(command: re.Match[str]) -> str:
    return command[2].strip().removesuffix(";").rstrip()


def whole(text: str) -> list[InputPiece]:
    """The pieces of a complete text, whose last statement needs no semicolon.

    >>> whole("SELECT 1; SELECT 2")
    [SqlStatement(text='SELECT 1', line=1), SqlStatement(text='SELECT 2', line=1)]
    """
    pieces, rest = split(text)
    return [*pieces, *_statement(text, len(text) - len(rest), len(text))]


def joined(draft: str, piece: InputPiece) -> InputPiece:
    """The piece, joined to the unfinished statement before it.

    >>> joined("SELECT 1", SqlStatement("AS a", 2))
    SqlStatement(text='SELECT 1\\nAS a', line=2)
    """
    match piece:
        case SqlStatement(text=text):
            return replace(piece, text=f"{draft}\n{text}" if draft else text)
        case BackslashCommand(before=before):
            return replace(
                piece, before="\n".join(text_piece for text_piece in (draft, before) if text_piece)
            )


def is_finished(text: str) -> bool:
    """Whether Enter runs the text: no statement in it is unfinished.

    >>> [is_finished(text) for text in ("SELECT 1", "SELECT ';", "SELECT 1;", "\\\\dt", "quit", "")]
    [False, False, True, True, True, True]
    """
    return text.strip().lower() in WORDS or not split(text)[1]


#: What people type to leave or for help, without a backslash.
WORDS = {"exit": "q", "quit": "q", "help": "?"}


def word(text: str) -> BackslashCommand | None:
    """The command for a bare word such as ``exit``, if the text is one."""
    name = WORDS.get(text.strip().rstrip(";").lower())
    return None if name is None else BackslashCommand(name, "", 1)


def listing(text: str) -> BackslashCommand | None:
    """The command for ``SHOW TABLES`` or ``DESCRIBE``, as users of other databases write it,
    if the statement is that.

    >>> listing("describe patients")
    BackslashCommand(name='d', argument='patients', line=1, before='')
    >>> listing("SHOW TABLES")
    BackslashCommand(name='dt', argument='', line=1, before='')
    """
    match = _LISTING.fullmatch(text.strip())
    if match is None:
        return None
    return BackslashCommand("d" if match[1] else "dt", match[1] or "", 1)


def _statement(text: str, start: int, end: int) -> Iterator[SqlStatement]:
    blank = _statement_start(text, start)
    if blank < end:
        yield SqlStatement(text[blank:end].rstrip(), _line(text, blank))


def _statement_start(text: str, start: int) -> int:
    """The offset of the statement, after white space and comments."""
    match = _NOTHING.match(text, start)
    return match.end() if match else start


def _bare(text: str) -> str:
    return text[_statement_start(text, 0) :].strip()


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
