"""Order statistics of released numbers: extremes, ranks and ties, which noise chooses.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.postprocessing.intervals.lineage import inside, item_of, trace
from dpsql.postprocessing.intervals.ranges import ends_of
from dpsql.postprocessing.resampling.resampled_tables import Kind, Points, Rows, Values, as_number
from dpsql.privacy.mechanism import Laplace
from dpsql.release.grouping_sets import CubeTable
from dpsql.schema import fold

#: How many times the sum of their half-widths numbers may be apart that are taken to be equal.
EQUAL_WITHIN = 1.25


def evened(tables: Sequence[Rows]) -> Values:
    """For each table, row and aggregate the mean of the numbers that may be equal to it, itself among them, and by how
    much that is more than it is.

    Numbers are weighted by how well they are known, as measurements of one thing are.
    """
    found = []
    for table in tables:
        columns = [_evened(table, place) for place in range(len(table.shape.aggregates))]
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
    return found


def _evened(table: Rows, place: int) -> NDArray[np.float64]:
    values, low, high = spans(table, place)
    halves = (high - low) / 2
    known = np.isfinite(values) & np.isfinite(halves) & (halves > 0)
    means = values.copy()
    own, half = values[known], halves[known]
    near = np.abs(own[:, None] - own[None]) <= EQUAL_WITHIN * (half[:, None] + half[None])
    weights = near * (half.min(initial=math.inf) / half[None]) ** 2
    means[known] = weights @ own / weights.sum(axis=1)
    moved = np.where(known, means - values, 0.0)
    return np.stack([means, moved], axis=-1)


def widened(tables: Sequence[Rows], before: float, after: float) -> float:
    """How many times as wide intervals are at the confidence after as at that before."""
    plans = [each.plan for table in tables for each in (table.tables if isinstance(table, CubeTable) else (table,))]
    if any(isinstance(noise, Laplace) for plan in plans for noise in plan.noises):
        return math.log(1 - after) / math.log(1 - before)
    normal = NormalDist()
    return normal.inv_cdf((1 + after) / 2) / normal.inv_cdf((1 + before) / 2)


def spans(table: Rows, place: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """An aggregate on each row, and the ends of its intervals; where it has none it is its own end.

    Dates and timestamps are in seconds, as their draws are.
    """
    released = [row[place] for row in table.aggregates]
    if any(isinstance(value, date) for value in released):
        curves = [row[place] for row in table.curves]
        points = [(math.nan,) * 3 if curve is None else curve.points for curve in curves]
        low, values, high = np.array(points, float).T
        return values, low, high
    values = np.array([as_number(value) for value in released], float)
    known = [row[place] for row in table.intervals]
    ends = [(value, value) if end is None else end for value, end in zip(values, known, strict=True)]
    low, high = np.array(ends, float).reshape(len(values), 2).T
    return values, low, high


#: What leaves the order of numbers as it is.
KEEPING_ORDER = (exp.Cast, exp.Paren, exp.Round)


def extremes(query: exp.Query, place: int, public: Mapping[str, Sequence[str]]) -> frozenset[type[exp.Expr]]:
    """Max, Min or both where the column of the query is that of one released number, or what is computed of it, over
    rows, or one of what is such a number itself; else empty.

    What is computed of several numbers may keep what they have in common as they rise, and tells nothing.
    ``public`` holds the columns of the public tables that the query reads.

    >>> import sqlglot
    >>> text = "SELECT ROUND(MAX(n), 1), MIN(n) OVER (), MAX(n) - MIN(n), MAX(m), SUM(n), MAX(9 - n) FROM (SELECT "
    >>> text += "g.a0 AS n, g.a1 / g.a0 AS m FROM released.core0 AS g) AS t"
    >>> found = [extremes(sqlglot.parse_one(text), place, {}) for place in range(6)]
    >>> [[each.__name__ for each in some] for some in found]
    [['Max'], ['Min'], [], [], [], ['Max']]
    """
    if not isinstance(query, exp.Select):
        return frozenset()
    item = item_of(query, place)
    return (None if item is None else _behind(item.unalias(), query, public)) or frozenset()


def _behind(item: exp.Expr, query: exp.Select, public: Mapping[str, Sequence[str]]) -> frozenset[type[exp.Expr]] | None:
    """Max, Min or both, where they lie between an expression over the query's sources and one number of each released
    row; empty where nothing does, None where anything else does. What is computed of one may turn it round: both.
    """
    while isinstance(item, (*KEEPING_ORDER, exp.Window, exp.Filter)):
        item = item.this
    if isinstance(item, (exp.Max, exp.Min)) and not item.args.get("expressions"):
        inner = _behind(item.this, query, public)
        return None if inner is None else inner | {type(item)}
    if _numbers(item, query, public) == 1:
        return frozenset()
    names = {(column.table, column.name) for column in item.find_all(exp.Column)}
    if len(names) != 1 or item.find(exp.AggFunc, exp.Window, exp.Query) is not None:
        return None
    within = inside(*names.pop(), query)
    found = None if within is None else _behind(*within, public)
    return frozenset((exp.Max, exp.Min)) if found and not isinstance(item, exp.Column) else found


def _numbers(item: exp.Expr, query: exp.Select, public: Mapping[str, Sequence[str]]) -> int | None:
    """Of how many aggregates of a released row an expression over the query's sources is made; None of others."""
    sources = {name: query.args[name] for name in ("from_", "joins") if query.args.get(name)}
    traced = trace(exp.Select(expressions=[item], **sources).copy(), public)
    (origin,) = (traced and traced.ordered) or (None,)
    if origin is None:
        return None
    return len({each.name for each in origin.expression.find_all(exp.Column) if each.name.startswith("a")})


def farthest(tables: Sequence[Rows], confidence: float) -> Points:
    """How low and how high each released number may be while it is among others that may be equal.

    With k numbers that may be equal to it, it is lower than that, or higher, with a part of 1/k of what may fail.
    """
    found = []
    for table in tables:
        columns = [_farthest_values(table, place, confidence) for place in range(len(table.shape.aggregates))]
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
    return Points((Kind.LOW, Kind.HIGH), found)


def _farthest_values(table: Rows, place: int, confidence: float) -> NDArray[np.float64]:
    """The two values of one aggregate on each row."""
    values, low, high = spans(table, place)
    alike = [max(int(np.sum((low <= top) & (bottom <= high))), 1) for bottom, top in zip(low, high, strict=True)]
    factor = np.array([widened([table], confidence, max(1 - 2 * (1 - confidence) / k, 0.0)) for k in alike])
    return np.stack([values - (values - low) * factor, values + (high - values) * factor], axis=-1)


def at_ends(tables: Sequence[Rows]) -> Points:
    """All MIN and all MAX at the lower and at the upper ends of their intervals, all else as it was released."""
    found = []
    for table in tables:
        greatest, columns = ends_of(table.shape), []
        for place in range(len(table.shape.aggregates)):
            values, low, high = spans(table, place)
            ways = (values,) * 4
            if place in greatest:
                ways = (low, high, low, high) if greatest[place] else (low, high, high, low)
            columns.append(np.stack(ways, axis=-1))
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
    return Points((Kind.END,) * 4, found)


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
        columns = [_corner_values(table, place, factor, own, each) for place in range(len(table.shape.aggregates))]
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
        first += len(table.keys)
    return Points((Kind.CORNER,) * (3 + 2 * len(each)), found)


def _corner_values(table: Rows, place: int, factor: float, own: Sequence[int], each: range) -> NDArray[np.float64]:
    """The values of one aggregate: for each row those at all corners."""
    values, low, high = spans(table, place)
    low, high = values - (values - low) * factor, values + (high - values) * factor
    size = np.minimum(np.abs(values) + np.abs(high - low) + 1, MOST_SIZE)
    apart = np.arange(len(values)) * size * TIE_BREAK
    below, above = low - apart, high + apart
    from_top, from_bottom = _values_together(low, high), -_values_together(-high, -low)
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


def _values_together(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """A point of each interval, as few different ones as there may be, of the greatest intervals first.

    >>> _values_together(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0])).tolist()
    [1.0, 1.0, 5.0]
    """
    found, point = np.array(low), math.inf
    for place in np.argsort(-low, kind="stable"):
        if not high[place] >= point:
            point = low[place]
        found[place] = min(point, high[place])
    return found
