"""The words that a statement may use, for front ends that complete or list them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from dpsql.session.statement import SHOWN
from dpsql.sql.functions import FAMILIES
from dpsql.sql.postprocess.functions import FUNCTIONS as OVER_RELEASED

__all__ = ["KEYWORDS", "SHOWN", "FunctionName", "functions"]

Place: TypeAlias = Literal["aggregate", "over private rows", "over released rows"]

#: Each aggregate over private rows, as it is called: x and y are columns with bounds, c is a condition.
AGGREGATES = (
    "COUNT(*)", "COUNT_IF(c)", "SUM(x)", "AVG(x)", "MIN(x)", "MAX(x)", "MEDIAN(x)", "QUANTILE(x, 0.9)",
    "QUANTILE_CONT(x, 0.9)", "QUANTILE_DISC(x, 0.9)", "APPROX_QUANTILE(x, 0.9)",
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)", "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x)", "MODE(x)",
    "HISTOGRAM(x)", "APPROX_TOP_K(x, 3)", "STDDEV(x)", "STDDEV_SAMP(x)", "STDDEV_POP(x)", "VARIANCE(x)", "VAR_SAMP(x)",
    "VAR_POP(x)", "CORR(y, x)", "COVAR_SAMP(y, x)", "COVAR_POP(y, x)", "REGR_SLOPE(y, x)", "REGR_INTERCEPT(y, x)",
    "REGR_R2(y, x)", "REGR_COUNT(y, x)", "REGR_AVGX(y, x)", "REGR_AVGY(y, x)", "REGR_SXX(y, x)", "REGR_SYY(y, x)",
    "REGR_SXY(y, x)", "BOOL_AND(c)", "BOOL_OR(c)", "EVERY(c)", "DP_CLIP(x)",
)  # fmt: skip

KEYWORDS = tuple(
    "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT JOIN ON AND OR NOT AS ALL ASC BETWEEN CASE CAST CROSS CUBE "
    "CURRENT ROW DESC DISTINCT ELSE END EXCEPT EXISTS EXPLAIN PRIVACY EXTRACT FALSE FILTER FIRST FOLLOWING "
    "FULL GROUPING SETS ILIKE IN INNER INTERSECT INTERVAL IS LAST LATERAL LEFT LIKE NATURAL NULL NULLS OFFSET "
    "OUTER OVER PARTITION PRECEDING QUALIFY RANGE REACH RESET RIGHT ROLLUP ROWS SET SHOW THEN TO TRUE UNBOUNDED UNION "
    "USING VALUES WHEN WINDOW WITH WITHIN".split()
)


@dataclass(frozen=True)
class FunctionName:
    """A function, a call of it, and where it may stand; those over private rows may stand over released ones too."""

    name: str
    example: str
    place: Place


@cache
def functions() -> tuple[FunctionName, ...]:
    """The functions of statements by name, first the aggregates, then what may stand in them, then the rest."""
    found: dict[str, FunctionName] = {}
    for example in AGGREGATES:
        _add(found, example, "aggregate")
    for family in FAMILIES.values():
        for entry in family.values():
            for example in entry.examples[:1]:
                _add(found, example, "over private rows")
    for name in sorted(OVER_RELEASED):
        found.setdefault(name, FunctionName(name, f"{name.upper()}(…)", "over released rows"))
    return tuple(found.values())


def _add(found: dict[str, FunctionName], example: str, place: Place) -> None:
    called = re.match(r"[A-Z_0-9]+(?=\()", example)
    if called is not None:
        found.setdefault(called[0].lower(), FunctionName(called[0].lower(), example, place))
