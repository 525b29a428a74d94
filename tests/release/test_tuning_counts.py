"""What a tuning releases are counts of units with noise of their own,
at the price that is charged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from statistics import fmean, pstdev

import pytest
from seeded_entropy import Seeded

from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import CorePlan
from dpsql.planning.tuning import (
    ROWS_SHARE,
    NoisyCounts,
    Question,
    TuningPlan,
    counts_of,
    of_limits,
    tuning_plan,
)
from dpsql.release.tuning_counts import count
from dpsql.sql.analysis.contribution import Norm
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.ir.aggregate import SUM
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import INTEGER, ColumnRef
from dpsql.sql.ir.relation import PerUnit, Scan

LADDER = of_limits()
ROWS, GROUPS = (
    Question("t", None, "rows per unit", LADDER),
    Question("t", None, "groups per unit", LADDER),
)


@cache
def planned(price: Fraction, norm: Norm = "l2", neighbours: str = "add-remove") -> TuningPlan:
    unit = ColumnRef("t", "u", INTEGER, identifies="unit")
    rows = PerUnit("q", Scan("t", "t", unit=unit), (), ())
    places = (
        Aggregate(SUM, ColumnRef("q", "a", INTEGER), None),
        Aggregate(SUM, ColumnRef("q", "b", INTEGER), None),
    )
    core = CorePlan(Core(rows, unit, (), places, None), (), (), None, (), norm, None, DUCKDB)
    drafts = [(core, (ROWS, GROUPS))]
    return tuning_plan("tune", drafts, norm=norm, neighbours=neighbours, price=price)  # type: ignore[arg-type]


def place(number: int) -> int:
    return next(place for place, rung in enumerate(LADDER.rungs) if number <= rung)


def released(plan: TuningPlan, numbers: Sequence[int], seed: int) -> dict[Question, NoisyCounts]:
    """What is released of units with these numbers, as an engine would count them."""
    fine = plan.tables[0].core.histograms[0].contribution.fine
    counted = Counter(map(place, numbers))
    lists = (sorted(counted), [counted[each] * fine for each in sorted(counted)])
    return count(ExactRows([[(lists, lists)]]), plan, _entropy=Seeded(seed))


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_each_count_has_the_noise_that_is_charged(norm: Norm, neighbours: str) -> None:
    """Of 2,000 draws the deviation is within a tenth of what is said: five of its own errors,
    so that × 0.7 shows.
    """
    plan = planned(Fraction(1, 2), norm, neighbours)
    numbers = [1] * 500 + [40] * 300
    draws: dict[Question, list[float]] = {ROWS: [], GROUPS: []}
    for seed in range(40):
        for question, noisy in released(plan, numbers, seed).items():
            exact = [0] * len(LADDER.rungs)
            exact[place(1)], exact[place(40)] = 500, 300
            assert len(noisy.counts) == len(exact)
            draws[question] += [
                found - real for found, real in zip(noisy.counts, exact, strict=True)
            ][:50]
    units = 2 if neighbours == "replace" else 1
    for question, part in ((ROWS, ROWS_SHARE), (GROUPS, 1 - ROWS_SHARE)):
        each = float(Fraction(1, 2) * part) if norm == "l1" else 0.5 * float(part) ** 0.5
        wanted = units / each * (2**0.5 if norm == "l1" else 1)
        (said,) = {
            noisy.deviation
            for asked, noisy in released(plan, numbers, 1).items()
            if asked == question
        }
        assert said == pytest.approx(wanted, rel=1e-3)
        assert pstdev(draws[question]) == pytest.approx(wanted, rel=0.1)
        assert abs(fmean(draws[question])) < wanted / 7


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_thresholds_are_what_noise_alone_seldom_reaches(norm: Norm) -> None:
    """They are those of the law: Laplace noise reaches far more deviations than Gaussian noise."""
    plan = planned(Fraction(1, 2), norm)
    found = released(plan, [1] * 10, 1)[ROWS]
    noise = counts_of(plan.tables[0])[0].node
    fine = plan.tables[0].core.histograms[0].contribution.fine
    assert noise.above(int(found.near * fine) + 1) == pytest.approx(1 / 6_000, rel=0.01)
    assert noise.above(int(found.far * fine) + 1) == pytest.approx(1e-9, rel=0.05)
    assert found.far > (13 if norm == "l1" else 5.9) * found.deviation


def test_every_count_has_noise_of_its_own() -> None:
    plan = planned(Fraction(1, 10))
    found = released(plan, [5] * 100, 3)
    assert len(set(found[ROWS].counts)) > 40
    assert found[ROWS].counts != found[GROUPS].counts != released(plan, [5] * 100, 4)[GROUPS].counts


def test_a_table_without_rows_has_noise_alone() -> None:
    plan = planned(Fraction(4))
    found = count(ExactRows([[(None, None)]]), plan, _entropy=Seeded(1))
    assert all(len(noisy.counts) == len(LADDER.rungs) for noisy in found.values())
    assert all(
        abs(each) < 10 * noisy.deviation for noisy in found.values() for each in noisy.counts
    )


def test_places_beyond_the_ladder_are_held_to_it() -> None:
    plan = planned(Fraction(4))
    (histogram, _), (mechanism, _) = plan.tables[0].core.histograms, counts_of(plan.tables[0])
    fine = histogram.contribution.fine
    lists = ([-5, 0, 10**6], [fine * 500, fine * 200, fine * 300])
    noisy = count(ExactRows([[(lists, lists)]]), plan, _entropy=Seeded(2))[ROWS]
    assert mechanism.bins == len(noisy.counts)
    assert abs(noisy.counts[0] - 700) < 5 and abs(noisy.counts[-1] - 300) < 5
