"""The definition of a synthetic table: columns of one table, and which of its rows count.

Proved in ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.parser.parse import parse

_READ = frozenset({"expressions", "from_", "from", "where", "kind"})


@dataclass(frozen=True)
class SyntheticDefinition:
    """``SELECT columns FROM table [WHERE condition]``: each column with its name in the synthetic table.

    ``columns`` is None for ``*``.
    """

    table: str
    alias: str
    columns: tuple[tuple[str, str], ...] | None
    where: str

    def marginal(self, keys: Sequence[str]) -> str:
        """The text of the statement that counts the rows for each value of the keys.

        >>> definition("SELECT a FROM t WHERE b > 0").marginal(["a"])
        'SELECT a AS k0, COUNT(*) AS n FROM "t" AS "t" WHERE b > 0 GROUP BY 1'
        """
        listed = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
        places = ", ".join(str(place + 1) for place in range(len(keys)))
        return f'SELECT {listed}, COUNT(*) AS n FROM "{self.table}" AS "{self.alias}"{self.where} GROUP BY {places}'


def definition(text: str) -> SyntheticDefinition:
    """Read the definition; StatementError or Refused where it is another statement.

    >>> definition("SELECT a, T.b AS c FROM t").columns
    (('a', 'a'), ('c', 'b'))
    """
    statement = parse(text)
    select = statement.tree
    if statement.options is not None or not isinstance(select, exp.Select):
        refuse("E_STMT", "a synthetic table is made by SELECT columns FROM table [WHERE condition]", select)
    for name, value in select.args.items():
        if value and name not in _READ:
            refuse("E_STMT", "a synthetic table is made of columns of one table; leave all but WHERE out", select)
    source = select.args.get("from_") or select.args.get("from")
    table = None if source is None else source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier) or table.args.get("joins"):
        refuse("E_STMT", "a synthetic table is made of the rows of one table", select)
    where = select.args.get("where")
    condition = "" if where is None else f" WHERE {STATEMENT.write(where.this)}"
    alias = fold(table.alias_or_name)
    if len(select.expressions) == 1 and isinstance(select.expressions[0], exp.Star):
        return SyntheticDefinition(fold(table.name), alias, None, condition)
    columns = tuple(_column(each, alias) for each in select.expressions)
    if len(dict(columns)) < len(columns):
        refuse("E_STMT", "two columns have one name; give one another with AS", select)
    return SyntheticDefinition(fold(table.name), alias, columns, condition)


def _column(item: exp.Expr, alias: str) -> tuple[str, str]:
    """The name in the synthetic table, and the column of the table."""
    column = item.this if isinstance(item, exp.Alias) else item
    if not isinstance(column, exp.Column) or not isinstance(column.this, exp.Identifier):
        refuse("E_STMT", "a synthetic table has plain columns; compute others of it when you read it", item)
    if column.table and fold(column.table) != alias:
        refuse("E_COLUMN", f"there is no table `{column.table}` here", item)
    return fold(item.alias_or_name), fold(column.name)
