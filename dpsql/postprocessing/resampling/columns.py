"""What of a released table is drawn again, and the values that draws have in its columns (``docs/proofs/ends.md``)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.postprocessing.intervals.datetimes import dates, is_date
from dpsql.postprocessing.sandbox import column_types
from dpsql.release.grouping_sets import CubeTable
from dpsql.release.noise import ReleasedTable
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.ir.relation import Core

Rows: TypeAlias = ReleasedTable | CubeTable

#: Aggregates whose noise is not drawn again.
WITHOUT = frozenset({"every", "some", "histogram", "mode", "top k", "clip"})

#: How many drawn rows, or rows of points, are put into the sandbox at a time.
AT_A_TIME = 200_000

_NUMBERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT FLOAT DOUBLE DECIMAL UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT".split()
)


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
    return sql_type.partition("(")[0] in _NUMBERS and not sql_type.endswith("]")


def drawn_places(shape: Core | Cube) -> frozenset[int]:
    """The places of the aggregates that are drawn again: of numbers, dates and timestamps."""
    types = column_types(shape)
    return frozenset(
        place for place, aggregate in enumerate(shape.aggregates)
        if aggregate.function not in WITHOUT and (is_number(types[f"a{place}"]) or is_date(types[f"a{place}"]))
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
