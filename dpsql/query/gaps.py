"""Gaps in a statement that the parser would close with a guess: refused, each with its place and what belongs there."""

from __future__ import annotations

import re

from sqlglot import Token, TokenType

from dpsql.errors import Position
from dpsql.query.refusal import place, refuse

MAX_DEPTH = 60

#: Tokens after which a list begins: a comma behind them, or behind another comma, has nothing before it.
_BEGINNINGS = frozenset({
    TokenType.COMMA, TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.SELECT, TokenType.DISTINCT,
    TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.PARTITION_BY,
})  # fmt: skip


def require_brackets(bare: str, text: str) -> None:
    """Refuse brackets of a text without strings that do not close one another, as in ``MAX(x AS y FROM t``."""
    opened: list[re.Match[str]] = []
    for bracket in re.finditer(r"[()\[\]]", bare):
        if bracket.group() in "([":
            opened.append(bracket)
        elif not opened or opened.pop().group() + bracket.group() not in ("()", "[]"):
            refuse("E_PARSE", "this bracket closes none", place(text, bracket.start()))
        if len(opened) > MAX_DEPTH:
            refuse(
                "E_LIMITS", f"the statement is nested more than {MAX_DEPTH} levels deep", place(text, bracket.start())
            )
    if opened:
        refuse("E_PARSE", "this bracket is not closed", place(text, opened[-1].start()))


def require_operands(tokens: list[Token]) -> None:
    """Refuse tokens with nothing before a comma, as in ``IN (1,,2)``, no name behind an AS, or ``USING ()``."""
    for number, token in enumerate(tokens):
        before = [each.token_type for each in tokens[max(number - 3, 0) : number]]
        named, last = before[-2:-1] in ([TokenType.DOT], [TokenType.ALIAS]), before[-1] if before else None
        if token.token_type == TokenType.COMMA and not named:
            begins = last in _BEGINNINGS or before[-2:] == [TokenType.SELECT, TokenType.ALL]
            if begins or last == TokenType.ALIAS:
                reason = "nothing stands before this comma" if begins else "no name stands behind this AS"
                refuse("E_PARSE", reason, Position(token.line, token.col))
        if token.token_type == TokenType.R_PAREN and before[-2:] == [TokenType.USING, TokenType.L_PAREN]:
            refuse("E_PARSE", "USING takes the names of columns", Position(token.line, token.col))
