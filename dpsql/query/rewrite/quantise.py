"""Row values → integers on a grid, clamped, before anything is added (`docs/proofs/quantise.md`)."""

from __future__ import annotations

from sqlglot import exp

from dpsql.query.expression import Column, Expression
from dpsql.query.function import number
from dpsql.query.quantum import Quantum
from dpsql.query.rewrite import node
from dpsql.query.rewrite.scalar import double, native


def quantised(argument: Expression, grid: Quantum, offset: int = 0) -> exp.Expr:
    """The argument as a BIGINT between ``grid.low - offset`` and ``grid.high - offset``; NULL stays NULL.

    NaN is greater than every number in the engine, so it takes the upper end. GREATEST and LEAST are not used: they
    skip NULL and would turn it into an end.
    """
    whole = grid.size == 1 and isinstance(argument, Column) and argument.type.kind == "integer"
    value = native(argument) if whole else double(argument)
    low = node.integer(int(grid.least)) if whole else number(float(grid.least))
    high = node.integer(int(grid.most)) if whole else number(float(grid.most))
    scaled = value.copy() if grid.size == 1 else node.times(value.copy(), number(grid.factor))
    middle: exp.Expr = node.try_cast(scaled, "bigint")
    if offset:
        middle = exp.Sub(
            this=middle, expression=node.integer(offset) if offset > 0 else node.paren(node.integer(offset))
        )
    return node.case(
        (node.compare(exp.GTE, value, high), node.integer(grid.high - offset)),
        (node.compare(exp.LTE, value.copy(), low), node.integer(grid.low - offset)),
        default=middle,
    )
