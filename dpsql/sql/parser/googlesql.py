"""GoogleSQL's ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (…)``, read on the tokens.

It becomes marks in the tree. What the clause asks for only ever tightens what the owner allows
(``dpsql/sql/parser/privacy_clause.py``).
"""

from __future__ import annotations

from sqlglot import Token, TokenType, exp

from dpsql.errors import Position
from dpsql.sql.ir.refusal import refuse

#: The functions that stand in the tree for the clause, and for the bounds that follow an argument.
CLAUSE = "dpsql_clause"
PER_ROW = "dpsql_per_row"
PER_GROUP = "dpsql_per_group"
#: Stands in WHERE for the demand that a column is the privacy unit.
IS_UNIT = "dpsql_is_unit"
_BOUNDS = {"contribution_bounds_per_row": PER_ROW, "contribution_bounds_per_group": PER_GROUP}
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET})


def names_clause(text: str) -> bool:
    """Whether the text may have the clause, and so a price of its own."""
    return "differential_privacy" in text.lower()


def marked(tokens: list[Token]) -> list[Token]:
    """The tokens with marks: the clause is a first SELECT item, bounds wrap the argument.

    >>> from dpsql.sql.emit.syntax import STATEMENT
    >>> text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 1) SUM(x, contribution_bounds_per_row => (0, 9))"
    >>> " ".join(token.text for token in marked(STATEMENT.parser.tokenize(text)))
    'SELECT dpsql_clause ( delta = 1 ) , SUM ( dpsql_per_row ( x , ( 0 , 9 ) ) )'
    """
    names = [token.text.lower() for token in tokens]
    if "differential_privacy" not in names:
        return tokens
    return _with_bounds(_with_clause(tokens))


def _with_clause(tokens: list[Token]) -> list[Token]:
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        words = [token.text.lower() for token in tokens[position : position + 3]]
        opens = bool(result) and result[-1].token_type == TokenType.SELECT
        if not opens or words[:2] != ["with", "differential_privacy"]:
            result.append(tokens[position])
            position += 1
            continue
        start = tokens[position]
        result.append(_like(start, TokenType.VAR, CLAUSE))
        position += 2
        if words[2:] == ["options"]:
            end = _end_of_parentheses(tokens, position + 1)
            result += tokens[position + 1 : end]
            position = end
        else:
            result += [_like(start, TokenType.L_PAREN, "("), _like(start, TokenType.R_PAREN, ")")]
        result.append(_like(start, TokenType.COMMA, ","))
    return result


def _with_bounds(tokens: list[Token]) -> list[Token]:
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        name = _BOUNDS.get(tokens[position].text.lower())
        after = tokens[position + 1].token_type if position + 1 < len(tokens) else None
        if name is None or after != TokenType.FARROW:
            result.append(tokens[position])
            position += 1
            continue
        if not result or result[-1].token_type != TokenType.COMMA:
            refuse("E_PARSE", f"{tokens[position].text} follows the argument of an aggregate")
        comma = result.pop()
        if result and result[-1].token_type == TokenType.COMMA:
            refuse("E_PARSE", "nothing stands before this comma", Position(comma.line, comma.col))
        end = _end_of_parentheses(tokens, position + 2)
        start, stop = _first_argument(result)
        argument = result[start:stop]
        wrapped = [
            _like(comma, TokenType.VAR, name),
            _like(comma, TokenType.L_PAREN, "("),
            *argument,
            comma,
            *tokens[position + 2 : end],
            _like(comma, TokenType.R_PAREN, ")"),
        ]
        result[start:stop] = wrapped
        position = end
    return result


def _first_argument(tokens: list[Token]) -> tuple[int, int]:
    """The start and end indices of the first argument of the call that the tokens leave open."""
    depth = 0
    commas: list[int] = []
    for index in range(len(tokens) - 1, -1, -1):
        kind = tokens[index].token_type
        depth += (kind in _CLOSING) - (kind in _OPENING)
        if depth < 0:
            start = index + 1
            start += start < len(tokens) and tokens[start].token_type == TokenType.DISTINCT
            return start, min(commas, default=len(tokens))
        if depth == 0 and kind == TokenType.COMMA:
            commas.append(index)
    refuse("E_PARSE", "contribution bounds stand in the parentheses of an aggregate")


def _end_of_parentheses(tokens: list[Token], position: int) -> int:
    """The place after the parenthesis that closes the one that opens at ``position``."""
    depth = 0
    for end in range(position, len(tokens)):
        kind = tokens[end].token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth == 0:
            if end > position:
                return end + 1
            break
    refuse("E_PARSE", "options and contribution bounds stand in parentheses")


def _like(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)


def bounded(mark: exp.Anonymous) -> tuple[exp.Expr, exp.Expr]:
    """The argument and its bounds.

    Refused if the analyst left one out, or wrote the mark without them.
    """
    if len(mark.expressions) != 2:
        refuse(
            "E_PARSE",
            "contribution bounds follow one argument: SUM(x, contribution_bounds_per_group => (0, 9))",
            mark,
        )
    argument, bounds = mark.expressions
    return argument, bounds
