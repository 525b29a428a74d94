"""Cells that are made of shared noise: their forms, intervals and draws, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from dpsql.planning.estimators.columnar_rows import ColumnarRows
from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
)
from dpsql.planning.estimators.linear_forms import GAUSSIAN, LinearForm, laplace
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.release.combined_tables import CombinedTable, _added, _form, _interval, _law
from dpsql.release.linear_estimates import NoiseAtom, SharedNoise

LAPLACE = Laplace(1, Fraction(100))
GAUSS = Gaussian(1, Fraction(100))
ONE, TWO, THREE = Fraction(1), Fraction(2), Fraction(3)
#: Two parts of noise in steps of 1, one of them three times, and a Gaussian part in steps of 1/2.
NOISE = SharedNoise(
    [NoiseAtom(LAPLACE, ONE, 1), NoiseAtom(LAPLACE, ONE, 3), NoiseAtom(GAUSS, ONE / 2, 1)]
)
#: The first cell has the first part twice, the second the first part and the last three times.
WEIGHTS = ({0: TWO}, {0: ONE, 2: THREE})
ESTIMATES: tuple[Estimate, ...] = (
    SingleCell(0),
    SingleCell(1),
    CentredSum(0, 1, Fraction(10)),
    MeanEstimate(0, 1, Fraction(0), Fraction(20)),
    PresenceEstimate(1, against=False),
)


def table() -> CombinedTable:
    """Two rows with cells 30 and 5, and 60 and 7."""
    plan = SimpleNamespace(
        estimates=ESTIMATES, arithmetic=lambda place: ESTIMATES[place], presence=None
    )
    nothing = ColumnarRows(tuple([None, None] for _ in ESTIMATES), 2)
    cells = ([Fraction(30), Fraction(60)], [Fraction(5), Fraction(7)])
    return CombinedTable(
        cast(CorePlan, plan),
        ColumnarRows((["a", None],), 2),
        aggregates=nothing,
        intervals=nothing,
        cells=ColumnarRows(cells, 2),
        curves=nothing,
        noise=NOISE,
        weights=[WEIGHTS, ({1: ONE}, {1: ONE})],
        evidence=[],
    )


def test_weights_of_a_part_that_several_cells_have_add_up() -> None:
    """Ten times the second cell and the first have the first part 2 + 10 times."""
    assert _added(WEIGHTS, {0: ONE, 1: Fraction(10)}) == {0: 12, 2: 30}
    assert _added(WEIGHTS, {1: Fraction(-1)}) == {0: -1, 2: -3}


def test_a_sum_of_cells_is_a_form_in_the_parts_of_the_noise() -> None:
    form = table().form(0, 2, 0.95)
    assert form is not None and form.value == 30 + 10 * 5
    halves = [NOISE.half_width({part: ONE}, 0.95) for part in (0, 2)]
    assert form.moved == pytest.approx({0: 12 * halves[0], 2: 30 * halves[1]})
    assert table().form(0, 3, 0.95) is None and table().form(0, 4, 0.95) is None


@pytest.mark.parametrize(
    ("weights", "parts"),
    [([{0: ONE}], "alone"), ([{1: ONE}], "many"), ([{0: ONE}, {2: ONE}], "many"), ([], "many")],
)
def test_parts_of_one_laplace_noise_add_up_as_these(
    weights: list[dict[int, Fraction]], parts: str
) -> None:
    """A sum of several such noises is one of many, and so is a Gaussian one."""
    assert _law(NOISE, weights, 0.9) == (laplace(0.9) if parts == "alone" else GAUSSIAN)


def test_intervals_are_by_the_law_of_all_parts_together() -> None:
    numbers = [Fraction(30), Fraction(5)]

    def ends(place: int) -> tuple[float, float] | None:
        return _interval(ESTIMATES[place], NOISE, numbers, WEIGHTS, confidence=0.95)

    single = NOISE.half_width({0: TWO}, 0.95)
    centred = NOISE.half_width({0: Fraction(12), 2: Fraction(30)}, 0.95)
    assert ends(0) == pytest.approx((30 - single, 30 + single))
    assert ends(2) == pytest.approx((80 - centred, 80 + centred))
    assert ends(4) is None
    mean = ends(3)
    assert mean is not None and -20 <= mean[0] <= 6 <= mean[1] <= 20


def test_a_wanted_sum_of_cells_has_the_value_of_its_cells() -> None:
    numbers = [Fraction(30), Fraction(5)]
    form = _form(NOISE, numbers, WEIGHTS, {0: TWO, 1: Fraction(-3)}, confidence=0.95)
    half = NOISE.half_width({0: ONE}, 0.95)
    assert isinstance(form, LinearForm) and form.value == 2 * 30 - 3 * 5
    assert form.moved[0] == pytest.approx((2 * 2 - 3 * 1) * half)


def test_the_half_width_of_a_sum_of_aggregates() -> None:
    """Twice the first cell less the moved sum: 4 - 12 of the first part, 30 less of the last."""
    half = table().coarse_half_width(0, [(0, TWO), (2, Fraction(-1))], 0.95)
    assert half == NOISE.half_width({0: Fraction(-8), 2: Fraction(-30)}, 0.95)
    assert table().coarse_half_width(1, [(0, ONE), (1, ONE)], 0.95) == NOISE.half_width(
        {1: TWO}, 0.95
    )
    assert table().coarse_half_width(0, [(0, ONE), (3, ONE)], 0.95) is None


def test_draws_share_the_noise_that_cells_have_in_common() -> None:
    first, second, centred, *_ = table().draws(0, 6, 0.95)
    parts = [NOISE.draws(part, 6) for part in range(3)]
    assert first == pytest.approx(30 + 2 * parts[0])
    assert second == pytest.approx(5 + parts[0] + 3 * parts[2])
    assert centred == pytest.approx(first + 10 * second)
    other, *_ = table().draws(1, 6, 0.95)
    assert other == pytest.approx(60 + parts[1])
    assert np.ptp(parts[0][:3] + parts[0][3:]) == 0


@pytest.mark.parametrize("read", [lambda table: table.at([1]), lambda table: table.at([1, 0])])
def test_rows_that_are_chosen_keep_their_noise(
    read: Callable[[CombinedTable], CombinedTable],
) -> None:
    chosen = read(table())
    assert isinstance(chosen, CombinedTable)
    assert chosen.weights[0] == ({1: ONE}, {1: ONE}) and chosen.noise is NOISE
    assert (chosen.keys[0], chosen.cells[0]) == ((None,), (60, 7))


def test_a_table_without_evidence_shows_all_rows() -> None:
    combined = table()
    assert combined.absent == combined.near(0.95) == frozenset()
    assert combined.present(0.95) is combined


def evident(*counts: int, null: int | None = None) -> CombinedTable:
    """Rows with counts of evidence, all intervals from 10 to 20; one may have NULL for its key."""
    presence = SimpleNamespace(cell=0, released=False, blocks=False, chance=Fraction(1, 20))
    plan = SimpleNamespace(
        estimates=ESTIMATES,
        arithmetic=lambda place: ESTIMATES[place],
        presence=presence,
        core=SimpleNamespace(keys=()),
    )
    size = len(counts)
    ends = ColumnarRows(tuple([(10.0, 20.0)] * size for _ in ESTIMATES), size)
    keys = [None if place == null else place for place in range(size)]
    return replace(
        table(),
        plan=cast(CorePlan, plan),
        keys=ColumnarRows((keys,), size),
        aggregates=ends,
        intervals=ends,
        cells=ColumnarRows(([Fraction(30)] * size, [Fraction(5)] * size), size),
        curves=ColumnarRows(tuple([None] * size for _ in ESTIMATES), size),
        weights=[WEIGHTS] * size,
        evidence=[(Fraction(count), {0: ONE}) for count in counts],
    )


def test_groups_whose_counts_noise_reaches_are_absent() -> None:
    """Noise has a half-width of 300: 5,000 is far above it, 600 hardly, and 0 is not."""
    rows = evident(5_000, 0, 600)
    assert rows.absent == {1}
    assert rows.near(0.95) == {2}


def test_a_count_that_just_shows_its_group_has_an_interval_from_0() -> None:
    shown = evident(5_000, 0, 600).present(0.95)
    assert list(shown.keys) == [(0,), (2,)]
    assert list(shown.intervals[0]) == [(10.0, 20.0)] * len(ESTIMATES)
    count, *others = shown.intervals[1]
    assert count == (0.0, 20.0) and others == [(10.0, 20.0)] * (len(ESTIMATES) - 1)


def test_only_groups_with_null_need_evidence_if_keys_are_named() -> None:
    """The groups 1 and 2 are in a public list; 3 has NULL and no evidence."""
    shown = evident(5_000, 0, 600, 0, null=3).present(0.95, (0,))
    assert list(shown.keys) == [(0,), (1,), (2,)]
    assert [row[0] for row in shown.intervals] == [(10.0, 20.0)] * 3
    shown = evident(5_000, 0, 600, null=2).present(0.95, (0,))
    assert [row[0] for row in shown.intervals] == [(10.0, 20.0), (10.0, 20.0), (0.0, 20.0)]
