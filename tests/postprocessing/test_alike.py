"""Released numbers that may be equal, and what choosing among them does to an interval."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from released_numbers import table_of

from dpsql.postprocessing.intervals.order_statistics import evened
from dpsql.postprocessing.resampling import percentiles
from dpsql.postprocessing.resampling.percentiles import Seen
from dpsql.postprocessing.resampling.resampled_tables import Kind, put_draws


def means_of(values: list[float], halves: list[float]) -> list[float]:
    ((*rows,),) = evened([table_of("Gaussian", values, halves)])
    for value, ((mean, moved),) in zip(values, rows, strict=True):
        assert moved == pytest.approx(mean - value)
    return [float(row[0][0]) for row in rows]


@pytest.mark.parametrize(("values", "means"), [
    ([5.0], [5.0]), ([0.0, 1.0, 100.0], [0.5, 0.5, 100.0]), ([0.0, 2.0, 4.0], [1.0, 2.0, 3.0]),
    ([0.0, 2.5], [1.25, 1.25]), ([0.0, 2.51], [0.0, 2.51]),
])  # fmt: skip
def test_a_number_is_moved_to_the_mean_of_those_that_may_be_equal(values: list[float], means: list[float]) -> None:
    assert means_of(values, [1.0] * len(values)) == pytest.approx(means)


def test_a_number_that_is_known_better_weighs_more() -> None:
    assert means_of([0.0, 3.0], [1.0, 2.0]) == pytest.approx([0.6, 0.6])  # weights 1 and 1/4


def test_what_has_no_interval_or_an_open_one_stays_where_it_is() -> None:
    assert means_of([0.0, 1.0, 2.0, 3.0], [1.0, 0.0, math.inf, 1.0])[1:3] == [1.0, 2.0]
    assert means_of([0.0, 1.0], [0.0, math.inf]) == [0.0, 1.0]
    ((*rows,),) = evened([table_of("Gaussian", [math.nan, 1.0])])
    assert rows[0][0][1] == 0 and rows[1][0].tolist() == [1.0, 0.0]


def test_the_same_noise_is_around_the_released_and_around_the_equal_numbers() -> None:
    table = table_of("Gaussian", [1.0, 2.0])
    noise = np.array([-3.0, 5.0])
    table.draws = lambda row, draws, confidence: [table.aggregates[row][0] + noise]
    table.shape = SimpleNamespace(aggregates=(SimpleNamespace(function="count"),), keys=(), totals=())
    written: dict[str, list[list[Any]]] = {}
    sandbox = SimpleNamespace(
        create=lambda name, types: None, insert=lambda name, data, types: written.update({name: data})
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "dpsql.postprocessing.resampling.resampled_tables.columns_of",
            lambda table: [[row[0] for row in table.aggregates]],
        )
        patched.setattr("dpsql.postprocessing.resampling.resampled_tables.drawn_places", lambda shape: frozenset({0}))
        patched.setattr(
            "dpsql.postprocessing.resampling.resampled_tables.drawn_types", lambda table, places: {"a0": "DOUBLE"}
        )
        put_draws(cast(Any, sandbox), [("core0", table)], 2, 0.95, [], evened([table]))
    kinds = [Kind.NOISE.value] * 2 + [Kind.EQUAL.value] + [Kind.NOISE_OF_EQUAL.value] * 2
    assert written["draws"] == [[0, 1, 2, 3, 4], kinds]
    values, draws = written["drawn core0"]
    assert values == pytest.approx([-2.0, 6.0, 1.5, -1.5, 6.5, -1.0, 7.0, 1.5, -1.5, 6.5])
    assert draws == [0, 1, 2, 3, 4] * 2


def test_an_interval_holds_too_where_those_that_may_be_equal_are() -> None:
    """The value is 4; were all equal it would be 0 without noise, and noise would make it 1 to 5."""
    known = Seen(2, 6, 4, 0, 1, 5, *[None] * 6, 9)
    assert percentiles._as_if_equal(known, 4, (2.0, 6.0)) == (-1.0, 6.0)
    assert percentiles._as_if_equal(Seen(2, 6, 4, 0, -7, 5, *[None] * 6, 9), 4, (2.0, 6.0)) == (-1.0, 11.0)
    assert percentiles._as_if_equal(Seen(2, 6, 4, 0, 1, math.inf, *[None] * 6, 9), 4, (2.0, 6.0)) == (2.0, 6.0)
    assert percentiles._as_if_equal(Seen(2, 6, 4, *[None] * 9, 9), 4, (2.0, 6.0)) == (2.0, 6.0)
