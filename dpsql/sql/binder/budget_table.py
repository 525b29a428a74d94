"""The table ``dpsql.budget``: the analyst's remaining budget.

It is for tools that show neither notices nor SHOW.
"""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, fields
from datetime import date

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.ir.refusal import refuse

_TYPES = {
    "analyst": "text",
    "answers_left": "bigint",
    "answers_total": "bigint",
    "renewed_on": "date",
}
_NAMED = re.compile(r'dpsql"?\s*\.\s*"?budget', re.IGNORECASE)


@dataclass(frozen=True)
class BudgetRow:
    """The one row of the table: the analyst's budget, or the database's if that is tighter.

    The answers are counts of units at the price of the session. ``lifetime_epsilon`` is NULL if
    none holds, and ``renewed_on`` is NULL if the budget is never renewed.
    """

    analyst: str
    answers_left: int
    answers_total: int
    epsilon_total: float
    epsilon_left: float
    delta_total: float
    delta_left: float
    share_left: float
    lifetime_epsilon: float | None
    lifetime_delta: float
    renewed_on: date | None


def names_budget(text: str) -> bool:
    """Whether the text may read the table, so that its plan is good for one time only."""
    return _NAMED.search(text) is not None


def with_budget(tree: exp.Expr, row: BudgetRow) -> exp.Expr:
    """The tree with the row in the place of the table; refused if it reads other tables.

    >>> from sqlglot import parse_one
    >>> row = BudgetRow("ada", 29, 36, 3.0, 2.5, 1e-06, 1e-06, 0.8, 3.0, 1e-06, None)
    >>> with_budget(parse_one("SELECT share_left FROM dpsql.budget"), row).sql()[:60]
    "SELECT share_left FROM (VALUES (CAST('ada' AS TEXT), CAST('2"
    """
    tables = list(tree.find_all(exp.Table))
    budget_tables = [
        table
        for table in tables
        if fold(table.db) == "dpsql" and fold(table.name) == "budget" and not table.catalog
    ]
    if not budget_tables:
        return tree
    if len(budget_tables) < len(tables):
        refuse(
            "E_TABLE",
            "dpsql.budget is read alone; ask for other tables in a statement of their own",
            tables[0],
        )
    copy = tree.copy()
    for table in list(copy.find_all(exp.Table)):
        table.replace(_values(row, table.alias or "budget"))
    return copy


def _values(row: BudgetRow, alias: str) -> exp.Values:
    cells = [
        exp.Cast(
            this=exp.null() if value is None else exp.Literal.string(str(value)),
            to=exp.DataType.build(_TYPES.get(field.name, "double")),
        )
        for field, value in zip(fields(row), astuple(row), strict=True)
    ]
    names = [exp.to_identifier(field.name, quoted=True) for field in fields(row)]
    return exp.Values(
        expressions=[exp.Tuple(expressions=cells)],
        alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True), columns=names),
    )
