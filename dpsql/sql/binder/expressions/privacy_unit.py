"""The demand that a column is the privacy unit, as GoogleSQL's clause makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.schema import UNIT
from dpsql.sql.ir.expression import BOOLEAN, Column, Expression, Literal
from dpsql.sql.ir.refusal import refuse

if TYPE_CHECKING:
    from dpsql.sql.binder.expressions.reader import Reader


def is_unit(reader: Reader, node: exp.Expr) -> Expression:
    """TRUE where the argument is the unit's column, by lineage; refused where it is another."""
    column = reader.read(node.expressions[0])
    if not isinstance(column, Column) or column.identifies != UNIT:
        refuse("E_KEY", f"{node.expressions[0].name} is not the column of the privacy unit", node.expressions[0])
    return Literal(True, BOOLEAN)
