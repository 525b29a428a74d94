"""Numbers that are read off one release, by which two databases may be told apart.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zlib import crc32

from dpsql.audit.sensitivity.claims import Side
from dpsql.engines.exact import CoreRows
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism import Gaussian
from dpsql.release.noise import Released, ReleasedTable


def features(plan: Plan, released: Released, one: Sequence[CoreRows], other: Sequence[CoreRows]) -> list[float]:
    """The likelihood ratio of the noisy cells, how many groups are shown, then the values of every group.

    What a release does not show is NaN. Their number depends on the pair alone.
    """
    ratio, shown, values = 0.0, 0, list[float]()
    for core, table, here, there in zip(plan.cores, released.tables, one, other, strict=True):
        left, right = Side.of(core, here), Side.of(core, there)
        rows = {repr(key): place for place, key in enumerate(table.keys)}
        shown += len(rows)
        for key in sorted(left.rows.keys() | right.rows.keys()):
            place = rows.get(key)
            if place is None:
                values += [float("nan")] * _width(core)
            else:
                ratio += _ratio(core, table, place, left, right, key)
                values += _values(core, table, place)
    return [ratio, float(shown), *values]


def _ratio(core: CorePlan, table: ReleasedTable, place: int, left: Side, right: Side, key: str) -> float:
    """ln P(cells | one) − ln P(cells | other) under the noise of the plan, up to a constant."""
    noises = [cell.mechanism for cell in core.cells]
    if core.selection is not None:
        noises.append(core.selection.noise)
    total = 0.0
    for at, (noise, step) in enumerate(zip(noises, core.steps, strict=True)):
        noisy = table.cells[place][at] / step
        here, there = float(noisy - left.cell(key, at)), float(noisy - right.cell(key, at))
        if isinstance(noise, Gaussian):
            total += (there * there - here * here) / (2 * float(noise.variance))
        else:
            total += (abs(there) - abs(here)) / float(noise.scale)
    return total


def _width(core: CorePlan) -> int:
    return len(core.steps) + len(core.estimates)


def _values(core: CorePlan, table: ReleasedTable, place: int) -> list[float]:
    cells = [float(cell) for cell in table.cells[place]]
    return cells + [_number(value) for value in table.aggregates[place]]


def _number(value: Any) -> float:
    """A released value as a number; what is none becomes one of its own."""
    if value is None:
        return float("nan")
    if isinstance(value, bool | int | float | Decimal | Fraction):
        return float(value)
    if isinstance(value, datetime | date):
        return float(value.toordinal())
    return float(crc32(repr(value).encode()))
