"""Rows of a released table: their marks, keys and counts, and draws of their noise."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from dpsql.planning.estimators.estimate import CellNoise, CentredSum, MeanEstimate, SingleCell
from dpsql.planning.estimators.linear_forms import GAUSSIAN
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Gaussian
from dpsql.release.released_tables import (
    NOTHING,
    HiddenGroups,
    Released,
    ReleasedTable,
    antithetic_noise,
)

NOISE = Gaussian(1, Fraction(100))
STEPS = (Fraction(1, 2), Fraction(1))
CELLS = CellNoise((NOISE, NOISE), STEPS)
ESTIMATES = (
    SingleCell(1),
    CentredSum(0, 1, Fraction(10)),
    MeanEstimate(0, 1, Fraction(0), Fraction(20)),
)
#: Half the width of an interval of the second cell.
HALF = float(CELLS.half_widths(0.95)[1])
KEYS = [("a", 1), ("b", None), (None, None)]


def table(presence: Any = None, lower: float = 5.0 - HALF, **rows: Any) -> ReleasedTable:
    """Three rows with cells 30 and 5, whose count has an interval from ``lower`` on."""
    plan = SimpleNamespace(
        estimates=ESTIMATES,
        arithmetic=lambda place: ESTIMATES[place],
        shows_its_group=lambda place: False,
        presence=presence,
        steps=STEPS,
        noises=CELLS.noises,
        half_widths=CELLS.half_widths,
        law=CELLS.law,
        coarse_half_width=lambda factors, confidence: 7.0,
    )
    count, total, mean = (lower, 5.0 + HALF), (60.0, 100.0), (4.0, 9.0)
    return ReleasedTable(
        cast(CorePlan, plan),
        KEYS,
        aggregates=[(5, 80, 6)] * 3,
        intervals=[(count, total, mean)] * 3,
        cells=[(Fraction(30), Fraction(5))] * 3,
        curves=[(None, None, None)] * 3,
        **rows,
    )


EVIDENCE = SimpleNamespace(cell=1, released=False)
RELEASED = SimpleNamespace(cell=1, released=True)


def test_rows_that_are_not_shown_are_marked() -> None:
    assert table().marks == [True, True, True]
    assert table(unshown=frozenset({1})).marks == [True, False, True]
    assert list(table().totals) == [(), (), ()]


def test_a_table_is_complete_if_the_cells_of_hidden_groups_are_in_it() -> None:
    hidden = HiddenGroups((), ())
    assert table().is_complete and table(EVIDENCE).is_complete
    assert not table(RELEASED).is_complete and table(RELEASED, hidden=hidden).is_complete


def test_without_evidence_all_rows_are_shown() -> None:
    for rows in (table(), table(RELEASED)):
        assert rows.absent == rows.near(0.95) == frozenset() and rows.present(0.95) is rows


def test_rows_without_null_at_some_keys_need_no_evidence() -> None:
    assert table().without_null(None) == frozenset()
    assert table().without_null(()) == {0, 1, 2}
    assert table().without_null((0,)) == {0, 1}
    assert table().without_null((1,)) == table().without_null((0, 1)) == {0}


def test_counts_are_in_steps() -> None:
    assert list(table().counts(0)) == [60] * 3 and list(table().counts(1)) == [5] * 3


def test_chosen_rows_come_in_the_order_of_their_places() -> None:
    chosen = table().at([2, 0])
    assert list(chosen.keys) == [KEYS[2], KEYS[0]] and len(chosen.cells) == 2


def test_tables_of_a_later_release_come_after() -> None:
    one, other = Released((table(),)), Released((table(EVIDENCE),))
    assert (one + other).tables == one.tables + other.tables
    assert NOTHING + one == one


@pytest.mark.parametrize("count", [1, 4, 5])
def test_the_second_half_of_draws_is_the_first_with_the_other_sign(count: int) -> None:
    drawn = antithetic_noise(NOISE, count)
    assert len(drawn) == count
    half = (count + 1) // 2
    assert list(drawn[half:]) == [-number for number in drawn[: count - half]]


def test_a_longer_interval_of_the_evidence_is_at_least_as_long_as_before() -> None:
    """The lower end of the count goes to 2, and 8 below it reaches the sum and the average."""
    wide = table(EVIDENCE).with_lower_ends({1: 2}, 0.95)
    assert wide.intervals[0] == table().intervals[0] == wide.intervals[2]
    count, total, mean = wide.intervals[1]
    assert count == (min(2, 5 - HALF), 5 + HALF)
    assert total is not None and total[0] <= 60 and total[1] >= 100
    assert mean is None or (mean[0] <= 4 and mean[1] >= 9)


def test_an_average_is_null_if_the_longer_interval_holds_no_rows() -> None:
    for end, shown in ((0, None), (-3, None)):
        wide = table(EVIDENCE).with_lower_ends({1: end}, 0.95)
        assert wide.aggregates[1][2] is shown and wide.intervals[1][2] is None
        assert wide.aggregates[0] == (5, 80, 6) and wide.aggregates[1][:2] == (5, 80)
    clear = table(EVIDENCE).with_lower_ends({1: 1}, 0.95)
    assert clear.aggregates[1][2] == 6 and clear.intervals[1][2] is not None


def test_without_longer_intervals_the_table_is_the_same() -> None:
    assert (rows := table(EVIDENCE)).with_lower_ends({}, 0.95) is rows
    assert (rows := table()).with_lower_ends({1: 2}, 0.95) is rows


def test_a_form_of_the_evidence_reaches_as_far_as_its_interval() -> None:
    """An interval that ends 2 · HALF below the count moves all that is made of it as far."""
    plain, longer = table(EVIDENCE), table(EVIDENCE, lower=5.0 - 2 * HALF)
    half = float(CELLS.half_widths(0.95)[0])
    for rows, reach in ((plain, HALF), (longer, 2 * HALF), (table(), HALF)):
        form = rows.form(0, 0, 0.95)
        assert form is not None and form.value == 5 and form.law == GAUSSIAN
        assert form.moved == pytest.approx({1: reach})
    total = plain.form(0, 1, 0.95)
    assert total is not None and total.value == 80
    assert total.moved == pytest.approx({0: half, 1: 10 * HALF})
    assert plain.form(0, 2, 0.95) is None


def test_the_law_of_few_steps_is_not_that_of_a_longer_interval() -> None:
    factors = [(1, Fraction(1)), (0, Fraction(2))]
    assert table(EVIDENCE).coarse_half_width(0, factors, 0.95) == 7.0
    longer = table(EVIDENCE, lower=5.0 - 2 * HALF)
    assert longer.coarse_half_width(0, factors, 0.95) is None
    assert longer.coarse_half_width(0, factors[:1], 0.95) == 7.0


def test_draws_of_the_evidence_below_the_count_reach_as_far_as_its_interval() -> None:
    """Twice as far below, and as far above as the noise."""
    draws = [np.array([3.0, 5.0, 6.0]), np.array([3.0, 5.0, 6.0])]
    drawn = table(EVIDENCE)._drawn_lower(0, draws, 2.0)
    assert list(drawn) == [1.0, 5.0, 6.0]


def test_draws_are_around_the_released_cells() -> None:
    count, total, _ = table(EVIDENCE).draws(0, 40, 0.95)
    assert count[:20] + count[20:] == pytest.approx(np.full(20, 10.0))
    assert total[:20] + total[20:] == pytest.approx(np.full(20, 160.0))
    assert np.std(count) > 1


def test_the_number_that_shows_a_row_is_stretched_to_its_interval() -> None:
    """Noise of a half-width of 4 reaches the ends at 3 below and 6 above."""
    rows = table(EVIDENCE, lower=2.0)
    assert rows.intervals[0][0] is not None
    above = rows.intervals[0][0][1] - 5
    drawn = rows._stretched(0, 0, np.array([1.0, 3.0, 5.0, 7.0, 9.0]), Fraction(4))
    assert list(drawn) == pytest.approx([2, 3.5, 5, 5 + above / 2, 5 + above])
    drawn = rows._stretched(0, 0, np.array([4.0, 6.0]), Fraction(1, 4))
    assert list(drawn) == pytest.approx([2, 5 + above])
