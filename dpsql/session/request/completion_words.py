"""Keywords and functions of statements, for front ends that complete or list them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from dpsql.session.request import SHOWN
from dpsql.sql.functions import FAMILIES
from dpsql.sql.ir.aggregate import AGGREGATE_FUNCTIONS
from dpsql.sql.postprocess.functions import RELEASED_FUNCTIONS

__all__ = ["KEYWORDS", "SHOWN", "FunctionName", "functions"]

FunctionPlace: TypeAlias = Literal["aggregate", "over private rows", "over released rows"]

#: Each aggregate over private rows, as it is called: x and y are columns with bounds,
#: c is a #: condition.
AGGREGATES = tuple(example for function in AGGREGATE_FUNCTIONS for example in function.examples)

KEYWORDS = tuple(
    "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT JOIN ON AND OR NOT AS ALL ASC BETWEEN CASE CAST CREATE CROSS CUBE "
    "CURRENT ROW DESC DISTINCT DROP ELSE END EXCEPT EXISTS EXPLAIN PRIVACY EXTRACT FALSE FILTER FIRST FOLLOWING FULL "
    "GROUPING SETS ILIKE IN INNER INTERSECT INTERVAL IS LAST LATERAL LEFT LIKE NATURAL NULL NULLS OFFSET OUTER OVER "
    "PARTITION PRECEDING PRICE QUALIFY RANGE REACH RESET RIGHT ROLLUP ROWS SET SHOW SYNOPSES SYNOPSIS SYNTHETIC TABLE "
    "TABLES THEN TO TRUE UNBOUNDED UNION USING VALUES WHEN WINDOW WITH WITHIN".split()
)


@dataclass(frozen=True)
class FunctionName:
    """A function, an example, and the kind of rows it applies to.

    Functions over private rows also apply to released rows.
    """

    name: str
    example: str
    place: FunctionPlace


@cache
def functions() -> tuple[FunctionName, ...]:
    """All functions that statements may call: aggregates, then functions over private rows,
    then the others.
    """
    names: dict[str, FunctionName] = {}
    for example in AGGREGATES:
        _add(names, example, "aggregate")
    for family in FAMILIES.values():
        for entry in family.values():
            for example in entry.examples[:1]:
                _add(names, example, "over private rows")
    for name in sorted(RELEASED_FUNCTIONS):
        names.setdefault(name, FunctionName(name, f"{name.upper()}(…)", "over released rows"))
    return tuple(names.values())


def _add(names: dict[str, FunctionName], example: str, where_used: FunctionPlace) -> None:
    called = re.match(r"[A-Z_0-9]+(?=\()", example)
    if called is not None:
        names.setdefault(called[0].lower(), FunctionName(called[0].lower(), example, where_used))
