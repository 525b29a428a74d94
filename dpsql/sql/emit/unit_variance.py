"""The variance of one unit's own values, exact up to one rounding (``docs/proofs/stability.md``)."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.sql.analysis.quantum import quantum
from dpsql.sql.emit import node
from dpsql.sql.emit.quantise import quantised
from dpsql.sql.functions.signature import number
from dpsql.sql.ir.expression import Expression
from dpsql.sql.ir.relation import Spread


def spread(statistic: Spread, argument: Expression, when: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The variance or deviation of a group's values, NULL where it has too few; ``when`` keeps what a FILTER keeps.

    Sums are of integers from the middle of the bounds, so that they do not depend on the order of the rows. Rounding
    may leave next to nothing below 0, which ABS takes away.
    """
    grid = quantum(argument)
    steps = quantised(argument, grid, grid.middle)
    count = exp.Count(this=when(steps))
    total = node.cast(exp.Sum(this=when(steps.copy())), "double")
    squares = node.cast(exp.Sum(this=when(node.times(node.cast(steps.copy(), "hugeint"), steps.copy()))), "double")
    mean = _over(node.times(total, total.copy()), count)
    rows = count.copy() if statistic in ("var_pop", "stddev_pop") else _less_one(count.copy())
    variance = _over(exp.Sub(this=squares, expression=node.paren(mean)), rows)
    scaled = node.times(node.function("ABS", variance), number(float(grid.size * grid.size)))
    return scaled if statistic in ("var_pop", "var_samp") else node.function("SQRT", scaled)


def _less_one(count: exp.Expr) -> exp.Expr:
    return exp.Sub(this=count, expression=node.integer(1))


def _over(value: exp.Expr, rows: exp.Expr) -> exp.Expr:
    """The value divided by a number of rows, NULL where there are none."""
    known = exp.Nullif(this=rows.copy(), expression=node.integer(0))
    return exp.Div(this=node.paren(value), expression=known, typed=False, safe=False)
