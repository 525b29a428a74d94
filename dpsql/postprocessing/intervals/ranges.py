"""How far a computed number can go: inside the intervals of its aggregates, and never below 0 for what it is made of.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.errors import ShellFailed, ShellStopped
from dpsql.planning.estimators.estimate import Interval
from dpsql.postprocessing.intervals.lineage import inside, item_of
from dpsql.postprocessing.resampling.resampled_tables import AT_A_TIME, Rows, drawn_types, drawn_values, is_date
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.schema import fold
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.emit.sandbox import SANDBOX
from dpsql.sql.ir.relation import Core
from dpsql.sql.ir.unit_function import Dispersion

#: In how many parts an interval is cut, at whose ends an expression is looked at; fewer where there are many rows.
PARTS, FEWEST_PARTS, MOST_POINTS = 200, 20, 1_000_000


def ends_of(shape: Core | Cube) -> dict[int, bool]:
    """The places of MIN and MAX among the aggregates, each with whether it is MAX."""
    asked = [(place, each.ranks) for place, each in enumerate(shape.aggregates)]
    return {place: ranks.fractions[0] == 1 for place, ranks in asked if ranks is not None and ranks.edge}


def over_box(
    sandbox: Sandbox, table: Rows, sql: str, places: Sequence[int], rows: Sequence[int]
) -> dict[int, Interval]:
    """From the least to the greatest of what an expression is where the intervals of its aggregates go.

    It is looked at on points of the interval of one aggregate, and at the corners and at points of the box of several.
    """
    types, found = {**drawn_types(table, places), "draw": "BIGINT"}, dict[int, Interval]()
    points = max(min(PARTS, MOST_POINTS // max(len(rows), 1)), FEWEST_PARTS) * (1 if len(places) == 1 else 5)
    value = f"TRY(TRY_CAST({sql} AS DOUBLE))"
    least, most = (f"{side}({value}) FILTER (WHERE NOT isnan({value}))" for side in ("min", "max"))
    at_a_time = max(AT_A_TIME // points, 1)
    for start in range(0, len(rows), at_a_time):
        data: list[tuple[object, ...]] = []
        for row in rows[start : start + at_a_time]:
            ends = [known for place in places if (known := _ends(table, row, place)) is not None]
            if len(ends) < len(places):
                continue
            fixed = (row, *table.keys[row], *table.totals[row])
            inside = zip(_points(ends, points), places, strict=True)
            columns = [drawn_values(each, None, types[f"a{place}"]) for each, place in inside]
            released = tuple(table.aggregates[row][place] for place in places)
            ways = [released, *zip(*columns, strict=True)]
            data += [(*fixed, *values, number) for number, values in enumerate(ways)]
        sandbox.create("drawn", types)
        sandbox.insert("drawn", list(zip(*data, strict=True)), types)
        try:
            ranges = sandbox.execute(f'SELECT "row", {least}, {most} FROM released."drawn" GROUP BY "row"')
        except (ShellFailed, ShellStopped):
            return {}
        found |= {row: (low, high) for row, low, high in ranges if low is not None}
    return found


def _ends(table: Rows, row: int, place: int) -> Interval | None:
    """The finite ends of an aggregate's interval; of dates and timestamps in seconds."""
    curve, known = table.curves[row][place], table.intervals[row][place]
    if curve is not None and is_date(column_types(table.shape)[f"a{place}"]):
        known = curve.points[0], curve.points[2]
    return known if known is not None and all(map(math.isfinite, known)) else None


def _points(ends: Sequence[Interval], count: int) -> NDArray[np.float64]:
    """So many points between the ends of intervals and all of their corners, by interval; the same ones each time."""
    corners = np.array(list(product(*((low, high, 0.0) if low < 0 < high else (low, high) for low, high in ends))))
    low, high = np.array(ends, float).T
    if len(ends) == 1:
        parts = np.arange(count + 1)[:, None] / count
    else:
        parts = np.random.default_rng(0).random((count, len(ends)))
    points: NDArray[np.float64] = np.concatenate([corners, low + (high - low) * parts]).T
    return points


#: Functions that are never below 0, whatever they are of.
NEVER_BELOW = (exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Abs, exp.Sqrt, exp.Count,
               exp.CountIf)  # fmt: skip


def column_from_zero(query: exp.Expr, place: int, shapes: Mapping[str, Core | Cube]) -> bool:
    """Whether the column of a query over released tables cannot be below 0, as far as its text tells."""
    match query:
        case exp.Subquery() if not query.args.get("pivots"):
            return column_from_zero(query.this, place, shapes)
        case exp.SetOperation() if not query.args.get("by_name"):
            return all(column_from_zero(side, place, shapes) for side in (query.this, query.expression))
        case exp.Select():
            item = item_of(query, place)
            return item is not None and from_zero(item, partial(_of_query, query, shapes))
        case _:
            return False


def from_zero(item: exp.Expr, known: Callable[[exp.Column | exp.Subquery], bool]) -> bool:
    """Whether an expression cannot be below 0, where it is ``known`` of its columns and subqueries.

    >>> import sqlglot
    >>> text = "STDDEV(n) OVER (), 100 * ABS(a - b) / SUM(c), MAX(n) - MIN(n), ROUND(COALESCE(AVG(c), 0), 1), MAX(n), "
    >>> text += "STDDEV(n) - 1, MAX(n) - MIN(m), MAX(n) OVER (PARTITION BY k) - MIN(n) OVER (), -VARIANCE(n)"
    >>> items = SANDBOX.parse(f"SELECT {text}").expressions
    >>> [from_zero(item, lambda column: column.name == "c") for item in items]
    [True, True, True, True, False, False, False, False, False]
    """
    match item:
        case exp.Column() | exp.Subquery():
            return known(item)
        case exp.Literal():
            return not item.is_string
        case exp.Sub():
            return _is_span(item.this.unnest(), item.expression.unnest())
        case exp.Add() | exp.Mul() | exp.Div():
            return from_zero(item.this, known) and from_zero(item.expression, known)
        case exp.Coalesce():
            return all(from_zero(each, known) for each in (item.this, *item.expressions))
        case exp.Alias() | exp.Paren() | exp.Cast() | exp.Round() | exp.Nullif() | exp.Window() | exp.Filter():
            return from_zero(item.this, known)
        case exp.Max() | exp.Min() | exp.Sum() | exp.Avg():
            return from_zero(item.this, known)
        case _:
            return isinstance(item, NEVER_BELOW)


@lru_cache(maxsize=1024)
def row_from_zero(sql: str, known: frozenset[str]) -> bool:
    """Whether an expression over a released row cannot be below 0, where its columns that are ``known`` cannot."""
    return from_zero(SANDBOX.parse(sql), lambda part: part.name in known)


def spreads(shape: Core | Cube) -> frozenset[str]:
    """The columns of a released table that are variances or deviations."""
    kinds = [each.function.possible for each in shape.aggregates]
    return frozenset(f"a{place}" for place, possible in enumerate(kinds) if isinstance(possible, Dispersion))


def _of_query(query: exp.Select, shapes: Mapping[str, Core | Cube], part: exp.Column | exp.Subquery) -> bool:
    if isinstance(part, exp.Subquery):
        return column_from_zero(part, 0, shapes)
    source = query.args.get("from_")
    nodes = [*([] if source is None else [source.this]), *(join.this for join in query.args.get("joins") or ())]
    for node in nodes:
        if isinstance(node, exp.Table) and node.db == "released" and fold(node.alias_or_name) == fold(part.table):
            return part.name in spreads(shapes[node.name])
    found = inside(part.table, part.name, query)
    return found is not None and from_zero(found[0], partial(_of_query, found[1], shapes))


def _is_span(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether one is the MAX and the other the MIN of the same over the same rows."""
    other = exp.Paren(this=right.copy())
    most, least = left, other.this
    while isinstance(most, (exp.Window, exp.Filter)) and isinstance(least, (exp.Window, exp.Filter)):
        most, least = most.this, least.this
    if not (isinstance(most, exp.Max) and isinstance(least, exp.Min)):
        return False
    least.replace(exp.Max(**least.args))
    return bool(other.this == left)
