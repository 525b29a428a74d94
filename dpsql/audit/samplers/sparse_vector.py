"""The sparse vector technique as installed, and as the scan for a bound uses it, beside the laws that are priced.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpsql.audit.samplers.distributions import first_above_law
from dpsql.privacy.mechanism import AboveThreshold
from dpsql.privacy.mechanism.scan import Scan

#: Queries around a threshold.
QUERIES: Final = (-3, 0, 2, -1)
THRESHOLD: Final = 1
#: The scales of the threshold's and of each query's noise at which a unit that moves each query by 1 costs ε = 1:
#: 1/2.5 + 2·1/(10/3), and 1/2 + 1/2 where it moves all of them one way.
ANY, COUNTS = (2.5, 10 / 3), (2.0, 2.0)
#: Rows of each size. A unit moves 2 of them at ε = 1, or one in each of four groups at ρ = 1/2, which is ε = 1/2 for
#: each: seven tenths for the threshold's noise and three for the queries', 2/(20/7) + 2/(20/3) = 1, and 16 rows left
#: above.
ROWS: Final = (30, 20, 15, 10, 8, 5)
SCALES_OF_ROWS, LEFT = (20 / 7, 20 / 3), 16


def sparse_vectors() -> Iterator[tuple[str, Callable[[int], list[int]], NDArray[np.float64]]]:
    """The name of each, what draws so many places, and the chances that these places should have."""
    for name, monotone, scales in (("any queries", False, ANY), ("counts", True, COUNTS)):
        yield f"sparse vector, {name}", partial(firsts, AboveThreshold(1, Fraction(1), monotone)), first_law(scales)
    for name, moved, price in (("ε", 2, Fraction(1)), ("ρ", 4, Fraction(1, 2))):
        scan = Scan(len(ROWS), moved, price, concentrated=name == "ρ", monotone=True)
        yield f"scan for a bound, priced in {name}", partial(sizes, scan), scan_law()


def firsts(mechanism: AboveThreshold, draws: int) -> list[int]:
    """Places that were found, with one beyond the last for none."""
    found = [mechanism.draw(QUERIES, THRESHOLD) for _ in range(draws)]
    return [len(QUERIES) if place is None else place for place in found]


def sizes(scan: Scan, draws: int) -> list[int]:
    """Places of the sizes that were chosen."""
    return [scan.choose(range(len(ROWS)), ROWS) for _ in range(draws)]


def first_law(scales: tuple[float, float]) -> NDArray[np.float64]:
    """The chances of each place, and of none, with noise of these scales."""
    return first_above_law(QUERIES, THRESHOLD, *scales)


def scan_law() -> NDArray[np.float64]:
    """The chances of each size: the first above which no more rows are found than may be left, or the last."""
    above = [sum(ROWS[place + 1 :]) for place in range(len(ROWS) - 1)]
    return first_above_law([-rows for rows in above], -LEFT, *SCALES_OF_ROWS)
