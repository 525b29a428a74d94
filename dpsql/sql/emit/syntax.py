"""How SQL is read and written in one syntax, and the syntax of the statements that analysts write.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import sqlglot
from sqlglot import exp


class Syntax:
    """One syntax of SQL, under the name that sqlglot has for it."""

    def __init__(self, name: str) -> None:
        self.name: Final = name

    @property
    def parser(self) -> sqlglot.Dialect:
        """sqlglot's tokenizer and parser of the syntax."""
        return sqlglot.Dialect.get_or_raise(self.name)

    def parse(self, text: str) -> exp.Expr:
        """The tree of one statement or expression; SqlglotError where it cannot be read."""
        return sqlglot.parse_one(text, dialect=self.name)

    def write(self, tree: exp.Expr, *, copy: bool = True) -> str:
        """The tree as text on one line; without ``copy`` the tree is not used afterwards."""
        return tree.sql(dialect=self.name, copy=copy, comments=False, identify=False)

    def pretty(self, sql: str) -> str:
        """SQL of this syntax over several lines, for people."""
        return self.parse(sql).sql(dialect=self.name, pretty=True)

    def data_type(self, name: str) -> exp.DataType:
        """The type that the syntax has under this name."""
        return _data_type(self.name, name).copy()


@cache
def _data_type(syntax: str, name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=syntax)


#: What analysts write is read as DuckDB's SQL, whatever engine holds the rows.
STATEMENT: Final = Syntax("duckdb")
