"""What the readers of single nodes are given: a function that reads the nodes inside theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlglot import exp

from dpsql.sql.functions.call import call, resolved
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import BOOLEAN, Expression
from dpsql.sql.ir.refusal import refuse

#: Gives the typed expression that a node means, or refuses it.
ReadNode: TypeAlias = Callable[[exp.Expr], Expression]


def read_condition(read: ReadNode, node: exp.Expr) -> Expression:
    """The node as a condition; refused where it is not true or false."""
    expression = resolved(read(node), BOOLEAN)
    if expression.type != BOOLEAN and expression != literal.NULL:
        refuse("E_TYPE", f"a condition must be true or false, and this is {expression.type}", node)
    return expression


def read_call(read: ReadNode, function: str, arguments: Sequence[exp.Expr], node: exp.Expr) -> Expression:
    """The function of the allow-list applied to arguments that are still to be read."""
    return call(function, [read(argument) for argument in arguments], node)
