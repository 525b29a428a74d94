"""Released tables whose noise is drawn again: which columns that is done to, and the values of the draws.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from math import ceil, floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.quantiles import Curve
from dpsql.planning.result_types import result_type
from dpsql.postprocessing.sandbox import Sandbox, column_types, columns_of
from dpsql.release.grouping_sets import CubeTable
from dpsql.release.noise import ReleasedTable
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.analysis.quantisation import SECONDS
from dpsql.sql.ir.relation import Core

#: 1970-01-01 in days of the axis, which are those of `date.fromordinal`.
EPOCH = date(1970, 1, 1).toordinal()
#: The steps of the types that may be drawn, in seconds.
STEPS = {"DATE": SECONDS, "TIMESTAMP": 1}


def is_date(sql_type: str) -> bool:
    """Whether values of the type are dates or timestamps."""
    return sql_type in STEPS


def dates(seconds: NDArray[np.float64], sql_type: str) -> list[date]:
    """The nearest values of a column of the type.

    >>> import numpy as np
    >>> dates(np.array([719163 * 86400.0]), "DATE"), dates(np.array([719163 * 86400.0]), "TIMESTAMP")
    ([datetime.date(1970, 1, 1)], [datetime.datetime(1970, 1, 1, 0, 0)])
    """
    steps = np.round(seconds / STEPS[sql_type]).astype(np.int64) - EPOCH * SECONDS // STEPS[sql_type]
    values: list[date] = steps.astype("datetime64[D]" if sql_type == "DATE" else "datetime64[s]").tolist()
    return values


def date_ends(curve: Curve, sql_type: str) -> tuple[date, date]:
    """The interval of a quantile of dates or timestamps: the whole steps of the type that it goes into."""
    low, _, high = curve.points
    step = STEPS[sql_type]
    ends = np.array([floor(low / step) * step, ceil(high / step) * step], np.float64)
    first, last = dates(ends, sql_type)
    return first, last


Rows: TypeAlias = ReleasedTable | CubeTable

#: How many drawn rows, or rows of points, are put into the sandbox at a time.
AT_A_TIME = 200_000


def as_number(value: object) -> float:
    """The value as a double; NaN where it is no number, or too large for one.

    >>> as_number(3), as_number("three"), as_number(10**400)
    (3.0, nan, nan)
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def is_number(sql_type: str) -> bool:
    """Whether values of the type may have intervals.

    >>> is_number("DECIMAL(38,2)"), is_number("BIGINT[]"), is_number("VARCHAR")
    (True, False, False)
    """
    found = result_type(sql_type)
    return found is not None and found.has_intervals


def drawn_places(shape: Core | Cube) -> frozenset[int]:
    """The places of the aggregates that are drawn again: of numbers, dates and timestamps."""
    types = column_types(shape)
    return frozenset(
        place for place, aggregate in enumerate(shape.aggregates)
        if aggregate.function.is_resampled and (is_number(types[f"a{place}"]) or is_date(types[f"a{place}"]))
    )  # fmt: skip


def drawn_types(table: Rows, places: Collection[int]) -> dict[str, str]:
    """The columns of a released table with the aggregates of these places: numbers as doubles, dates as they are."""
    types = {name: kind for name, kind in column_types(table.shape).items()
             if not name.startswith("a") or int(name[1:]) in places}  # fmt: skip
    return {name: "DOUBLE" if name.startswith("a") and is_number(kind) else kind for name, kind in types.items()}


def drawn_values(drawn: NDArray[np.float64], released: object, sql_type: str) -> Sequence[object]:
    """An aggregate's values on draws in the type of its column; where none is drawn a number is NULL, a date stays."""
    if is_date(sql_type):
        known = dates(np.where(np.isnan(drawn), 0.0, drawn), sql_type)
        return [released if missing else each for missing, each in zip(np.isnan(drawn).tolist(), known, strict=True)]
    return [None if value != value else value for value in drawn.tolist()]


#: For each table, row and aggregate, its values at some points.
Values: TypeAlias = list[list[list[NDArray[np.float64]]]]


class Kind(StrEnum):
    """What a draw is: of noise around the released numbers; those that may be equal made equal, and noise around these;
    all numbers as low, or as high, as they may be among those like them; a corner; or MIN and MAX at their ends.
    """

    NOISE = "noise"
    EQUAL = "equal"
    NOISE_OF_EQUAL = "noise of equal"
    LOW = "low"
    HIGH = "high"
    CORNER = "corner"
    END = "end"


@dataclass(frozen=True)
class Points:
    """Draws that are not drawn: what each of them is, and the values of each table, row and aggregate there."""

    kinds: tuple[Kind, ...]
    values: Values


def put_draws(
    sandbox: Sandbox,
    tables: Sequence[tuple[str, Rows]],
    draws: int,
    confidence: float,
    beside: Sequence[Points],
    equal: Values | None,
) -> None:
    """The tables, by their names behind ``drawn``, on draws of their noise and on the points beside them.

    Each row has the number of its draw; the table ``draws`` has the kind of each draw. Where ``equal`` tells what each
    number is and how far it is moved while those that may be equal are, the same noise is there around these too.
    """
    noise = [Kind.NOISE] * draws + ([] if equal is None else [Kind.EQUAL] + [Kind.NOISE_OF_EQUAL] * draws)
    kinds = noise + [kind for points in beside for kind in points.kinds]
    types = {"draw": "BIGINT", "kind": "VARCHAR"}
    sandbox.create("draws", types)
    sandbox.insert("draws", [list(range(len(kinds))), [kind.value for kind in kinds]], types)
    for number, (name, table) in enumerate(tables):
        drawn = []
        for row in range(len(table.keys)):
            around = table.draws(row, draws, confidence)
            if equal is not None:
                ways = zip(around, equal[number][row], strict=True)
                around = [np.concatenate([each, [mean], each + moved]) for each, (mean, moved) in ways]
            more = [[points.values[number][row][place] for points in beside] for place in range(len(around))]
            drawn.append([np.concatenate([each, *others]) for each, others in zip(around, more, strict=True)])
        _put(sandbox, f"drawn {name}", table, drawn, len(kinds))


def _put(sandbox: Sandbox, name: str, table: Rows, drawn: Sequence[Sequence[NDArray[np.float64]]], draws: int) -> None:
    """The rows of a released table as often as there are draws, with the values that its aggregates have there."""
    fixed, width, places = columns_of(table), len(table.shape.aggregates), sorted(drawn_places(table.shape))
    types = {**drawn_types(table, places), "draw": "BIGINT"}
    data: list[list[object]] = [[value for value in column for _ in range(draws)] for column in fixed[: -width or None]]
    for place in places:
        ways = zip(table.aggregates, drawn, strict=True)
        kind = types[f"a{place}"]
        data.append([each for released, row in ways for each in drawn_values(row[place], released[place], kind)])
    data.append([draw for _ in drawn for draw in range(draws)])
    sandbox.create(name, types)
    sandbox.insert(name, data if drawn else [], types)
