"""A text as PostgreSQL's words: enough to cut it into statements and to read commands that are not queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
    """One word of a statement. ``text`` is lower case for words, and without quotes for names and strings."""

    kind: Kind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text in words


@dataclass(frozen=True)
class Piece:
    """One statement of a text that may hold several, and the character where it starts."""

    text: str
    start: int
    tokens: tuple[Token, ...]


def tokens(text: str) -> Iterator[Token]:
    """The words, names, strings, numbers and signs of a text, without blanks and comments.

    >>> [token.text for token in tokens("Select 'a;b' /* c */ ; \\"D\\"")]
    ['select', 'a;b', ';', 'D']
    """
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None
        piece, end = found.group(), found.end()
        match found.lastgroup:
            case "blank":
                pass
            case "comment":
                end = _comment_end(text, end)
            case "escaped":
                yield Token("text", re.sub(r"\\(.)", r"\1", piece[2:-1], flags=re.DOTALL), place, end)
            case "text":
                yield Token("text", piece[1:-1].replace("''", "'"), place, end)
            case "name":
                yield Token("name", piece[1:-1].replace('""', '"'), place, end)
            case "dollar":
                close = text.find(piece, end)
                inside = text[end:] if close < 0 else text[end:close]
                end = len(text) if close < 0 else close + len(piece)
                yield Token("text", inside, place, end)
            case "word":
                yield Token("word", piece.lower(), place, end)
            case "number":
                yield Token("number", piece, place, end)
            case _:
                yield Token("sign", piece, place, end)
        place = end


def _comment_end(text: str, place: int) -> int:
    """Where a block comment ends; comments stand in comments."""
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(text, place)
        if edge is None:
            return len(text)
        depth += 1 if edge.group() == "/*" else -1
        place = edge.end()
    return place


def pieces(text: str) -> list[Piece]:
    """The statements of a text, which semicolons part; those of no words are left out.

    >>> [(piece.text, piece.start) for piece in pieces("SELECT 1; ; SELECT ';'")]
    [('SELECT 1', 0), (" SELECT ';'", 11)]
    """
    found: list[Piece] = []
    start, held = 0, list[Token]()
    for token in tokens(text):
        if token.kind == "sign" and token.text == ";":
            if held:
                found.append(Piece(text[start : token.start], start, tuple(held)))
            start, held = token.end, []
        else:
            held.append(token)
    if held:
        found.append(Piece(text[start:], start, tuple(held)))
    return found
