"""A released table of one number in each row, whose noise has the scale 1."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import stats

from dpsql.privacy.mechanism import Gaussian, Laplace

TAIL = 0.05


def half_width(law: str, tail: float = TAIL) -> float:
    """Of noise of scale 1: the least h with P(|noise| > h) = tail."""
    return float(-np.log(tail) if law == "Laplace" else stats.norm.isf(tail / 2))


def table_of(law: str, values: Sequence[float], halves: Sequence[float] = ()) -> Any:
    """The table; its intervals have these half-widths, or those of the noise."""
    noise = Laplace.priced(1, 1) if law == "Laplace" else Gaussian.priced(1, 1)
    reach = halves or [half_width(law)] * len(values)
    return SimpleNamespace(
        keys=[(n,) for n in range(len(values))], shape=SimpleNamespace(aggregates=("n",)),
        plan=SimpleNamespace(noises=(noise,)), aggregates=[(value,) for value in values],
        intervals=[((value - half, value + half),) for value, half in zip(values, reach, strict=True)],
    )  # fmt: skip
