"""What one row adds to each cell of a core, in whole steps, and how large that is at most.

Proved in ``docs/proofs/contribution.md``.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.quantisation import ProductQuantum, Quantum
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.measurement import contribution_bounding, histogram
from dpsql.sql.emit.quantise import at_least, in_parts, in_wide_steps, product, quantised
from dpsql.sql.emit.scalar import key, native
from dpsql.sql.ir.core import (
    ClampedSum,
    DistinctCount,
    Frequencies,
    Histogram,
    NormClippedSum,
    ProductSum,
    RowCount,
    UnitCount,
    UnitNorms,
)


def row_value(dialect: Dialect, contribution: Contribution) -> exp.Expr:
    """What one row adds to the cell, in its steps, or its bin in a histogram;
    NULL if it adds nothing.
    """
    cell = contribution.cell
    match cell:
        case RowCount(argument=argument):
            value: exp.Expr = node.integer(contribution.fine)
            if argument is not None:
                value = node.case((node.not_null(native(dialect, argument)), value))
        case UnitCount():
            value = node.integer(contribution.fine)
        case DistinctCount(argument=argument):
            value = key(dialect, argument)
        case ClampedSum(argument=argument, centred=centred):
            assert isinstance(contribution.grid, Quantum)
            value = quantised(
                dialect, argument, contribution.grid, contribution.grid.middle if centred else 0
            )
            value = (
                value
                if contribution.fine == 1
                else node.times(value, node.integer(contribution.fine))
            )
        case ProductSum(left=first, right=second):
            assert isinstance(contribution.grid, ProductQuantum)
            value = product(dialect, first, second, contribution.grid)
            value = (
                value
                if contribution.fine == 1
                else node.times(value, node.integer(contribution.fine))
            )
        case NormClippedSum(argument=argument, norm=norm_bound):
            value = in_parts(dialect, argument, norm_bound)
        case UnitNorms(argument=argument, step=step):
            value = in_wide_steps(dialect, argument, step)
        case Histogram(argument=argument):
            assert contribution.bins is not None
            value = histogram.bin_number(dialect, argument, contribution.bins)
        case Frequencies(argument=argument, sizes=True):
            value = native(dialect, argument)
        case Frequencies(argument=argument, values=values):
            value = histogram.placed(dialect, argument, values)
        case _:
            assert_never(cell)
    return value if cell.condition is None else node.case((native(dialect, cell.condition), value))


def row_size(dialect: Dialect, contribution: Contribution, norm: Norm) -> exp.Expr | None:
    """An upper bound of the size of what a row adds to a sum, in units of the value,
    NULL if it adds nothing.

    None if no cheap one is known.
    """
    cell = contribution.cell
    grid = contribution.grid
    if (
        not isinstance(cell, ClampedSum)
        or cell.centred
        or not isinstance(grid, Quantum)
        or grid.size == 1
    ):
        return None
    if (
        contribution_bounding.max_safe_l1_norm(contribution, norm)
        >= contribution_bounding.MOST_ADDED * contribution.fine
    ):
        return None
    size = at_least(dialect, cell.argument, grid)
    return (
        size
        if size is None or cell.condition is None
        else node.case((native(dialect, cell.condition), size))
    )
