"""The tokens of one command, read from left to right."""

from __future__ import annotations

from typing import NoReturn

from dpsql.errors import ProgrammingError
from dpsql.server.commands.command import Query
from dpsql.server.commands.tokens import Piece, Token


class Words:
    """The tokens of one statement, read from left to right."""

    def __init__(self, piece: Piece) -> None:
        self.piece, self._tokens, self._place = piece, piece.tokens, 0

    @property
    def ahead(self) -> Token | None:
        """The next token, left where it is."""
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def take(self, *words: str) -> str | None:
        """The next word, if it is one of these."""
        token = self.ahead
        if token is not None and token.is_word(*words):
            self._place += 1
            return token.text
        return None

    def sign(self, sign: str) -> bool:
        """Whether that sign stands here; it is then behind."""
        token = self.ahead
        if token is not None and token.kind == "sign" and token.text == sign:
            self._place += 1
            return True
        return False

    def any(self) -> Token:
        """The next token, whatever it is."""
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
        """An integer, if one stands here."""
        start = self._place
        sign = -1 if self.sign("-") else 1
        if sign == 1:
            self.sign("+")
        token = self.ahead
        if token is not None and token.kind == "number" and token.text.isdigit() and len(token.text) < 19:
            self._place += 1
            return sign * int(token.text)
        self._place = start
        return None

    def end(self) -> None:
        """Nothing may follow."""
        if self.ahead is not None:
            self.fail(self.ahead)

    def rest(self) -> Query:
        """All that follows, as a query."""
        token = self.ahead
        if token is None:
            self.fail()
        self._place = len(self._tokens)
        start = token.start - self.piece.start
        return Query(self.piece.text[start:], token.start)

    def parenthesised(self) -> Query:
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
        return Query(self.piece.text[first.start - self.piece.start : token.start - self.piece.start], first.start)

    def fail(self, token: Token | None = None) -> NoReturn:
        """A syntax error at the token, or at the end."""
        near = self.piece.text[token.start - self.piece.start : token.end - self.piece.start] if token else None
        raise SyntaxProblem(f'at or near "{near}"' if near else "at end of input", token.start if token else None)


class SyntaxProblem(ProgrammingError):
    """A command that is not well formed; ``place`` is the character where, counted from 0."""

    def __init__(self, where: str, place: int | None) -> None:
        super().__init__(f"syntax error {where}")
        self.place = place
