"""The greatest and the least of released numbers: noise chooses which one it is (``docs/proofs/ends.md``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from dpsql.shell.computed import Rows
from dpsql.shell.jumps import spans, widened


def extreme(query: exp.Query, place: int) -> type[exp.Expr] | None:
    """Max or Min where the column of the query is that of one column over rows, as it is, cast or rounded, else None.

    >>> import sqlglot
    >>> text = "SELECT ROUND(MAX(n), 1), MIN(n) OVER (), MAX(n) - MIN(n), MAX(n / m), SUM(n) FROM g"
    >>> [each and each.__name__ for each in (extreme(sqlglot.parse_one(text), place) for place in range(5))]
    ['Max', 'Min', None, None, None]
    """
    if not isinstance(query, exp.Select) or place >= len(query.expressions):
        return None
    node: exp.Expr = query.expressions[place].unalias()
    while isinstance(node, (exp.Cast, exp.Paren, exp.Round, exp.Window, exp.Filter)):
        node = node.this
    if not isinstance(node, (exp.Max, exp.Min)) or node.args.get("expressions"):
        return None
    inner = node.this
    while isinstance(inner, (exp.Cast, exp.Paren)):
        inner = inner.this
    if not isinstance(inner, (exp.Column, exp.Count, exp.Sum)):
        return None
    return type(node)


def farthest(tables: Sequence[Rows], confidence: float) -> list[list[list[NDArray[np.float64]]]]:
    """For each table, row and aggregate how low and how high it may be while it is among others that may be equal.

    With k numbers that may be equal to it, it is lower than that, or higher, with a part of 1/k of what may fail.
    """
    found = []
    for table in tables:
        columns = [_column(table, place, confidence) for place in range(len(table.shape.aggregates))]
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
    return found


def _column(table: Rows, place: int, confidence: float) -> NDArray[np.float64]:
    """The two values of one aggregate on each row."""
    values, low, high = spans(table, place)
    alike = [max(int(np.sum((low <= top) & (bottom <= high))), 1) for bottom, top in zip(low, high, strict=True)]
    factor = np.array([widened([table], confidence, max(1 - 2 * (1 - confidence) / k, 0.0)) for k in alike])
    return np.stack([values - (values - low) * factor, values + (high - values) * factor], axis=-1)
