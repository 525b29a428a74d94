"""Features of releases, the event that best distinguishes two databases, and the ε it proves.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite, log, sqrt
from statistics import NormalDist
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpsql.audit.empirical.confidence import greatest, least
from dpsql.audit.sensitivity.claims import NeighbourRows
from dpsql.engines.exact_rows import CoreRows
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.measure import Cost
from dpsql.release.released_tables import Released, ReleasedTable


def features(
    plan: Plan, released: Released, one: Sequence[CoreRows], other: Sequence[CoreRows]
) -> list[float]:
    """The likelihood ratio, the number of groups that are shown, and the values of every group.

    A value that a release does not show is NaN. All releases of a pair have the same number of
    features.
    """
    ratio = 0.0
    group_count = 0
    values = list[float]()
    for core, table, one_rows, other_rows in zip(
        plan.cores, released.tables, one, other, strict=True
    ):
        neighbour = NeighbourRows.of(core, one_rows)
        other_neighbour = NeighbourRows.of(core, other_rows)
        rows = {repr(key): index for index, key in enumerate(table.keys)}
        group_count += len(rows)
        for key in sorted(neighbour.rows.keys() | other_neighbour.rows.keys()):
            row = rows.get(key)
            if row is None:
                values += [float("nan")] * _width(core)
            else:
                ratio += _ratio(core, table, row, neighbour, other=other_neighbour, key=key)
                values += _values(core, table, row)
    return [ratio, float(group_count), *values]


def _ratio(
    core: CorePlan,
    table: ReleasedTable,
    row: int,
    one: NeighbourRows,
    other: NeighbourRows,
    key: str,
) -> float:
    """ln P(cells | one) − ln P(cells | other) under the noise of the plan, up to a constant."""
    noises = [cell.mechanism for cell in core.cells]
    if core.selection is not None:
        noises.append(core.selection.noise)
    total = 0.0
    for at, (noise, step) in enumerate(zip(noises, core.steps, strict=True)):
        noisy = table.cells[row][at] / step
        one_noise = float(noisy - one.cell(key, at))
        other_noise = float(noisy - other.cell(key, at))
        total += noise.exponent(other_noise) - noise.exponent(one_noise)
    return total


def _width(core: CorePlan) -> int:
    return len(core.steps) + len(core.estimates)


def _values(core: CorePlan, table: ReleasedTable, row: int) -> list[float]:
    cells = [float(cell) for cell in table.cells[row]]
    return cells + [_number(value) for value in table.aggregates[row]]


def _number(value: Any) -> float:
    """A released value as a number; a value that is not numeric gets a number of its own."""
    if value is None:
        return float("nan")
    if isinstance(value, bool | int | float | Decimal | Fraction):
        return float(value)
    if isinstance(value, datetime | date):
        return float(value.toordinal())
    return float(crc32(repr(value).encode()))


#: The part of the outputs on which events are chosen.
TRAINING = 0.3
#: The tail at which events are compared while they are chosen.
_TRIED = 0.05
#: How many thresholds of each feature are tried.
_THRESHOLDS = 41
#: Orders of Rényi divergence at which a bound on ρ is looked for.
_ORDERS = (1.001, 1.1, 1.3, 1.6, 2.0, 3.0, 5.0, 10.0, 30.0)

Outputs = NDArray[np.float64]


@dataclass(frozen=True)
class DistinguishingEvent:
    """The outputs in which one feature is at least (``above``) or at most a threshold."""

    feature: int
    threshold: float
    above: bool

    def count(self, outputs: Outputs) -> int:
        """How many outputs are in the event; one without the feature is not."""
        column = outputs[:, self.feature]
        return int(
            (column >= self.threshold).sum() if self.above else (column <= self.threshold).sum()
        )


@dataclass(frozen=True)
class ReleaseClaim:
    """The claimed ε of one release: pure, or of ρ-zCDP with ρ = ε²/2; and its δ.

    ``normal`` tells that the noise is Gaussian on a grid so fine that the bound of the normal
    distribution holds too.
    """

    pure: bool
    epsilon: float
    delta: float
    normal: bool = False

    @classmethod
    def of(cls, cost: Cost, normal: bool) -> ReleaseClaim:
        """The claim of a cost: its ε if it has one, else its ρ."""
        if cost.epsilon is not None:
            return cls(True, float(cost.epsilon), float(cost.delta))
        return cls(False, sqrt(2 * cost.rho), float(cost.delta), normal)

    def proved_epsilon(self, inside: int, outside: int, one: int, other: int, tail: float) -> float:
        """The ε proved by the numbers of outputs of two databases in the event; 0 if none is.

        Each of the two probabilities is bounded with error ``tail``. Pure: ln((p − δ)/q). By ρ:
        √(2ρ) for the least ρ with D_α(p − δ ‖ q + δ) <= αρ for all α, and for normal noise
        Φ⁻¹(p) − Φ⁻¹(q).
        """
        p = least(inside, one, tail) - self.delta
        q = greatest(outside, other, tail)
        if p <= q:
            return 0.0
        if self.pure:
            return log(p / q)
        result = sqrt(
            2 * max(_renyi(p, min(q + self.delta, 1.0), order) / order for order in _ORDERS)
        )
        if self.normal and self.delta == 0 and q > 0 and p < 1:
            normal = NormalDist()
            result = max(result, normal.inv_cdf(p) - normal.inv_cdf(q))
        return result


def _renyi(p: float, q: float, order: float) -> float:
    """D_α of coins with heads p and q, p > q; 0 where that is not so."""
    if not 0 < q < p < 1:
        return log(1 / q) if p >= 1 > q > 0 else 0.0
    heads = order * log(p) + (1 - order) * log(q)
    tails = order * log(1 - p) + (1 - order) * log(1 - q)
    return max(float(np.logaddexp(heads, tails)) / (order - 1), 0.0)


def best_event(claim: ReleaseClaim, one: Outputs, other: Outputs) -> DistinguishingEvent | None:
    """The tail of a single feature that proves the largest ε on these outputs; None if none does."""
    best = None
    most = 0.0
    for feature in range(one.shape[1]):
        pooled = np.concatenate([one[:, feature], other[:, feature]])
        pooled = pooled[np.isfinite(pooled)]
        if not len(pooled):
            continue
        for threshold in np.unique(
            np.quantile(pooled, np.linspace(0, 1, _THRESHOLDS), method="nearest")
        ):
            for above in (True, False):
                event = DistinguishingEvent(feature, float(threshold), above)
                proved = claim.proved_epsilon(
                    event.count(one), event.count(other), len(one), len(other), _TRIED
                )
                if proved > most:
                    best = event
                    most = proved
    return best


def lower_bound(claim: ReleaseClaim, one: Outputs, other: Outputs, alpha: float) -> float:
    """A lower bound of ε at confidence 1 − alpha; the event is chosen on outputs not counted.

    It tests both directions: two events, with two probabilities each.
    """
    result = 0.0
    for first, second in ((one, other), (other, one)):
        ends = int(len(first) * TRAINING), int(len(second) * TRAINING)
        event = best_event(claim, first[: ends[0]], second[: ends[1]])
        if event is not None:
            tested = first[ends[0] :]
            other_tested = second[ends[1] :]
            proved = claim.proved_epsilon(
                event.count(tested),
                event.count(other_tested),
                len(tested),
                len(other_tested),
                alpha / 4,
            )
            result = max(result, proved if isfinite(proved) else 0.0)
    return result
