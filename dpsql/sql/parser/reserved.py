"""Reserved words where a name stands, and parts that the parser made up: refused on the tree, as each dialect does."""

from __future__ import annotations

import re

from sqlglot import Token, TokenType, exp

from dpsql.errors import Position
from dpsql.sql.ir.refusal import refuse

#: The words that are no names of columns and tables in PostgreSQL and in DuckDB, unless they stand in double quotes.
RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default "
    "deferrable desc distinct do else end except false fetch for foreign from group having in initially intersect into "
    "lateral leading limit not null offset on only or order placing primary references returning select some symmetric "
    "table then to trailing true union unique using variadic when where window with".split()
)


#: The words that are names of columns behind AS only, in both.
_BEHIND_AS = frozenset(
    "array create except fetch for from group having intersect into limit offset on order returning to union where "
    "window with".split()
)


def require_names(tree: exp.Expr, text: str) -> None:
    """Refuse a reserved word as a column or a table, unless it stands behind a dot, and as an alias without AS.

    ``text`` is the statement's, with blanks for comments.
    """
    for node in tree.find_all(exp.Column, exp.Table, exp.TableAlias, exp.Alias):
        words, name = RESERVED, node.this
        if isinstance(node, exp.Alias):
            words, name = _BEHIND_AS, node.args.get("alias")
        elif isinstance(node, exp.Column | exp.Table):
            name = next((node.args[part] for part in ("catalog", "db", "table") if node.args.get(part)), node.this)
        if not isinstance(name, exp.Identifier) or name.quoted or name.name.lower() not in words:
            continue
        if isinstance(node, exp.Column) and isinstance(node.parent, exp.Ordered | exp.Group | exp.Limit):
            continue  # ORDER BY ALL
        behind = text[: name.meta.get("start", 0)].rstrip().upper()
        if isinstance(node, exp.TableAlias | exp.Alias) and ("start" not in name.meta or re.search(r"\bAS$", behind)):
            continue
        word = name.name.upper()
        refuse("E_PARSE", f'{word} is a reserved word and no name; write "{name.name}" for one, in double quotes', name)


def require_parts(trees: list[exp.Expr], tokens: list[Token]) -> None:
    """Refuse a BETWEEN without AND and the reverse, two names in one size of a type, and a name of a side of UNION."""
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
    found = [token for token in tokens if token.token_type in (TokenType.AND, TokenType.BETWEEN)]
    given = sum(token.token_type == TokenType.AND for token in found)
    if found and given != needed:
        reason = "a BETWEEN has no AND" if given < needed else "an AND has no BETWEEN before it, or no condition"
        refuse("E_PARSE", reason, Position(found[0].line, found[0].col - len(found[0].text) + 1))
