"""Numbers that cannot be below 0, by what they are made of (``docs/proofs/ends.md``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import get_args

import sqlglot
from sqlglot import exp

from dpsql.postprocessing.intervals.origin import inside, item_of
from dpsql.schema import fold
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.ir.relation import Core, Spread

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
    >>> items = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions
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
    return from_zero(sqlglot.parse_one(sql, dialect="duckdb"), lambda part: part.name in known)


def spreads(shape: Core | Cube) -> frozenset[str]:
    """The columns of a released table that are variances or deviations."""
    kinds = get_args(Spread)
    return frozenset(f"a{place}" for place, each in enumerate(shape.aggregates) if each.function in kinds)


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
