"""An exact aggregate over the rows of one unit, or of one group, whose value does not depend on their order.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from dpsql.sql.analysis.quantisation import MOST_BITS_OF_UNIT, quantum
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.quantise import dispersion_of, in_units, quantised
from dpsql.sql.emit.scalar import key, native
from dpsql.sql.ir.aggregate_properties import Dispersion, UnitFunction
from dpsql.sql.ir.expression import DOUBLE
from dpsql.sql.ir.relation import UnitAggregate


def unit_aggregate(dialect: Dialect, aggregate: UnitAggregate) -> exp.Expr:
    """The aggregate's SQL in a SELECT that groups the rows."""
    argument = aggregate.argument

    def when(value: exp.Expr) -> exp.Expr:
        return value if aggregate.condition is None else node.case((native(dialect, aggregate.condition), value))

    match aggregate.function:
        case UnitFunction.COUNT:
            return exp.Count(this=when(node.integer(1) if argument is None else native(dialect, argument)))
        case UnitFunction.COUNT_DISTINCT:
            assert argument is not None
            return exp.Count(this=exp.Distinct(expressions=[when(key(dialect, argument))]))
        case UnitFunction.EVERY | UnitFunction.SOME:
            assert argument is not None
            return node.function(
                "MIN" if aggregate.function is UnitFunction.EVERY else "MAX", when(native(dialect, argument))
            )
        case Dispersion() as dispersion:
            assert argument is not None
            return dispersion_of(dialect, dispersion, argument, when)
        case UnitFunction.MIN | UnitFunction.MAX:
            assert argument is not None
            return node.function(
                "MIN" if aggregate.function is UnitFunction.MIN else "MAX", when(key(dialect, argument))
            )
        case UnitFunction.SUM | UnitFunction.AVG:
            assert argument is not None
            grid = quantum(argument, MOST_BITS_OF_UNIT)
            steps = quantised(dialect, argument, grid)
            if grid != quantum(argument):  # steps as fine as these may add up to more than a BIGINT holds
                steps = dialect.cast(steps, "wide")
            scaled = in_units(dialect.cast(exp.Sum(this=when(steps)), DOUBLE), grid.size)
            if aggregate.function is UnitFunction.SUM:
                return scaled
            count = exp.Count(this=when(steps.copy()))
            known = exp.Nullif(this=count, expression=node.integer(0))
            return exp.Div(this=node.paren(scaled), expression=known, typed=False, safe=False)
        case _:
            assert_never(aggregate.function)
