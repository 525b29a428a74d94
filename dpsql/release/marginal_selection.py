"""Exact marginals → measured marginals, for the marginals that a model approximates worst.

These are chosen privately, and get noise. Proved in ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.planning.synthetic.plan import SyntheticPlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy

#: The most steps that a model may make of all cells of a pair together:
#: with the exact counts they #: fit into int64.
MOST_STEPS = 2**62
#: Whole counts of a marginal, in the steps of the plan.
Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class MeasuredMarginal:
    """Noisy counts of the values of some columns, and the width of their noise.

    The counts are in the order of their places. Both are in rows. They are released: public from
    here on.
    """

    columns: tuple[int, ...]
    counts: tuple[float, ...]
    standard_deviation: float


#: What a model that was fitted to measured marginals makes of each pair of columns, in rows.
Approximate: TypeAlias = Callable[[Sequence[MeasuredMarginal]], Sequence[NDArray[np.float64]]]
#: Which pairs may be measured beside those that were chosen so far.
Admitted: TypeAlias = Callable[[Sequence[tuple[int, int]]], Sequence[bool]]


def measure(
    exact: ExactRows,
    plan: SyntheticPlan,
    approximate: Approximate,
    admitted: Admitted,
    *,
    _entropy: Entropy = OPERATING_SYSTEM,
) -> tuple[MeasuredMarginal, ...]:
    """The noisy counts of each column, and those of the chosen pairs.

    ``approximate`` and ``admitted`` are given released marginals and public choices alone.
    """
    cores = exact.reveal()
    singles = cores[: len(plan.columns)]
    pairs = cores[len(plan.columns) :]
    measured = [
        _measured((index,), _counts(plan, (index,), rows), plan, plan.alone, entropy=_entropy)
        for index, rows in enumerate(singles)
    ]
    counts = [_counts(plan, pair, rows) for pair, rows in zip(plan.pairs, pairs, strict=True)]
    chosen: list[int] = []
    for count in plan.rounds:
        assert plan.together is not None
        scores = (
            []
            if plan.choice is None
            else _scores(plan, counts, approximate(measured), plan.together)
        )
        for _ in range(count):
            allowed = admitted([plan.pairs[index] for index in chosen])
            candidates = [
                index for index in range(len(plan.pairs)) if allowed[index] and index not in chosen
            ]
            # One that was measured is measured again.
            candidates = candidates or sorted(set(chosen))
            drawn = (
                0
                if plan.choice is None
                else plan.choice.draw(
                    [scores[candidate] for candidate in candidates], _entropy=_entropy
                )
            )
            chosen.append(candidates[drawn])
            measured.append(
                _measured(
                    plan.pairs[candidates[drawn]],
                    counts[candidates[drawn]],
                    plan,
                    plan.together,
                    entropy=_entropy,
                )
            )
    return tuple(measured)


def _scores(
    plan: SyntheticPlan,
    counts: Sequence[Counts],
    estimates: Sequence[NDArray[np.float64]],
    noise: Mechanism,
) -> list[int]:
    """The distance of each pair's counts from the model's, less that of their noise, in steps.

    Distances are in L1. Only the distance depends on data, and one unit moves it by no more than it
    moves the counts, since the model's count is a whole number that was fixed before.
    """
    return [
        int(np.abs(exact - _whole(estimate, float(plan.step))).sum()) - penalty(noise, len(exact))
        for exact, estimate in zip(counts, estimates, strict=True)
    ]


def _whole(estimate: NDArray[np.float64], step: float) -> Counts:
    """The model's counts of a pair in whole steps, whatever the model makes.

    NaN is 0, and no sum of them leaves int64.

    >>> _whole(np.array([1.3, np.nan, np.inf, -1e300]), 0.5).tolist() == [3, 0, 2**60, -(2**60)]
    True
    """
    largest = MOST_STEPS // len(estimate)
    steps = np.nan_to_num(np.rint(estimate / step), nan=0.0)
    return np.asarray(np.clip(steps, -largest, largest), np.int64)


def penalty(noise: Mechanism, cells: int) -> int:
    """The size of the noise of so many counts in L1, as is to be expected of Gaussian noise."""
    return round(sqrt(2 / pi) * noise.standard_deviation * cells)


def _counts(plan: SyntheticPlan, columns: Sequence[int], rows: CoreRows) -> Counts:
    """The exact counts of a core in the order of the places of its keys."""
    result = np.zeros(plan.cells(columns), np.int64)
    for row in rows:
        index = 0
        for column, key in zip(columns, row, strict=False):
            index = index * plan.columns[column].size + plan.columns[column].index_of(key)
        count = row[len(columns)]
        assert isinstance(count, int)
        result[index] += count
    return result


def _measured(
    columns: tuple[int, ...], exact: Counts, plan: SyntheticPlan, noise: Mechanism, entropy: Entropy
) -> MeasuredMarginal:
    step = float(plan.step)
    noisy = noise.perturb(exact.tolist(), _entropy=entropy)
    return MeasuredMarginal(
        columns, tuple(count * step for count in noisy), noise.standard_deviation * step
    )
