"""The parameters of a statement: each ? is known by its place in the text, each $1 by its number.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from sqlglot import Dialect, Token, TokenType, exp

from dpsql.query.googlesql import marked
from dpsql.query.refusal import refuse

#: What a ? carries in ``meta``: its place among the parameters, from 0.
PLACE = "dpsql_parameter"
#: What a function carries in ``meta``: its name as the analyst wrote it.
WRITTEN = "dpsql_written"
#: Starts a string that stands for a ? while the parser works; no statement may hold it.
_MARK = "\x00"


def parse_numbered(text: str) -> list[exp.Expr]:
    """The statements of a scanned text, each parameter with its place.

    The parser keeps no places for ?, and its tree does not follow the order of the text. So a ? is parsed as a string
    that the text cannot hold, and turned back in the tree.

    >>> (tree,) = parse_numbered("SELECT COUNT(*) FILTER (WHERE a < ?), b > ?")
    >>> sorted(mark.meta[PLACE] for mark in tree.find_all(exp.Placeholder)), tree.sql()
    ([0, 1], 'SELECT COUNT(*) FILTER(WHERE a < ?), b > ?')
    >>> sorted(mark.meta[PLACE] for mark in parse_numbered("SELECT $2 + $1 + $2")[0].find_all(exp.Placeholder))
    [0, 1, 1]
    """
    dialect = Dialect.get_or_raise("duckdb")
    tokens: list[Token] = []
    count, numbered = 0, False
    for token in marked(_called(dialect.tokenize(text))):
        if tokens and tokens[-1].token_type == TokenType.PARAMETER:
            token, numbered = _mark(tokens.pop(), int(token.text) - 1), True
        elif token.token_type == TokenType.PLACEHOLDER:
            token, count = _mark(token, count), count + 1
        tokens.append(token)
    if numbered and count:
        refuse("E_PARAM", "parameters are written as ? or as $1, not as both")
    return [_turned_back(_as_written(tree, text)) for tree in dialect.parser().parse(tokens, text) if tree is not None]


def _mark(token: Token, place: int) -> Token:
    return Token(TokenType.STRING, f"{_MARK}{place}", token.line, token.col, token.start, token.end)


#: Tokens after which DIV stands between two numbers.
_OPERANDS = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN})


def _called(tokens: list[Token]) -> list[Token]:
    """The tokens, with DIV as a name where it is called: DIV(x, 2)."""
    found: list[Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1].token_type if place + 1 < len(tokens) else None
        operator = bool(found) and found[-1].token_type in _OPERANDS
        if token.token_type == TokenType.DIV and after == TokenType.L_PAREN and not operator:
            token = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        found.append(token)
    return found


def _as_written(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree, in which each function remembers the name that the analyst called it by."""
    for node in tree.find_all(exp.Func):
        if "start" in node.meta:
            node.meta[WRITTEN] = text[node.meta["start"] : node.meta["end"] + 1]
    return tree


def _turned_back(tree: exp.Expr) -> exp.Expr:
    for literal in list(tree.find_all(exp.Literal)):
        if literal.is_string and literal.this.startswith(_MARK):
            mark = exp.Placeholder()
            mark.meta[PLACE] = int(literal.this[len(_MARK) :])
            literal.replace(mark)
    return tree


def require_values(tree: exp.Expr, parameters: tuple[object, ...]) -> None:
    """Refuse the statement unless it has one ? for each value."""
    places = {mark.meta.get(PLACE) for mark in tree.find_all(exp.Placeholder)}
    if places != set(range(len(parameters))):
        refuse("E_PARAM", f"the statement has {len(places)} parameters and {len(parameters)} values were given")
