"""Aggregates of one value that is the same in all rows of a group: nothing is measured.

The aggregate is that value itself. Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as OneOf

from sqlglot import exp

from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.emit.syntax import SANDBOX

#: How the type of an aggregate follows from that of its argument.
_ResultType = OneOf["argument", "double", "midpoint"]
#: Aggregates of one argument that are the value, if all rows have the same one.
_OF_ONE: dict[type[exp.Expr], _ResultType] = {
    exp.Min: "argument",
    exp.Max: "argument",
    exp.AnyValue: "argument",
    exp.First: "argument",
    exp.Last: "argument",
    exp.Mode: "argument",
    exp.Avg: "double",
    exp.Median: "midpoint",
}


@dataclass(frozen=True)
class RepeatedValue:
    """An aggregate that is its argument, if this is the same in all rows.

    ``beside`` chooses the row of ARG_MIN.
    """

    argument: exp.Expr
    type: _ResultType
    beside: exp.Expr | None = None

    def released(
        self, reader: Reader, over_keys: Callable[[exp.Expr], exp.Expr]
    ) -> exp.Expr | None:
        """The value over released keys.

        None if a group may have no row to choose, or the argument has no mean.
        """
        if self.beside is not None and is_nullable(reader.expression(self.beside)):
            return None
        value = over_keys(self.argument)
        if self.type == "argument":
            return value
        argument_type = reader.expression(self.argument).type
        if not argument_type.is_numeric:
            return None
        middle = argument_type.facts.midpoint or argument_type.engine_name
        type_name = "double" if self.type == "double" else middle
        return exp.Cast(this=value, to=SANDBOX.data_type(type_name))


def repeated_value(node: exp.Expr) -> RepeatedValue | None:
    """The argument that the aggregate returns if all rows have the same; None for another call.

    A FILTER may leave no row, so an aggregate with one is not among these.

    >>> from dpsql.sql.emit.syntax import STATEMENT
    >>> calls = STATEMENT.parse("SELECT MAX(DISTINCT a), ARBITRARY(a), SUM(a), ARG_MIN(a, b), MIN(a, 2)").expressions
    >>> [None if repeated is None else repeated.argument.sql() for repeated in map(repeated_value, calls)]
    ['a', 'a', None, 'a', None]
    """
    if (
        isinstance(node, exp.Anonymous)
        and node.name.lower() == "arbitrary"
        and len(node.expressions) == 1
    ):
        return RepeatedValue(node.expressions[0], "argument")
    arguments = {name for name, value in node.args.items() if value}
    if isinstance(node, exp.ArgMin | exp.ArgMax) and arguments == {"this", "expression"}:
        return RepeatedValue(node.this, "argument", node.expression)
    result_type = _OF_ONE.get(type(node))
    if result_type is None or arguments != {"this"}:
        return None
    argument = node.this
    if isinstance(argument, exp.Distinct):
        if len(argument.expressions) != 1 or argument.args.get("on"):
            return None
        argument = argument.expressions[0]
    return (
        None if isinstance(argument, exp.Order | exp.Star) else RepeatedValue(argument, result_type)
    )
