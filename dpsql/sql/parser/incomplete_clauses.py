"""Refuses clauses that the parser would complete by a guess: JOIN without ON, WHEN without THEN."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

from sqlglot import Token, TokenType

from dpsql.sql.parser.syntax_checks import after_brackets, following, missing

_WHERE = frozenset({TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY})


_SETS = frozenset({TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT})


_CLAUSES = (
    _WHERE
    | _SETS
    | {
        TokenType.SELECT,
        TokenType.FROM,
        TokenType.GROUP_BY,
        TokenType.ORDER_BY,
        TokenType.LIMIT,
        TokenType.OFFSET,
        TokenType.FETCH,
        TokenType.WINDOW,
    }
)


_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET})


_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET})


_VALUES = frozenset({TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE, TokenType.NULL})


#: Before JOIN these say that it has no condition.
_WITHOUT_CONDITION = frozenset({"CROSS", "NATURAL", "POSITIONAL"})


_KINDS = _WITHOUT_CONDITION | {"INNER", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "ASOF"}


#: Tokens before the WITH of a query; elsewhere the word belongs to something else.
_BEFORE_WITH = frozenset({TokenType.L_PAREN, TokenType.SEMICOLON})


@dataclass
class _BracketLevel:
    """What is inside one pair of brackets so far: its clause, joins without a condition, CASEs."""

    clause: TokenType | None = None
    joins: list[Token] = field(default_factory=list)
    cases: list[TokenType] = field(default_factory=list)


def require_clauses(tokens: list[Token]) -> None:
    """Refuse clauses that are incomplete.

    They are a JOIN without ON, a GROUP BY of nothing, a comma in WHERE or LIMIT, a WHEN without
    THEN and a WITH without AS.
    """
    levels = [_BracketLevel()]
    for number, token in enumerate(tokens):
        kind = token.token_type
        level = levels[-1]
        if kind in _OPENING:
            levels.append(_BracketLevel())
        elif kind in _CLOSING:
            _require_conditions(levels.pop())
        elif kind in _CLAUSES:
            _require_conditions(level)
            level.clause = kind
            if kind == TokenType.GROUP_BY:
                _require_something(tokens, number)
            if kind == TokenType.WINDOW and following(tokens, number + 1) != "AS":
                missing("AS stands between the name of a window and its brackets", token)
        elif (
            kind in _VALUES
            and level.clause is None
            and number
            and tokens[number - 1].token_type in _VALUES
        ):
            missing("two values stand side by side; put a comma between them", token)
        elif kind == TokenType.COMMA:
            _comma(level, token)
        elif kind == TokenType.JOIN:
            if not _has_no_condition(tokens, number):
                level.joins.append(token)
        elif kind in (TokenType.ON, TokenType.USING) and level.joins:
            if kind == TokenType.USING and following(tokens, number) != "(":
                missing("USING takes the names of columns in parentheses", token)
            _require_something(tokens, number)
            level.joins.pop()
        elif kind == TokenType.WITH and (
            number == 0 or tokens[number - 1].token_type in _BEFORE_WITH
        ):
            _require_as(tokens, number)
        else:
            _case(level, tokens, number)
    _require_conditions(levels[0])


def _has_no_condition(tokens: list[Token], number: int) -> bool:
    """Whether a word of the JOIN that stands there says that it takes none."""
    words = takewhile(
        lambda word: word in _KINDS, (token.text.upper() for token in reversed(tokens[:number]))
    )
    return not _WITHOUT_CONDITION.isdisjoint(words)


def _require_conditions(level: _BracketLevel) -> None:
    if level.joins:
        missing(
            "this JOIN has no condition; write ON … or USING (…), or CROSS JOIN for all pairs",
            level.joins[-1],
        )


def _require_something(tokens: list[Token], number: int) -> None:
    next_type = tokens[number + 1].token_type if number + 1 < len(tokens) else None
    if (
        next_type is None
        or next_type in _CLAUSES
        or next_type in _CLOSING
        or next_type == TokenType.SEMICOLON
    ):
        missing(f"nothing stands behind this {tokens[number].text.upper()}", tokens[number])


def _comma(level: _BracketLevel, token: Token) -> None:
    if level.clause == TokenType.FROM:
        _require_conditions(level)
    if level.clause == TokenType.LIMIT:
        missing("LIMIT takes one number; write LIMIT 5 OFFSET 10 for LIMIT 10, 5", token)
    if level.clause in _WHERE and not level.cases:
        missing("a condition has no comma; join conditions with AND", token)


def _require_as(tokens: list[Token], number: int) -> None:
    """Require that each query of a WITH has a name before its AS, and brackets after it."""
    while True:
        number += 1
        number += number < len(tokens) and tokens[number].text.upper() == "RECURSIVE"
        if number < len(tokens) and tokens[number].token_type == TokenType.ALIAS:
            missing("no name stands before this AS", tokens[number])
        after_name = after_brackets(tokens, number + 1)
        if after_name < len(tokens) and tokens[after_name].text.upper() == "USING":
            return  # a key of DuckDB's, which is refused elsewhere
        if after_name >= len(tokens) or tokens[after_name].token_type != TokenType.ALIAS:
            missing(
                "AS stands between the name of a WITH and its query",
                tokens[min(number + 1, len(tokens) - 1)],
            )
        after_name += 1
        while after_name < len(tokens) and tokens[after_name].text.upper() in (
            "NOT",
            "MATERIALIZED",
        ):
            after_name += 1
        number = after_brackets(tokens, after_name)
        if number >= len(tokens) or tokens[number].token_type != TokenType.COMMA:
            return


def _case(level: _BracketLevel, tokens: list[Token], number: int) -> None:
    """Follow a CASE to its END: each WHEN has a THEN, and something follows each."""
    kind = tokens[number].token_type
    before = tokens[number - 1] if number else None
    if kind == TokenType.CASE:
        level.cases.append(kind)
    if not level.cases or kind not in (
        TokenType.WHEN,
        TokenType.THEN,
        TokenType.ELSE,
        TokenType.END,
    ):
        return
    if before is not None and before.token_type in (TokenType.WHEN, TokenType.THEN, TokenType.ELSE):
        missing(f"nothing stands behind this {before.text.upper()}", before)
    if (kind == TokenType.THEN) != (level.cases[-1] == TokenType.WHEN):
        missing(
            "a WHEN has no THEN" if kind != TokenType.THEN else "this THEN has no WHEN",
            tokens[number],
        )
    if kind == TokenType.END:
        level.cases.pop()
    else:
        level.cases[-1] = kind
