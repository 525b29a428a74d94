"""The half-widths that are told before a statement runs,
against the law of the noise that it then gets.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from noise_laws import beyond, seeded

from dpsql.engines.exact_rows import ExactRows
from dpsql.errors import Refused
from dpsql.planning.estimators.estimate import CentredSum, SingleCell
from dpsql.planning.estimators.least_squares import (
    LEAST_VARIANCE,
    MeasuredLevel,
    consistent,
    spreads,
)
from dpsql.planning.plan import CorePlan, Plan
from dpsql.postprocessing.possible_values import ranges
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.release.noise_addition import release
from dpsql.session import Session
from dpsql.session.pricing.expected_errors import key_sizes

STATEMENTS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT SUM(cost) AS s, COUNT(cost) AS n FROM visits",
    "SELECT SUM(weight) AS s, AVG(weight) AS a FROM patients",
    "SELECT sex, SUM(ward) AS s, COUNT(DISTINCT ward) AS d, AVG(ward) AS a FROM patients GROUP BY sex",
    "SELECT region, SUM(cost) AS s, AVG(cost) AS a FROM visits JOIN places USING (place) GROUP BY region",
    "SELECT COUNT(*) FILTER (WHERE ward > 2) AS n, REGR_COUNT(weight, ward) AS r FROM patients",
)
WITH_KEYS = (
    "SELECT name, COUNT(DISTINCT patient) AS units, COUNT(*) AS n FROM patients GROUP BY name"
)


def statements(session: Session) -> tuple[str, ...]:
    return (*STATEMENTS, WITH_KEYS) if session.schema.privacy.delta else STATEMENTS


def noises(core: CorePlan, place: int) -> list[tuple[Mechanism, Fraction]]:
    """The noises that an additive aggregate is made of, with their weights."""
    match core.estimates[place]:
        case SingleCell(cell=cell):
            return [(core.noises[cell], core.steps[cell])]
        case CentredSum(total=total, count=count, middle=middle):
            return [
                (core.noises[total], core.steps[total]),
                (core.noises[count], core.steps[count] * middle),
            ]
        case _:
            return []


@pytest.mark.parametrize("price", ["0.3", "1", "7.3"])
def test_counts_and_sums_are_told_by_their_law(session: Session, price: str) -> None:
    """P(|noise| > h) is at most 5 %, and more at a half-width a millionth smaller,
    or a step of the lattice.
    """
    session.set("dpsql.epsilon", price)
    told = 0
    for text in statements(session):
        explanation, plan = session.explain(text), session.plan(text)
        for column, error in zip(plan.columns, explanation.expected, strict=True):
            if column.aggregate is None:
                continue
            parts = noises(plan.cores[column.core], column.aggregate)
            assert (error is None) == (not parts)
            if error is None:
                continue
            told += 1
            assert beyond(parts, error.half_width * (1 + 1e-6)) <= 0.05
            step = min(abs(weight) for _, weight in parts)
            narrower = (
                error.half_width * (1 - 1e-6)
                if len(parts) > 1
                else error.half_width - float(step) / 2
            )
            assert narrower < 0 or beyond(parts, narrower) > 0.05 - 1e-7
    assert told >= 9


def test_what_is_told_is_what_is_shown(session: Session) -> None:
    """The interval of a released count or sum goes as far as was told,
    but where it is cut to what is possible.
    """
    told = 0
    for text in statements(session):
        expected, within = session.explain(text).expected, ranges(session.plan(text))
        result = session.execute(text)
        for row, intervals in zip(result.rows, result.intervals, strict=True):
            for value, error, interval, possible in zip(
                row, expected, intervals, within, strict=True
            ):
                if error is None or not value:
                    continue
                assert interval is not None
                for end, cut in zip(interval, (possible.low, possible.high), strict=True):
                    if end != cut:
                        far = abs(float(end) - float(value))  # type: ignore[arg-type]
                        assert far == pytest.approx(error.half_width, abs=0.51), (
                            "a count is rounded"
                        )
                        told += 1
    assert told >= 9


LEVELS = "SELECT sex, ward, COUNT(*) AS n, SUM(weight) AS s FROM patients WHERE ward IS NOT NULL GROUP BY "


@pytest.mark.parametrize(
    "sets", ["ROLLUP (sex, ward)", "CUBE (sex, ward)", "GROUPING SETS ((sex, ward), ())"]
)
def test_of_grouping_sets_the_finest_groups_are_told(session: Session, sets: str) -> None:
    """By least squares over all levels, as they are shown;
    the normal law's second term for Laplace noise.
    """
    session.set("dpsql.reuse", "off")  # so that no set is told by the answers to others
    explanation = session.explain(LEVELS + sets)
    told = [error.half_width for error in explanation.expected if error is not None]
    plan, result = session.plan(LEVELS + sets), session.execute(LEVELS + sets)
    (cube,) = plan.cubes
    (finest, *_) = result.intervals
    assert [(ends[1] - ends[0]) / 2 for ends in finest[2:] if ends is not None] == pytest.approx(
        told
    )
    if len({level.core for level in cube.levels} - {None}) > 1:
        assert told[0] < float(plan.cores[cube.finest or 0].half_widths(0.95)[0])


def test_the_spread_of_least_squares_is_that_of_its_estimate() -> None:
    """The sum over some groups as a linear form in all measured numbers,
    found by moving each of them by one.
    """
    groups = [np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1]), np.zeros(6, np.int64)]
    variances = [2.0, 0.7, 3.1]
    sizes = [3, 2, 1]

    def estimate(finest: np.ndarray, coarse: list[np.ndarray]) -> np.ndarray:
        levels = [MeasuredLevel(*each) for each in zip(groups, coarse, variances, strict=True)]
        return consistent(finest, 1.3, levels)

    nothing = [np.zeros(size) for size in sizes]
    of = spreads(
        6, 1.3, [MeasuredLevel(*each) for each in zip(groups, nothing, variances, strict=True)]
    )
    for members in ([0], [2, 3], [1, 3, 5], list(range(6))):
        parts = []
        for place in range(6):
            parts.append(estimate(np.eye(6)[place], nothing)[members].sum() ** 2 * 1.3)
        for level, size in enumerate(sizes):
            for place in range(size):
                moved = [
                    np.eye(size)[place] if number == level else each
                    for number, each in enumerate(nothing)
                ]
                parts.append(estimate(np.zeros(6), moved)[members].sum() ** 2 * variances[level])
        found = of(members)
        assert found.variance == pytest.approx(sum(parts), rel=1e-9)
        assert found.single == pytest.approx(
            sum(part**2 for part in parts) / sum(parts) ** 2, rel=1e-9
        )


def test_noise_that_is_all_but_0_has_a_spread() -> None:
    """Squares of the least variance are doubles."""
    group = np.array([0, 0, 1])
    of = spreads(3, LEAST_VARIANCE, [MeasuredLevel(group, np.zeros(2), LEAST_VARIANCE)])
    assert (
        of([0, 1]).variance == pytest.approx(LEAST_VARIANCE * 2 / 3) and 0 < of([0, 1]).single < 1
    )


@pytest.mark.parametrize(
    ("sets", "sizes"),
    [("sex, ward", (3, 6)), ("ward, sex", (6, 3)), ("ward > 2, sex", None), ("name, sex", None)],
)
def test_the_numbers_of_values_of_keys(
    session: Session, sets: str, sizes: tuple[int, ...] | None
) -> None:
    text = f"SELECT COUNT(*) AS n FROM patients GROUP BY {sets}"
    if (
        not session.schema.privacy.delta and "name" in sets
    ):  # names are not declared, and a threshold needs a delta
        with pytest.raises(Refused, match=r"E_KEY .* need a budget with delta"):
            session.plan(text)
        return
    plan = session.plan(text)
    assert key_sizes(plan.cores[0].core.domain) == sizes


def test_an_average_is_told_for_so_many_rows(session: Session) -> None:
    text = "SELECT AVG(weight) AS a, COUNT(weight) AS n FROM patients"
    reached = session.explain(f"{text} TO REACH a 0.01, n 100 AT 5000 ROWS").reached
    assert reached is not None and reached.epsilon is not None
    plan = session.plan(text).at(reached.epsilon)
    (core,) = plan.cores
    total, count = (float(half) for half in core.half_widths(0.95)[:2])
    told = {error.name: error.half_width for error in reached.errors}
    assert told["a"] == pytest.approx(total / (5000**2 - count**2) ** 0.5, rel=1e-12)
    assert told["a"] <= 0.01 < told["a"] * 1.02


def released_errors(plan: Plan, exact: ExactRows, draws: int, seed: int) -> np.ndarray:
    """|released − exact| of every column of the only row, for many releases."""
    entropy = seeded(seed)
    (truth,) = exact.reveal()
    (row,) = truth
    (core,) = plan.cores
    found = []
    for _ in range(draws):
        (table,) = release(exact, plan.cores, plan.confidence, _entropy=entropy).tables
        found.append([float(value) for value in table.cells[0]])
    steps = [float(step) for step in core.steps]
    return np.abs(np.array(found) - np.array(row[: len(steps)], dtype=float) * steps)


def test_releases_are_as_far_off_as_was_told(session: Session) -> None:
    """Of 3,000 seeded releases the part beyond the told half-width is 5 %,
    and is not beyond 0.7 or 1.3 times of it.
    """
    plan = session.plan("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits")
    errors = released_errors(plan, ExactRows([[(9, 12_345)]]), 3_000, seed=5)
    told = [error.half_width for error in session.explain(plan.text).expected if error is not None]
    for place, half in enumerate(told):
        outside = {
            times: float(np.mean(errors[:, place] > half * times)) for times in (0.7, 1, 1.3)
        }
        margin = 6.2 * (0.05 * 0.95 / 3_000) ** 0.5
        assert outside[1] < 0.05 + margin
        assert outside[0.7] > 0.05 + margin
        assert outside[1.3] < outside[1] < outside[0.7]


def test_laws_are_laws() -> None:
    """The oracle itself, against closed forms."""
    laplace, gaussian = Laplace(1, Fraction(10)), Gaussian(1, Fraction(10_000))
    q = mpmath.e ** (-mpmath.mpf(1) / 10)
    assert beyond([(laplace, Fraction(1))], 30) == pytest.approx(
        float(2 * q**31 / (1 + q)), rel=1e-12
    )
    assert beyond([(gaussian, Fraction(1))], 196.5) == pytest.approx(
        float(2 * (1 - mpmath.ncdf(1.965))), rel=1e-6
    )
