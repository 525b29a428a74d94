"""A tuning finds the rungs that few units exceed, and of averages that which half of them exceed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import pytest
from seeded_entropy import Seeded

from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import CorePlan
from dpsql.planning.tuning import Question, TuningPlan, of_limits, scans_of, tuning_plan
from dpsql.privacy.mechanism import Laplace
from dpsql.release.tuning_scans import scan
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.ir.aggregate import SUM
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import INTEGER, ColumnRef
from dpsql.sql.ir.relation import PerUnit, Scan

LADDER = of_limits()
TAIL, HALF = Question("t", None, "rows per unit", LADDER), Question("t", None, "rows per group", LADDER)


@cache
def planned(each: Fraction, neighbours: str = "add-remove") -> TuningPlan:
    unit = ColumnRef("t", "u", INTEGER, identifies="unit")
    rows = PerUnit("q", Scan("t", "t", unit=unit), (), ())
    places = (Aggregate(SUM, ColumnRef("q", "a", INTEGER), None), Aggregate(SUM, ColumnRef("q", "b", INTEGER), None))
    core = CorePlan(Core(rows, unit, (), places, None), (), (), None, (), "l1", None, DUCKDB)
    return tuning_plan("tune", [(core, (TAIL, HALF))], neighbours, each)  # type: ignore[arg-type]


def place(number: int) -> int:
    return next(place for place, rung in enumerate(LADDER.rungs) if number <= rung)


def found(plan: TuningPlan, numbers: list[int], seed: int) -> tuple[int, int]:
    """The rungs for units with these numbers, as an engine would count them."""
    fine = plan.tables[0].core.histograms[0].contribution.fine
    counted = Counter(numbers)
    places = [place(number) for number in sorted(counted)]
    counts = [counted[number] * fine for number in sorted(counted)]
    rungs = scan(ExactRows([[((places, counts), (places, counts))]]), plan, _entropy=Seeded(seed))
    return int(rungs[TAIL]), int(rungs[HALF])


def skewed(units: int) -> list[int]:
    """Units of which a half has one row, a quarter two, an eighth four, and so on."""
    return [2 ** min((units // (unit + 1)).bit_length() - 1, 12) for unit in range(units)]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_it_finds_what_few_and_what_half_of_the_units_exceed(neighbours: str) -> None:
    """Within the margin of the scan, of which the false alarm is below 1e-9 over all draws."""
    plan, numbers = planned(Fraction(1, 2), neighbours), skewed(8000)
    (own, _) = scans_of(plan.tables[0])
    fine = plan.tables[0].core.histograms[0].contribution.fine
    left, margin = own.left / fine, own.half_width(1 - 1e-11) / fine
    for seed in range(50):
        tail, half = found(plan, numbers, seed)
        assert sum(number > tail for number in numbers) <= left + margin
        below = [rung for rung in LADDER.rungs if rung < tail]
        assert not below or sum(number > below[-1] for number in numbers) >= left - margin
        assert half in (1, 2), "of half the units the number is 1, but for one rung of noise"


def test_rungs_are_drawn_with_noise() -> None:
    """At a small price they differ from draw to draw, at a large one hardly."""
    exact = [found(planned(Fraction(4)), [5] * 600 + [50] * 400, seed) for seed in range(20)]
    assert {half for _, half in exact} <= {5, 6} and len({tail for tail, _ in exact if 45 <= tail <= 80}) <= 3
    assert all(tail >= 45 for tail, _ in exact) and sum(tail <= 80 for tail, _ in exact) > 15
    blurred = [found(planned(Fraction(1, 20)), skewed(1000), seed) for seed in range(20)]
    assert len({tail for tail, _ in blurred}) > 3


def test_the_number_of_units_is_read_with_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for the table, exact as it is, by the noise that is charged; half of what it gives is the threshold."""
    plan, read = planned(Fraction(4)), []

    def perturb(self: Laplace, values: Sequence[int], *, _entropy: object) -> list[int]:
        read.append((self, list(values)))
        return [200]

    monkeypatch.setattr(Laplace, "perturb", perturb)
    rungs = [found(plan, [5] * 600 + [50] * 400, seed) for seed in range(5)]
    assert read == [(plan.count, [1000])] * 5
    assert all(half >= 45 for _, half in rungs), "more than 100 of 200 have 50"


def test_a_table_without_rows_has_the_first_rungs() -> None:
    plan = planned(Fraction(4))
    rungs = scan(ExactRows([[(None, None)]]), plan, _entropy=Seeded(1))
    assert all(1 <= rung <= 3 for rung in rungs.values())


def test_places_beyond_the_ladder_are_held_to_it() -> None:
    plan = planned(Fraction(4))
    fine = plan.tables[0].core.histograms[0].contribution.fine
    lists = ([-5, 10**6], [fine * 500, fine * 500])
    rungs = scan(ExactRows([[(lists, lists)]]), plan, _entropy=Seeded(2))
    assert rungs[TAIL] == LADDER.rungs[-1] and rungs[HALF] <= 2
