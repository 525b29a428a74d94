"""Intervals by parametric resampling: released tables with their noise drawn again, and percentiles of what they make.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import date
from math import ceil, floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.quantiles import QuantileCurve
from dpsql.planning.result_types import result_type
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.release.grouping_sets import CubeTable
from dpsql.release.released_tables import ReleasedTable
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.analysis.quantisation import SECONDS
from dpsql.sql.ir.core import Core

AnyReleasedTable: TypeAlias = ReleasedTable | CubeTable

#: How many samples of its noise a table gets, and the fewest of which percentiles are taken.
SAMPLES, FEWEST = 1_000, 200
#: 1970-01-01 in days of the axis, which are those of `date.fromordinal`.
_EPOCH = date(1970, 1, 1).toordinal()
#: The steps of dates and timestamps in seconds.
_STEPS = {"DATE": SECONDS, "TIMESTAMP": 1}


def is_number(sql_type: str) -> bool:
    """Whether values of the type may have intervals of numbers.

    >>> is_number("DECIMAL(38,2)"), is_number("BIGINT[]"), is_number("VARCHAR")
    (True, False, False)
    """
    found = result_type(sql_type)
    return found is not None and found.has_intervals


def is_date(sql_type: str) -> bool:
    """Whether values of the type are dates or timestamps."""
    return sql_type in _STEPS


def dates(seconds: NDArray[np.float64], sql_type: str) -> list[date]:
    """The nearest values of a column of the type.

    >>> import numpy as np
    >>> dates(np.array([719163 * 86400.0]), "DATE"), dates(np.array([719163 * 86400.0]), "TIMESTAMP")
    ([datetime.date(1970, 1, 1)], [datetime.datetime(1970, 1, 1, 0, 0)])
    """
    steps = np.round(seconds / _STEPS[sql_type]).astype(np.int64) - _EPOCH * SECONDS // _STEPS[sql_type]
    values: list[date] = steps.astype("datetime64[D]" if sql_type == "DATE" else "datetime64[s]").tolist()
    return values


def date_ends(curve: QuantileCurve, sql_type: str) -> tuple[date, date]:
    """The interval of a quantile of dates or timestamps: the whole steps of the type that it goes into."""
    low, _, high = curve.points
    step = _STEPS[sql_type]
    first, last = dates(np.array([floor(low / step) * step, ceil(high / step) * step], np.float64), sql_type)
    return first, last


def has_noise(shape: Core | Cube, place: int) -> bool:
    """Whether the aggregate is a number or a date of which it is known how far noise moves it."""
    kind = column_types(shape)[f"a{place}"]
    return shape.aggregates[place].function.is_resampled and (is_number(kind) or is_date(kind))


def is_resampled(shape: Core | Cube, place: int) -> bool:
    """Whether the noise of the aggregate is drawn again. MIN and MAX are none: their intervals end at a declared bound,
    which no sample reaches.
    """
    ranks = shape.aggregates[place].ranks
    return has_noise(shape, place) and not (ranks is not None and ranks.edge)


def chosen_columns(shape: Core | Cube) -> list[str]:
    """The columns of a released table of which no sample tells how far noise moves what is made of them."""
    return [f"a{place}" for place in range(len(shape.aggregates)) if not is_resampled(shape, place)]


def column_values(samples: NDArray[np.float64], released: object, sql_type: str) -> Sequence[object]:
    """An aggregate's samples in the type of its column; a sample that is no number is NULL, or the released date."""
    if is_date(sql_type):
        known = dates(np.where(np.isnan(samples), 0.0, samples), sql_type)
        return [released if missing else each for missing, each in zip(np.isnan(samples).tolist(), known, strict=True)]
    return [None if value != value else value for value in samples.tolist()]


def put_samples(
    sandbox: Sandbox,
    name: str,
    table: AnyReleasedTable,
    rows: Sequence[int],
    places: Collection[int],
    samples: int,
    confidence: float,
) -> None:
    """Put a table into the sandbox with these aggregates of these rows on each sample of their noise.

    Its columns are ``row``, ``sample`` and the aggregates; sample s of several tables belongs together.
    """
    kinds = column_types(table.shape)
    types = {f"a{place}": kinds[f"a{place}"] for place in sorted(places)}
    types = {name: kind if is_date(kind) else "DOUBLE" for name, kind in types.items()}
    data: list[list[object]] = [[row for row in rows for _ in range(samples)], [*range(samples)] * len(rows)]
    data += [[] for _ in types]
    for row in rows:
        again = table.draws(row, samples, confidence)
        for column, place in enumerate(sorted(places), 2):
            data[column] += column_values(again[place], table.aggregates[row][place], types[f"a{place}"])
    types = {"row": "BIGINT", "sample": "BIGINT", **types}
    sandbox.create(name, types)
    sandbox.insert(name, data, types)


def tails(confidence: float) -> tuple[str, str]:
    """The parts of the samples that lie below the lower and below the upper end of an interval, as SQL."""
    return repr((1 - confidence) / 2), repr((1 + confidence) / 2)


def percentiles(sql: str, low: str, high: str) -> list[str]:
    """Both percentiles of an expression's values on all samples, and the mean of those that are finite, as SQL.

    Where a percentile is infinite, both are the farthest values. What is no number on a sample is left out.
    """
    value = f"TRY_CAST({sql} AS DOUBLE)"
    number = f"FILTER (WHERE NOT isnan({value}))"
    ends = [f"quantile_cont({value}, {part}) {number}" for part in (low, high)]
    infinite = " OR ".join(f"isinf({end})" for end in ends)
    low_end, high_end = (f"CASE WHEN {infinite} THEN {side}({value}) {number} ELSE {end} END"
                 for side, end in zip(("min", "max"), ends, strict=True))  # fmt: skip
    return [low_end, high_end, f"avg({value}) FILTER (WHERE isfinite({value}))"]


def interval_of(value: object, low: float | None, high: float | None, mean: float | None) -> ConfidenceInterval | None:
    """The interval of a released value, of which samples show how far noise moves it, to both sides and on the average.

    It holds both the percentile and the pivotal interval, and is longer where noise moves the value to one side.
    """
    if low is None or high is None:
        return None
    middle = as_number(value)
    if not all(map(math.isfinite, (low, middle, high))):
        return (low, high) if math.isnan(middle) else (min(low, middle), max(high, middle))
    moved = 0.0 if mean is None else 2 * (mean - middle)
    return min(low, 2 * middle - high) - max(moved, 0.0), max(high, 2 * middle - low) + max(-moved, 0.0)


def as_number(value: object) -> float:
    """The value as a double; NaN where it is no number, or too large for one.

    >>> as_number(3), as_number("three"), as_number(10**400)
    (3.0, nan, nan)
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
