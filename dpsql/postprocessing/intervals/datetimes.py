"""Dates and timestamps whose noise is drawn: seconds on the axis of their quantiles, and the values these are."""

from __future__ import annotations

from datetime import date
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.quantiles import Curve
from dpsql.sql.analysis.bins import SECONDS

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
