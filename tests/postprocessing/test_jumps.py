"""Ranks and numbers of rows: what the corners say is what all values inside of the intervals say."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import sqlglot

from dpsql.postprocessing.intervals.order_statistics import corners, may_jump
from dpsql.privacy.mechanism import Gaussian

CONFIDENCE = 0.95
#: What is added to half-widths, so that intervals that touch overlap.
TOUCHING = 0.01


def table_of(values: list[float], halves: list[float]) -> Any:
    """A released table of one aggregate; its intervals are so narrow that together they have the half-widths."""
    plan = SimpleNamespace(noises=(Gaussian.priced(1, 1),))
    shape = SimpleNamespace(aggregates=("n",))
    bare = SimpleNamespace(keys=[(n,) for n in range(len(values))], shape=shape, plan=plan,
                           aggregates=[(value,) for value in values],
                           intervals=[((value - 1, value + 1),) for value in values])  # fmt: skip
    far = corners([cast(Any, bare)], CONFIDENCE).values[0][0][0][1] - values[0]  # what a half-width of 1 grows to
    bare.intervals = [((value - h / far, value + h / far),) for value, h in zip(values, halves, strict=True)]
    return bare


def ranks(values: Any) -> list[list[int]]:
    """The rank and the dense rank of each value, from the greatest and from the least on."""
    different = sorted(set(values))
    return [
        [
            1 + sum(each > value for each in values),
            1 + sum(each > value for each in different),
            1 + sum(each < value for each in values),
            1 + sum(each < value for each in different),
        ]
        for value in values
    ]


@pytest.mark.parametrize("seed", range(25))
def test_corners_reach_every_rank_that_values_inside_reach(seed: int) -> None:
    random = np.random.default_rng(seed)
    values, halves = random.integers(0, 9, 5).astype(float).tolist(), (random.integers(0, 3, 5) + TOUCHING).tolist()
    inside = itertools.product(*(np.arange(v - h + TOUCHING, v + h, 0.5) for v, h in zip(values, halves, strict=True)))
    everywhere = np.array([ranks([round(each, 6) for each in point]) for point in inside])
    found = np.array([column[0] for column in corners([table_of(values, halves)], CONFIDENCE).values[0]])
    at_corners = np.array([ranks(found[:, corner].tolist()) for corner in range(found.shape[1])])
    assert (at_corners.min(axis=0) <= everywhere.min(axis=0)).all()
    assert (at_corners.max(axis=0) >= everywhere.max(axis=0)).all()
    halfway = [np.array(values) - halves, np.array(values) + halves]
    for corner in range(found.shape[1]):
        assert (found[:, corner] >= halfway[0] - 1e-6).all() and (found[:, corner] <= halfway[1] + 1e-6).all()


@pytest.mark.filterwarnings("error")
def test_a_number_whose_interval_is_open_goes_everywhere_whichever_row_it_is_on() -> None:
    for row in (0, 1):
        table = table_of([3.0, 3.0], [1.0, 1.0])
        table.intervals[row] = ((-np.inf, np.inf),)
        found = np.array([column[0] for column in corners([table], CONFIDENCE).values[0]])
        assert not np.isnan(found).any() and np.isfinite(found[1 - row]).all()
        assert {-np.inf, np.inf} <= set(found[row].tolist())


@pytest.mark.parametrize("seed", range(10))
def test_corners_reach_the_fewest_different_values_and_every_number_of_rows_above(seed: int) -> None:
    random = np.random.default_rng(seed)
    values, halves = random.integers(0, 9, 6).astype(float).tolist(), (random.integers(0, 4, 6) + TOUCHING).tolist()
    found = np.array([column[0] for column in corners([table_of(values, halves)], CONFIDENCE).values[0]]).round(6)
    spans = [(v - h, v + h) for v, h in zip(values, halves, strict=True)]
    points, fewest = sorted({end for span in spans for end in span}), 0
    for fewest in range(1, 7):
        if any(all(any(low <= p <= high for p in chosen) for low, high in spans)
               for chosen in itertools.combinations(points, min(fewest, len(points)))):  # fmt: skip
            break
    assert min(len(set(column)) for column in found.T.tolist()) == fewest
    for threshold in (2.5, 5.5):
        above = (found > threshold).sum(axis=0)
        assert above.min() == sum(low > threshold for low, _ in spans)
        assert above.max() == sum(high > threshold for _, high in spans)


@pytest.mark.parametrize(
    ("text", "jumps"),
    [
        ("SELECT k, RANK() OVER (ORDER BY n) FROM (SELECT k0 AS k, a0 AS n FROM core0) AS g", True),
        ("SELECT k, SUM(n) FROM (SELECT k0 AS k, a0 AS n FROM core0) AS g GROUP BY k", False),
        ("SELECT COUNT(*) FILTER (WHERE n > 3) FROM (SELECT a0 AS n FROM core0) AS g", True),
        (
            "SELECT r + 1 FROM (SELECT DENSE_RANK() OVER (ORDER BY n) AS r FROM (SELECT a0 AS n FROM core0) AS g) AS h",
            True,
        ),
        ("SELECT SUM(CASE WHEN n > 3 THEN 1 END) FROM (SELECT a0 AS n FROM core0) AS g", True),
        ("SELECT MAX(n) - MIN(n) FROM (SELECT a0 AS n FROM core0) AS g", False),
    ],
)
def test_what_jumps_is_seen_in_the_text(text: str, jumps: bool) -> None:
    query = sqlglot.parse_one(text, dialect="duckdb")
    assert may_jump(query, len(query.expressions) - 1) == jumps


def test_behind_a_star_every_number_may_jump() -> None:
    """The star stands for k and r: the second item says nothing of the second column."""
    inner = "SELECT k0 AS k, RANK() OVER (ORDER BY a0) AS r, a0 AS n FROM core0"
    query = sqlglot.parse_one(f"SELECT n, *, SUM(n) OVER () FROM ({inner}) AS g", dialect="duckdb")
    assert [may_jump(query, place) for place in range(5)] == [False, True, True, True, True]
    within = sqlglot.parse_one(f"SELECT half FROM (SELECT *, n / 2 AS half FROM ({inner}) AS g) AS h", dialect="duckdb")
    assert not may_jump(within, 0)
