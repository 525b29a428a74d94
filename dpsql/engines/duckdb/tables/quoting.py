"""Names and texts as DuckDB's SQL writes them.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import string


def quoted(text: str) -> str:
    """The text as a constant.

    >>> print(quoted("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a table or a column, whatever letters it has.

    >>> print(identifier('the "best" one'))
    "the ""best"" one"
    """
    return '"' + name.replace('"', '""') + '"'


_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def folded(name: str) -> str:
    """The name as DuckDB compares names: ASCII letters in lower case, all others untouched."""
    return name.translate(_LOWER)
