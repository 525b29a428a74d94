"""The greatest and the least of released numbers: noise chooses which one it is (``docs/proofs/ends.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.postprocessing.intervals.lineage import trace
from dpsql.postprocessing.intervals.origin import inside, item_of
from dpsql.postprocessing.intervals.ties import spans, widened
from dpsql.postprocessing.resampling.columns import Rows
from dpsql.postprocessing.resampling.resamples import Kind, Points

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
        columns = [_column(table, place, confidence) for place in range(len(table.shape.aggregates))]
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
    return Points((Kind.LOW, Kind.HIGH), found)


def _column(table: Rows, place: int, confidence: float) -> NDArray[np.float64]:
    """The two values of one aggregate on each row."""
    values, low, high = spans(table, place)
    alike = [max(int(np.sum((low <= top) & (bottom <= high))), 1) for bottom, top in zip(low, high, strict=True)]
    factor = np.array([widened([table], confidence, max(1 - 2 * (1 - confidence) / k, 0.0)) for k in alike])
    return np.stack([values - (values - low) * factor, values + (high - values) * factor], axis=-1)
