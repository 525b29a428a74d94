"""Numbers that jump: ranks, and how many rows are like this or that (``docs/proofs/ends.md``).

They are looked at where all released numbers are as far as their intervals, taken together, let them be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.postprocessing.intervals.origin import item_of
from dpsql.postprocessing.intervals.ties import spans, widened
from dpsql.postprocessing.resampling.columns import Rows
from dpsql.postprocessing.resampling.resamples import Kind, Points
from dpsql.schema import fold

#: Functions whose values are ranks or numbers of rows, and what chooses rows or cases.
JUMPING = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Count, exp.CountIf,
           exp.Case, exp.If, exp.Predicate)  # fmt: skip
#: The most released rows of which each is looked at against all others.
MOST_ROWS = 200
#: By which part of its size, times its place, a number is moved so that it is like no other.
TIE_BREAK = 1e-12
#: The greatest size of a number that is moved: 0 times an infinite one is no number.
MOST_SIZE = 1e300


def may_jump(query: exp.Query, place: int) -> bool:
    """Whether the column of the query may be such a number, as far as its text tells; where it does not, it may."""
    if not isinstance(query, exp.Select):
        return True
    item = item_of(query, place)
    return item is None or _jumps(item, query)


def _jumps(item: exp.Expr, query: exp.Select) -> bool:
    """Whether what the query says may be such a number."""
    if item.find(exp.Star) is not None and item.find(exp.Count) is None:
        return True
    if item.find(*JUMPING, exp.Query) is not None:
        return True
    return any(_jumps_inside(query, column) for column in item.find_all(exp.Column))


def _jumps_inside(query: exp.Select, column: exp.Column) -> bool:
    """Whether the column is one of a subquery that may jump."""
    source = query.args.get("from_")
    nodes = [*([] if source is None else [source.this]), *(join.this for join in query.args.get("joins") or ())]
    for node in nodes:
        if column.table and fold(node.alias_or_name) != fold(column.table):
            continue
        if not isinstance(node, exp.Subquery):
            continue
        inner = node.this
        if not isinstance(inner, exp.Select):
            return True
        names = [fold(each.alias_or_name) for each in inner.expressions]
        if node.args.get("alias") is not None and node.args["alias"].args.get("columns"):
            return True
        items = [each for each, name in zip(inner.expressions, names, strict=True) if name == fold(column.name)]
        if any(_jumps(item, inner) for item in items):
            return True
        if not items and any(each.find(exp.Star) is not None for each in inner.expressions):
            return True
    return False


def corners(tables: Sequence[Rows], confidence: float) -> Points:
    """The points at which a number that jumps is looked at.

    Together the ends hold with the confidence. First all are at their lower, then all at their upper ends, then all
    that may be equal are; then each row in turn is as high as it may be, all others being as low, and as low, all
    others being as high: those that lie beyond it all the same are as equal as they may be, the others are not.
    """
    numbers = max(sum(len(table.keys) * len(table.shape.aggregates) for table in tables), 1)
    factor = widened(tables, confidence, 1 - (1 - confidence) / numbers)
    rows = sum(len(table.keys) for table in tables)
    each = range(rows) if rows <= MOST_ROWS else range(0)
    found, first = [], 0
    for table in tables:
        own = list(range(first, first + len(table.keys)))
        columns = [_column(table, place, factor, own, each) for place in range(len(table.shape.aggregates))]
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
        first += len(table.keys)
    return Points((Kind.CORNER,) * (3 + 2 * len(each)), found)


def _column(table: Rows, place: int, factor: float, own: Sequence[int], each: range) -> NDArray[np.float64]:
    """The values of one aggregate: for each row those at all corners."""
    values, low, high = spans(table, place)
    low, high = values - (values - low) * factor, values + (high - values) * factor
    size = np.minimum(np.abs(values) + np.abs(high - low) + 1, MOST_SIZE)
    apart = np.arange(len(values)) * size * TIE_BREAK
    below, above = low - apart, high + apart
    from_top, from_bottom = _together(low, high), -_together(-high, -low)
    found = [below, above, from_top]
    for row in each:
        if row not in own:
            found += [below, above]  # a row of another table is looked at, with all others on the other side
            continue
        at = row - own[0]
        up, down = np.where(low > high[at], from_top, below), np.where(high < low[at], from_bottom, above)
        up[at], down[at] = high[at], low[at]
        found += [up, down]
    return np.array(found).T if len(values) else np.zeros((0, len(found)))


def _together(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """A point of each interval, as few different ones as there may be, of the greatest intervals first.

    >>> _together(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0])).tolist()
    [1.0, 1.0, 5.0]
    """
    found, point = np.array(low), math.inf
    for place in np.argsort(-low, kind="stable"):
        if not high[place] >= point:
            point = low[place]
        found[place] = min(point, high[place])
    return found
