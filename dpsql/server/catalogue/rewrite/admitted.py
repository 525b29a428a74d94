"""What a statement over the catalogue may be made of: known syntax, known functions, characters that can be seen.

The names of functions are looked up later, so a call that has not been renamed by `words` would reach the store as it
stands; it is refused here.
"""

from __future__ import annotations

import unicodedata

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.server.catalogue.rewrite.words import CALL

#: Syntax that sqlglot takes for functions.
_SYNTAX = (
    exp.And, exp.Array, exp.Case, exp.Cast, exp.Collate, exp.CurrentCatalog, exp.CurrentDate, exp.CurrentSchema,
    exp.CurrentTimestamp, exp.CurrentUser, exp.Exists, exp.Extract, exp.If, exp.Localtimestamp, exp.Or, exp.RegexpILike,
    exp.RegexpLike, exp.SessionUser, exp.StrPosition, exp.Substring, exp.Trim,
)  # fmt: skip
#: Words before a parenthesis that are syntax and come as calls.
_CALLED = frozenset({"all", "row"})
#: Functions that make texts longer, how often they may stand in a statement, and how long what they put in may be.
_GROWING, MOST_GROWING, LONGEST_PIECE = frozenset({f"{CALL}replace", f"{CALL}regexp_replace"}), 3, 32
#: Blanks between words; DuckDB takes more characters for blanks than sqlglot does.
_BLANKS = frozenset(" \t\r\n\f")


def require_seen(text: str) -> None:
    """Refuse characters that cannot be seen: two parsers would not read them the same way.

    >>> require_seen("SELECT\u200b1")
    Traceback (most recent call last):
    dpsql.errors.StatementError: E_CHARSET the statement has characters that cannot be seen; leave them out
    """
    if text.isascii() and text.isprintable():
        return
    if any(unicodedata.category(each)[0] in "CZ" and each not in _BLANKS for each in set(text)):
        raise StatementError("E_CHARSET", "the statement has characters that cannot be seen; leave them out")


def require_known(tree: exp.Expr) -> None:
    """Refuse calls that are neither syntax nor renamed, and names and constants with characters that mark values."""
    growing = 0
    for node in tree.walk():
        if isinstance(node, exp.Anonymous):
            name = node.name.lower()
            growing += name in _GROWING
            if name in _GROWING and (growing > MOST_GROWING or not _is_short(node.expressions[2:3])):
                raise StatementError("E_LIMITS", f"{name.removeprefix(CALL)} is answered {MOST_GROWING} times in a "
                                     f"statement, with constants of at most {LONGEST_PIECE} characters")  # fmt: skip
            if not name.startswith(CALL) and name not in _CALLED:
                raise StatementError("E_FUNC", f"function {node.name} is not answered in this place")
        elif isinstance(node, exp.Func) and not isinstance(node, _SYNTAX):
            raise StatementError("E_FUNC", f"{node.sql_name().upper()} is not answered in the catalogue")
        elif isinstance(node.this, str) and ("\x01" in node.this or "\x02" in node.this):
            raise StatementError("E_CHARSET", "a constant has control characters; leave them out")


def _is_short(pieces: list[exp.Expr]) -> bool:
    return all(isinstance(each, exp.Literal | exp.ByteString) and len(each.name) <= LONGEST_PIECE for each in pieces)
