"""The claims of what is counted beside a statement: rows beyond their bounds,
and units beyond their limits.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import neighbours
import pytest
from aggregates import JOINT, SPREADS
from built_worlds import world
from neighbours import Tally, faults, planned, report
from statements import Writer

from dpsql.errors import DatabaseError
from dpsql.planning.budget_split import plan_cores
from dpsql.planning.plan import CorePlan
from dpsql.sql.analysis.contribution import norm_of
from dpsql.sql.binder.aggregates.clipping_report import clipped
from dpsql.sql.binder.bind import Query
from dpsql.sql.emit import Dialect


def _with_those_beside(
    query: Query, dialect: Dialect, privacy: Any, price: Fraction, delta: Fraction
) -> tuple[CorePlan, ...]:
    return plan_cores(
        query, dialect, privacy, price, delta, clipped(query.cores, norm_of(privacy))[0]
    )


@pytest.mark.parametrize("chunk", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_unit_moves_what_is_left_out_by_more_than_is_claimed(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "plan_cores", _with_those_beside)
    tally, beside = Tally(), 0
    for seed in range(chunk, 8, 2):
        here, texts = world(7_000 + seed), []
        for number in range(5):
            random = Random(f"{seed}/{number}")
            writer = Writer(here, random)
            text = (
                writer.statistic(random.choice([*JOINT, *SPREADS]))
                if number < 4
                else writer.statement()
            )
            try:
                beside += len(planned(here, text)) - 1
            except DatabaseError:
                continue
            texts.append(text)
        for text, problem in faults(here, texts, tally):
            pytest.fail(report(here, text, problem))
    assert beside >= 10 and tally.trials >= 50, tally
    assert max(tally.ratios.get("units L1", 0), tally.ratios.get("units L2", 0)) > 0.4, tally
