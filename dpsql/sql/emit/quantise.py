"""Row values as clamped integers on a grid before anything is added,
and aggregates of the values of one unit.

Proved in ``docs/proofs/quantise.md``, ``docs/proofs/moments.md``, ``docs/proofs/norm_scan.md`` and
``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from sqlglot import exp

from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.analysis.contribution import MOST_PARTS, PARTS
from dpsql.sql.analysis.quantisation import (
    MOST_BITS_OF_UNIT,
    MOST_STEPS,
    ProductQuantum,
    Quantum,
    quantum,
)
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.node import number
from dpsql.sql.emit.scalar import double, key, native
from dpsql.sql.ir.aggregate_properties import Dispersion, UnitFunction
from dpsql.sql.ir.expression import DOUBLE, INTEGER, ColumnRef, Expression
from dpsql.sql.ir.relation import UnitAggregate

#: Products that may be this large are computed in 128 bits; with what is added to them,
#: smaller #: ones stay below 2^63.
MOST_BIGINT = 2**61
#: The number of smaller steps in 1 may be no double; they are divided by it in two parts.
SMALLEST_STEP = Fraction(1, 2**1000)


def quantised(dialect: Dialect, argument: Expression, grid: Quantum, offset: int = 0) -> exp.Expr:
    """The argument as a BIGINT between ``grid.low - offset`` and ``grid.high - offset``;
    NULL stays NULL.

    The value is clamped to the grid's own ends, so that no rounding can leave them. NaN is greater
    than every number in the engine and takes the upper end. GREATEST and LEAST skip NULL and would
    make an end of it, so they are applied only if the value is not NULL.
    """
    is_integer = (
        grid.size == 1 and isinstance(argument, ColumnRef) and argument.type.kind == "integer"
    )
    value = native(dialect, argument) if is_integer else double(dialect, argument)
    low = node.integer(grid.low) if is_integer else number(float(grid.low * grid.size))
    high = node.integer(grid.high) if is_integer else number(float(grid.high * grid.size))
    clamped = dialect.least(dialect.greatest(value.copy(), low), high)
    scaled = clamped if grid.size == 1 else node.times(clamped, number(grid.factor))
    steps: exp.Expr = dialect.try_cast(scaled, INTEGER)
    if offset:
        steps = exp.Sub(
            this=steps,
            expression=node.integer(offset) if offset > 0 else node.paren(node.integer(offset)),
        )
    return node.case((node.not_null(value), steps))


def in_wide_steps(dialect: Dialect, argument: Expression, step: Fraction) -> exp.Expr:
    """The argument in whole steps of a grid that no bounds limit, clamped to ±`MOST_STEPS`;
    NULL stays NULL.
    """
    return dialect.cast(_clamped(dialect, argument, number(float(1 / step)), MOST_STEPS), "wide")


def in_parts(dialect: Dialect, argument: Expression, norm: Expression) -> exp.Expr:
    """The argument in steps, `PARTS` to one ``norm``, clamped to ±`MOST_PARTS`;
    NULL stays NULL.

    ``norm`` is a released number above 0.
    """
    parts = exp.Div(
        this=number(float(PARTS)), expression=double(dialect, norm), typed=False, safe=False
    )
    return dialect.try_cast(_clamped(dialect, argument, node.paren(parts), MOST_PARTS), INTEGER)


def _clamped(dialect: Dialect, argument: Expression, factor: exp.Expr, most: int) -> exp.Expr:
    """The argument times the factor, at most so large; NaN has the upper end,
    and NULL stays NULL.
    """
    value = double(dialect, argument)
    ends = number(-float(most)), number(float(most))
    clamped = dialect.least(dialect.greatest(node.times(value.copy(), factor), ends[0]), ends[1])
    return node.case((node.not_null(value), clamped))


def at_least(dialect: Dialect, argument: Expression, grid: Quantum) -> exp.Expr | None:
    """A DOUBLE that is no smaller than the size of what `quantised` makes of the argument,
    in units of the argument.

    The engine adds doubles faster than whole numbers, which it adds in 128 bits. Beyond the bounds
    it is larger than it need be, NaN is above everything, and NULL may count as 0. None if no
    cheap expression tells.
    """
    half = number(float(grid.size / 2))
    if grid.low <= 0 <= grid.high:
        return node.plus(node.function("ABS", double(dialect, argument)), half)
    if grid.low > 0 and not is_nullable(argument):
        return node.plus(
            dialect.greatest(double(dialect, argument), number(float(grid.low * grid.size))), half
        )
    return None


def in_units(steps: exp.Expr, size: Fraction) -> exp.Expr:
    """A DOUBLE number of steps as the double nearest to the value: a step of a decimal is none,
    but 1 is so many.
    """
    if Fraction(float(size)) == size:
        return node.times(steps, number(float(size)))
    if size < SMALLEST_STEP:
        steps = exp.Div(
            this=node.operand(steps),
            expression=number(float(1 / SMALLEST_STEP)),
            typed=False,
            safe=False,
        )
        size /= SMALLEST_STEP
    return exp.Div(
        this=node.operand(steps), expression=number(float(1 / size)), typed=False, safe=False
    )


def product(
    dialect: Dialect, left_side: Expression, right_side: Expression, grid: ProductQuantum
) -> exp.Expr:
    """The product of two arguments, each from its middle, as a BIGINT of at most ``grid.reach`` in
    size; NULL where either is NULL."""
    first = quantised(dialect, left_side, grid.left, grid.left.middle)
    if grid.left.reach * grid.right.reach >= MOST_BIGINT:
        first = dialect.cast(first, "wide")
    value = node.times(first, quantised(dialect, right_side, grid.right, grid.right.middle))
    if grid.divisor > 1:
        value = dialect.quotient(
            node.paren(node.plus(value, node.integer(grid.added))), node.integer(grid.divisor)
        )
    if grid.taken:
        value = exp.Sub(this=node.operand(value), expression=node.integer(grid.taken))
    return (
        dialect.cast(value, INTEGER) if grid.left.reach * grid.right.reach >= MOST_BIGINT else value
    )


def dispersion_of(
    dialect: Dialect,
    dispersion: Dispersion,
    argument: Expression,
    when: Callable[[exp.Expr], exp.Expr],
) -> exp.Expr:
    """The variance or deviation of a group's values, NULL if it has too few;
    ``when`` keeps what a FILTER keeps.

    Sums are of integers from the middle of the bounds, so that they do not depend on the order of
    the rows. Rounding may leave next to nothing below 0, which ABS takes away.
    """
    grid = quantum(argument)
    steps = quantised(dialect, argument, grid, grid.middle)
    count = exp.Count(this=when(steps))
    total = dialect.cast(dialect.sum(when(steps.copy())), DOUBLE)
    square = node.times(dialect.cast(steps.copy(), "wide"), steps.copy())
    squares = dialect.cast(dialect.sum(when(square)), DOUBLE)
    mean = _over(node.times(total, total.copy()), count)
    rows = _less_one(count.copy()) if dispersion.of_sample else count.copy()
    variance = _over(exp.Sub(this=squares, expression=node.paren(mean)), rows)
    scaled = in_units(node.function("ABS", variance), grid.size * grid.size)
    return node.function("SQRT", scaled) if dispersion.is_deviation else scaled


def _less_one(count: exp.Expr) -> exp.Expr:
    return exp.Sub(this=count, expression=node.integer(1))


def _over(value: exp.Expr, rows: exp.Expr) -> exp.Expr:
    """The value divided by a number of rows, NULL if there are none."""
    known = exp.Nullif(this=rows.copy(), expression=node.integer(0))
    return exp.Div(this=node.paren(value), expression=known, typed=False, safe=False)


def unit_aggregate(dialect: Dialect, aggregate: UnitAggregate) -> exp.Expr:
    """The aggregate's SQL in a SELECT that groups the rows."""
    argument = aggregate.argument

    def when(value: exp.Expr) -> exp.Expr:
        return (
            value
            if aggregate.condition is None
            else node.case((native(dialect, aggregate.condition), value))
        )

    match aggregate.function:
        case UnitFunction.COUNT:
            return exp.Count(
                this=when(node.integer(1) if argument is None else native(dialect, argument))
            )
        case UnitFunction.COUNT_DISTINCT:
            assert argument is not None
            return exp.Count(this=exp.Distinct(expressions=[when(key(dialect, argument))]))
        case UnitFunction.EVERY | UnitFunction.SOME:
            assert argument is not None
            return node.function(
                "MIN" if aggregate.function is UnitFunction.EVERY else "MAX",
                when(native(dialect, argument)),
            )
        case Dispersion() as dispersion:
            assert argument is not None
            return dispersion_of(dialect, dispersion, argument, when)
        case UnitFunction.MIN | UnitFunction.MAX:
            assert argument is not None
            return node.function(
                "MIN" if aggregate.function is UnitFunction.MIN else "MAX",
                when(key(dialect, argument)),
            )
        case UnitFunction.SUM | UnitFunction.AVG:
            assert argument is not None
            grid = quantum(argument, MOST_BITS_OF_UNIT)
            steps = quantised(dialect, argument, grid)
            if grid != quantum(
                argument
            ):  # steps as fine as these may add up to more than a BIGINT holds
                steps = dialect.cast(steps, "wide")
            scaled = in_units(dialect.cast(dialect.sum(when(steps)), DOUBLE), grid.size)
            if aggregate.function is UnitFunction.SUM:
                return scaled
            count = exp.Count(this=when(steps.copy()))
            known = exp.Nullif(this=count, expression=node.integer(0))
            return exp.Div(this=node.paren(scaled), expression=known, typed=False, safe=False)
        case _:
            assert_never(aggregate.function)
