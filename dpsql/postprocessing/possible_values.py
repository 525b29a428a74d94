"""The possible range of a number that is shown, by the schema and the statement.

See ``docs/proofs/possible.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import assert_never

from sqlglot import exp

from dpsql.planning.estimators.linear_forms import cut
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import CellInterval, OutputColumn
from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.analysis.grouping_levels import Cube, is_additive, shapes
from dpsql.sql.analysis.key_domain.enumeration import column_values, values
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.functions.interval_rules import abs_interval
from dpsql.sql.ir.aggregate import COUNT, SUM
from dpsql.sql.ir.aggregate_properties import Dispersion, Range
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import ColumnRef, Expression, conjuncts
from dpsql.sql.ir.interval import EVERYTHING, Interval


@lru_cache(maxsize=1024)
def possible(aggregate: Aggregate) -> Interval:
    """The range of an aggregate for all data that keep what the schema declares."""
    argument = aggregate.argument
    known = aggregate.function.possible
    match known:
        case Interval():
            return known
        case Range.OF_DIFFERENT_VALUES:
            assert argument is not None
            count = _different(argument)
            return Interval(Fraction(0), None if count is None else Fraction(count))
        case Range.OF_SUM:
            assert argument is not None
            within = bounds(argument)
            zero = Fraction(0)
            low = within.low is not None and within.low >= 0
            high = within.high is not None and within.high <= 0
            return Interval(zero if low else None, zero if high else None)
        case Range.OF_ARGUMENT:
            assert argument is not None
            return bounds(argument)
        case Dispersion():
            assert argument is not None
            return Interval(Fraction(0), _widest(known, bounds(argument)))
        case _:
            assert_never(known)


def _widest(dispersion: Dispersion, within: Interval) -> Fraction | None:
    """The greatest spread of values within bounds.

    It is that of halves at both ends, and of two values for a sample's.
    """
    if within.low is None or within.high is None:
        return None
    variance = ((within.high - within.low) / 2) ** 2 * (2 if dispersion.of_sample else 1)
    if not dispersion.is_deviation:
        return variance
    return Fraction(math.nextafter(math.sqrt(variance), math.inf)) if variance < 10**300 else None


def _different(argument: Expression) -> int | None:
    """How many values, NULL apart, the argument may have; None where that is not known."""
    known = column_values(argument) if isinstance(argument, ColumnRef) else values(argument)
    if known is not None:
        return sum(value is not None for value in known)
    within = bounds(argument)
    if argument.type.kind not in ("integer", "date") or within.low is None or within.high is None:
        return None
    return max(floor(within.high) - ceil(within.low) + 1, 0)


@lru_cache(maxsize=1024)
def possible_of(sql: str, aggregates: tuple[Aggregate, ...]) -> Interval:
    """The range of an expression over one row of a released table.

    The aggregates of the row are ``a0``, ``a1`` …
    """
    return _range(SANDBOX.parse(sql), aggregates)


def _range(node: exp.Expr, aggregates: tuple[Aggregate, ...]) -> Interval:
    match node:
        case exp.Column():
            index = _aggregate_index(node)
            return EVERYTHING if index is None else possible(aggregates[index])
        case exp.Literal():
            return (
                EVERYTHING if node.is_string else Interval(Fraction(node.name), Fraction(node.name))
            )
        case exp.Paren() | exp.Nullif():
            return _range(node.this, aggregates)
        case exp.Cast() | exp.TryCast() | exp.Round() if (
            node.args.get("decimals") is None or _digits(node) >= 0
        ):
            # It may round to the next whole number, and no further.
            inner = _range(node.this, aggregates)
            low = inner.low
            high = inner.high
            return Interval(
                None if low is None else Fraction(floor(low)),
                None if high is None else Fraction(ceil(high)),
            )
        case exp.Coalesce():
            return _union_of_ranges([node.this, *node.expressions], aggregates)
        case exp.Case():
            default = node.args.get("default")
            return _union_of_ranges(
                [
                    *(branch.args["true"] for branch in node.args["ifs"]),
                    *([default] if default else []),
                ],
                aggregates,
            )
        case exp.Neg():
            return -_range(node.this, aggregates)
        case exp.Sqrt():
            return Interval(Fraction(0), None)
        case exp.Abs():
            return abs_interval(_range(node.this, aggregates))
        case exp.Add():
            return _range(node.this, aggregates) + _range(node.expression, aggregates)
        case exp.Mul():
            return _range(node.this, aggregates) * _range(node.expression, aggregates)
        case exp.Sub():
            difference = _range(node.this, aggregates) - _range(node.expression, aggregates)
            most = _most_of(node.expression, node.this, aggregates)
            return difference if most is None or most > 1 else difference.within(Fraction(0), None)
        case exp.Div():
            return _quotient(node, aggregates)
        case _:
            return EVERYTHING


def _quotient(node: exp.Div, aggregates: tuple[Aggregate, ...]) -> Interval:
    above = _range(node.this, aggregates)
    below = _range(node.expression, aggregates)
    if not (above.low is not None and below.low is not None and above.low >= 0 and below.low >= 0):
        return above / below
    return Interval(Fraction(0), _most_of(node.this, node.expression, aggregates))


def _most_of(
    numerator: exp.Expr, denominator: exp.Expr, aggregates: tuple[Aggregate, ...]
) -> Fraction | None:
    """The most that one term can be of another one; None if that is not known.

    The other one has to count or add up at least the same rows.
    """
    above = _term(numerator)
    below = _term(denominator)
    if above is None or below is None or below[0] <= 0 or above[0] < 0:
        return None
    one = aggregates[above[1]]
    other = aggregates[below[1]]
    if not set(conjuncts(other.condition)) <= set(conjuncts(one.condition)):
        return None
    factor = above[0] / below[0]
    same = one.argument == other.argument
    if one.function is other.function and one.function.bounds_its_parts:
        counts_all = one.function is COUNT and (
            other.argument is None or not is_nullable(other.argument)
        )
        return factor if (same or counts_all) and possible(one).low == 0 else None
    if one.function is SUM and other.function is COUNT and one.argument is not None:
        within = bounds(one.argument)
        counted = same or other.argument is None or not is_nullable(other.argument)
        return (
            factor * within.high
            if counted and within.low is not None and within.low >= 0 and within.high
            else None
        )
    return None


def _term(node: exp.Expr) -> tuple[Fraction, int] | None:
    """The expression as a number times an aggregate, by its place."""
    match node:
        case exp.Column():
            index = _aggregate_index(node)
            return None if index is None else (Fraction(1), index)
        case exp.Paren() | exp.Nullif() | exp.Cast() | exp.TryCast():
            return _term(node.this)
        case (
            exp.Mul(this=exp.Literal(is_string=False) as factor, expression=inner)
            | exp.Mul(this=inner, expression=exp.Literal(is_string=False) as factor)
        ):
            term = _term(inner)
            return None if term is None else (term[0] * Fraction(factor.name), term[1])
        case _:
            return None


def _union_of_ranges(nodes: Sequence[exp.Expr], aggregates: tuple[Aggregate, ...]) -> Interval:
    """Where one of several expressions lies; NULL lies nowhere."""
    known = [_range(node, aggregates) for node in nodes if not isinstance(node, exp.Null)]
    result = known[0] if known else EVERYTHING
    for range_ in known[1:]:
        result = result.union(range_)
    return result


def _aggregate_index(column: exp.Column) -> int | None:
    return int(column.name[1:]) if column.name[:1] == "a" and column.name[1:].isdecimal() else None


def _digits(node: exp.Expr) -> int:
    digits = node.args["decimals"]
    return int(digits.name) if isinstance(digits, exp.Literal) and digits.name.isdecimal() else -1


def ranges(plan: Plan) -> tuple[Interval, ...]:
    """The range of the numbers in each column of a plan's result."""
    return column_ranges(plan.columns, shapes([core.core for core in plan.cores], plan.cubes))


def column_ranges(
    columns: Sequence[OutputColumn], tables: Mapping[str, Core | Cube]
) -> tuple[Interval, ...]:
    """The range of the numbers in each column that come from one row of the released tables.

    Everything for other columns.
    """
    return tuple(_range_of_column(column, tables) for column in columns)


def _range_of_column(column: OutputColumn, tables: Mapping[str, Core | Cube]) -> Interval:
    if column.aggregate is None:
        return (
            EVERYTHING
            if column.computed is None
            else possible_of(column.computed, tables[column.table].aggregates)
        )
    shape = tables[column.table]
    aggregate = shape.aggregates[column.aggregate]
    if isinstance(shape, Cube) and shape.finest is not None and is_additive(aggregate):
        return EVERYTHING  # totals are shown as the sums of their parts
    return possible(aggregate)


def shown_within(
    plan: Plan, rows: Sequence[Sequence[object]], intervals: Sequence[Sequence[CellInterval | None]]
) -> tuple[list[tuple[object, ...]], list[tuple[CellInterval | None, ...]]]:
    """The rows of a result and their intervals, moved into the possible range.

    A number that cannot be what it is, is at the nearer end.
    """
    within = ranges(plan)
    nearest_rows = [tuple(map(nearest, row, within)) for row in rows]
    return nearest_rows, [tuple(map(ends_within, interval, within)) for interval in intervals]


def nearest(value: object, within: Interval) -> object:
    """A number moved to the nearer end if it lies outside.

    For a map of numbers each of them; anything else as it is.
    """
    match value:
        case dict():
            return {key: nearest(number, within) for key, number in value.items()}
        case bool():
            return value
        case int() | float() | Decimal():
            if within.low is not None and value < within.low:
                return _typed(within.low, value)
            return (
                _typed(within.high, value)
                if within.high is not None and value > within.high
                else value
            )
        case _:
            return value


def _typed(end: Fraction, value: int | float | Decimal) -> int | float | Decimal:
    """The end in the type of the value that it stands for."""
    match value:
        case int():
            return round(end)
        case float():
            return float(end)
        case Decimal():
            return (Decimal(end.numerator) / Decimal(end.denominator)).quantize(value)


def ends_within(ends: CellInterval | None, within: Interval) -> CellInterval | None:
    """The ends of an interval of numbers, cut to the number's range."""
    match ends:
        case (int() | float() as low, int() | float() as high):
            least = float("-inf") if within.low is None else float(within.low)
            most = float("inf") if within.high is None else float(within.high)
            return cut((low, high), (least, most))
        case _:
            return ends
