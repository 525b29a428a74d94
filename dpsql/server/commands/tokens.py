"""Tokenizes PostgreSQL's statements, splits a text into statements,
and reads tokens from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from dpsql.errors import ProgrammingError
from dpsql.server.commands.command import QueryText

Kind: TypeAlias = Literal["word", "name", "text", "number", "sign"]

_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|--[^\r\n]*)
  | (?P<comment>/\*)
  | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*')
  | (?P<text>'(?:[^']|'')*')
  | (?P<name>"(?:[^"]|"")*")
  | (?P<dollar>\$(?:[A-Za-z_]\w*)?\$)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
  | (?P<sign>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Token:
    """One word of a statement. ``text`` is lower case for words,
    and without quotes for names and strings.
    """

    kind: Kind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text in words


@dataclass(frozen=True)
class SplitStatement:
    """One statement of a text that may have several, and the offset of its first character."""

    text: str
    start: int
    tokens: tuple[Token, ...]


def tokens(text: str) -> Iterator[Token]:
    """The words, names, strings, numbers and signs of a text, without blanks and comments.

    >>> [token.text for token in tokens("Select 'a;b' /* c */ ; \\"D\\"")]
    ['select', 'a;b', ';', 'D']
    """
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        assert match is not None
        piece = match.group()
        end = match.end()
        match match.lastgroup:
            case "blank":
                pass
            case "comment":
                end = _comment_end(text, end)
            case "escaped":
                yield Token(
                    "text", re.sub(r"\\(.)", r"\1", piece[2:-1], flags=re.DOTALL), offset, end
                )
            case "text":
                yield Token("text", piece[1:-1].replace("''", "'"), offset, end)
            case "name":
                yield Token("name", piece[1:-1].replace('""', '"'), offset, end)
            case "dollar":
                close = text.find(piece, end)
                inside = text[end:] if close < 0 else text[end:close]
                end = len(text) if close < 0 else close + len(piece)
                yield Token("text", inside, offset, end)
            case "word":
                yield Token("word", piece.lower(), offset, end)
            case "number":
                yield Token("number", piece, offset, end)
            case _:
                yield Token("sign", piece, offset, end)
        offset = end


def _comment_end(text: str, offset: int) -> int:
    """The offset after a block comment; comments nest."""
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(text, offset)
        if edge is None:
            return len(text)
        depth += 1 if edge.group() == "/*" else -1
        offset = edge.end()
    return offset


def pieces(text: str) -> list[SplitStatement]:
    """The statements of a text, separated by semicolons; empty ones are left out.

    >>> [(piece.text, piece.start) for piece in pieces("SELECT 1; ; SELECT ';'")]
    [('SELECT 1', 0), (" SELECT ';'", 11)]

    The statements between the brackets of FOR, as a synopsis has them, are parts of theirs:

    >>> len(pieces("CREATE SYNOPSIS s AS SELECT a FROM t FOR (SELECT 1; SELECT (2))"))
    1
    """
    result: list[SplitStatement] = []
    start = 0
    piece_tokens = list[Token]()
    depth = 0
    for token in tokens(text):
        if (
            token.kind == "sign"
            and token.text in ("(", ")")
            and (depth or (piece_tokens and piece_tokens[-1].text == "for"))
        ):
            depth += 1 if token.text == "(" else -1
        if token.kind == "sign" and token.text == ";" and not depth:
            if piece_tokens:
                result.append(SplitStatement(text[start : token.start], start, tuple(piece_tokens)))
            start = token.end
            piece_tokens = []
        else:
            piece_tokens.append(token)
    if piece_tokens:
        result.append(SplitStatement(text[start:], start, tuple(piece_tokens)))
    return result


class TokenReader:
    """The tokens of one statement, read from left to right."""

    def __init__(self, piece: SplitStatement) -> None:
        self.piece = piece
        self._tokens = piece.tokens
        self._place = 0

    @property
    def ahead(self) -> Token | None:
        """The next token, without consuming it."""
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def take(self, *words: str) -> str | None:
        """Consume the next word if it is one of these."""
        token = self.ahead
        if token is not None and token.is_word(*words):
            self._place += 1
            return token.text
        return None

    def sign(self, sign: str) -> bool:
        """Consume that sign if it is next; whether it was."""
        token = self.ahead
        if token is not None and token.kind == "sign" and token.text == sign:
            self._place += 1
            return True
        return False

    def any(self) -> Token:
        """Consume the next token."""
        token = self.ahead
        if token is None:
            self.fail()
        self._place += 1
        return token

    def name(self) -> str:
        """A name, quoted or not."""
        token = self.any()
        if token.kind not in ("word", "name"):
            self.fail(token)
        return token.text

    def number(self) -> int | None:
        """Consume an integer if it is next."""
        start = self._place
        sign = -1 if self.sign("-") else 1
        if sign == 1:
            self.sign("+")
        token = self.ahead
        if (
            token is not None
            and token.kind == "number"
            and token.text.isdigit()
            and len(token.text) < 19
        ):
            self._place += 1
            return sign * int(token.text)
        self._place = start
        return None

    def end(self) -> None:
        """Raise unless this is the end."""
        if self.ahead is not None:
            self.fail(self.ahead)

    def rest(self) -> QueryText:
        """All that follows, as a query."""
        token = self.ahead
        if token is None:
            self.fail()
        self._place = len(self._tokens)
        start = token.start - self.piece.start
        return QueryText(self.piece.text[start:], token.start)

    def parenthesised(self) -> QueryText:
        """The query in the parentheses that start here."""
        if not self.sign("("):
            self.fail(self.ahead)
        first = self.ahead
        depth = 1
        while depth:
            token = self.any()
            if token.kind == "sign":
                depth += (token.text == "(") - (token.text == ")")
        if first is None or first is token:
            self.fail(token)
        return QueryText(
            self.piece.text[first.start - self.piece.start : token.start - self.piece.start],
            first.start,
        )

    def fail(self, token: Token | None = None) -> NoReturn:
        """A syntax error at the token, or at the end."""
        near = (
            self.piece.text[token.start - self.piece.start : token.end - self.piece.start]
            if token
            else None
        )
        raise CommandSyntaxError(
            f'at or near "{near}"' if near else "at end of input", token.start if token else None
        )


class CommandSyntaxError(ProgrammingError):
    """A command that is not well formed; ``offset`` is the character of the error, from 0."""

    def __init__(self, where: str, offset: int | None) -> None:
        super().__init__(f"syntax error {where}")
        self.offset = offset
