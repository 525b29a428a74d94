"""Refuses what the parser would read by a guess: gaps, brackets without partner, reserved names."""

from __future__ import annotations

import re
from typing import NoReturn

from sqlglot import Token, TokenType, exp

from dpsql.errors import Position
from dpsql.sql.ir.refusal import position_at, refuse

MAX_DEPTH = 60

#: Tokens after which a list begins: a comma behind them, or behind another comma,
#: has nothing #: before it.
_BEGINNINGS = frozenset(
    {
        TokenType.COMMA,
        TokenType.L_PAREN,
        TokenType.L_BRACKET,
        TokenType.L_BRACE,
        TokenType.SELECT,
        TokenType.DISTINCT,
        TokenType.GROUP_BY,
        TokenType.ORDER_BY,
        TokenType.PARTITION_BY,
    }
)
#: Tokens after which nothing but a name may stand: a dot behind them lacks the name before it.
_BEFORE_NAMES = _BEGINNINGS - {TokenType.SELECT} | {TokenType.FROM, TokenType.JOIN}
#: What is in quotes, and what stands between AS and the brackets of a WITH, which is no name.
_QUOTED = frozenset({TokenType.IDENTIFIER, TokenType.STRING})
_BEHIND_AS = frozenset({"NOT", "MATERIALIZED"})
#: Operators of two signs, which the parser takes apart too.
_SHIFTS = frozenset({TokenType.LT, TokenType.GT})


def require_brackets(bare: str, text: str) -> None:
    """Refuse brackets that do not match, as in ``MAX(x AS y FROM t``; ``bare`` has no strings."""
    opened: list[re.Match[str]] = []
    for bracket in re.finditer(r"[()\[\]]", bare):
        if bracket.group() in "([":
            opened.append(bracket)
        elif not opened or opened.pop().group() + bracket.group() not in ("()", "[]"):
            refuse("E_PARSE", "this bracket closes none", position_at(text, bracket.start()))
        if len(opened) > MAX_DEPTH:
            refuse(
                "E_LIMITS",
                f"the statement is nested more than {MAX_DEPTH} levels deep",
                position_at(text, bracket.start()),
            )
    if opened:
        refuse("E_PARSE", "this bracket is not closed", position_at(text, opened[-1].start()))


def with_plain_names(tokens: list[Token]) -> list[Token]:
    """The tokens, with a plain name for everything that can only be a name or a text.

    That is what is quoted, and each word after a dot or an AS, whatever it says: ``t.then``, ``AS
    "and"``.
    """
    result: list[Token] = []
    for number, token in enumerate(tokens):
        last = result[-1].token_type if result else None
        word = token.text.isidentifier() and token.text.upper() not in _BEHIND_AS
        called = last == TokenType.ALIAS and (
            number < 2 or tokens[number - 2].token_type != TokenType.SELECT
        )
        if token.token_type in _QUOTED or (word and (last == TokenType.DOT or called)):
            text = "x" * max(len(token.text), 1)
            token = Token(TokenType.VAR, text, token.line, token.col, token.start, token.end)
        result.append(token)
    return result


def require_operands(tokens: list[Token]) -> None:
    """Refuse tokens that lack an operand.

    They are nothing before a comma or a dot, no name after an AS, ``USING ()``, ``SELECT AS x``,
    ``> >``, ``NOT IS``, ``DISTINCT ON x``, ``a, JOIN b``, and rows of VALUES without a comma
    between them.
    """
    for number, token in enumerate(tokens):
        kind = token.token_type
        before = [token.token_type for token in tokens[max(number - 3, 0) : number]]
        last = before[-1] if before else None
        if kind == TokenType.COMMA:
            begins = last in _BEGINNINGS or before[-2:] == [TokenType.SELECT, TokenType.ALL]
            if begins or last == TokenType.ALIAS:
                missing(
                    "nothing stands before this comma"
                    if begins
                    else "no name stands behind this AS",
                    token,
                )
        if kind == TokenType.R_PAREN and before[-2:] == [TokenType.USING, TokenType.L_PAREN]:
            missing("USING takes the names of columns", token)
        if kind == TokenType.ALIAS:
            if last in (TokenType.SELECT, TokenType.L_PAREN) and following(tokens, number) not in (
                "STRUCT",
                "VALUE",
            ):
                missing("nothing stands before this AS", token)
            if following(tokens, number) in ("", ")", ";"):
                missing("no name stands behind this AS", token)
        if kind == TokenType.JOIN and last == TokenType.COMMA:
            missing("nothing stands between the comma and this JOIN", token)
        if kind == TokenType.ON and last == TokenType.DISTINCT and following(tokens, number) != "(":
            missing("DISTINCT ON takes its expressions in parentheses", token)
        if kind == TokenType.IS and last == TokenType.NOT:
            missing("NOT stands before this IS; write NOT before the whole, or IS NOT", token)
        if kind in _SHIFTS and last == kind and tokens[number - 1].end + 1 != token.start:
            missing(
                f"{token.text} {token.text} is no operator; write {token.text * 2} or one of them",
                token,
            )
        if (
            kind == TokenType.DOT
            and last in _BEFORE_NAMES
            and not following(tokens, number)[:1].isdigit()
        ):
            missing("no name stands before this dot", token)
    _require_commas_between_rows(tokens)


def _require_commas_between_rows(tokens: list[Token]) -> None:
    for number, token in enumerate(tokens):
        if token.token_type == TokenType.VALUES and following(tokens, number) == "(":
            after_row = after_brackets(tokens, number + 1)
            while after_row < len(tokens) and tokens[after_row].token_type == TokenType.COMMA:
                after_row = after_brackets(tokens, after_row + 1)
            if after_row < len(tokens) and tokens[after_row].token_type == TokenType.L_PAREN:
                missing("no comma stands before this row of VALUES", tokens[after_row])


def following(tokens: list[Token], number: int) -> str:
    """The text of the token after that one, in capitals; empty at the end."""
    return tokens[number + 1].text.upper() if number + 1 < len(tokens) else ""


def after_brackets(tokens: list[Token], number: int) -> int:
    """The number of the token after the bracket that opens there; the same number if none opens."""
    depth = 0
    for at, token in enumerate(tokens[number:], number):
        depth += token.token_type == TokenType.L_PAREN
        depth -= token.token_type == TokenType.R_PAREN
        if depth == 0:
            return at + (at > number)
    return len(tokens)


def missing(reason: str, token: Token) -> NoReturn:
    """Raise the refusal of a gap at a token."""
    refuse("E_PARSE", reason, Position(token.line, token.col - len(token.text) + 1))


#: The words that are no names of columns and tables in PostgreSQL and in DuckDB,
#: unless they stand #: in double quotes.
RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default "
    "deferrable desc distinct do else end except false fetch for foreign from group having in initially intersect into "
    "lateral leading limit not null offset on only or order placing primary references returning select some symmetric "
    "table then to trailing true union unique using variadic when where window with".split()
)


#: The words that are names of columns behind AS only, in both.
_NAMES_BEHIND_AS = frozenset(
    "array create except fetch for from group having intersect into limit offset on order returning to union where "
    "window with".split()
)


def require_names(tree: exp.Expr, text: str) -> None:
    """Refuse a reserved word as a column or table, unless after a dot, or as alias without AS.

    ``text`` is the statement's, with blanks for comments.
    """
    for node in tree.find_all(exp.Column, exp.Table, exp.TableAlias, exp.Alias):
        words = RESERVED
        name = node.this
        if isinstance(node, exp.Alias):
            words = _NAMES_BEHIND_AS
            name = node.args.get("alias")
        elif isinstance(node, exp.Column | exp.Table):
            name = next(
                (
                    node.args[name_part]
                    for name_part in ("catalog", "db", "table")
                    if node.args.get(name_part)
                ),
                node.this,
            )
        if not isinstance(name, exp.Identifier) or name.quoted or name.name.lower() not in words:
            continue
        if isinstance(node, exp.Column) and isinstance(
            node.parent, exp.Ordered | exp.Group | exp.Limit
        ):
            continue  # ORDER BY ALL
        text_before = text[: name.meta.get("start", 0)].rstrip().upper()
        if isinstance(node, exp.TableAlias | exp.Alias) and (
            "start" not in name.meta or re.search(r"\bAS$", text_before)
        ):
            continue
        word = name.name.upper()
        refuse(
            "E_PARSE",
            f'{word} is a reserved word and no name; write "{name.name}" for one, in double quotes',
            name,
        )


def require_parts(trees: list[exp.Expr], tokens: list[Token]) -> None:
    """Refuse incomplete or doubled parts.

    They are a BETWEEN without AND and the reverse, two names in one size of a type, and a name of a
    side of UNION.
    """
    needed = sum(token.token_type == TokenType.BETWEEN for token in tokens)
    for tree in trees:
        needed += sum(1 for _ in tree.find_all(exp.And))
        for size in tree.find_all(exp.DataTypeParam):
            if size.args.get("expression") is not None:
                refuse("E_PARSE", "a type's size is one number", size)
        for sides in tree.find_all(exp.SetOperation):
            for side in (sides.this, sides.expression):
                if isinstance(side, exp.Subquery) and side.alias:
                    refuse("E_PARSE", "a side of a set operation has no name", side.args["alias"])
    keywords = [token for token in tokens if token.token_type in (TokenType.AND, TokenType.BETWEEN)]
    and_count = sum(token.token_type == TokenType.AND for token in keywords)
    if keywords and and_count != needed:
        reason = (
            "a BETWEEN has no AND"
            if and_count < needed
            else "an AND has no BETWEEN before it, or no condition"
        )
        refuse(
            "E_PARSE",
            reason,
            Position(keywords[0].line, keywords[0].col - len(keywords[0].text) + 1),
        )
