"""What a suggested statement changes: a comment after it says so.

A rewrite marks each node that it puts in the place of another.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.sql.emit.syntax import STATEMENT

#: The key in a node's ``meta`` of what it changes, in words.
_CHANGE = "dpsql_change"
#: How many characters of SQL the comment quotes at most of one node.
_LONGEST_PIECE = 60


def replaced(old: exp.Expr, new: exp.Expr) -> exp.Expr:
    """Put a node in the place of another, and remember it."""
    change = f"{_piece(new)} for {_piece(old)}"
    old.replace(new)
    return marked(new, change)


def marked(node: exp.Expr, change: str) -> exp.Expr:
    """The node with what it changes."""
    node.meta[_CHANGE] = change
    return node


def _piece(node: exp.Expr) -> str:
    text = _written(node)
    return text if len(text) <= _LONGEST_PIECE else f"{text[: _LONGEST_PIECE - 4]} ..."


def described(tree: exp.Expr) -> str:
    """The statement with a comment that says what it changes.

    >>> tree = STATEMENT.parse("SELECT MAX(x) FROM t")
    >>> described(marked(tree, "MAX(x) for MAX(DISTINCT x)"))
    'SELECT MAX(x) FROM t /* MAX(x) for MAX(DISTINCT x) */'
    """
    changes = dict.fromkeys(node.meta[_CHANGE] for node in tree.walk() if _CHANGE in node.meta)
    words = re.sub(r"[^ -~]", "?", "; ".join(changes)).replace("*/", "* /").replace("/*", "/ *")
    return f"{_written(tree)} /* {words} */" if words else _written(tree)


def _written(node: exp.Expr) -> str:
    """The SQL of the node, in which STRING_AGG has its usual name.

    >>> _written(STATEMENT.parse("SELECT STRING_AGG(DISTINCT x, ', ') FROM t"))
    "SELECT STRING_AGG(DISTINCT x, ', ') FROM t"
    """

    def called(inner: exp.Expr) -> exp.Expr:
        if not isinstance(inner, exp.GroupConcat) or isinstance(inner.this, exp.Order):
            return inner
        return exp.Anonymous(
            this="STRING_AGG",
            expressions=[argument for argument in inner.args.values() if argument],
        )

    return STATEMENT.write(node.copy().transform(called))
