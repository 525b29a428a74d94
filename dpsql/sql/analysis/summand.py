"""What may be added up: numbers between finite bounds, and no others.

``docs/proofs/stability.md``.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import bounds, is_bounded
from dpsql.sql.ir.expression import BOOLEAN, Call, Case, ColumnRef, Expression, Literal, columns
from dpsql.sql.ir.refusal import refuse

#: No value that is added may be larger:
#: then neither noise nor intervals leave the range of a double.
LARGEST_SUMMAND = 10**100
#: What the columns of subqueries are called inside: no name that anybody wrote.
_GENERATED = re.compile(r"[ackv]\d+")


def as_number(argument: Expression, name: str, node: exp.Expr) -> Expression:
    """The expression, a truth value as 1 and 0; refused unless it is a number."""
    if argument.type == BOOLEAN:
        one = Literal(1, SqlType("integer"))
        zero = Literal(0, SqlType("integer"))
        argument = Case(
            ((argument, one), (Call("not", (argument,), BOOLEAN), zero)), None, SqlType("integer")
        )
    if not argument.type.is_numeric:
        refuse("E_TYPE", f"{name} needs a number, and this is {argument.type}", node)
    return argument


def summand(argument: Expression, name: str, node: exp.Expr) -> Expression:
    """The expression whose values are added; refused unless a number between finite bounds."""
    argument = as_number(argument, name, node)
    if not is_bounded(argument):
        missing = without_bounds(argument, node)
        where = f"the schema needs bounds for {missing}, or you " if missing else ""
        where = f"; {where}write CASE WHEN x BETWEEN 0 AND 1000 THEN x END with ends of your own"
        refuse("E_BOUNDS", f"{name} of a value without finite bounds is not answered{where}", node)
    if (bounds(argument).magnitude or 0) > LARGEST_SUMMAND:
        refuse("E_BOUNDS", f"{name} of values that may lie beyond ±1e100 is not answered", node)
    return argument


def without_bounds(argument: Expression, node: exp.Expr) -> str:
    """The columns for which the schema needs bounds; none that is named inside dpsql alone."""
    written = {column.name for column in node.find_all(exp.Column)}
    return ", ".join(
        column.name
        for column in _unbounded_columns(argument)
        if not column.released and (column.name in written or not _GENERATED.fullmatch(column.name))
    )


def _unbounded_columns(expression: Expression) -> list[ColumnRef]:
    """The numeric columns without declared bounds: the ones to name when a sum has none."""
    unbounded = dict.fromkeys(
        column for column in columns(expression) if not bounds(column).is_finite
    )
    return [column for column in unbounded if column.type.is_numeric or column.type.is_temporal]
