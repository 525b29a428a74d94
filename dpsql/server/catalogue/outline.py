"""What the server's log says of a statement that was not answered: its words, and none of its constants."""

from __future__ import annotations

from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

#: How many characters of an outline are kept.
LONGEST = 2_000


def outline(text: str) -> str:
    """The statement in one line, without comments and with ``?`` for each constant.

    >>> outline("SELECT pg_x(1) -- mine\\n FROM t WHERE name = 'ada'")
    'SELECT pg_x ( ? ) FROM t WHERE name = ?'
    """
    try:
        tokens = Postgres().tokenize(text[:LONGEST])
    except SqlglotError:
        return "a statement whose quotes or comments do not end"
    words = (text[token.start : token.end + 1] for token in tokens)
    return " ".join("?" if "'" in word or "$" in word or word[:1].isdigit() else word for word in words)
