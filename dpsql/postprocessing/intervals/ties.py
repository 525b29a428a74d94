"""Released numbers as far as their intervals tell: how wide these are, and which numbers may be equal.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpsql.postprocessing.resampling.columns import Rows, as_number
from dpsql.postprocessing.resampling.resamples import Values
from dpsql.privacy.mechanism import Laplace
from dpsql.release.grouping_sets import CubeTable

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
