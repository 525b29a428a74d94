"""The demand that a column is the privacy unit, as GoogleSQL's clause makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.query.expression import BOOLEAN, Column, Expression, Literal
from dpsql.query.refusal import refuse
from dpsql.schema import UNIT

if TYPE_CHECKING:
    from dpsql.query.scalar import Reader


def is_unit(reader: Reader, node: exp.Expr) -> Expression:
    """TRUE where the argument is the unit's column, by lineage; refused where it is another."""
    column = reader.read(node.expressions[0])
    if not isinstance(column, Column) or column.identifies != UNIT:
        refuse("E_KEY", f"{node.expressions[0].name} is not the column of the privacy unit", node.expressions[0])
    return Literal(True, BOOLEAN)
