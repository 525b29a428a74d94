"""The faithful property: where no limit binds and no noise is added,
dpsql answers as plain DuckDB does.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from built_worlds import world
from statements import statement
from world_session import session_on, without_noise

from dpsql.errors import DatabaseError
from dpsql.planning.estimators.estimate import Estimate
from dpsql.planning.estimators.histogram import (
    FrequencyEstimate,
    MeasuredHistogram,
    PresentValues,
    TopValues,
    ValueCounts,
)
from dpsql.planning.estimators.moments import MomentEstimate
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import QuantileRecursion

#: The most rows of any generated join: each may be rounded by half a step of its cell.
MOST_ROWS = 5_000
#: DuckDB 1 gives whole numbers for APPROX_QUANTILE of decimals.
WHOLE_QUANTILES = duckdb.__version__.startswith("1.")
#: A division by 0 is NULL in dpsql and NaN or an infinity in DuckDB,
#: where // of doubles does not #: cut either.
DIVISION = re.compile(r" / r\d| // ")


def _key(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key under which 0.5, 0.50 and 5e-1 are one, and a day and its midnight:
    a truncated date stays a date here.
    """
    return tuple(
        round(float(part), 6)
        if isinstance(part, float | Decimal | int) and not isinstance(part, bool)
        else datetime(part.year, part.month, part.day)
        if isinstance(part, date) and not isinstance(part, datetime)
        else part
        for part in key
    )


def _bin(histogram: MeasuredHistogram, continuous: bool) -> float:
    """The width of two bins: a quantile lies in the right one, or between the values of two.

    A continuous one that is chosen is one of the values, where DuckDB has something between two of
    them. One that is chosen among the rows between others may lie a row further off, whatever the
    next value is.
    """
    bins = histogram.contribution.bins
    assert bins is not None
    mechanism = histogram.mechanism
    if isinstance(mechanism, QuantilesWithFallback):
        continuous, mechanism = (
            continuous or isinstance(mechanism.choices, QuantileRecursion),
            mechanism.choices,
        )
    if continuous and isinstance(mechanism, QuantileChoices | QuantileRecursion):
        return math.inf
    return float(2 * bins.width * bins.size)


def _moment(value: Any) -> Any:
    """A date as the number of its second, so that it is compared like any other value."""
    if not isinstance(value, date):
        return value
    return (
        value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    ).timestamp()


def _agree(mine: Any, theirs: Any, allowed: float) -> bool:
    """Whether the value is DuckDB's, but for what is allowed and for the rounding of doubles."""
    if isinstance(theirs, dict):  # a histogram, in which every public value has a count
        listed = {
            value: mine.get(value, 0) - theirs.get(value, 0)
            for value in mine.keys() | theirs.keys()
        }
        return not any(listed.values())
    if (
        theirs is None
        or allowed == math.inf
        or (isinstance(theirs, float) and not math.isfinite(theirs))
    ):
        return True  # NULL and NaN have meanings of their own in a private sum
    if isinstance(theirs, list):
        return len(mine) == len(theirs) and all(
            _agree(*pair, allowed) for pair in zip(mine, theirs, strict=True)
        )
    mine, theirs = _moment(mine), _moment(theirs)
    return abs(float(mine) - float(theirs)) <= allowed + 1e-9 * abs(float(theirs))


def _differences(
    plan: Plan, rows: list[tuple[Any, ...]], plain: list[tuple[Any, ...]]
) -> list[str]:
    width = sum(column.name.startswith("k") for column in plan.columns)
    answered: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in rows:  # a total and a key that is NULL may look alike
        answered.setdefault(_key(row[:width]), []).append(row[width:])
    tolerances = [_tolerance(plan, place) for place in range(width, len(plan.columns))]
    problems = []
    for row in plain:
        ours = answered.get(_key(row[:width]), [])
        if not any(all(map(_agree, mine, row[width:], tolerances)) for mine in ours):
            problems.append(f"{row[:width]}: {ours or 'missing'} where DuckDB has {row[width:]}")
    return problems


def _tolerance(plan: Plan, column: int) -> float:
    """How far a column may be off: half a step for each row of what its cells add up,
    two bins of its histogram.

    The most frequent of equally frequent values is any of them,
    and values that few rows have are not present.
    """
    if not plan.cores:
        return 0.0  # the statement has no row as it is written
    core, place = plan.cores[plan.columns[column].core], plan.columns[column].aggregate
    if (
        place is None or plan.cubes
    ):  # a level's core has some of the cube's aggregates, in an order of its own
        return max(
            (_of_estimate(core, each) for core in plan.cores for each in core.estimates),
            default=0.0,
        )
    return _of_estimate(core, core.estimates[place])


def _of_estimate(
    core: CorePlan, estimate: Estimate | QuantileEstimate | FrequencyEstimate
) -> float:
    match estimate:
        case MomentEstimate():
            return _of_moment(estimate)
        case QuantileEstimate(histogram=histogram, ranks=ranks):
            return _bin(core.histograms[histogram], ranks.continuous)
        case ValueCounts():
            return 0.0
        case TopValues() | PresentValues():
            return math.inf
        case _:
            return MOST_ROWS * max(map(float, core.steps))


def _of_moment(estimate: MomentEstimate) -> float:
    """Next to nothing of the bounds; ratios of variances are tested on data that have some
    (`test_moments.py`).
    """
    x, y = float(estimate.x.reach), 1.0 if estimate.y is None else float(estimate.y.reach)
    match estimate.statistic:
        case "var_pop" | "var_samp":
            return 1e-5 * x * x
        case "stddev_pop" | "stddev_samp":
            return 3e-3 * x
        case "covar_pop" | "covar_samp":
            return 1e-5 * x * y
        case "regr_sxx" | "regr_syy" | "regr_sxy":
            return 1e-5 * MOST_ROWS * max(x, y) ** 2
        case _:
            return math.inf


@pytest.mark.parametrize("chunk", range(4))
def test_without_noise_and_limits_the_answer_is_that_of_duckdb(
    chunk: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_noise(monkeypatch)
    compared = 0
    for seed in range(900 + chunk, 916, 4):
        here = world(seed, tame=True)
        with session_on(here, tmp_path / f"{seed}.ledger") as (session, engine):
            for number in range(20):
                text = statement(here, number)
                if DIVISION.search(text) or (WHOLE_QUANTILES and "APPROX_QUANTILE" in text):
                    continue
                try:
                    plan = session.plan(text)
                    plain = engine.plain(text)
                except (DatabaseError, duckdb.Error):
                    continue
                problems = _differences(plan, session.answer(plan).rows, plain)
                assert not problems, (seed, text, problems[:3])
                compared += 1
    assert compared > 15
